package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

type args struct {
	Dashboard string `json:"dashboard" jsonschema:"required,description=id"`
	DryRun    bool   `json:"dry_run,omitempty"`
	Env       string `json:"env_id,omitempty"`
}

// shelf is a set of tools that do what a row of the test wants, and counts what ran.
type shelf struct {
	ran      map[string]int
	run      func(ctx context.Context, n int) error // of every tool
	readBack func() (tool.Outcome, error)
	print    func() string // fingerprint of the object
	preview  func() error
}

func (s *shelf) tool(name string, risk tool.Risk) tool.Tool {
	return tool.New(tool.Tool{Name: name, Risk: risk, NeedsEnv: true, Perms: []string{"can_x on Dashboard"}}, func(_ tool.Call, in args) (tool.Bound, error) {
		b := tool.Bound{Risk: risk, Verify: "Open the dashboard.", Run: func(ctx context.Context) (tool.Result, error) {
			s.ran[name]++
			if s.run != nil {
				if err := s.run(ctx, s.ran[name]); err != nil {
					return tool.Result{}, err
				}
			}
			return tool.Result{Summary: name + " done"}, nil
		}}
		if risk.Writes() {
			if in.DryRun {
				b.Risk = tool.Read
			}
			b.Preview = func(context.Context) (tool.Preview, error) {
				p := tool.Preview{}
				if s.print != nil {
					p.Fingerprint = s.print()
				}
				if s.preview != nil {
					return p, s.preview()
				}
				return p, nil
			}
			if s.readBack != nil {
				b.ReadBack = func(context.Context, tool.Preview) (tool.Outcome, error) { return s.readBack() }
			}
		}
		return b, nil
	})
}

func status(k fault.Kind, code int) error {
	return &fault.Error{Kind: k, Msg: "Superset said so.", Status: code}
}

func hang(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }

