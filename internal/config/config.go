// Package config reads the configuration: a YAML file, the environment, flags; later wins. Everything that is
// wrong is reported at once, each with its key and what would be right. It is the only home of koanf.
package config

import (
	"time"
)

// Config is the effective configuration. Its fields are the keys of the file.
type Config struct {
	Listen         string        `koanf:"listen"`
	BasePath       string        `koanf:"base_path"`
	TrustedProxies []string      `koanf:"trusted_proxies"`
	DataDir        string        `koanf:"data_dir"`
	DatabaseURL    string        `koanf:"database_url"`
	ArtifactsURL   string        `koanf:"artifacts_url"`
	Auth           Auth          `koanf:"auth"`
	Policy         Policy        `koanf:"policy"`
	Guardrails     Guardrails    `koanf:"guardrails"`
	Environments   []Environment `koanf:"environments"`
	LLM            LLM           `koanf:"llm"`
	Limits         Limits        `koanf:"limits"`
	Artifacts      Artifacts     `koanf:"artifacts"`
	References     References    `koanf:"references"`
	MCPServers     []MCPServer   `koanf:"mcp_servers"`
	Web            Web           `koanf:"web"`
	Telemetry      Telemetry     `koanf:"telemetry"`

	// Warnings are what was understood with a doubt. They are for the log at start.
	Warnings []string `koanf:"-"`

	lookup func(string) (string, bool) // of environment variables, for secrets
}

// Guardrails changes the table of risks: risk → class → allow, confirm or deny.
type Guardrails map[string]map[string]string

// The modes of Auth.
const (
	AuthDev      = "dev"
	AuthJWT      = "jwt"
	AuthSuperset = "superset"
)

// Auth says who is asking.
type Auth struct {
	Mode     string       `koanf:"mode"`
	Dev      DevAuth      `koanf:"dev"`
	JWT      JWTAuth      `koanf:"jwt"`
	Superset SupersetAuth `koanf:"superset"`
	Handover Handover     `koanf:"handover"`
}

// DevAuth is the one fixed user of mode dev.
type DevAuth struct {
	User  string   `koanf:"user"`
	Roles []string `koanf:"roles"`
}

// JWTAuth says which tokens count. With JWKSURL the secret is not used.
type JWTAuth struct {
	SecretEnv  string `koanf:"secret_env"`
	SecretFile string `koanf:"secret_file"`
	JWKSURL    string `koanf:"jwks_url"`
	Issuer     string `koanf:"issuer"`
	Audience   string `koanf:"audience"`
	UserClaim  string `koanf:"user_claim"`
	RolesClaim string `koanf:"roles_claim"`
}

// SupersetAuth checks the browser's cookie at an environment.
type SupersetAuth struct {
	Environment string        `koanf:"environment"`
	CookieName  string        `koanf:"cookie_name"`
	Cache       time.Duration `koanf:"cache"`
}

// Handover is the sign-in of pages with an origin of their own.
type Handover struct {
	SecretEnv  string        `koanf:"secret_env"`
	SecretFile string        `koanf:"secret_file"`
	Audience   string        `koanf:"audience"`
	TTL        time.Duration `koanf:"ttl"`
}

// Policy says where the roles' rules are.
type Policy struct {
	File   string `koanf:"file"`
	Reload bool   `koanf:"reload"`
}

// The ways to call an environment.
const (
	ForwardCookie = "forward_cookie"
	ForwardToken  = "forward_token"
	Service       = "service"
)

// Environment is one Superset.
type Environment struct {
	ID        string  `koanf:"id"`
	Title     string  `koanf:"title"` // the id where it is left out
	Class     string  `koanf:"class"` // prod, staging or dev, normalised
	BaseURL   string  `koanf:"base_url"`
	PublicURL string  `koanf:"public_url"` // the base URL where it is left out
	SQL       SQL     `koanf:"sql"`
	Auth      EnvAuth `koanf:"auth"`
}

// SQL adds to the guard's own lists of functions: database backend → functions.
type SQL struct {
	DenyFunctions  map[string][]string `koanf:"deny_functions"`
	AllowFunctions map[string][]string `koanf:"allow_functions"`
}

// EnvAuth is how agentd signs in.
type EnvAuth struct {
	Mode         string `koanf:"mode"`
	Username     string `koanf:"username"`
	PasswordEnv  string `koanf:"password_env"`
	PasswordFile string `koanf:"password_file"`
	APIKeyEnv    string `koanf:"api_key_env"`
	APIKeyFile   string `koanf:"api_key_file"`
	Provider     string `koanf:"provider"`
}

// The providers of models.
const (
	Offline   = "offline"
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// LLM says which model.
type LLM struct {
	Provider      string        `koanf:"provider"`
	BaseURL       string        `koanf:"base_url"`
	Model         string        `koanf:"model"`
	APIKeyEnv     string        `koanf:"api_key_env"`
	APIKeyFile    string        `koanf:"api_key_file"`
	MaxSteps      int           `koanf:"max_steps"`
	ContextTokens int           `koanf:"context_tokens"`
	IdleTimeout   time.Duration `koanf:"idle_timeout"`
}

// Limits bound a run.
type Limits struct {
	ReadTimeout     time.Duration `koanf:"read_timeout"`
	WriteTimeout    time.Duration `koanf:"write_timeout"`
	RetryDelay      time.Duration `koanf:"retry_delay"`
	MaxChars        int           `koanf:"max_chars"`
	BatchChars      int           `koanf:"batch_chars"`
	ConfirmationTTL time.Duration `koanf:"confirmation_ttl"`
	RunTimeout      time.Duration `koanf:"run_timeout"`
	MessageChars    int           `koanf:"message_chars"`
	RunsPerUser     int           `koanf:"runs_per_user"`
}

// Artifacts bounds what is stored.
type Artifacts struct {
	Mode              string        `koanf:"mode"` // auto, explicit, off
	MaxRows           int           `koanf:"max_rows"`
	MaxBytes          Size          `koanf:"max_bytes"`
	MaxDuration       time.Duration `koanf:"max_duration"`
	ConversationQuota Size          `koanf:"conversation_quota"`
	UserQuota         Size          `koanf:"user_quota"`
	TotalQuota        Size          `koanf:"total_quota"`
	FallbackURL       string        `koanf:"fallback_url"`
	TTL               time.Duration `koanf:"ttl"`
}

// References says whether a call may refer to an earlier result.
type References struct {
	Enabled   bool `koanf:"enabled"`
	InlineMax int  `koanf:"inline_max"`
}

// MCPServer is a source of tools.
type MCPServer struct {
	Name       string             `koanf:"name"`
	URL        string             `koanf:"url"`
	HeadersEnv map[string]string  `koanf:"headers_env"` // header → environment variable with its value
	Tools      map[string]MCPTool `koanf:"tools"`
}

// MCPTool is the operator's word on a tool of a server.
type MCPTool struct {
	Risk       string   `koanf:"risk"`
	Affinity   []string `koanf:"affinity"`
	References *bool    `koanf:"references"` // false: its arguments take no stored results; they do where it is left out
}

// Web is the page.
type Web struct {
	Enabled        bool     `koanf:"enabled"`
	FrameAncestors []string `koanf:"frame_ancestors"`
	Languages      []string `koanf:"languages"`
}

// Telemetry is what operators see.
type Telemetry struct {
	OTLPEndpoint string `koanf:"otlp_endpoint"`
	Metrics      bool   `koanf:"metrics"`
	LogLevel     string `koanf:"log_level"`
	LogFormat    string `koanf:"log_format"`
}
