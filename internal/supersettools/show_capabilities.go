package supersettools

import (
	"context"
	"fmt"
	"strings"

	"agentd/internal/tool"
)

// Capabilities tells what the person may do where. The parts that decide it are not the tools' to know.
type Capabilities interface {
	// Capabilities answers for the call's user, page and environment.
	Capabilities(ctx context.Context, c tool.Call) (Offer, error)
}

// An Offer is what a person can do at this moment.
type Offer struct {
	User         string            `json:"user"`
	Roles        []string          `json:"roles"`
	Environments []EnvironmentInfo `json:"environments"`
	Servers      []ServerInfo      `json:"mcp_servers,omitempty"` // where more tools come from
	Tools        []ToolInfo        `json:"tools"`                 // offered now
	Hidden       []HiddenTool      `json:"hidden"`                // not offered, and why
}

// An EnvironmentInfo is one environment as people are told of it.
type EnvironmentInfo struct {
	ID        string `json:"id"`
	Title     string `json:"title"`
	Class     string `json:"class"`
	Reachable bool   `json:"reachable"`
	Version   string `json:"version,omitempty"` // of Superset
	ActsAs    string `json:"acts_as,omitempty"` // the service account, where calls are not made as the user
	Note      string `json:"note,omitempty"`
}

// A ServerInfo is an MCP server. The tools of one that is not up are missing from both lists.
type ServerInfo struct {
	Name  string `json:"name"`
	State string `json:"state"` // up, down, starting
}

// A ToolInfo is a tool that is offered.
type ToolInfo struct {
	Name string    `json:"name"`
	Risk tool.Risk `json:"risk"`
}

// A HiddenTool is one that is not.
type HiddenTool struct {
	Name   string `json:"name"`
	Reason string `json:"reason"` // role, page, operator, breaker, unbuilt
}

type showCapabilitiesArgs struct {
	EnvID string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
}

func showCapabilities(d Deps) tool.Tool {
	t := tool.New(tool.Tool{Name: "show_capabilities", Description: text("show_capabilities"), Risk: tool.Read, Always: true},
		func(c tool.Call, _ showCapabilitiesArgs) (tool.Bound, error) {
			return tool.Bound{Risk: tool.Read, Run: func(ctx context.Context) (tool.Result, error) {
				o, err := d.Capabilities.Capabilities(ctx, c)
				if err != nil {
					return tool.Result{}, err
				}
				return tool.Result{
					Summary: fmt.Sprintf("%s can use %s here; %d are not offered.%s", o.User, count(len(o.Tools), "tool"), len(o.Hidden), away(o.Servers)),
					Data:    object(o),
				}, nil
			}}, nil
		})
	return t
}

// away names the servers whose tools are missing, after a space.
func away(servers []ServerInfo) string {
	var names []string
	for _, s := range servers {
		if s.State != "up" {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " Tools of these MCP servers are missing, since they do not answer: " + strings.Join(names, ", ") + "."
}
