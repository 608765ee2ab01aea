package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"agentd/internal/chat"
)

var idPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// complete fills what follows from other keys.
func complete(c *Config) {
	for i := range c.Environments {
		e := &c.Environments[i]
		if e.Title == "" {
			e.Title = e.ID
		}
		if e.PublicURL == "" && !strings.HasPrefix(e.BaseURL, MockScheme+":") {
			e.PublicURL = e.BaseURL
		}
		if e.Auth.Mode == "" {
			e.Auth.Mode = Service
		}
		if e.Auth.Provider == "" {
			e.Auth.Provider = "db"
		}
		class, understood := chat.Class(e.Class)
		if !understood {
			c.warn("environments[%d].class: %q of %s is not understood, so it counts as prod; write prod, staging or dev", i, e.Class, e.ID)
		}
		e.Class = class
	}
	if c.Auth.Superset.Environment == "" && len(c.Environments) == 1 {
		c.Auth.Superset.Environment = c.Environments[0].ID
	}
}

func checkEnvironments(c *Config, demo bool, bad *problems) {
	if len(c.Environments) == 0 {
		c.warn("environments: there is none, so no Superset can be asked")
	}
	seen := map[string]int{}
	for i, e := range c.Environments {
		key := func(k string) string { return fmt.Sprintf("environments[%d].%s", i, k) }
		if !idPattern.MatchString(e.ID) {
			bad.add(key("id"), "", "must be a short name of letters, digits, . _ and -, for example ss-prod")
		} else if first, dup := seen[e.ID]; dup {
			bad.add(key("id"), "", fmt.Sprintf("is %q, which environments[%d] has already", e.ID, first))
		}
		if _, dup := seen[e.ID]; !dup {
			seen[e.ID] = i
		}
		mock := demo && strings.HasPrefix(e.BaseURL, MockScheme+"://")
		if !mock {
			address(bad, key("base_url"), e.BaseURL)
		}
		if e.PublicURL != "" && e.PublicURL != e.BaseURL {
			address(bad, key("public_url"), e.PublicURL)
		}
		oneOf(bad, key("auth.mode"), e.Auth.Mode, Service, ForwardCookie, ForwardToken)
		password := e.Auth.PasswordEnv != "" || e.Auth.PasswordFile != ""
		apiKey := e.Auth.APIKeyEnv != "" || e.Auth.APIKeyFile != ""
		switch {
		case password && apiKey:
			bad.add(key("auth"), "", "must have a password or an API key, not both")
		case password && e.Auth.Username == "":
			bad.add(key("auth.username"), "", "must be set with a password")
		case e.Auth.Mode == Service && !password && !apiKey && !mock:
			bad.add(key("auth"), "", "must have username and password_env (or password_file), or api_key_env (or api_key_file), with mode service")
		}
	}
}

func checkMCP(c *Config, bad *problems) {
	seen := map[string]bool{}
	for i, m := range c.MCPServers {
		key := func(k string) string { return fmt.Sprintf("mcp_servers[%d].%s", i, k) }
		if !idPattern.MatchString(m.Name) {
			bad.add(key("name"), "", "must be a short name of letters, digits, . _ and -")
		} else if seen[m.Name] {
			bad.add(key("name"), "", fmt.Sprintf("is %q, which another server has already", m.Name))
		}
		seen[m.Name] = true
		address(bad, key("url"), m.URL)
		for _, header := range slices.Sorted(maps.Keys(m.HeadersEnv)) {
			switch {
			case !headerPattern.MatchString(header):
				bad.add(key("headers_env."+header), "", "must be the name of an HTTP header, as Authorization")
			case slices.ContainsFunc(protocolHeaders, func(p string) bool { return strings.HasPrefix(strings.ToLower(header), p) }):
				bad.add(key("headers_env."+header), "", "is set by the protocol and must be left out")
			case m.HeadersEnv[header] == "":
				bad.add(key("headers_env."+header), "", "must name an environment variable")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(m.Tools)) {
			t := m.Tools[name]
			if t.Risk != "" {
				oneOf(bad, key("tools."+name+".risk"), t.Risk, "read", "query", "write", "dangerous")
			}
			for j, page := range t.Affinity {
				oneOf(bad, key(fmt.Sprintf("tools.%s.affinity[%d]", name, j)), page, "dashboard", "chart", "dataset", "migration")
			}
		}
	}
}

// headerPattern is a token of HTTP.
var headerPattern = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// protocolHeaders begin the names of headers, in small letters, that the client of a server sets itself.
var protocolHeaders = []string{"accept", "connection", "content-", "host", "last-event-id", "mcp-", "transfer-encoding"}
