package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

// TestRunEnds has one row for each way that a run can end.
func TestRunEnds(t *testing.T) {
	read := calls("get_dashboard", `{"dashboard":"1"}`)
	for _, tt := range []struct {
		name   string
		script func(ctx context.Context, n int, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error)
		limits agent.Limits
		deny   string
		want   string
	}{
		{name: "answered", want: "finished:answered", script: func(context.Context, int, chat.Prompt, func(chat.Delta) error) (chat.Completion, error) {
			return text("Hi."), nil
		}},
		{name: "the model said nothing", want: "finished:answered", script: func(context.Context, int, chat.Prompt, func(chat.Delta) error) (chat.Completion, error) {
			return text(" \n"), nil
		}},
		{name: "cut by the token limit", want: "finished:token_budget", script: func(context.Context, int, chat.Prompt, func(chat.Delta) error) (chat.Completion, error) {
			c := calls("delete_dashboard", `{"dashboard":"1`)
			c.Finish = chat.FinishLength
			return c, nil
		}},
		{name: "too many steps", want: "finished:max_steps", limits: agent.Limits{MaxSteps: 2}, script: func(_ context.Context, n int, _ chat.Prompt, _ func(chat.Delta) error) (chat.Completion, error) {
			return calls("get_dashboard", fmt.Sprintf(`{"dashboard":"%d"}`, n)), nil
		}},
		{name: "the same call again and again", want: "finished:repetition", script: func(context.Context, int, chat.Prompt, func(chat.Delta) error) (chat.Completion, error) {
			return read, nil
		}},
		{name: "made-up names", want: "finished:repetition", script: func(_ context.Context, n int, _ chat.Prompt, _ func(chat.Delta) error) (chat.Completion, error) {
			return calls(fmt.Sprintf("dig%d", n), `{}`), nil
		}},
		{name: "denials in a row", want: "finished:denied", deny: "get_dashboard", script: func(_ context.Context, n int, _ chat.Prompt, _ func(chat.Delta) error) (chat.Completion, error) {
			return calls("get_dashboard", fmt.Sprintf(`{"dashboard":"%d"}`, n)), nil
		}},
		{name: "out of time", want: "finished:time_budget", limits: agent.Limits{RunTimeout: 50 * time.Millisecond}, script: func(ctx context.Context, _ int, _ chat.Prompt, _ func(chat.Delta) error) (chat.Completion, error) {
			<-ctx.Done()
			return chat.Completion{}, ctx.Err()
		}},
		{name: "the model is busy", want: "error:model_rate_limited", script: func(context.Context, int, chat.Prompt, func(chat.Delta) error) (chat.Completion, error) {
			return chat.Completion{}, &fault.Error{Kind: fault.RateLimited, Code: "model_rate_limited", Msg: "The model is busy."}
		}},
		{name: "the model panics", want: "error:internal", script: func(context.Context, int, chat.Prompt, func(chat.Delta) error) (chat.Completion, error) { panic("x") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{ran: map[string]int{}}
			m := &model{script: tt.script}
			w := newWorld(t, m, &rules{map[string]bool{tt.deny: true}}, tt.limits, s.tool("get_dashboard", tool.Read), s.tool("delete_dashboard", tool.Dangerous))
			recs := w.say("Go")
			got := types(recs)
			if got = got[strings.LastIndex(got, " ")+1:]; got != tt.want {
				t.Errorf("ends with %s, want %s", got, tt.want)
			}
			if n := terminals(recs); n != 1 {
				t.Errorf("%d terminal events", n)
			}
			if s.ran["delete_dashboard"] != 0 {
				t.Error("a call that was cut was executed")
			}
			for _, r := range recs {
				if ev, ok := r.Event.(*chat.MessageEvent); ok && strings.TrimSpace(ev.Text) == "" {
					t.Error("an empty answer was shown")
				}
			}
		})
	}
}

func terminals(recs []chat.Record) (n int) {
	for _, r := range recs {
		if chat.Terminal(r.Event) {
			n++
		}
	}
	return n
}

