package httpapi_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	uicontext "agentd/internal/context"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 250_000_000, time.UTC)

// bearer identifies a user by the token, which is the name. The user admin holds the role Admin.
type bearer struct {
	mu   sync.Mutex
	gone map[string]bool // whose session has ended
}

func (b *bearer) Identify(_ context.Context, r *http.Request) (chat.Identity, error) {
	name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	b.mu.Lock()
	defer b.mu.Unlock()
	if !ok || b.gone[name] {
		return chat.Identity{}, fault.New(fault.Auth, "Sign in first.")
	}
	who := chat.Identity{User: name, Roles: []string{"Gamma"}, Credential: &chat.Credential{Bearer: "secret-of-" + name}}
	if name == "admin" {
		who.Roles = []string{chat.AdminRole}
	}
	return who, nil
}

func (b *bearer) signOut(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone == nil {
		b.gone = map[string]bool{}
	}
	b.gone[name] = true
}

// memory is a log in memory. It counts writes, so that a test can say that there was none.
type memory struct {
	mu      sync.Mutex
	n       int
	convs   map[string]*chat.Conversation
	records map[string][]chat.Record
	news    map[string]chan struct{}
	open    map[string][]chat.Confirmation
	run     map[string]chat.Run
	writes  int
	watched map[string]time.Time // conversation → until when
}

func newMemory() *memory {
	return &memory{
		convs: map[string]*chat.Conversation{}, records: map[string][]chat.Record{}, news: map[string]chan struct{}{},
		open: map[string][]chat.Confirmation{}, run: map[string]chat.Run{},
	}
}

var missing = fault.New(fault.Missing, "There is no such conversation.")

func (m *memory) CreateConversation(_ context.Context, owner string) (chat.Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.n++
	m.writes++
	c := &chat.Conversation{ID: "conv_" + strconv.Itoa(m.n), Owner: owner, Created: noon, Updated: noon}
	m.convs[c.ID] = c
	return *c, nil
}

func (m *memory) Conversation(_ context.Context, id, owner string) (chat.Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c, ok := m.convs[id]; ok && c.Owner == owner {
		return *c, nil
	}
	return chat.Conversation{}, missing
}

func (m *memory) Conversations(_ context.Context, owner string, f eventlog.ListFilter) ([]chat.Conversation, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f.Cursor != "" && f.Cursor != "good" {
		return nil, "", &fault.Error{Kind: fault.Invalid, Code: "bad_cursor", Msg: "The cursor is not one of ours."}
	}
	var out []chat.Conversation
	for _, c := range m.convs {
		if c.Owner == owner && strings.Contains(c.Title, f.Query) {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b chat.Conversation) int { return strings.Compare(a.ID, b.ID) })
	if f.Limit > 0 && len(out) > f.Limit {
		return out[:f.Limit], "good", nil
	}
	return out, "", nil
}

func (m *memory) RenameConversation(ctx context.Context, id, owner, title string) error {
	if _, err := m.Conversation(ctx, id, owner); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.convs[id].Title = title
	m.writes++
	return nil
}

func (m *memory) DeleteConversation(ctx context.Context, id, owner string) error {
	if _, err := m.Conversation(ctx, id, owner); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.convs, id)
	m.writes++
	m.tell(id)
	return nil
}

// append adds events under a run and wakes readers afterwards.
func (m *memory) append(conversation, run string, events ...chat.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range events {
		seq := int64(len(m.records[conversation])) + 1
		m.records[conversation] = append(m.records[conversation], chat.Record{
			Conversation: conversation, Seq: seq, RunID: run, At: noon.Add(time.Duration(seq) * time.Second), Entry: chat.Entry{Event: e},
		})
	}
	m.tell(conversation)
}

// tell must be called with mu held.
func (m *memory) tell(conversation string) {
	if ch := m.news[conversation]; ch != nil {
		close(ch)
		delete(m.news, conversation)
	}
}

func (m *memory) Read(_ context.Context, conversation string, after int64, limit int) ([]chat.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.convs[conversation]; !ok {
		return nil, missing
	}
	var out []chat.Record
	for _, r := range m.records[conversation] {
		if r.Seq > after && (limit <= 0 || len(out) < limit) {
			out = append(out, r)
		}
	}
	return out, nil
}

