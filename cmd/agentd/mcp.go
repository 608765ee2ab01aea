package main

import (
	"context"
	"log/slog"
	"time"

	"agentd/internal/agent"
	"agentd/internal/artifact"
	"agentd/internal/config"
	"agentd/internal/mcpclient"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/prometheus/client_golang/prometheus"
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

// servers tells how each MCP server stands.
func (o *outside) servers() []agent.ServerStatus {
	out := []agent.ServerStatus{}
	for _, s := range o.client.Status() {
		out = append(out, agent.ServerStatus{Name: s.Server, State: s.State()})
	}
	return out
}

// diagnostics adds to servers how many of their tools there are, and how many cannot be offered. Why stands in the log.
func (o *outside) diagnostics() any {
	type server struct {
		agent.ServerStatus
		Since   time.Time `json:"since"`
		Tools   int       `json:"tools"`
		LeftOut int       `json:"left_out"`
	}
	out := struct {
		Servers []server `json:"servers"`
	}{[]server{}}
	for _, s := range o.client.Status() {
		out.Servers = append(out.Servers, server{agent.ServerStatus{Name: s.Server, State: s.State()}, s.Since, s.Tools, len(s.Skipped)})
	}
	return out
}

// measure makes a gauge of each server: 1 while it is up.
func (o *outside) measure(r *prometheus.Registry) {
	for i, s := range o.client.Status() {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "agentd_mcp_server_up", Help: "1 while an MCP server answers, else 0.", ConstLabels: prometheus.Labels{"server": s.Server},
		}, func() float64 {
			if o.client.Status()[i].Up {
				return 1
			}
			return 0
		}))
	}
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
