package supersettools_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"agentd/internal/chat"
	"agentd/internal/supersettools"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

type offer supersettools.Offer

func (o offer) Capabilities(context.Context, tool.Call) (supersettools.Offer, error) {
	return supersettools.Offer(o), nil
}

// TestServersThatAreMissing: a model that needs a tool is told why it may be missing, in the sentence and in the data.
func TestServersThatAreMissing(t *testing.T) {
	for _, row := range []struct {
		servers []supersettools.ServerInfo
		away    string
	}{
		{nil, ""},
		{[]supersettools.ServerInfo{{Name: "shop", State: "up"}}, ""},
		{[]supersettools.ServerInfo{{Name: "shop", State: "down"}, {Name: "depot", State: "up"}, {Name: "weather", State: "starting"}}, "shop, weather"},
	} {
		o := offer{User: "ann", Servers: row.servers, Tools: []supersettools.ToolInfo{{Name: "a", Risk: tool.Read}}}
		tools, err := tool.NewSet(supersettools.New(supersettools.Deps{Capabilities: o})...)
		if err != nil {
			t.Fatal(err)
		}
		shows, _ := tools.Find("show_capabilities")
		b, err := shows.Bind(tool.Call{ToolCall: chat.ToolCall{Args: json.RawMessage(`{}`)}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var data struct {
			Servers []supersettools.ServerInfo `json:"mcp_servers"`
		}
		if err := json.Unmarshal(got.Data, &data); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(row.servers, data.Servers); diff != "" {
			t.Errorf("servers (-want +got):\n%s", diff)
		}
		if !strings.HasPrefix(got.Summary, "ann can use 1 tool here; 0 are not offered.") || strings.Contains(got.Summary, "missing") != (row.away != "") || !strings.Contains(got.Summary, row.away) {
			t.Errorf("summary %q", got.Summary)
		}
	}
}