// TestCancel: what was said stays, what was begun is closed, and the conversation goes on.
func TestCancel(t *testing.T) {
	said := make(chan struct{})
	m := &model{script: func(ctx context.Context, n int, _ chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
		if n > 1 {
			return text("Here again."), nil
		}
		if err := sink(chat.Delta{Text: "Half of an ans"}); err != nil {
			return chat.Completion{}, err
		}
		close(said)
		<-ctx.Done()
		return chat.Completion{}, ctx.Err()
	}}
	w := newWorld(t, m, &rules{}, agent.Limits{})
	a, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "Go", Env: "ss-dev"})
	if err != nil {
		t.Fatal(err)
	}
	<-said
	if _, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "And?", Env: "ss-dev"}); fault.CodeOf(err) != "run_active" {
		t.Errorf("a second message: %v, want run_active", err)
	}
	for range 2 {
		if err := w.svc.Cancel(t.Context(), w.who, w.conv); err != nil {
			t.Fatal(err)
		}
	}
	recs := w.wait(a.RunID)
	if got := types(recs); got != "finished:cancelled" {
		t.Errorf("events %s", got)
	}
	w.say("Go on")
	answersOnce(t, m.prompts[1])
	if b := fmt.Sprint(m.prompts[1].Messages); !strings.Contains(b, "Half of an ans") {
		t.Errorf("what was said is lost: %s", b)
	}
}

// TestShownTextIsTakenBack: an attempt that failed leaves nothing on the page, also when the next one says nothing.
func TestShownTextIsTakenBack(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	m := &model{script: func(_ context.Context, n int, _ chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
		if n > 1 {
			return text("Done."), nil
		}
		for _, d := range []chat.Delta{{Text: "Half of an ans"}, {Offset: 0, Text: ""}} {
			if err := sink(d); err != nil {
				return chat.Completion{}, err
			}
		}
		return calls("get_dashboard", `{"dashboard":"1"}`), nil
	}}
	w := newWorld(t, m, &rules{}, agent.Limits{}, s.tool("get_dashboard", tool.Read))
	shown := map[string]string{}
	for _, r := range w.say("Go") {
		switch ev := r.Event.(type) {
		case *chat.TextDelta:
			shown[ev.MessageID] = string([]rune(shown[ev.MessageID])[:ev.Offset]) + ev.Text
		case *chat.MessageEvent:
			shown[ev.MessageID] = ev.Text
		}
	}
	for id, text := range shown {
		if text == "Half of an ans" {
			t.Errorf("%s still shows the failed attempt", id)
		}
	}
}

// TestCancelDuringTools: a read is cut, a write that is on its way is let end.
func TestCancelDuringTools(t *testing.T) {
	began := make(chan struct{})
	s := &shelf{ran: map[string]int{}, run: func(ctx context.Context, _ int) error {
		close(began)
		<-ctx.Done()
		return ctx.Err()
	}}
	m := rounds(t, calls("get_dashboard", `{"dashboard":"1"}`, "get_dashboard", `{"dashboard":"2"}`), text("Back."))
	w := newWorld(t, m, &rules{}, agent.Limits{}, s.tool("get_dashboard", tool.Read))
	a, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "Go", Env: "ss-dev"})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	if err := w.svc.Cancel(t.Context(), w.who, w.conv); err != nil {
		t.Fatal(err)
	}
	if got := types(w.wait(a.RunID)); got != "tool_start tool_error:transient tool_error:transient finished:cancelled" {
		t.Errorf("events %s", got)
	}
	w.say("Go on")
	answersOnce(t, m.prompts[1])
}

// TestInterrupt stops what is going and starts the new message.
func TestInterrupt(t *testing.T) {
	began := make(chan struct{})
	m := &model{script: func(ctx context.Context, n int, _ chat.Prompt, _ func(chat.Delta) error) (chat.Completion, error) {
		if n > 1 {
			return text("The second."), nil
		}
		close(began)
		<-ctx.Done()
		return chat.Completion{}, ctx.Err()
	}}
	w := newWorld(t, m, &rules{}, agent.Limits{})
	first, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "First", Env: "ss-dev"})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	second, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "Second", Env: "ss-dev", Strategy: "interrupt"})
	if err != nil {
		t.Fatal(err)
	}
	if got := types(w.wait(first.RunID)); got != "finished:cancelled" {
		t.Errorf("the first ends with %s", got)
	}
	if got := types(w.wait(second.RunID)); got != "finished:answered" {
		t.Errorf("the second ends with %s", got)
	}
}

