package httpapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentd/internal/chat"

	"github.com/google/go-cmp/cmp"
)

// told makes the records of a log: "run" sets the run of the events after it.
func told(steps ...any) []chat.Record {
	var out []chat.Record
	run := "run_1"
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			run = s
		case chat.Event:
			seq := int64(len(out)) + 1
			out = append(out, chat.Record{Conversation: "conv", Seq: seq, RunID: run, At: time.Unix(seq, 0), Entry: chat.Entry{Event: s}})
		}
	}
	return out
}

func fold(t *testing.T, records []chat.Record) *transcript {
	t.Helper()
	var tr transcript
	for _, r := range records {
		if err := tr.apply(r); err != nil {
			t.Fatal(err)
		}
	}
	return &tr
}

// lines shows items in short: kind state text/tool/id folded.
func lines(tr *transcript) []string {
	var out []string
	for _, i := range tr.list() {
		what := i.Text + i.Tool
		if i.Kind == itemRun {
			what = i.RunID
		}
		line := fmt.Sprintf("%d %s %s %s", i.Seq, i.Kind, i.State, what)
		if i.FoldedBy != "" {
			line += " folded by " + i.FoldedBy
		}
		out = append(out, line)
	}
	return out
}

func TestTranscript(t *testing.T) {
	started := &chat.RunStarted{Cause: "message"}
	done := &chat.RunFinished{Outcome: "answered"}
	user := func(id, text, replaces string) chat.Event {
		return &chat.MessageEvent{MessageID: id, Role: "user", Text: text, Replaces: replaces}
	}
	tests := []struct {
		name    string
		records []chat.Record
		want    []string
	}{
		{"nothing", nil, nil},
		{"deltas give way to the final text",
			told(user("m1", "hi", ""), started, &chat.TextDelta{MessageID: "m2", Text: "он"}, &chat.TextDelta{MessageID: "m2", Offset: 2, Text: "a"},
				&chat.MessageEvent{MessageID: "m2", Role: "assistant", Text: "она"}, done),
			[]string{"1 message final hi", "2 run answered run_1", "3 message final она"}},
		{"deltas replace from their offset on, in code points",
			told(&chat.TextDelta{MessageID: "m", Text: "привет😀"}, &chat.TextDelta{MessageID: "m", Offset: 6, Text: "!"}, &chat.TextDelta{MessageID: "m", Offset: 6, Text: "!"}),
			[]string{"1 message partial привет!"}},
		{"a step that is repeated begins again",
			told(&chat.TextDelta{MessageID: "m", Text: "first try"}, &chat.TextDelta{MessageID: "m", Text: "again"}),
			[]string{"1 message partial again"}},
		{"a delta after the final text changes nothing",
			told(&chat.MessageEvent{MessageID: "m", Role: "assistant", Text: "end"}, &chat.TextDelta{MessageID: "m", Text: "late"}),
			[]string{"1 message final end"}},
		{"a delta beyond the end is put at the end",
			told(&chat.TextDelta{MessageID: "m", Offset: 9, Text: "x"}), []string{"1 message partial x"}},
		{"a call that runs", told(&chat.ToolStart{CallID: "c", Tool: "run_sql"}), []string{"1 call running run_sql"}},
		{"a call that is retried and ends well",
			told(&chat.ToolStart{CallID: "c", Tool: "list"}, &chat.ToolRetry{CallID: "c", Tool: "list"}, &chat.ToolResultEvent{CallID: "c", Tool: "list"}),
			[]string{"1 call done list"}},
		{"a call that failed", told(&chat.ToolError{CallID: "c", Tool: "list"}), []string{"1 call failed list"}},
		{"a read without an answer", told(&chat.ToolStart{CallID: "c", Tool: "list"}, &chat.ToolTimeout{CallID: "c", Tool: "list", Outcome: "none"}), []string{"1 call timed_out list"}},
		{"a write without an answer", told(&chat.ToolStart{CallID: "c", Tool: "set"}, &chat.ToolTimeout{CallID: "c", Tool: "set", Outcome: "unknown", IsWriteTool: true}), []string{"1 call unknown set"}},
		{"what reading back found",
			told(&chat.ToolStart{CallID: "c", Tool: "set"}, &chat.ToolTimeout{CallID: "c", Tool: "set", Outcome: "unknown"}, &chat.ToolOutcome{CallID: "c", Outcome: "applied"}),
			[]string{"1 call applied set"}},
		{"a late answer is no news after reading back",
			told(&chat.ToolTimeout{CallID: "c", Tool: "set", Outcome: "unknown"}, &chat.ToolOutcome{CallID: "c", Outcome: "applied"}, &chat.ToolResultEvent{CallID: "c", Tool: "set"}),
			[]string{"1 call applied set"}},
		{"a refusal", told(&chat.PermissionDenied{CallID: "c", Tool: "drop"}), []string{"1 call denied drop"}},
		{"a card that is open", told(started, &chat.ConfirmRequired{ConfirmationID: "k", CallID: "c", Tool: "set"}, &chat.RunFinished{Outcome: "awaiting_confirmation"}),
			[]string{"1 run awaiting_confirmation run_1", "2 confirmation pending set"}},
		{"a card that was answered, and its call",
			told(&chat.ConfirmRequired{ConfirmationID: "k", CallID: "c", Tool: "set"}, &chat.ConfirmResolved{ConfirmationID: "k", Decision: "approved"}, "run_2", &chat.ToolStart{CallID: "c", Tool: "set"}),
			[]string{"1 confirmation approved set", "3 call running set"}},
		{"a run that failed", told(started, &chat.RunError{Code: "x"}), []string{"1 run error run_1"}},
		{"an edit folds the message and what followed, not what came before or after",
			told(user("m1", "a", ""), started, "run_2", user("m2", "b", ""), started, &chat.ToolStart{CallID: "c", Tool: "t"}, "run_3", started, user("m3", "c", "m2"), &chat.ToolStart{CallID: "d", Tool: "u"}),
			[]string{"1 message final a", "2 run going run_1", "3 message final b folded by m3", "4 run going run_2 folded by m3",
				"5 call running t folded by m3", "6 run going run_3", "7 message final c", "8 call running u"}},
		{"an edit of an edit keeps the first fold",
			told("r1", user("m1", "a", ""), "r2", user("m2", "b", "m1"), "r3", user("m3", "c", "m2")),
			[]string{"1 message final a folded by m2", "2 message final b folded by m3", "3 message final c"}},
		{"an edit of what is not there", told(user("m1", "a", "m0")), []string{"1 message final a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := fold(t, tt.records)
			if diff := cmp.Diff(tt.want, lines(tr)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
			if tr.Last != int64(len(tt.records)) {
				t.Errorf("position is %d, want %d", tr.Last, len(tt.records))
			}
			before, err := json.Marshal(tr.list())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range tt.records { // once more
				if err := tr.apply(r); err != nil {
					t.Fatal(err)
				}
			}
			if after, _ := json.Marshal(tr.list()); string(after) != string(before) {
				t.Errorf("records that come twice change it:\n%s\n%s", before, after)
			}
			keepsWhatIsSeen(t, tt.records)
		})
	}
}

func TestTranscriptSumsUsage(t *testing.T) {
	cost := 0.5
	tr := fold(t, told(&chat.RunStarted{}, &chat.Usage{InputTokens: 1, OutputTokens: 2}, &chat.Usage{InputTokens: 10, OutputTokens: 20, Cost: &cost}, &chat.Usage{Cost: &cost}))
	got := tr.list()[0].Usage
	if got.InputTokens != 11 || got.OutputTokens != 22 || got.Cost == nil || *got.Cost != 1 {
		t.Errorf("usage is %+v", got)
	}
	if cost != 0.5 {
		t.Error("an event was changed")
	}
}

// keepsWhatIsSeen: a page that applies the events which the items kept must come to what it would have come to live.
// Reducing the kept events again gives the same items.
func keepsWhatIsSeen(t *testing.T, records []chat.Record) {
	t.Helper()
	tr := fold(t, records)
	var kept []chat.Record
	for _, i := range tr.list() {
		for _, slot := range []json.RawMessage{i.Start, i.Retry, i.End, i.Outcome} {
			if slot != nil {
				kept = append(kept, decodeWire(t, slot))
			}
		}
		switch {
		case i.Kind == itemMessage && i.State == "partial":
			kept = append(kept, chat.Record{Seq: i.Seq, RunID: i.RunID, At: decodeAt(t, i.At), Entry: chat.Entry{Event: &chat.TextDelta{MessageID: i.MessageID, Text: i.Text}}})
		case i.Kind == itemMessage:
			kept = append(kept, chat.Record{Seq: i.Seq, RunID: i.RunID, At: decodeAt(t, i.At), Entry: chat.Entry{
				Event: &chat.MessageEvent{MessageID: i.MessageID, Role: i.Role, Text: i.Text, Replaces: i.Replaces}}})
		}
	}
	slices.SortStableFunc(kept, func(a, b chat.Record) int { return int(a.Seq - b.Seq) })
	again := fold(t, kept)
	want, err := json.MarshalIndent(tr.list(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(again.list(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("reduced again (-first +again):\n%s", diff)
	}
}

func decodeAt(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(wireTime, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
