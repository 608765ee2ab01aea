package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const someURI = "agentd+artifact:///art_01ARZ3NDEKTSV4RRFFQ69G5FAV"

// kept stands for stored results: of one, the rows and their digest.
type kept struct {
	mu   sync.Mutex
	rows string
	hash string // "" is gone
}

func (k *kept) set(rows, hash string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rows, k.hash = rows, hash
}

func (k *kept) Resolve(_ context.Context, c tool.Call) (tool.Call, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ref := []byte(`"rows_uri":"` + someURI + `"`)
	switch {
	case !bytes.Contains(c.Args, []byte("rows_uri")):
		return c, nil
	case k.hash == "" || !bytes.Contains(c.Args, ref):
		return c, &fault.Error{Kind: fault.Invalid, Code: "missing_uris", Msg: "There is no such stored result.", Answer: `{"error":"invalid_args","_missing_uris":["` + someURI + `"]}`}
	}
	n := int64(500)
	c.Args = bytes.Replace(c.Args, ref, []byte(`"rows":`+k.rows), 1)
	c.Passed = []chat.Reference{{Argument: "/rows_uri", URI: someURI, Tool: "run_sql", Title: "Sales by day.", Rows: &n, SizeBytes: 9, SHA256: k.hash}}
	return c, nil
}

func (k *kept) Shown(tools []tool.Tool) ([]tool.Tool, error) {
	out := append([]tool.Tool{}, tools...)
	for i := range out {
		out[i].Schema = json.RawMessage(strings.Replace(string(out[i].Schema), `"rows":`, `"rows_uri":{"type":"string"},"rows":`, 1))
	}
	return out, nil
}

type loadArgs struct {
	Rows  []int  `json:"rows" jsonschema:"required,description=rows"`
	Title string `json:"title,omitempty"`
	Note  string `json:"note,omitempty"`
}

// loads is a write that takes rows, and notes with which it ran.
type loads struct {
	mu  sync.Mutex
	got []string
}

func (l *loads) tool() tool.Tool {
	return tool.New(tool.Tool{Name: "load", Risk: tool.Write, References: []string{"rows"}}, func(c tool.Call, _ loadArgs) (tool.Bound, error) {
		return tool.Bound{Risk: tool.Write, Run: func(context.Context) (tool.Result, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.got = append(l.got, string(c.Args))
			return tool.Result{Summary: "loaded"}, nil
		}}, nil
	})
}

// asked is a world in which the model asked once to load what is stored, and a card is open.
func asked(t *testing.T, more ...chat.Completion) (*world, *kept, *loads, *model) {
	t.Helper()
	k, l := &kept{rows: "[1,2]", hash: "abc"}, &loads{}
	m := rounds(t, append([]chat.Completion{calls("load", `{"rows_uri":"`+someURI+`","title":"t"}`)}, more...)...)
	w := newWorldOf(t, agent.Options{Model: m, Policy: &rules{}, Gate: gate{}, References: k}, l.tool())
	if got := types(w.say("Load it")); got != "confirm_required finished:awaiting_confirmation" {
		t.Fatalf("events %s", got)
	}
	return w, k, l, m
}