// TestRetryButton: a failed read runs again as a call of its own, and the model goes on with its result.
func TestRetryButton(t *testing.T) {
	s := &shelf{ran: map[string]int{}, run: func(_ context.Context, n int) error {
		if n <= 2 {
			return status(fault.Transient, 503)
		}
		return nil
	}}
	m := rounds(t, calls("get_dashboard", `{"dashboard":"1"}`), text("It failed."), text("Now it is there."))
	w := newWorld(t, m, &rules{}, agent.Limits{}, s.tool("get_dashboard", tool.Read))
	var failed string
	for _, r := range w.say("Open 1") {
		if ev, ok := r.Event.(*chat.ToolError); ok {
			if !ev.Retryable || !ev.RetryExhausted {
				t.Errorf("the event %+v offers no retry", ev)
			}
			failed = ev.CallID
		}
	}
	if _, err := w.svc.Retry(t.Context(), w.who, w.conv, "call_nope"); fault.KindOf(err) != fault.Missing {
		t.Errorf("retry of nothing: %v", err)
	}
	got, err := w.svc.Retry(t.Context(), w.who, w.conv, failed)
	if err != nil {
		t.Fatal(err)
	}
	recs := w.wait(got.RunID)
	if types(recs) != "tool_start tool_result finished:answered" {
		t.Errorf("events %s", types(recs))
	}
	for _, r := range recs {
		if ev, ok := r.Event.(*chat.ToolStart); ok && (ev.RetryOf != failed || ev.CallID != got.CallID) {
			t.Errorf("the new call is %+v", ev)
		}
	}
	answersOnce(t, m.prompts[2])
	if _, err := w.svc.Retry(t.Context(), w.who, w.conv, got.CallID); fault.CodeOf(err) != "not_retryable" {
		t.Errorf("retry of a success: %v, want not_retryable", err)
	}
}

func TestEditedMessageLeavesTheHistory(t *testing.T) {
	m := rounds(t, text("One."), text("Two."), text("Three."))
	w := newWorld(t, m, &rules{}, agent.Limits{})
	w.say("first")
	a, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "secnod", Env: "ss-dev"})
	if err != nil {
		t.Fatal(err)
	}
	w.wait(a.RunID)
	if _, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "x", Env: "ss-dev", Replaces: "msg_nope"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an edit of nothing: %v", err)
	}
	b, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "second", Env: "ss-dev", Replaces: a.MessageID})
	if err != nil {
		t.Fatal(err)
	}
	w.wait(b.RunID)
	if got := fmt.Sprint(m.prompts[2].Messages); strings.Contains(got, "secnod") || strings.Contains(got, "Two.") || !strings.Contains(got, "One.") {
		t.Errorf("the model reads %s", got)
	}
}

func TestIdempotentMessage(t *testing.T) {
	w := newWorld(t, rounds(t, text("Once.")), &rules{}, agent.Limits{})
	in := agent.MessageInput{Text: "Go", Env: "ss-dev", Key: "k1"}
	a, err := w.svc.Message(t.Context(), w.who, w.conv, in)
	if err != nil {
		t.Fatal(err)
	}
	w.wait(a.RunID)
	b, err := w.svc.Message(t.Context(), w.who, w.conv, in)
	if err != nil || !b.Replayed || b.RunID != a.RunID || b.MessageID != a.MessageID {
		t.Errorf("again: %+v, %v, want the same run", b, err)
	}
}

func TestMessageRefuses(t *testing.T) {
	w := newWorld(t, rounds(t), &rules{}, agent.Limits{MessageChars: 10})
	for in, pointer := range map[*agent.MessageInput]string{
		{Text: ""}:                               "/message",
		{Text: " \n"}:                            "/message",
		{Text: "12345678901"}:                    "/message",
		{Text: "\xff"}:                           "/message",
		{Text: "x", Env: "ss-qa"}:                "/env_id",
		{Text: "x", Strategy: "queue"}:           "/strategy",
		{Text: "x", View: viewOf("Dash", "1")}:   "/ui_context/objectType",
		{Text: "x", View: viewOf("dash", "1'x")}: "/ui_context/objectId",
	} {
		_, err := w.svc.Message(t.Context(), w.who, w.conv, *in)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(fields(err), `"`+pointer+`"`) {
			t.Errorf("%+v: %v, want a field %s", *in, err, pointer)
		}
	}
	if _, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "日本語日本語日本語日", Strategy: "interrupt", Replaces: "x"}); err == nil {
		t.Error("an edit of nothing was taken")
	}
	if n, _ := w.log.Last(t.Context(), w.conv); n != 0 {
		t.Errorf("%d events were stored", n)
	}
}

// dying is a store that fails from its nth write on, as when the process is killed there.
type dying struct {
	*eventlog.Log
	left atomic.Int64
}

var errKilled = errors.New("killed")

func (d *dying) Write(ctx context.Context, w chat.Write) (int64, error) {
	if d.left.Add(-1) < 0 {
		return 0, errKilled
	}
	return d.Log.Write(ctx, w)
}