func (m *memory) Last(_ context.Context, conversation string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.convs[conversation]; !ok {
		return 0, missing
	}
	if rs := m.records[conversation]; len(rs) > 0 {
		return rs[len(rs)-1].Seq, nil
	}
	return 0, nil
}

func (m *memory) Changed(conversation string) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.news[conversation] == nil {
		m.news[conversation] = make(chan struct{})
	}
	return m.news[conversation]
}

func (m *memory) Watched(_ context.Context, conversation string, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.watched == nil {
		m.watched = map[string]time.Time{}
	}
	m.watched[conversation] = until
	return nil
}

func (m *memory) ActiveRun(_ context.Context, conversation string) (chat.Run, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.run[conversation]
	return r, ok, nil
}

func (m *memory) OpenConfirmations(_ context.Context, conversation string) ([]chat.Confirmation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.open[conversation], nil
}

func (m *memory) Confirmations(_ context.Context, user string, states ...chat.ConfirmState) ([]chat.Confirmation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []chat.Confirmation
	for _, cs := range m.open {
		for _, c := range cs {
			if c.User == user && slices.Contains(states, c.State) {
				out = append(out, c)
			}
		}
	}
	return out, nil
}

func (m *memory) written() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

// work records what was started; a nil function accepts.
type work struct {
	mu       sync.Mutex
	started  int
	messages []agent.MessageInput
	message  func(chat.Identity, string, agent.MessageInput) (agent.Accepted, error)
	decision func(chat.Identity, string, string, agent.DecisionInput) (agent.Decided, error)
	retried  func(chat.Identity, string, string) (agent.Retried, error)
	canceled func(chat.Identity, string) error
}

func (w *work) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.started
}

func (w *work) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started++
}

func (w *work) Message(_ context.Context, who chat.Identity, conv string, in agent.MessageInput) (agent.Accepted, error) {
	w.start()
	w.mu.Lock()
	w.messages = append(w.messages, in)
	w.mu.Unlock()
	if w.message != nil {
		return w.message(who, conv, in)
	}
	return agent.Accepted{RunID: "run_1", MessageID: "msg_1"}, nil
}

func (w *work) Decide(_ context.Context, who chat.Identity, conv, id string, in agent.DecisionInput) (agent.Decided, error) {
	w.start()
	if w.decision != nil {
		return w.decision(who, conv, id, in)
	}
	return agent.Decided{RunID: "run_2", State: chat.ConfirmClaimed}, nil
}

func (w *work) Retry(_ context.Context, who chat.Identity, conv, id string) (agent.Retried, error) {
	w.start()
	if w.retried != nil {
		return w.retried(who, conv, id)
	}
	return agent.Retried{RunID: "run_3", CallID: "call_2"}, nil
}

func (w *work) Cancel(_ context.Context, who chat.Identity, conv string) error {
	w.start()
	if w.canceled != nil {
		return w.canceled(who, conv)
	}
	return nil
}

// around says what there is: two environments.
type around struct{ capabilities error }

var environments = []agent.Environment{{ID: "ss-prod", Title: "Production", Class: "prod"}, {ID: "ss-dev", Title: "Dev", Class: "dev"}}

func (a around) Capabilities(_ context.Context, who chat.Identity, v uicontext.View, env string) (agent.Capabilities, error) {
	return agent.Capabilities{
		User: who.User, Roles: who.Roles, Model: "offline",
		Servers: []agent.ServerStatus{{Name: "shop", State: "down"}},
		Offered: []agent.OfferedTool{{Name: "show_capabilities", Risk: "read"}}, Hidden: []agent.HiddenTool{{Name: "run_sql", Why: "role"}},
	}, a.capabilities
}

func (around) Environments(context.Context) []agent.EnvironmentStatus {
	return []agent.EnvironmentStatus{{Environment: environments[0], Reachable: true}, {Environment: environments[1]}}
}

// simulator answers allow.
type simulator struct {
	mu    sync.Mutex
	asked []agent.Question
}

func (s *simulator) Simulate(_ context.Context, q agent.Question) (agent.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q)
	return agent.Answer{Verdict: "allow", Rule: "p, role:Gamma, *", Reason: "read", Risk: chat.Risk{Tool: "read", Env: "prod", Permission: "granted"}}, nil
}
