package confirm_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/confirm"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

func TestDigest(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		same       bool
	}{
		{"space and key order do not count", `{"a":1, "b":[1, 2]}`, `{"b":[1,2],"a":1}`, true},
		{"nested keys too", `{"p":{"x":1,"y":2}}`, `{"p":{"y":2,"x":1}}`, true},
		{"no arguments are an empty object", ``, `{}`, true},
		{"order of a list counts", `{"b":[1,2]}`, `{"b":[2,1]}`, false},
		{"integers beyond 2^53 stay apart", `{"id":9007199254740993}`, `{"id":9007199254740992}`, false},
		{"a number is not its text", `{"id":1}`, `{"id":"1"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := confirm.Digest(json.RawMessage(tt.a)), confirm.Digest(json.RawMessage(tt.b))
			if (a == b) != tt.same {
				t.Errorf("digests equal = %v, want %v (%s, %s)", a == b, tt.same, a, b)
			}
		})
	}
	if _, err := confirm.Canonical(json.RawMessage(`{"a":`)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("half a value: kind %q, want invalid", fault.KindOf(err))
	}
}

func TestAsk(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	q := confirm.Question{
		Call: tool.Call{ToolCall: chat.ToolCall{ID: "call_1", Name: "delete_dashboard", Args: json.RawMessage(`{"dashboard": "1"}`)}, Who: chat.Identity{User: "ann"}, Conversation: "c", RunID: "r", Env: "ss-prod"},
		Risk: chat.Risk{Tool: "dangerous", Env: "prod", Permission: "granted"}, Dangerous: true, TTL: time.Hour, Now: now,
	}
	c, card := confirm.Ask(q)
	c2, _ := confirm.Ask(q)
	if c.ID == c2.ID || strings.Contains(c.ID, "call_1") || len(c.ID) < 20 {
		t.Errorf("ids %q and %q must be random and apart from the call's", c.ID, c2.ID)
	}
	if string(c.Args) != `{"dashboard": "1"}` || string(card.Args) != string(c.Args) {
		t.Errorf("stored %s, shown %s: both must be the model's bytes", c.Args, card.Args)
	}
	if card.CountdownSeconds != 10 || !c.Expires.Equal(now.Add(time.Hour)) || c.State != chat.ConfirmPending || c.User != "ann" {
		t.Errorf("card %+v, record %+v", card, c)
	}
	q.Dangerous = false
	if _, card := confirm.Ask(q); card.CountdownSeconds != 0 {
		t.Errorf("countdown of a plain write = %d, want 0", card.CountdownSeconds)
	}
}

func TestResolve(t *testing.T) {
	c := chat.Confirmation{ID: "cnf_1", CallID: "call_1", Tool: "update_dashboard"}
	for how, closes := range map[string]bool{confirm.Approved: false, confirm.Edited: false, confirm.Rejected: true, confirm.Expired: true, confirm.Superseded: true} {
		for _, reason := range []string{"", "wrong \"title\""} {
			e := confirm.Resolve(c, how, "ann", reason)
			if ev := e.Event.(*chat.ConfirmResolved); ev.Decision != how || ev.Reason != reason || ev.By != "ann" {
				t.Errorf("%s: event %+v", how, ev)
			}
			if (e.Note != nil) != closes {
				t.Fatalf("%s: answers the call = %v, want %v", how, e.Note != nil, closes)
			}
			if !closes {
				continue
			}
			var a struct {
				Status, Message, Reason string
				Executed                bool
			}
			if err := json.Unmarshal([]byte(e.Note.Result.Content), &a); err != nil || a.Executed || a.Status != how || a.Reason != reason || e.Note.Result.CallID != "call_1" {
				t.Errorf("%s: %s (%v)", how, e.Note.Result.Content, err)
			}
			if !strings.Contains(strings.ToLower(a.Message), "not repeat") {
				t.Errorf("%s does not tell the model to stop: %s", how, a.Message)
			}
		}
	}
}