// TestCrashAtEachStep kills the process before each write of a run that reads, asks, and writes. However often it
// dies, after a restart the run ends once, every call has one answer, and the write was executed at most once.
func TestCrashAtEachStep(t *testing.T) {
	for at := range int64(12) {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			s := &shelf{ran: map[string]int{}, readBack: func() (tool.Outcome, error) { return tool.Outcome{Outcome: chat.OutcomeApplied}, nil }}
			script := &model{script: func(_ context.Context, _ int, p chat.Prompt, _ func(chat.Delta) error) (chat.Completion, error) {
				switch b := fmt.Sprint(p.Messages); {
				case !strings.Contains(b, "get_dashboard"):
					return calls("get_dashboard", `{"dashboard":"1"}`), nil
				case !strings.Contains(b, "update_dashboard"):
					return calls("update_dashboard", `{"dashboard":"1"}`), nil
				}
				return text("Done."), nil
			}}
			dir := t.TempDir()
			log, err := eventlog.Open(t.Context(), eventlog.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			d := &dying{Log: log}
			d.left.Store(at)
			tools := []tool.Tool{s.tool("get_dashboard", tool.Read), s.tool("update_dashboard", tool.Write)}
			c, err := log.CreateConversation(t.Context(), "ann")
			if err != nil {
				t.Fatal(err)
			}
			p := &crashing{t: t, store: d, model: script, tools: tools, conv: c.ID}
			p.boot()
			a, err := p.svc.Message(t.Context(), p.who, c.ID, agent.MessageInput{Text: "Go", Env: "ss-dev"})
			if err != nil {
				t.Fatal(err)
			}
			p.finish(a.RunID)
			cards, err := log.OpenConfirmations(t.Context(), c.ID)
			if err != nil || len(cards) != 1 {
				t.Fatalf("cards %v, %v", cards, err)
			}
			dec, err := p.svc.Decide(t.Context(), p.who, c.ID, cards[0].ID, agent.DecisionInput{Decision: "approve", ArgsDigest: cards[0].ArgsDigest})
			if err != nil {
				t.Fatal(err)
			}
			p.finish(dec.RunID)
			recs, err := log.Read(t.Context(), c.ID, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			ends := map[string]int{}
			results := map[string]int{}
			for _, r := range recs {
				if chat.Terminal(r.Event) {
					ends[r.RunID]++
				}
				if r.Note != nil && r.Note.Result != nil {
					results[r.Note.Result.CallID]++
				}
			}
			if ends[a.RunID] != 1 || ends[dec.RunID] != 1 {
				t.Errorf("terminal events %v: %s", ends, types(recs))
			}
			for id, n := range results {
				if n != 1 {
					t.Errorf("call %s has %d results", id, n)
				}
			}
			if len(results) != 2 || s.ran["update_dashboard"] > 1 || s.ran["get_dashboard"] > 2 {
				t.Errorf("results %v, ran %v: %s", results, s.ran, types(recs))
			}
			answersOnce(t, script.prompts[len(script.prompts)-1])
		})
	}
}

// crashing is a process that is started again whenever it dies.
type crashing struct {
	t     *testing.T
	store *dying
	model agent.Model
	tools []tool.Tool
	conv  string
	svc   *agent.Service
	who   chat.Identity
	died  chan error
}

func (p *crashing) boot() {
	set, err := tool.NewSet(p.tools...)
	if err != nil {
		p.t.Fatal(err)
	}
	p.who = chat.Identity{User: "ann", Roles: []string{"Admin"}}
	p.died = make(chan error, 4)
	p.svc = agent.New(agent.Options{
		Store: p.store, Model: p.model, Policy: &rules{}, Gate: gate{}, Tools: set, Limits: agent.Limits{RetryDelay: time.Millisecond},
		Environments: []agent.Environment{{ID: "ss-dev", Class: "dev"}},
	})
	svc, died := p.svc, p.died
	svc.Attach(starter(func(id string) error {
		go func() { died <- svc.Work(context.Background(), id) }()
		return nil
	}))
}

type starter func(string) error

func (f starter) Start(_ context.Context, id string) error { return f(id) }

// finish waits for the run, and boots anew when it died.
func (p *crashing) finish(run string) {
	p.t.Helper()
	for range 3 {
		err := <-p.died
		if err == nil {
			return
		}
		if !errors.Is(err, errKilled) {
			p.t.Fatal(err)
		}
		p.store.left.Store(1 << 30)
		p.boot()
		if err := p.svc.Resume(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
	}
	p.t.Fatalf("run %s does not end", run)
}
