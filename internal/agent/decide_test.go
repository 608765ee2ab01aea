package agent_test

import (
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

// one is a world with a single write that the model makes once.
func one(t *testing.T, p agent.Policy, s *shelf, more ...chat.Completion) (*world, *model) {
	t.Helper()
	m := rounds(t, append([]chat.Completion{calls("update_dashboard", `{"dashboard": "1"}`)}, more...)...)
	w := newWorld(t, m, p, agent.Limits{}, s.tool("update_dashboard", tool.Write), s.tool("get_dashboard", tool.Read), s.tool("delete_dashboard", tool.Dangerous))
	w.say("Rename it")
	return w, m
}

func TestReject(t *testing.T) {
	for _, reason := range []string{"", "wrong title"} {
		s := &shelf{ran: map[string]int{}}
		w, m := one(t, &rules{}, s, text("As you wish."))
		got := types(w.wait(w.decide(w.card(0), agent.DecisionInput{Decision: "reject", Reason: reason})))
		if got != "finished:answered" || s.ran["update_dashboard"] != 0 {
			t.Errorf("events %s, executed %d times", got, s.ran["update_dashboard"])
		}
		last := m.prompts[len(m.prompts)-1]
		answersOnce(t, last)
		r := last.Messages[len(last.Messages)-1].(chat.ToolResult)
		if !strings.Contains(r.Content, `"rejected"`) || !strings.Contains(r.Content, reason) {
			t.Errorf("the model reads %s", r.Content)
		}
	}
}

// TestRejectedCallIsNotAskedAgain: a model that repeats what a person rejected is refused without a card.
func TestRejectedCallIsNotAskedAgain(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	w, _ := one(t, &rules{}, s, calls("update_dashboard", `{ "dashboard":"1" }`), text("All right."))
	got := types(w.wait(w.decide(w.card(0), agent.DecisionInput{Decision: "reject"})))
	if got != "tool_error:conflict finished:answered" {
		t.Errorf("events %s", got)
	}
}

// TestOneOfManyAnswersWins: a double click, a client's retry and two tabs.
func TestOneOfManyAnswersWins(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	w, _ := one(t, &rules{}, s, text("Done."))
	c := w.card(0)
	var wg sync.WaitGroup
	out := make([]agent.Decided, 8)
	for i := range out {
		wg.Go(func() {
			d, err := w.svc.Decide(t.Context(), w.who, w.conv, c.ID, agent.DecisionInput{Decision: "approve", ArgsDigest: c.ArgsDigest})
			if err != nil {
				t.Error(err)
			}
			out[i] = d
		})
	}
	wg.Wait()
	first := 0
	for _, d := range out {
		if !d.Replayed {
			first++
		}
		if d.RunID != out[0].RunID {
			t.Errorf("answers name the runs %s and %s", d.RunID, out[0].RunID)
		}
	}
	w.wait(out[0].RunID)
	if first != 1 || s.ran["update_dashboard"] != 1 {
		t.Errorf("%d answers won, executed %d times; want one each", first, s.ran["update_dashboard"])
	}
	d, err := w.svc.Decide(t.Context(), w.who, w.conv, c.ID, agent.DecisionInput{Decision: "approve", ArgsDigest: c.ArgsDigest})
	if err != nil || !d.Replayed || d.State != chat.ConfirmDone {
		t.Errorf("the same answer later: %+v, %v", d, err)
	}
}

func TestDecideRefuses(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	w, _ := one(t, &rules{}, s)
	c := w.card(0)
	bob := chat.Identity{User: "bob", Roles: []string{"Admin"}}
	for _, tt := range []struct {
		name    string
		who     chat.Identity
		id      string
		in      agent.DecisionInput
		kind    fault.Kind
		code    string
		pointer string
	}{
		{"another user", bob, c.ID, agent.DecisionInput{Decision: "approve", ArgsDigest: c.ArgsDigest}, fault.Missing, "missing", ""},
		{"the model's call id is no name of it", w.who, c.CallID, agent.DecisionInput{Decision: "approve", ArgsDigest: c.ArgsDigest}, fault.Missing, "missing", ""},
		{"another digest", w.who, c.ID, agent.DecisionInput{Decision: "approve", ArgsDigest: "00"}, fault.Conflict, "digest_mismatch", ""},
		{"no such decision", w.who, c.ID, agent.DecisionInput{Decision: "yes", ArgsDigest: c.ArgsDigest}, fault.Invalid, "invalid", "/decision"},
		{"an edit without arguments", w.who, c.ID, agent.DecisionInput{Decision: "edit", ArgsDigest: c.ArgsDigest}, fault.Invalid, "invalid", "/edited_args"},
		{"an edit that does not fit", w.who, c.ID, agent.DecisionInput{Decision: "edit", ArgsDigest: c.ArgsDigest, EditedArgs: json.RawMessage(`{"dashboard":1}`)}, fault.Invalid, "invalid", "/edited_args/dashboard"},
		{"an edit that names another tool", w.who, c.ID, agent.DecisionInput{Decision: "edit", ArgsDigest: c.ArgsDigest, EditedArgs: json.RawMessage(`{"dashboard":"1","tool":"get_dashboard"}`)}, fault.Invalid, "invalid", "/edited_args"},
		{"an edit that moves to another environment", w.who, c.ID, agent.DecisionInput{Decision: "edit", ArgsDigest: c.ArgsDigest, EditedArgs: json.RawMessage(`{"dashboard":"1","env_id":"ss-prod"}`)}, fault.Invalid, "invalid", "/edited_args/env_id"},
		{"arguments with an approval", w.who, c.ID, agent.DecisionInput{Decision: "approve", ArgsDigest: c.ArgsDigest, EditedArgs: json.RawMessage(`{}`)}, fault.Invalid, "invalid", "/edited_args"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := w.svc.Decide(t.Context(), tt.who, w.conv, tt.id, tt.in)
			if fault.KindOf(err) != tt.kind || fault.CodeOf(err) != tt.code {
				t.Fatalf("got %v (%s, %s), want %s, %s", err, fault.KindOf(err), fault.CodeOf(err), tt.kind, tt.code)
			}
			if tt.pointer != "" && !strings.Contains(fields(err), tt.pointer) {
				t.Errorf("names %s, want %s", fields(err), tt.pointer)
			}
		})
	}
	if got := w.card(0); got.State != chat.ConfirmPending || s.ran["update_dashboard"] != 0 {
		t.Errorf("after all that the card is %s and the tool ran %d times", got.State, s.ran["update_dashboard"])
	}
}

