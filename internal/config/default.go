package config

import "time"

// MockScheme marks the base URL of an environment that demo itself serves, as mock://dev.
const MockScheme = "mock"

func defaults() Config {
	return Config{
		Listen: "127.0.0.1:8080", BasePath: "/", DataDir: "./data",
		Auth: Auth{
			Mode:     AuthDev,
			Dev:      DevAuth{User: "dev", Roles: []string{"Admin"}},
			JWT:      JWTAuth{SecretEnv: "AGENTD_JWT_SECRET", UserClaim: "sub", RolesClaim: "roles"},
			Superset: SupersetAuth{CookieName: "session", Cache: 30 * time.Second},
			Handover: Handover{TTL: 15 * time.Minute},
		},
		Policy: Policy{Reload: true},
		LLM:    LLM{Provider: Offline, APIKeyEnv: "OPENAI_API_KEY", MaxSteps: 12, ContextTokens: 128000, IdleTimeout: time.Minute},
		Limits: Limits{
			ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute, RetryDelay: time.Second, MaxChars: 4000, BatchChars: 200000,
			ConfirmationTTL: time.Hour, RunTimeout: 10 * time.Minute, MessageChars: 20000, RunsPerUser: 4,
		},
		Artifacts: Artifacts{
			Mode: "auto", MaxRows: 100000, MaxBytes: 100 * MB, MaxDuration: time.Minute,
			ConversationQuota: 500 * MB, UserQuota: 2 * GB, TotalQuota: 20 * GB, TTL: 24 * time.Hour,
		},
		References: References{Enabled: true, InlineMax: 20},
		Web:        Web{Enabled: true, Languages: []string{"en", "ru"}},
		Telemetry:  Telemetry{Metrics: true, LogLevel: "info", LogFormat: "json"},
	}
}

// demo is what demo starts from: three Supersets that it serves itself.
func demo() Config {
	c := defaults()
	for _, e := range [][2]string{{"dev", "Development"}, {"staging", "Staging"}, {"prod", "Production"}} {
		c.Environments = append(c.Environments, Environment{
			ID: "ss-" + e[0], Title: e[1], Class: e[0], BaseURL: MockScheme + "://" + e[0], Auth: EnvAuth{Mode: Service, Provider: "db"},
		})
	}
	return c
}
