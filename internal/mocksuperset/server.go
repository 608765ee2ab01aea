package mocksuperset

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Options says which instance a Server plays. The zero value is dev with the
// control surface.
type Options struct {
	// Name is dev (default), staging or prod: the built-in content.
	Name string
	// Seed makes the ids that are chosen at random (uuids, keys of links). The same
	// name, seed and steps give the same ones.
	Seed uint64
	// NoControl removes /_mock/.
	NoControl bool
	// BasePath is where Superset is mounted, such as /superset-dev; empty is the root.
	BasePath string
	// Fixture is a YAML document that adds or changes content, see FIXTURE.md.
	Fixture []byte
	// DisplayMaxRow is how many rows an answer of SQL Lab has at most; 0 is Superset's own 10,000.
	DisplayMaxRow int
	// ResultsBackend keeps the rows of SQL Lab to be read whole, as one that is configured does.
	ResultsBackend bool
	// Start is where the clock of stored dates begins; zero is shortly after the
	// newest date of the built-in content. Tokens always live by the real time.
	Start time.Time
}

// Server is one mock Superset. It is safe for any number of goroutines. It
// starts none and listens nowhere: serve it with net/http or httptest.
type Server struct {
	name     string
	base     string
	control  bool
	secret   []byte
	features features
	clock    *clock
	faults   *faultList
	calls    *callLog
	data     *dataStore
	results  *labResults // nil without a results backend
	display  int         // DISPLAY_MAX_ROW
	fixture  *state

	writing sync.Mutex // held by one writing request at a time; guards random
	random  *rand.Rand
	current atomic.Pointer[state]

	closing sync.Once
	closed  chan struct{}
}

// New makes a server. It panics when the name is unknown or the fixture is
// wrong: both are mistakes of whoever wrote the test. Load reports them as errors.
func New(o Options) *Server {
	s, err := Load(o)
	if err != nil {
		panic("mocksuperset: " + err.Error())
	}
	return s
}

// Load is New for what people type: an unknown name or a wrong fixture is an
// error that names the line.
func Load(o Options) (*Server, error) {
	if o.Name == "" {
		o.Name = "dev"
	}
	read, ok := fixtures[o.Name]
	if !ok {
		return nil, fmt.Errorf("no built-in content is called %q: dev, staging or prod", o.Name)
	}
	content, err := read()
	if err != nil {
		return nil, err
	}
	s := &Server{
		name:     o.Name,
		base:     "/" + strings.Trim(o.BasePath, "/"),
		control:  !o.NoControl,
		secret:   fmt.Appendf(nil, "mock superset %s %d", o.Name, o.Seed),
		features: featuresOf(o.Name),
		clock:    newClock(o.Start),
		faults:   &faultList{},
		calls:    &callLog{},
		data:     newDataStore(),
		display:  o.DisplayMaxRow,
		fixture:  content,
		random:   rand.New(rand.NewPCG(o.Seed, 20260401)),
		closed:   make(chan struct{}),
	}
	if s.base == "/" {
		s.base = ""
	}
	if s.display <= 0 {
		s.display = 10_000
	}
	if o.ResultsBackend {
		s.results = &labResults{}
	}
	if len(o.Fixture) > 0 {
		if s.fixture, err = s.applyFixture(content, o.Fixture); err != nil {
			return nil, err
		}
	}
	s.current.Store(s.fixture)
	return s, nil
}

// Close ends requests that hang and frees the example databases. It may be
// called twice.
func (s *Server) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return s.data.close()
}

// Reset takes everything back to the fixture: objects, example
// data, faults, recorded calls. Tokens given out before stay good.
func (s *Server) Reset() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.current.Store(s.fixture)
	s.data.reset()
	s.results.reset()
	s.faults.clear()
	s.calls.clear()
}

// Advance moves the clock: tokens expire, dates of later writes are later.
func (s *Server) Advance(d time.Duration) { s.clock.advance(d) }

// ReadyLine is the line that the command prints when it listens at the address,
// such as http://127.0.0.1:8101.
func (s *Server) ReadyLine(address string) string {
	return fmt.Sprintf("mock-superset %s ready at %s%s", s.name, address, s.base)
}

// ServeHTTP answers one request, after any fault that waits for it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.control && strings.HasPrefix(r.URL.Path, "/_mock/") {
		s.serveControl(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	entry := s.calls.begin(r.Method, r.URL.Path, time.Now())
	fault := s.faults.take(r.Method, r.URL.Path)
	s.play(w, r, fault, func() answer {
		a, user, committed := s.answer(r, body)
		s.calls.end(entry, a.status, user, committed)
		return a
	}, func(status int) { s.calls.end(entry, status, "", false) })
}

// answer plays one request without faults and says who asked and whether it
// changed something.
func (s *Server) answer(r *http.Request, body []byte) (a answer, user string, committed bool) {
	path, ok := strings.CutPrefix(r.URL.Path, s.base)
	if !ok || (path != "" && path[0] != '/') {
		return notFoundPage(r), "", false
	}
	if path == "" {
		path = "/"
	}
	if merged := mergedSlashes(path); merged != path {
		c := &call{s: s, r: r}
		return c.slashRedirect(strings.TrimSuffix(merged, "/")), "", false
	}
	rt, vars, redirect, allowed := lookup(r.Method, path)
	c := &call{s: s, r: r, body: body, vars: vars, route: rt, session: s.readSession(r)}
	switch {
	case redirect:
		return c.slashRedirect(path), "", false
	case rt == nil && len(allowed) == 0:
		return c.unknownRoute(), "", false
	case rt == nil && r.Method == http.MethodOptions:
		return answer{status: 200, ctype: "text/html; charset=utf-8"}.with("Allow", strings.Join(allowed, ", ")), "", false
	case rt == nil:
		return c.methodNotAllowed(allowed), "", false
	}
	if rt.writes() {
		s.writing.Lock()
		defer s.writing.Unlock()
	}
	c.st = s.current.Load()
	a = c.run()
	if c.user != nil {
		user = c.user.str("username")
	}
	if c.forked && (a.status < 400 || a.keep) {
		s.current.Store(c.st)
		s.clock.tick()
		committed = rt.changes && a.status < 400
	}
	committed = committed || c.changed
	if r.Method == http.MethodHead {
		a.body = nil
	}
	return a, user, committed
}

func mergedSlashes(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

// newUUID must be called with writing held.
func (s *Server) newUUID() string {
	var b [16]byte
	for i := 0; i < 16; i += 8 {
		v := s.random.Uint64()
		for j := range 8 {
			b[i+j] = byte(v >> (8 * j))
		}
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return uuid.UUID(b).String()
}

const keyLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// newKey is a random key of a link, or a part of one. It must be called with writing held.
func (s *Server) newKey(length int) string {
	out := make([]byte, length)
	for i := range out {
		out[i] = keyLetters[s.random.IntN(len(keyLetters))]
	}
	return string(out)
}