func fields(err error) string {
	b, _ := json.Marshal(err)
	return string(b)
}

func TestEditExecutesTheEdit(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	w, _ := one(t, &rules{}, s, text("Done."))
	recs := w.wait(w.decide(w.card(0), agent.DecisionInput{Decision: "edit", EditedArgs: json.RawMessage(`{"dashboard":"2"}`)}))
	for _, r := range recs {
		if st, ok := r.Event.(*chat.ToolStart); ok && string(st.Args) == `{"dashboard":"2"}` {
			return
		}
	}
	t.Errorf("the edited arguments were not executed: %s", types(recs))
}

// TestPolicyIsAskedAgain: an approval does not outlive the permission that it was given under.
func TestPolicyIsAskedAgain(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	p := &rules{denied: map[string]bool{}}
	w, _ := one(t, p, s, text("Not allowed."))
	p.denied["update_dashboard"] = true
	if got := types(w.wait(w.approve(0))); got != "denied:role finished:answered" || s.ran["update_dashboard"] != 0 {
		t.Errorf("events %s, executed %d times", got, s.ran["update_dashboard"])
	}
}

// TestChangedMeanwhile: an object that is not as the card showed it is asked about again, with the new diff.
func TestChangedMeanwhile(t *testing.T) {
	state := "a"
	s := &shelf{ran: map[string]int{}, print: func() string { return state }}
	w, _ := one(t, &rules{}, s, text("Done."))
	old := w.card(0)
	state = "b"
	if got := types(w.wait(w.approve(0))); got != "confirm_required finished:awaiting_confirmation" {
		t.Fatalf("events %s", got)
	}
	next := w.card(0)
	if next.ID == old.ID || next.CallID != old.CallID {
		t.Errorf("the new card %s/%s stands for %s/%s", next.ID, next.CallID, old.ID, old.CallID)
	}
	if got := types(w.wait(w.approve(0))); got != "tool_start tool_result finished:answered" || s.ran["update_dashboard"] != 1 {
		t.Errorf("events %s, executed %d times", got, s.ran["update_dashboard"])
	}
}

