// Package arch holds the rules about who may import whom. Its test reads the imports of the module against them.
package arch

import "strings"

// module is the path before each of our packages.
const module = "agentd/"

// layers maps a package → its layer. Imports go down only. A package below one of these, as internal/llm/offline,
// belongs to it. Whatever is not here has no place, and the test says so.
var layers = map[string]int{
	"cmd/agentd": 4,
	"web":        4,

	"internal/httpapi":   3,
	"internal/agui":      3,
	"internal/mcpserver": 3,

	"internal/agent":         2,
	"internal/offload":       2,
	"internal/supersettools": 2,

	"internal/tool":         1,
	"internal/toolfilter":   1,
	"internal/policy":       1,
	"internal/guardrails":   1,
	"internal/confirm":      1,
	"internal/retry":        1,
	"internal/summarise":    1,
	"internal/artifact":     1,
	"internal/eventlog":     1,
	"internal/durable":      1,
	"internal/sse":          1,
	"internal/llm":          1,
	"internal/auth":         1,
	"internal/superset":     1,
	"internal/mocksuperset": 1,
	"internal/sqlguard":     1,
	"internal/bundle":       1,
	"internal/mcpclient":    1,

	"internal/fault":   0,
	"internal/chat":    0,
	"internal/context": 0,
	"internal/config":  0,

	"internal/arch":   0,
	"internal/pgtest": 0,
}

// support reports whether a package is for tests only, as its name says: eventlogtest, pgtest. Only tests and other
// such packages import it, and only such packages import testing.
func support(pkg string) bool { return strings.HasSuffix(pkg, "test") }

// announced are packages of the table that need not be there yet.
var announced = []string{"internal/agui", "internal/mcpserver", "internal/mcpclient", "internal/sqlguard", "internal/offload", "internal/artifact"}

// beside are the imports within one layer that are allowed: the words build on one another, and many speak in tool.
var beside = map[string][]string{
	"internal/fault":   {"internal/chat", "internal/context", "internal/config"},
	"internal/context": {"internal/chat", "internal/config"},
	"internal/chat":    {"internal/config"},
	"internal/tool": {
		"internal/toolfilter", "internal/guardrails", "internal/confirm", "internal/mcpclient", "internal/policy", "internal/summarise",
	},
	"web": {"cmd/agentd"},
}

// never are imports that the layers would allow and the design does not, with the reason.
var never = []struct{ from, to, why string }{
	{"internal/agent", "internal/eventlog", adapter}, {"internal/agent", "internal/durable", adapter}, {"internal/agent", "internal/sse", adapter},
	{"internal/agent", "internal/llm", adapter}, {"internal/agent", "internal/superset", adapter}, {"internal/agent", "internal/artifact", adapter},
	{"internal/agent", "internal/auth", adapter}, {"internal/agent", "internal/policy", adapter}, {"internal/agent", "internal/mcpclient", adapter},
	{"internal/agent", "internal/mocksuperset", adapter}, {"internal/supersettools", "internal/mocksuperset", adapter},
	{"internal/httpapi", "internal/mocksuperset", adapter},
	{"internal/sqlguard", "internal/chat", pure}, {"internal/sqlguard", "internal/context", pure}, {"internal/sqlguard", "internal/config", pure},
}

const (
	adapter = "it declares what it needs, and cmd/agentd wires"
	pure    = "it is pure and knows of faults only"
)

// homes maps a library → the packages that may import it. cmd/agentd is among them only where it is named.
var homes = map[string][]string{
	"github.com/labstack/echo":              {"internal/httpapi"},
	"github.com/casbin/casbin":              {"internal/policy"},
	"github.com/fsnotify/fsnotify":          {"internal/policy"},
	"github.com/r3labs/sse":                 {"internal/sse"},
	"github.com/tmc/langchaingo":            {"internal/llm"},
	"github.com/anthropics":                 {"internal/llm"},
	"github.com/dbos-inc":                   {"internal/durable"},
	"github.com/pressly/goose":              {"internal/eventlog"},
	"modernc.org/sqlite":                    {"internal/eventlog", "internal/durable", "internal/mocksuperset"},
	"github.com/jackc/pgx":                  {"internal/eventlog", "internal/durable", "internal/mocksuperset"},
	"database/sql":                          {"internal/eventlog", "internal/durable", "internal/mocksuperset"},
	"gocloud.dev":                           {"internal/artifact"},
	"github.com/aws/aws-sdk-go-v2":          {"internal/artifact"},
	"github.com/knadh/koanf":                {"internal/config"},
	"github.com/go-viper/mapstructure":      {"internal/config"},
	"github.com/alecthomas/kong":            {"internal/config", "cmd/agentd"},
	"github.com/golang-jwt/jwt":             {"internal/auth"},
	"github.com/MicahParks":                 {"internal/auth"},
	"github.com/invopop/jsonschema":         {"internal/tool"},
	"github.com/santhosh-tekuri/jsonschema": {"internal/tool"},
	"github.com/clipperhouse/uax29":         {"internal/summarise"},
	"github.com/modelcontextprotocol":       {"internal/mcpclient", "internal/mcpserver"},
}

// family is the package of the table that pkg belongs to, or "" when it has no place.
func family(pkg string) string {
	for p := pkg; p != "."; {
		if _, ok := layers[p]; ok {
			return p
		}
		i := strings.LastIndexByte(p, '/')
		if i < 0 {
			return ""
		}
		p = p[:i]
	}
	return ""
}
