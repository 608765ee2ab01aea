package main

import (
	"context"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/config"
	"agentd/internal/offload"
	"agentd/internal/superset"
	"agentd/internal/supersettools"
	"agentd/internal/tool"
)

// bounds gives the agent what the gate makes of results.
type bounds struct{ gate *offload.Gate }

func (b bounds) Limit(tool string) int { return b.gate.Limit(tool) }

func (b bounds) Words(text string, limit int) string { return b.gate.Words(text, limit) }

func (b bounds) Bound(ctx context.Context, c tool.Call, r tool.Result) agent.Bounded {
	return agent.Bounded(b.gate.Bound(ctx, c, r))
}

func (b bounds) Batch(ctx context.Context, calls []tool.Call, raw []tool.Result, results []agent.Bounded) []agent.Bounded {
	in := make([]offload.Bounded, len(results))
	for i, r := range results {
		in[i] = offload.Bounded(r)
	}
	out := make([]agent.Bounded, len(results))
	for i, r := range b.gate.Batch(ctx, calls, raw, in) {
		out[i] = agent.Bounded(r)
	}
	return out
}

// capabilities tells show_capabilities what the agent would offer. work is set once the agent is made.
type capabilities struct {
	envs *supersettools.Environments
	work *agent.Service
}

func (c *capabilities) Capabilities(ctx context.Context, call tool.Call) (supersettools.Offer, error) {
	got, err := c.work.Capabilities(ctx, call.Who, call.View, call.Env)
	if err != nil {
		return supersettools.Offer{}, err
	}
	out := supersettools.Offer{User: got.User, Roles: got.Roles}
	for _, e := range got.Environments {
		info := supersettools.EnvironmentInfo{ID: e.ID, Title: e.Title, Class: e.Class, Reachable: e.Reachable}
		if env, ok := c.envs.Find(e.ID); ok && !env.Client.ActsAsUser() {
			info.Note = "Superset is called by a service account: agentd's policy is the only gate."
		}
		out.Environments = append(out.Environments, info)
	}
	for _, s := range got.Servers {
		out.Servers = append(out.Servers, supersettools.ServerInfo(s))
	}
	for _, t := range got.Offered {
		out.Tools = append(out.Tools, supersettools.ToolInfo{Name: t.Name, Risk: tool.Risk(t.Risk)})
	}
	for _, h := range got.Hidden {
		out.Hidden = append(out.Hidden, supersettools.HiddenTool{Name: h.Name, Reason: h.Why})
	}
	return out, nil
}

// reachTimeout bounds the question whether a Superset answers; a page waits for it.
const reachTimeout = 2 * time.Second

// reachable asks a Superset for its health, which needs no identity.
func reachable(envs *supersettools.Environments) func(context.Context, string) bool {
	return func(ctx context.Context, id string) bool {
		e, ok := envs.Find(id)
		if !ok {
			return false
		}
		ctx, cancel := context.WithTimeout(ctx, reachTimeout)
		defer cancel()
		return e.Client.Healthy(ctx) == nil
	}
}

func configured(cfg config.Config) []agent.Environment {
	out := make([]agent.Environment, len(cfg.Environments))
	for i, e := range cfg.Environments {
		out[i] = agent.Environment{ID: e.ID, Title: e.Title, Class: e.Class}
	}
	return out
}

func limits(cfg config.Config) agent.Limits {
	l := cfg.Limits
	return agent.Limits{
		ReadTimeout: l.ReadTimeout, WriteTimeout: l.WriteTimeout, RetryDelay: l.RetryDelay, RunTimeout: l.RunTimeout,
		ConfirmationTTL: l.ConfirmationTTL, MaxSteps: cfg.LLM.MaxSteps, MessageChars: l.MessageChars, RunsPerUser: l.RunsPerUser, BatchChars: l.BatchChars,
	}
}

func quota(cfg config.Config) chat.ArtifactQuota {
	return chat.ArtifactQuota{Conversation: int64(cfg.Artifacts.ConversationQuota), User: int64(cfg.Artifacts.UserQuota), Total: int64(cfg.Artifacts.TotalQuota)}
}

// rowCaps keeps of a statement's rows what a stored result may hold.
func rowCaps(cfg config.Config) superset.SQLCaps {
	return superset.SQLCaps{Rows: int64(cfg.Artifacts.MaxRows), Bytes: int64(cfg.Artifacts.MaxBytes), Time: cfg.Artifacts.MaxDuration}
}

func toolNames(s tool.Set) []string {
	var out []string
	for _, t := range s.All() {
		out = append(out, t.Name)
	}
	return out
}

func modelName(cfg config.Config) string {
	if cfg.LLM.Provider == config.Offline {
		return config.Offline
	}
	return cfg.LLM.Provider + " " + cfg.LLM.Model
}