// TestBatch: what needs nobody runs first and is stored, each other call has its card, and the model is asked
// after the last decision.
func TestBatch(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	m := rounds(t, calls("update_dashboard", `{"dashboard":"1"}`, "get_dashboard", `{"dashboard":"1"}`, "delete_dashboard", `{"dashboard":"2"}`), text("Done."))
	w := newWorld(t, m, &rules{}, agent.Limits{}, s.tool("update_dashboard", tool.Write), s.tool("get_dashboard", tool.Read), s.tool("delete_dashboard", tool.Dangerous))
	if got := types(w.say("Both")); got != "tool_start tool_result confirm_required confirm_required finished:awaiting_confirmation" {
		t.Fatalf("events %s", got)
	}
	if got := types(w.wait(w.decide(w.card(1), agent.DecisionInput{Decision: "reject"}))); got != "finished:awaiting_confirmation" {
		t.Errorf("after the first decision: %s", got)
	}
	if len(m.prompts) != 1 {
		t.Errorf("the model was asked while a card was open")
	}
	if got := types(w.wait(w.approve(0))); got != "tool_start tool_result finished:answered" {
		t.Errorf("after the last decision: %s", got)
	}
	answersOnce(t, m.prompts[1])
	if s.ran["delete_dashboard"] != 0 || s.ran["update_dashboard"] != 1 {
		t.Errorf("ran %v", s.ran)
	}
}

// TestMessageWhileACardIsOpen: free text never approves.
func TestMessageWhileACardIsOpen(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	w, m := one(t, &rules{}, s, text("Hello."))
	_, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "yes", Env: "ss-dev"})
	if fault.CodeOf(err) != "confirmation_open" {
		t.Fatalf("got %v, want confirmation_open", err)
	}
	a, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "yes", Env: "ss-dev", Strategy: "interrupt"})
	if err != nil {
		t.Fatal(err)
	}
	w.wait(a.RunID)
	answersOnce(t, m.prompts[1])
	if s.ran["update_dashboard"] != 0 {
		t.Error("a message approved a call")
	}
	recs, _ := w.log.Read(t.Context(), w.conv, 0, 0)
	if !strings.Contains(types(recs), "resolved:superseded") {
		t.Errorf("the card was not closed: %s", types(recs))
	}
}

func TestCancelWhileACardIsOpen(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	w, m := one(t, &rules{}, s)
	for range 2 {
		if err := w.svc.Cancel(t.Context(), w.who, w.conv); err != nil {
			t.Fatal(err)
		}
	}
	recs, _ := w.log.Read(t.Context(), w.conv, 0, 0)
	if got := types(recs); strings.Count(got, "resolved:rejected") != 1 || len(m.prompts) != 1 {
		t.Errorf("events %s, %d model calls", got, len(m.prompts))
	}
}

// TestExpired: an answer after the time is Gone, and the call has its answer for the next prompt.
func TestExpired(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	m := rounds(t, calls("update_dashboard", `{"dashboard":"1"}`), text("Hello."))
	w := newWorld(t, m, &rules{}, agent.Limits{ConfirmationTTL: time.Nanosecond}, s.tool("update_dashboard", tool.Write))
	w.say("Rename it")
	c := w.card(0)
	_, err := w.svc.Decide(t.Context(), w.who, w.conv, c.ID, agent.DecisionInput{Decision: "approve", ArgsDigest: c.ArgsDigest})
	if fault.KindOf(err) != fault.Gone || fault.CodeOf(err) != "expired" {
		t.Fatalf("got %v", err)
	}
	w.say("And now?")
	answersOnce(t, m.prompts[1])
	if s.ran["update_dashboard"] != 0 {
		t.Error("executed after its time")
	}
}

// TestStoredCallIsCompared: arguments that were altered in the store between question and answer are not executed.
func TestStoredCallIsCompared(t *testing.T) {
	s := &shelf{ran: map[string]int{}}
	w, m := one(t, &rules{}, s, text("It was refused."))
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, eventlog.FileName)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	res, err := db.Exec(`UPDATE confirmation SET args = '{"dashboard": "2"}'`)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := res.RowsAffected(); n != 1 {
		t.Fatalf("altered %d rows", n)
	}
	if got := types(w.wait(w.approve(0))); got != "tool_error:conflict finished:answered" || s.ran["update_dashboard"] != 0 {
		t.Errorf("events %s, executed %d times", got, s.ran["update_dashboard"])
	}
	answersOnce(t, m.prompts[1])
}