// TestCardOfAReference: a person sees a URI, so the card says what is behind it. What goes out after the yes is that,
// and neither log nor audit hold its rows.
func TestCardOfAReference(t *testing.T) {
	w, _, l, _ := asked(t, text("Done."))
	c := w.card(0)
	n := int64(500)
	want := []chat.Reference{{Argument: "/rows_uri", URI: someURI, Tool: "run_sql", Title: "Sales by day.", Rows: &n, SizeBytes: 9, SHA256: "abc"}}
	if diff := cmp.Diff(want, c.Preview.References); diff != "" {
		t.Errorf("references of the card (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"rows_uri passes on 500 rows that run_sql gave (Sales by day)."}, c.Preview.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	if string(c.Args) != `{"rows_uri":"`+someURI+`","title":"t"}` {
		t.Errorf("the card shows %s", c.Args)
	}
	recs := w.wait(w.approve(0))
	if got := types(recs); got != "tool_start tool_result finished:answered" {
		t.Fatalf("events %s", got)
	}
	if diff := cmp.Diff([]string{`{"rows":[1,2],"title":"t"}`}, l.got); diff != "" {
		t.Errorf("executed (-want +got):\n%s", diff)
	}
	all, err := w.log.Read(t.Context(), w.conv, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var edit json.RawMessage
	for _, r := range all {
		b, err := json.Marshal(r.Event)
		if err != nil || strings.Contains(string(b), "[1,2]") {
			t.Errorf("an event holds the rows: %s, %v", b, err)
		}
		if ev, ok := r.Event.(*chat.ConfirmRequired); ok {
			edit = ev.EditSchema
		}
	}
	if !strings.Contains(string(edit), "rows_uri") {
		t.Errorf("an edit could not keep the reference: %s", edit)
	}
	var digests []string
	rows, err := w.log.AuditRows(t.Context(), eventlog.AuditFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if strings.Contains(string(row.ArgsShown)+string(row.ArgsExecuted), "[1,2]") {
			t.Errorf("the audit holds the rows: %+v", row)
		}
		if row.Kind == "asked" || row.Kind == "decided" || row.Kind == "started" {
			digests = append(digests, row.ArgsDigest)
		}
	}
	if diff := cmp.Diff([]string{c.ArgsDigest, c.ArgsDigest, c.ArgsDigest}, digests); diff != "" {
		t.Errorf("digests of the audit (-want +got):\n%s", diff)
	}
}

// TestReferenceThatIsGone between the card and the yes: nothing is dispatched, and the model is told which.
func TestReferenceThatIsGone(t *testing.T) {
	w, k, l, m := asked(t, text("It is gone."))
	k.set("", "")
	if got := types(w.wait(w.approve(0))); got != "tool_error:invalid finished:answered" || len(l.got) != 0 {
		t.Errorf("events %s, executed %v", got, l.got)
	}
	answersOnce(t, m.prompts[1])
	if r := m.prompts[1].Messages[len(m.prompts[1].Messages)-1].(chat.ToolResult); !strings.Contains(r.Content, `"_missing_uris":["`+someURI+`"]`) {
		t.Errorf("the model reads %s", r.Content)
	}
}

// TestReferenceThatChanged: what would go out is not what the card was over, so a person is asked again.
func TestReferenceThatChanged(t *testing.T) {
	for _, decision := range []agent.DecisionInput{
		{Decision: "approve"}, {Decision: "edit", EditedArgs: json.RawMessage(`{"rows_uri":"` + someURI + `","title":"new"}`)},
	} {
		w, k, l, _ := asked(t, text("Done."))
		first := w.card(0)
		k.set("[3]", "def")
		if got := types(w.wait(w.decide(first, decision))); got != "confirm_required finished:awaiting_confirmation" || len(l.got) != 0 {
			t.Fatalf("%s: events %s, executed %v", decision.Decision, got, l.got)
		}
		second := w.card(0)
		if second.ID == first.ID || second.ArgsDigest == first.ArgsDigest || second.Preview.References[0].SHA256 != "def" {
			t.Errorf("the second card is %+v", second)
		}
		if got := types(w.wait(w.approve(0))); got != "tool_start tool_result finished:answered" || len(l.got) != 1 || !strings.Contains(l.got[0], `"rows":[3]`) {
			t.Errorf("events %s, executed %v", got, l.got)
		}
	}
}

// TestEditWithAReference: the title changes, the reference stays; one that names nothing is refused before anything is
// decided.
func TestEditWithAReference(t *testing.T) {
	w, _, l, _ := asked(t)
	c := w.card(0)
	for _, args := range []string{`{"rows_uri":"agentd+artifact:///art_01ARZ3NDEKTSV4RRFFQ69G5FAW"}`, `{"title":"x"}`} {
		_, err := w.svc.Decide(t.Context(), w.who, w.conv, c.ID, agent.DecisionInput{Decision: "edit", ArgsDigest: c.ArgsDigest, EditedArgs: json.RawMessage(args)})
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", args, err)
		}
	}
	if len(l.got) != 0 {
		t.Fatalf("executed %v", l.got)
	}
	for args, want := range map[string]string{
		`{"rows_uri":"` + someURI + `","title":"new"}`: `{"rows":[1,2],"title":"new"}`,
		`{"rows":[7]}`: `{"rows":[7]}`, // in its place
	} {
		w, _, l, _ := asked(t, text("Done."))
		in := agent.DecisionInput{Decision: "edit", EditedArgs: json.RawMessage(args)}
		if got := types(w.wait(w.decide(w.card(0), in))); got != "tool_start tool_result finished:answered" {
			t.Errorf("%s: events %s", args, got)
		}
		if diff := cmp.Diff([]string{want}, l.got); diff != "" {
			t.Errorf("executed (-want +got):\n%s", diff)
		}
	}
}

// TestRejectedReference: the same URI over the same rows was rejected and is not asked again; over others it is
// another call.
func TestRejectedReference(t *testing.T) {
	again := calls("load", `{"rows_uri":"`+someURI+`","title":"t"}`)
	w, k, _, m := asked(t, again, again)
	m.mu.Lock()
	script := m.script
	m.script = func(ctx context.Context, n int, p chat.Prompt, sink func(chat.Delta) error) (chat.Completion, error) {
		if n == 3 {
			k.set("[3]", "def")
		}
		return script(ctx, n, p, sink)
	}
	m.mu.Unlock()
	if got, want := types(w.wait(w.decide(w.card(0), agent.DecisionInput{Decision: "reject"}))), "tool_error:conflict confirm_required finished:awaiting_confirmation"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

// TestReferenceIsNoUntrustedText: a URI stands in the result that gave it, and that raises no write. What is copied of
// the result beside it does.
func TestReferenceIsNoUntrustedText(t *testing.T) {
	for note, untrusted := range map[string][]string{"t": nil, "sales of the northern region": {"/note"}} {
		k, l := &kept{rows: "[1,2]", hash: "abc"}, &loads{}
		read := tool.New(tool.Tool{Name: "get_rows", Risk: tool.Read}, func(tool.Call, struct{}) (tool.Bound, error) {
			return tool.Bound{Risk: tool.Read, Run: func(context.Context) (tool.Result, error) {
				return tool.Result{Summary: "sales of the northern region " + someURI}, nil
			}}, nil
		})
		m := rounds(t, calls("get_rows", `{}`), calls("load", `{"rows_uri":"`+someURI+`","note":"`+note+`"}`))
		w := newWorldOf(t, agent.Options{Model: m, Policy: &rules{}, Gate: gate{}, References: k}, read, l.tool())
		if got := types(w.say("Load it")); got != "tool_start tool_result confirm_required finished:awaiting_confirmation" {
			t.Fatalf("events %s", got)
		}
		c := w.card(0)
		if diff := cmp.Diff(untrusted, c.Preview.Untrusted, cmpopts.EquateEmpty()); diff != "" || (c.Risk.Tool == "dangerous") != (untrusted != nil) {
			t.Errorf("%s: risk %s, untrusted (-want +got):\n%s", note, c.Risk.Tool, diff)
		}
	}
}