// TestCallExits has one row for each way that a call can end. In every row the call has exactly one answer and the
// run exactly one terminal event.
func TestCallExits(t *testing.T) {
	for _, tt := range []struct {
		name    string
		call    string
		args    string
		denied  string
		run     func(context.Context, int) error
		back    func() (tool.Outcome, error)
		preview func() error
		want    string
		ran     int
		model   string // part of what the model reads
	}{
		{name: "a read runs", call: "get_dashboard", args: `{"dashboard":"1"}`, want: "tool_start tool_result finished:answered", ran: 1, model: "done"},
		{name: "a read is tried twice", call: "get_dashboard", args: `{"dashboard":"1"}`, want: "tool_start tool_retry tool_result finished:answered", ran: 2,
			run: func(_ context.Context, n int) error {
				if n == 1 {
					return status(fault.Transient, 503)
				}
				return nil
			}},
		{name: "and not three times", call: "get_dashboard", args: `{"dashboard":"1"}`, want: "tool_start tool_retry tool_error:transient finished:answered", ran: 2,
			run: func(context.Context, int) error { return status(fault.Transient, 503) }, model: `"status":"transient"`},
		{name: "a read that times out", call: "get_dashboard", args: `{"dashboard":"1"}`, want: "tool_start timeout:timeout:none:write=false:retry=true finished:answered", ran: 1, run: hang},
		{name: "a query is never retried", call: "run_sql", args: `{"dashboard":"1"}`, want: "tool_start tool_error:transient finished:answered", ran: 1,
			run: func(context.Context, int) error { return status(fault.Transient, 503) }},
		{name: "500 is not retried", call: "get_dashboard", args: `{"dashboard":"1"}`, want: "tool_start tool_error:internal finished:answered", ran: 1,
			run: func(context.Context, int) error { return status(fault.Internal, 500) }, model: "Superset said so"},
		{name: "missing", call: "get_dashboard", args: `{"dashboard":"9"}`, want: "tool_start tool_error:missing finished:answered", ran: 1,
			run: func(context.Context, int) error { return status(fault.Missing, 404) }},
		{name: "Superset's 403", call: "get_dashboard", args: `{"dashboard":"9"}`, want: "tool_start denied:superset finished:answered", ran: 1,
			run: func(context.Context, int) error { return status(fault.Denied, 403) }},
		{name: "a session that is gone ends the run", call: "get_dashboard", args: `{"dashboard":"1"}`, want: "tool_start tool_error:auth error:sign_in_again", ran: 1,
			run: func(context.Context, int) error {
				return &fault.Error{Kind: fault.Auth, Code: "sign_in_again", Msg: "Sign in again."}
			}},
		{name: "a mismatch", call: "get_dashboard", args: `{"dashboard":"9"}`, want: "tool_start tool_error:mismatch finished:answered", ran: 1,
			run: func(context.Context, int) error { return status(fault.Mismatch, 200) }},
		{name: "a panic", call: "get_dashboard", args: `{"dashboard":"9"}`, want: "tool_start tool_error:internal finished:answered", ran: 1,
			run: func(context.Context, int) error { panic("secret") }, model: "Internal error"},
		{name: "the detail of a bug stays in the log", call: "get_dashboard", args: `{"dashboard":"9"}`, want: "tool_start tool_error:internal finished:answered", ran: 1,
			run: func(context.Context, int) error { return errors.New("password=hunter2") }, model: "Internal error"},
		{name: "arguments that do not fit", call: "get_dashboard", args: `{"dash":"1"}`, want: "tool_error:invalid finished:answered", model: "dash"},
		{name: "arguments that are no JSON", call: "get_dashboard", args: `{"dashboard":`, want: "tool_error:invalid finished:answered", model: "not a JSON object"},
		{name: "an environment that is not there", call: "get_dashboard", args: `{"dashboard":"1","env_id":"ss-qa"}`, want: "tool_error:invalid finished:answered", model: "ss-qa"},
		{name: "no such tool", call: "get_dashbord", args: `{}`, want: "tool_error:unknown_tool finished:answered", model: "get_dashboard"},
		{name: "a tool that the page leaves out", call: "search_datasets", args: `{"dashboard":"1"}`, want: "tool_error:not_offered finished:answered"},
		{name: "a tool that is not built", call: "check_dashboard", args: `{}`, want: "tool_error:not_offered finished:answered"},
		{name: "a tool that the role may not use", call: "delete_dashboard", denied: "delete_dashboard", args: `{"dashboard":"1"}`, want: "denied:role finished:answered", model: `"status":"denied"`},
		{name: "denied in this environment only", call: "update_dashboard", denied: "prod/update_dashboard", args: `{"dashboard":"1","env_id":"ss-prod"}`, want: "denied:role finished:answered"},
		{name: "a write asks", call: "update_dashboard", args: `{"dashboard":"1"}`, want: "confirm_required finished:awaiting_confirmation"},
		{name: "its dry run does not", call: "update_dashboard", args: `{"dashboard":"1","dry_run":true}`, want: "tool_start tool_result finished:answered", ran: 1},
		{name: "no card for what is not owned", call: "update_dashboard", args: `{"dashboard":"1"}`, want: "denied:ownership finished:answered",
			preview: func() error {
				return &fault.Error{Kind: fault.Denied, Code: "ownership", Msg: "You do not own it."}
			}},
		{name: "no card for what is missing", call: "delete_dashboard", args: `{"dashboard":"1"}`, want: "tool_error:missing finished:answered",
			preview: func() error { return status(fault.Missing, 404) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{ran: map[string]int{}, run: tt.run, readBack: tt.back, preview: tt.preview}
			m := rounds(t, calls(tt.call, tt.args), text("Done."))
			w := newWorld(t, m, &rules{map[string]bool{tt.denied: true}}, agent.Limits{ReadTimeout: 50 * time.Millisecond},
				s.tool("get_dashboard", tool.Read), s.tool("update_dashboard", tool.Write), s.tool("delete_dashboard", tool.Dangerous),
				s.tool("search_datasets", tool.Read), s.tool("run_sql", tool.Query), tool.Tool{Name: "check_dashboard", Risk: tool.Read, Unbuilt: true})
			in := agent.MessageInput{Text: "Do it", Env: "ss-dev"}
			if tt.call != "run_sql" {
				in.View.ObjectType, in.View.ObjectID = "dashboard", "1"
			}
			a, err := w.svc.Message(t.Context(), w.who, w.conv, in)
			if err != nil {
				t.Fatal(err)
			}
			if got := types(w.wait(a.RunID)); got != tt.want {
				t.Errorf("events:\n got %s\nwant %s", got, tt.want)
			}
			if s.ran[tt.call] != tt.ran {
				t.Errorf("ran %d times, want %d", s.ran[tt.call], tt.ran)
			}
			last := m.prompts[len(m.prompts)-1]
			answersOnce(t, last)
			if r, ok := last.Messages[len(last.Messages)-1].(chat.ToolResult); tt.model != "" && (!ok || !strings.Contains(r.Content, tt.model)) {
				t.Errorf("the model reads %v, want %q in it", r.Content, tt.model)
			}
			if b, _ := json.Marshal(last); strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "secret") {
				t.Error("the cause of an internal error reached the model")
			}
		})
	}
}

