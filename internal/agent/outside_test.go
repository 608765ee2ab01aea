package agent_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/tool"
)

// outside is a set of tools that comes and goes, as that of MCP servers.
type outside struct{ now atomic.Pointer[[]tool.Tool] }

func (o *outside) set(ts ...tool.Tool) { o.now.Store(&ts) }

func (o *outside) tools() []tool.Tool { return *o.now.Load() }

func away(name string, run func()) tool.Tool {
	return tool.Tool{Name: name, Risk: tool.Write, Bind: func(tool.Call) (tool.Bound, error) {
		return tool.Bound{Risk: tool.Write, Verify: "Ask the shop.", Run: func(context.Context) (tool.Result, error) {
			run()
			return tool.Result{Summary: name + " done"}, nil
		}}, nil
	}}
}

func withOutside(t *testing.T, log agent.Store, m agent.Model, p agent.Policy, more *outside, own ...tool.Tool) *agent.Service {
	t.Helper()
	set, err := tool.NewSet(own...)
	if err != nil {
		t.Fatal(err)
	}
	return agent.New(agent.Options{
		Store: log, Model: m, Policy: p, Gate: gate{}, Tools: set, More: more.tools, Limits: agent.Limits{RetryDelay: time.Millisecond},
		Environments: []agent.Environment{{ID: "ss-dev", Class: "dev"}},
	})
}

// TestToolsThatComeAndGo: what came after the filter first ran is filtered too, at the next step.
func TestToolsThatComeAndGo(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	more := &outside{}
	more.set()
	offered := func(p chat.Prompt) string {
		var out []string
		for _, x := range p.Tools {
			out = append(out, x.Name)
		}
		return strings.Join(out, " ")
	}
	var seen []string
	m := &model{script: func(_ context.Context, n int, p chat.Prompt, _ func(chat.Delta) error) (chat.Completion, error) {
		seen = append(seen, offered(p))
		switch n {
		case 1: // two come, one of which the role may not use, and one has a name that a provider would refuse
			more.set(s.tool("mcp__shop__rows", tool.Read), s.tool("mcp__shop__secret", tool.Read), away("größe", func() {}), away("get_dashboard", func() {}))
			return calls("get_dashboard", `{"dashboard":"1"}`), nil
		case 2:
			return calls("mcp__shop__rows", `{"dashboard":"1"}`, "mcp__shop__secret", `{"dashboard":"1"}`), nil
		case 3: // it goes after it was offered
			more.set()
			return calls("mcp__shop__rows", `{"dashboard":"2"}`), nil
		}
		return text("Done."), nil
	}}
	log, err := eventlog.Open(t.Context(), eventlog.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	svc := withOutside(t, log, m, &rules{denied: map[string]bool{"mcp__shop__secret": true}}, more, s.tool("get_dashboard", tool.Read))
	e := &engine{work: svc.Work, ctx: t.Context()}
	svc.Attach(e)
	defer svc.Close()
	defer e.wg.Wait()
	c, err := log.CreateConversation(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, log: log, svc: svc, conv: c.ID, who: chat.Identity{User: "ann", Roles: []string{"Admin"}}}
	recs := w.say("Go")
	if want := []string{"get_dashboard", "get_dashboard mcp__shop__rows", "get_dashboard mcp__shop__rows", "get_dashboard"}; !slices.Equal(seen, want) {
		t.Errorf("offered %q, want %q", seen, want)
	}
	if got, want := types(recs), "tool_start tool_result tool_start tool_result denied:role tool_error:not_offered finished:answered"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if s.ran["mcp__shop__rows"] != 1 || s.ran["mcp__shop__secret"] != 0 || s.ran["get_dashboard"] != 1 {
		t.Errorf("ran %v", s.ran)
	}
}

// TestInterruptedWhileItsToolIsAway: the process dies during a write, and after the restart the tool's server is
// down. The write is unknown all the same, and never run again.
func TestInterruptedWhileItsToolIsAway(t *testing.T) {
	log, err := eventlog.Open(t.Context(), eventlog.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	d := &dying{Log: log}
	d.left.Store(1 << 30)
	ran := 0
	more := &outside{}
	more.set(away("mcp__shop__order", func() { ran++; d.left.Store(0) }))
	m := rounds(t, calls("mcp__shop__order", `{}`), text("I do not know."))
	died := make(chan error, 1)
	boot := func() *agent.Service {
		svc := withOutside(t, d, m, &rules{}, more)
		svc.Attach(starter(func(id string) error {
			go func() { died <- svc.Work(context.Background(), id) }()
			return nil
		}))
		return svc
	}
	svc := boot()
	who := chat.Identity{User: "ann", Roles: []string{"Admin"}}
	c, err := log.CreateConversation(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := svc.Message(t.Context(), who, c.ID, agent.MessageInput{Text: "Order", Env: "ss-dev"}); err != nil {
		t.Fatal(err)
	}
	if err := <-died; err != nil {
		t.Fatal(err)
	}
	cards, err := log.OpenConfirmations(t.Context(), c.ID)
	if err != nil || len(cards) != 1 {
		t.Fatalf("cards %v, %v", cards, err)
	}
	if _, err := svc.Decide(t.Context(), who, c.ID, cards[0].ID, agent.DecisionInput{Decision: "approve", ArgsDigest: cards[0].ArgsDigest}); err != nil {
		t.Fatal(err)
	}
	if err := <-died; err == nil {
		t.Fatal("the process did not die")
	}
	d.left.Store(1 << 30)
	more.set()
	if err := boot().Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-died; err != nil {
		t.Fatal(err)
	}
	recs, err := log.Read(t.Context(), c.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := types(recs), "timeout:restart:unknown:write=true:retry=false outcome:still_unknown finished:answered"; !strings.HasSuffix(got, want) {
		t.Errorf("events %s, want them to end %s", got, want)
	}
	if ran != 1 {
		t.Errorf("executed %d times", ran)
	}
}
