package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"

	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"agentd/internal/agent"
	"agentd/internal/artifact"
	"agentd/internal/chat"
	uicontext "agentd/internal/context"
	"agentd/internal/eventlog"
	"agentd/internal/llm/llmtest"
	"agentd/internal/mocksuperset"
	"agentd/internal/offload"
	"agentd/internal/policy"
	"agentd/internal/superset"
	"agentd/internal/supersettools"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write what the conversations come to")

// TestConversations plays whole conversations: the real tools on the mock Superset, the built-in policy, the real
// gate and log, and a scripted model. A file has
//
//	-- setup --    {"roles": […], "env": "…", "view": {…}, "batch_chars": …}
//	-- model --    rounds, divided by ---: lines "call NAME ARGS" and "text WORDS"
//	-- user --     what a person and the world do, in order: say, approve, reject, edit, retry, cancel, fault
//	-- events --   what comes of it
//	-- history --  what the model reads in the end
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) { play(t, f) })
	}
}

func play(t *testing.T, file string) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	part := func(name string) []byte {
		for _, f := range a.Files {
			if f.Name == name {
				return f.Data
			}
		}
		return nil
	}
	s := newStage(t, part("setup"), part("model"))
	for _, line := range strings.Split(strings.TrimSpace(string(part("user"))), "\n") {
		s.do(line)
	}
	got := map[string]string{"events": s.events(), "history": s.history()}
	for i, f := range a.Files {
		want, ok := got[f.Name]
		if !ok {
			continue
		}
		if *update {
			a.Files[i].Data = []byte(want)
		} else if d := cmp.Diff(strings.Split(string(f.Data), "\n"), strings.Split(want, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, d)
		}
		delete(got, f.Name)
	}
	for name, text := range got {
		if *update {
			a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
		} else {
			t.Errorf("the file has no part %s; run with -update", name)
		}
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(a), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// stage is a world with everything real but the model and Superset.
type stage struct {
	*world
	view  uicontext.View
	env   string
	model *llmtest.Script
	mock  *mocksuperset.Server
	base  string
}

func newStage(t *testing.T, setup, rounds []byte) *stage {
	t.Helper()
	var in struct {
		Roles []string       `json:"roles"`
		Env   string         `json:"env"`
		View  uicontext.View `json:"view"`
		Batch int            `json:"batch_chars"`
	}
	in.Roles, in.Env = []string{"Admin"}, "ss-dev"
	if len(bytes.TrimSpace(setup)) > 0 {
		if err := json.Unmarshal(setup, &in); err != nil {
			t.Fatal(err)
		}
	}
	s := &stage{view: in.View, env: in.Env, mock: mocksuperset.New(mocksuperset.Options{Name: "dev"})}
	srv := httptest.NewServer(s.mock)
	t.Cleanup(func() { srv.Close(); _ = s.mock.Close() })
	s.base = srv.URL
	client, err := superset.New(superset.Options{BaseURL: srv.URL, Auth: superset.Auth{Username: "admin", Password: "admin"}})
	if err != nil {
		t.Fatal(err)
	}
	envs, err := supersettools.NewEnvironments(supersettools.Environment{ID: "ss-dev", Class: "dev", Client: client})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(envs.Close)
	dir := t.TempDir()
	var svc *agent.Service
	log, err := eventlog.Open(t.Context(), eventlog.Options{Dir: dir, OnCancel: func(id string) { svc.Stop(id) }})
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := artifact.OpenDir(filepath.Join(dir, "artifacts"))
	if err != nil {
		t.Fatal(err)
	}
	gate := offload.New(artifact.New(log, bucket, artifact.Options{}), offload.Options{BatchChars: in.Batch})
	set, err := tool.NewSet(append(supersettools.New(supersettools.Deps{Environments: envs, Backups: gate, Capabilities: nobody{}}), gate.Tool())...)
	if err != nil {
		t.Fatal(err)
	}
	pol, err := policy.Open(t.Context(), policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.model = llmtest.NewScript(t, parseRounds(t, rounds)...)
	svc = agent.New(agent.Options{
		Store: log, Model: s.model, Policy: pol, Gate: gated{gate}, Tools: set,
		Limits:       agent.Limits{RetryDelay: time.Millisecond, ReadTimeout: time.Second, WriteTimeout: time.Second, BatchChars: in.Batch},
		Environments: []agent.Environment{{ID: "ss-dev", Class: "dev"}},
	})
	ctx, cancel := context.WithCancel(context.Background())
	e := &engine{work: svc.Work, ctx: ctx}
	svc.Attach(e)
	t.Cleanup(func() {
		cancel()
		e.wg.Wait()
		svc.Close()
		pol.Close()
		_ = bucket.Close()
		_ = log.Close()
	})
	c, err := log.CreateConversation(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	s.world = &world{t: t, log: log, svc: svc, conv: c.ID, who: chat.Identity{User: "ann", Roles: in.Roles}}
	return s
}

type gated struct{ gate *offload.Gate }

func (g gated) Limit(name string) int               { return g.gate.Limit(name) }
func (g gated) Words(text string, limit int) string { return g.gate.Words(text, limit) }
func (g gated) Bound(ctx context.Context, c tool.Call, r tool.Result) agent.Bounded {
	return agent.Bounded(g.gate.Bound(ctx, c, r))
}
func (g gated) Batch(ctx context.Context, calls []tool.Call, raw []tool.Result, results []agent.Bounded) []agent.Bounded {
	in := make([]offload.Bounded, len(results))
	for i, r := range results {
		in[i] = offload.Bounded(r)
	}
	for i, r := range g.gate.Batch(ctx, calls, raw, in) {
		results[i] = agent.Bounded(r)
	}
	return results
}

type nobody struct{}

func (nobody) Capabilities(_ context.Context, c tool.Call) (supersettools.Offer, error) {
	return supersettools.Offer{User: c.Who.User, Roles: c.Who.Roles}, nil
}

func parseRounds(t *testing.T, text []byte) (out []llmtest.Round) {
	t.Helper()
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	for _, round := range strings.Split(string(text), "---\n") {
		var r llmtest.Round
		for _, line := range strings.Split(strings.TrimSpace(round), "\n") {
			verb, rest, _ := strings.Cut(line, " ")
			switch verb {
			case "text":
				r.Text = append(r.Text, rest)
			case "call":
				name, args, _ := strings.Cut(rest, " ")
				r.Calls = append(r.Calls, llmtest.Call("model-id", name, args))
			default:
				t.Fatalf("a round has the line %q", line)
			}
		}
		out = append(out, r)
	}
	return out
}

// do plays one line of the user's part.
func (s *stage) do(line string) {
	s.t.Helper()
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch verb {
	case "say", "interrupt":
		in := agent.MessageInput{Text: rest, Env: s.env, View: s.view}
		if verb == "interrupt" {
			in.Strategy = agent.StrategyInterrupt
		}
		a, err := s.svc.Message(s.t.Context(), s.who, s.conv, in)
		if err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		s.wait(a.RunID)
	case "approve":
		s.wait(s.approve(0))
	case "reject":
		s.wait(s.decide(s.card(0), agent.DecisionInput{Decision: "reject", Reason: rest}))
	case "edit":
		s.wait(s.decide(s.card(0), agent.DecisionInput{Decision: "edit", EditedArgs: json.RawMessage(rest)}))
	case "cancel":
		if err := s.svc.Cancel(s.t.Context(), s.who, s.conv); err != nil {
			s.t.Fatal(err)
		}
	case "view":
		s.view = uicontext.View{}
		if err := json.Unmarshal([]byte(rest), &s.view); err != nil {
			s.t.Fatal(err)
		}
	case "retry":
		s.retry()
	case "fault":
		var f mocksuperset.Fault
		if err := json.Unmarshal([]byte(rest), &f); err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		s.mock.Fail(f)
	case "change":
		var columns map[string]any
		kind, rest, _ := strings.Cut(rest, " ")
		id, body, _ := strings.Cut(rest, " ")
		var n int
		if _, err := fmt.Sscan(id, &n); err != nil {
			s.t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(body), &columns); err != nil {
			s.t.Fatal(err)
		}
		if _, ok := s.mock.Change(kind, n, columns); !ok {
			s.t.Fatalf("%s: there is no such object", line)
		}
	default:
		s.t.Fatalf("the user's part has the line %q", line)
	}
}

// retry presses the Retry button of the last failed call.
func (s *stage) retry() {
	s.t.Helper()
	recs, err := s.log.Read(s.t.Context(), s.conv, 0, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	call := ""
	for _, r := range recs {
		switch ev := r.Event.(type) {
		case *chat.ToolError:
			call = ev.CallID
		case *chat.ToolTimeout:
			call = ev.CallID
		}
	}
	got, err := s.svc.Retry(s.t.Context(), s.who, s.conv, call)
	if err != nil {
		s.t.Fatal(err)
	}
	s.wait(got.RunID)
}

// events renders the log: a line an event, its ids numbered in the order in which they appear.
func (s *stage) events() string {
	recs, err := s.log.Read(s.t.Context(), s.conv, 0, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range recs {
		if _, delta := r.Event.(*chat.TextDelta); delta {
			continue // how text is gathered depends on the clock
		}
		j, err := json.Marshal(r.Event)
		if err != nil {
			s.t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", r.Event.Type(), j)
	}
	return s.stable(b.String())
}

// history renders what the model was told last.
func (s *stage) history() string {
	prompts := s.model.Prompts()
	if len(prompts) == 0 {
		return ""
	}
	var b strings.Builder
	for _, m := range prompts[len(prompts)-1].Messages {
		switch m := m.(type) {
		case chat.UserMessage:
			fmt.Fprintf(&b, "user: %s\n", m.Text)
		case chat.AssistantMessage:
			if m.Text != "" {
				fmt.Fprintf(&b, "assistant: %s\n", m.Text)
			}
			for _, c := range m.Calls {
				fmt.Fprintf(&b, "call %s: %s %s\n", c.ID, c.Name, c.Args)
			}
		case chat.ToolResult:
			fmt.Fprintf(&b, "result %s: %s\n", m.CallID, strings.ReplaceAll(strings.TrimSpace(m.Content), "\n", "\n  "))
		}
	}
	return s.stable(b.String())
}

var (
	ids      = regexp.MustCompile(`\b(call|msg|run|cnf|art)_(?:run_)?[0-9A-Z]{20,}(?:_\w+)?`)
	volatile = regexp.MustCompile(`("(?:duration_ms|expires_at|args_digest|size_bytes)":)("[^"]*"|\d+)`)
	bytesOf  = regexp.MustCompile(`\b\d+ bytes`) // a bundle's size depends on its date
	until    = regexp.MustCompile(`until \d{4}-[0-9T:.-]+Z`)
	offered  = regexp.MustCompile(`"tools":\[[^\]]*\],"dropped":\{[^}]*\}`) // TestOffered is about these
	schema   = regexp.MustCompile(`"edit_schema":\{.*?\},"preview"`)
)

// stable replaces what differs from run to run.
func (s *stage) stable(text string) string {
	text = strings.ReplaceAll(text, s.base, "http://superset")
	text = volatile.ReplaceAllString(text, "$1…")
	text = bytesOf.ReplaceAllString(text, "… bytes")
	text = until.ReplaceAllString(text, "until …")
	text = offered.ReplaceAllString(text, `"tools":…`)
	text = schema.ReplaceAllString(text, `"edit_schema":…,"preview"`)
	seen := map[string]string{}
	count := map[string]int{}
	return ids.ReplaceAllStringFunc(text, func(id string) string {
		kind, _, _ := strings.Cut(id, "_")
		if seen[id] == "" {
			count[kind]++
			seen[id] = fmt.Sprintf("%s%d", kind, count[kind])
		}
		return seen[id]
	})
}
