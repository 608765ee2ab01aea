package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	uicontext "agentd/internal/context"
	"agentd/internal/eventlog"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a service on a real log, with tools and a model of the test's own.
type world struct {
	t    *testing.T
	dir  string // of the log
	log  *eventlog.Log
	svc  *agent.Service
	conv string
	who  chat.Identity
}

type rules struct{ denied map[string]bool }

func (p *rules) Allows(_ []string, class, name string) bool {
	return !p.denied[name] && !p.denied[class+"/"+name]
}
func (p *rules) Version() string { return "v1" }

type gate struct{}

func (gate) Limit(string) int { return 4000 }
func (gate) Batch(_ context.Context, _ []tool.Call, _ []tool.Result, r []agent.Bounded) []agent.Bounded {
	return r
}
func (gate) Words(text string, limit int) string {
	return offload.New(nil, offload.Options{}).Words(text, limit)
}
func (gate) Bound(_ context.Context, _ tool.Call, r tool.Result) agent.Bounded {
	return agent.Bounded{Text: r.Summary, Summary: r.Summary}
}

// engine works on a run in a goroutine of its own, as the durable one does, without being durable.
type engine struct {
	work func(context.Context, string) error
	wg   sync.WaitGroup
	ctx  context.Context
}

func (e *engine) Start(_ context.Context, id string) error {
	e.wg.Go(func() { _ = e.work(e.ctx, id) })
	return nil
}

// model answers with what script returns for its nth call.
type model struct {
	mu      sync.Mutex
	n       int
	prompts []chat.Prompt
	script  func(ctx context.Context, n int, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error)
}

func (m *model) Generate(ctx context.Context, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
	m.mu.Lock()
	m.n++
	n := m.n
	m.prompts = append(m.prompts, p)
	m.mu.Unlock()
	return m.script(ctx, n, p, sink)
}

func text(s string) chat.Completion { return chat.Completion{Text: s, Finish: chat.FinishStop} }

func calls(pairs ...string) chat.Completion {
	c := chat.Completion{Finish: chat.FinishCalls}
	for i := 0; i < len(pairs); i += 2 {
		c.Calls = append(c.Calls, chat.ToolCall{ID: "same", Name: pairs[i], Args: json.RawMessage(pairs[i+1])})
	}
	return c
}

// rounds plays completions in order and fails the test when the model is asked once more.
func rounds(t *testing.T, cs ...chat.Completion) *model {
	return &model{script: func(_ context.Context, n int, _ chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
		if n > len(cs) {
			t.Errorf("the model was asked %d times, the script has %d rounds", n, len(cs))
			return text("over"), nil
		}
		if s := cs[n-1].Text; s != "" {
			if err := sink(chat.Delta{Text: s}); err != nil {
				return chat.Completion{}, err
			}
		}
		return cs[n-1], nil
	}}
}

func newWorld(t *testing.T, m agent.Model, p agent.Policy, limits agent.Limits, tools ...tool.Tool) *world {
	t.Helper()
	return newWorldWith(t, m, p, limits, gate{}, tools...)
}

func newWorldWith(t *testing.T, m agent.Model, p agent.Policy, limits agent.Limits, g agent.Gate, tools ...tool.Tool) *world {
	t.Helper()
	return newWorldOf(t, agent.Options{Model: m, Policy: p, Limits: limits, Gate: g}, tools...)
}

// newWorldOf completes o.
func newWorldOf(t *testing.T, o agent.Options, tools ...tool.Tool) *world {
	t.Helper()
	var svc *agent.Service
	dir := t.TempDir()
	log, err := eventlog.Open(t.Context(), eventlog.Options{Dir: dir, OnCancel: func(id string) { svc.Stop(id) }})
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(tools...)
	if err != nil {
		t.Fatal(err)
	}
	if o.Limits.RetryDelay == 0 {
		o.Limits.RetryDelay = time.Millisecond
	}
	o.Store, o.Tools = log, set
	o.Environments = []agent.Environment{{ID: "ss-dev", Class: "dev"}, {ID: "ss-prod", Class: "prod"}}
	svc = agent.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	e := &engine{work: svc.Work, ctx: ctx}
	svc.Attach(e)
	t.Cleanup(func() {
		cancel()
		e.wg.Wait()
		svc.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, dir: dir, log: log, svc: svc, who: chat.Identity{User: "ann", Roles: []string{"Admin"}}}
	c, err := log.CreateConversation(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	w.conv = c.ID
	return w
}

// say sends a message and waits for the end of its run.
func (w *world) say(text string) []chat.Record {
	w.t.Helper()
	a, err := w.svc.Message(w.t.Context(), w.who, w.conv, agent.MessageInput{Text: text, Env: "ss-dev"})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.wait(a.RunID)
}

// wait returns the records of a run when it has ended.
func (w *world) wait(run string) []chat.Record {
	w.t.Helper()
	for {
		changed := w.log.Changed(w.conv)
		r, err := w.log.Run(w.t.Context(), run)
		if err != nil {
			w.t.Fatal(err)
		}
		if r.Ended {
			break
		}
		<-changed
	}
	recs, err := w.log.Read(w.t.Context(), w.conv, 0, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []chat.Record
	for _, r := range recs {
		if r.RunID == run {
			out = append(out, r)
		}
	}
	return out
}

// types are the records' types without what the model says.
func types(recs []chat.Record) string {
	s := ""
	for _, r := range recs {
		switch ev := r.Event.(type) {
		case *chat.TextDelta, *chat.Usage, *chat.MessageEvent, *chat.RunStarted:
			continue
		case *chat.RunFinished:
			s += " finished:" + ev.Outcome
		case *chat.RunError:
			s += " error:" + ev.Code
		case *chat.ToolError:
			s += " tool_error:" + ev.Class
		case *chat.PermissionDenied:
			s += " denied:" + ev.Reason
		case *chat.ToolTimeout:
			s += fmt.Sprintf(" timeout:%s:%s:write=%v:retry=%v", ev.Cause, ev.Outcome, ev.IsWriteTool, ev.Retryable)
		case *chat.ToolOutcome:
			s += " outcome:" + ev.Outcome
		case *chat.ConfirmResolved:
			s += " resolved:" + ev.Decision
		default:
			s += " " + r.Event.Type()
		}
	}
	if s == "" {
		return s
	}
	return s[1:]
}

// answersOnce checks that in the last prompt every call is answered exactly once, right after its step.
func answersOnce(t *testing.T, p chat.Prompt) {
	t.Helper()
	var open []string
	seen := map[string]bool{}
	for _, m := range p.Messages {
		switch m := m.(type) {
		case chat.ToolResult:
			if len(open) == 0 || open[0] != m.CallID {
				t.Fatalf("a result for %q, open are %v", m.CallID, open)
			}
			open = open[1:]
		case chat.AssistantMessage:
			if len(open) > 0 {
				t.Fatalf("calls without a result: %v", open)
			}
			for _, c := range m.Calls {
				if seen[c.ID] {
					t.Fatalf("the call id %q is used twice", c.ID)
				}
				seen[c.ID] = true
				open = append(open, c.ID)
			}
		default:
			if len(open) > 0 {
				t.Fatalf("calls without a result: %v", open)
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls without a result: %v", open)
	}
}

func viewOf(typ, id string) uicontext.View { return uicontext.View{ObjectType: typ, ObjectID: id} }
