package main

import (
	"context"
	"log/slog"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/config"
	"agentd/internal/mcpclient"
	"agentd/internal/offload"
	"agentd/internal/tool"
)

// outside are the tools of the configured MCP servers, and the references in calls of them.
type outside struct {
	*offload.References // of our own tools; it shows those of any
	client              *mcpclient.Client
	store               *artifact.Store
	o                   offload.ReferenceOptions
}

func openOutside(ctx context.Context, cfg config.Config, log *slog.Logger) (*mcpclient.Client, error) {
	var servers []mcpclient.Server
	for _, m := range cfg.MCPServers {
		s := mcpclient.Server{Name: m.Name, URL: m.URL, Headers: map[string]string{}, Tools: map[string]mcpclient.ToolConfig{}}
		for header, env := range m.HeadersEnv {
			v, err := cfg.Secret(env, "").Value()
			if err != nil {
				return nil, err
			}
			s.Headers[header] = v
		}
		for name, t := range m.Tools {
			s.Tools[name] = mcpclient.ToolConfig{Risk: tool.Risk(t.Risk), Affinity: t.Affinity, NoReferences: t.References != nil && !*t.References}
		}
		servers = append(servers, s)
	}
	return mcpclient.Open(ctx, servers, mcpclient.Options{Version: version, Referable: offload.Referable, Logger: log}), nil
}

// Resolve is asked once for each call, so what a tool takes is read of the tool as it is now.
func (o *outside) Resolve(ctx context.Context, c tool.Call) (tool.Call, error) {
	for _, t := range o.client.Tools() {
		if t.Name != c.Name {
			continue
		}
		refs, err := offload.NewReferences(o.store, []tool.Tool{t}, o.o)
		if err != nil {
			return c, err
		}
		return refs.Resolve(ctx, c)
	}
	return o.References.Resolve(ctx, c)
}

// firstTry is how long the start waits for MCP servers. One that takes longer brings its tools when it can.
const firstTry = 3 * time.Second

// settle lets runs that go on find the tools that they were using.
func (o *outside) settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, firstTry)
	defer cancel()
	o.client.Settle(ctx)
}

// outsideNames are those that the configuration tells before any server was asked, so that a policy may name them.
func outsideNames(cfg config.Config) []string {
	var out []string
	for _, m := range cfg.MCPServers {
		for name := range m.Tools {
			out = append(out, mcpclient.Name(m.Name, name))
		}
	}
	return out
}