// TestUnknownWrite: a write whose outcome nobody knows is executed once, said to be unknown, and read back.
func TestUnknownWrite(t *testing.T) {
	found := func(o string) func() (tool.Outcome, error) {
		return func() (tool.Outcome, error) { return tool.Outcome{Outcome: o, Evidence: "The title is X."}, nil }
	}
	for _, tt := range []struct {
		name string
		run  func(context.Context, int) error
		back func() (tool.Outcome, error)
		want string
	}{
		{"timed out and applied", hang, found("applied"), "timeout:timeout:unknown:write=true:retry=false outcome:applied"},
		{"timed out and not applied", hang, found("not_applied"), "timeout:timeout:unknown:write=true:retry=false outcome:not_applied"},
		{"no way to read back", hang, nil, "timeout:timeout:unknown:write=true:retry=false outcome:still_unknown"},
		{"reading back fails too", hang, func() (tool.Outcome, error) { return tool.Outcome{}, status(fault.Transient, 503) }, "timeout:timeout:unknown:write=true:retry=false outcome:still_unknown"},
		{"connection lost", func(context.Context, int) error { return status(fault.Unknown, 0) }, found("applied"), "timeout:connection_lost:unknown:write=true:retry=false outcome:applied"},
		{"gateway", func(context.Context, int) error { return status(fault.Unknown, 504) }, found("applied"), "timeout:gateway:unknown:write=true:retry=false outcome:applied"},
		{"503 surely did nothing", func(context.Context, int) error { return status(fault.Transient, 503) }, nil, "tool_error:transient"},
		{"refused after the approval", func(context.Context, int) error { return status(fault.Denied, 403) }, nil, "denied:superset"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{ran: map[string]int{}, run: tt.run, readBack: tt.back}
			w := newWorld(t, rounds(t, calls("update_dashboard", `{"dashboard":"1"}`), text("Done.")), &rules{}, agent.Limits{WriteTimeout: 50 * time.Millisecond}, s.tool("update_dashboard", tool.Write))
			w.say("Rename it")
			got := types(w.wait(w.approve(0)))
			if want := "tool_start " + tt.want + " finished:answered"; got != want {
				t.Errorf("events:\n got %s\nwant %s", got, want)
			}
			if s.ran["update_dashboard"] != 1 {
				t.Errorf("executed %d times, want once", s.ran["update_dashboard"])
			}
		})
	}
}

// card is the nth pending confirmation.
func (w *world) card(n int) chat.Confirmation {
	w.t.Helper()
	cs, err := w.log.OpenConfirmations(w.t.Context(), w.conv)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(cs) <= n {
		w.t.Fatalf("%d open confirmations, want more than %d", len(cs), n)
	}
	return cs[n]
}

func (w *world) approve(n int) (run string) {
	w.t.Helper()
	return w.decide(w.card(n), agent.DecisionInput{Decision: "approve"})
}

func (w *world) decide(c chat.Confirmation, in agent.DecisionInput) (run string) {
	w.t.Helper()
	in.ArgsDigest = c.ArgsDigest
	d, err := w.svc.Decide(w.t.Context(), w.who, w.conv, c.ID, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return d.RunID
}

// lean is a gate that knows only how much a step may have.
type lean struct {
	gate
	batched int
}

func (g *lean) Batch(_ context.Context, _ []tool.Call, _ []tool.Result, r []agent.Bounded) []agent.Bounded {
	g.batched = len(r)
	for i := range r {
		r[i].Text = "shortened"
	}
	return r
}

// TestBatchBudget: results that could be too large together are recorded together, and only then.
func TestBatchBudget(t *testing.T) {
	for _, tt := range []struct{ budget, batched int }{{8000, 0}, {7999, 2}} {
		s := &shelf{ran: map[string]int{}}
		g := &lean{}
		m := rounds(t, calls("get_dashboard", `{"dashboard":"1"}`, "get_dashboard", `{"dashboard":"2"}`), text("Done."))
		w := newWorldWith(t, m, &rules{}, agent.Limits{BatchChars: tt.budget}, g, s.tool("get_dashboard", tool.Read))
		if got := types(w.say("Both")); !strings.HasSuffix(got, "finished:answered") || strings.Count(got, "tool_result") != 2 {
			t.Errorf("events %s", got)
		}
		if g.batched != tt.batched {
			t.Errorf("budget %d: %d results shared it, want %d", tt.budget, g.batched, tt.batched)
		}
		answersOnce(t, m.prompts[1])
	}
}
