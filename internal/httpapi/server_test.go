package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"agentd/internal/httpapi"
	"agentd/internal/sse"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A server is the real one on a real socket, over fakes. Every answer of it is held against its own document.
type server struct {
	*httptest.Server
	t    *testing.T
	api  *httpapi.API
	who  *bearer
	log  *memory
	work *work
	sim  *simulator
	said *buffer
	doc  *document

	streams *sse.Server
}

// buffer is a log that is read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func serve(t *testing.T, change ...func(*httpapi.Options)) *server {
	t.Helper()
	s := &server{t: t, who: &bearer{}, log: newMemory(), work: &work{}, sim: &simulator{}, said: &buffer{}, streams: sse.New(sse.Options{})}
	o := httpapi.Options{
		Identity: s.who, Log: s.log, Work: s.work, Surroundings: around{}, Streams: s.streams, Simulator: s.sim,
		Environments: environments, Model: httpapi.ModelInfo{Provider: "offline", Offline: true},
		Web:     fstest.MapFS{"index.html": {Data: []byte("<html><head><title>x</title></head></html>")}, "embed.js": {Data: []byte("1")}, "assets/a-1.js": {Data: bytes.Repeat([]byte("a"), 2000)}, ".gitkeep": {}},
		Metrics: prometheus.NewRegistry(), ActiveRuns: func() int { return 3 }, Memory: func() any { return map[string]int{"heap": 1} }, Servers: func() any { return map[string][]int{"servers": {}} },
		Logger: slog.New(slog.NewJSONHandler(s.said, nil)),
	}
	for _, f := range change {
		f(&o)
	}
	var err error
	if s.api, err = httpapi.New(o); err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(s.api.Handler())
	t.Cleanup(s.Close)
	t.Cleanup(s.streams.Close) // runs first: the HTTP server waits for streams
	t.Cleanup(s.Client().CloseIdleConnections)
	s.doc = readDocument(t, s)
	return s
}

// An answer is a response that was read whole.
type answer struct {
	*http.Response
	body []byte
}

type problem struct {
	Type, Title, Detail, Code string
	Status                    int
	RequestID                 string `json:"request_id"`
	Errors                    []struct{ Pointer, Detail string }
}

func (a answer) problem(t *testing.T) problem {
	t.Helper()
	var p problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("%d %s: %v", a.StatusCode, a.body, err)
	}
	return p
}

func (a answer) decode(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%d %s: %v", a.StatusCode, a.body, err)
	}
}

// do sends a request as a user ("" is nobody). Headers are pairs; a body is JSON unless they say otherwise.
func (s *server) do(user, method, path, body string, headers ...string) answer {
	s.t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if body == "" {
		req.Body, req.ContentLength = http.NoBody, 0
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if user != "" {
		req.Header.Set("Authorization", "Bearer "+user)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	transport := s.Client().Transport
	resp, err := transport.RoundTrip(req) // redirects are looked at, not followed
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	a := answer{Response: resp}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		s.t.Fatal(err)
	}
	if s.doc != nil {
		s.doc.check(s.t, req, a)
	}
	return a
}

// conversation makes one of a user.
func (s *server) conversation(user string) string {
	s.t.Helper()
	a := s.do(user, "POST", "/api/v1/conversations", "")
	var c struct{ ID string }
	a.decode(s.t, &c)
	if a.StatusCode != http.StatusCreated || c.ID == "" {
		s.t.Fatalf("create: %d %s", a.StatusCode, a.body)
	}
	return c.ID
}

// A document is the served description of the API.
type document struct {
	compiler *jsonschema.Compiler
	paths    map[string]map[string]struct {
		Responses map[string]struct {
			Ref     string `json:"$ref"`
			Content map[string]any
		}
	}
}

func readDocument(t *testing.T, s *server) *document {
	t.Helper()
	a := s.do("", "GET", "/api/v1/openapi.json", "")
	if a.StatusCode != http.StatusOK {
		t.Fatalf("document: %d %s", a.StatusCode, a.body)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	d := &document{compiler: jsonschema.NewCompiler()}
	var paths struct{ Paths json.RawMessage }
	a.decode(t, &paths)
	if err := json.Unmarshal(paths.Paths, &d.paths); err != nil {
		t.Fatal(err)
	}
	if err := d.compiler.AddResource("urn:doc", v); err != nil {
		t.Fatal(err)
	}
	return d
}

// check holds an answer of the API to the document: its status is named and its body has the shape.
func (d *document) check(t *testing.T, r *http.Request, a answer) {
	t.Helper()
	path, ok := d.match(r.URL.Path)
	if !ok {
		return
	}
	responses := d.paths[path][strings.ToLower(r.Method)].Responses
	if responses == nil {
		return // 405
	}
	key := strconv.Itoa(a.StatusCode)
	resp, ok := responses[key]
	if !ok {
		t.Errorf("%s %s: status %d is not described: %s", r.Method, path, a.StatusCode, a.body)
		return
	}
	at := "urn:doc#/paths/" + escape(path) + "/" + strings.ToLower(r.Method) + "/responses/" + key
	if resp.Ref != "" {
		at = "urn:doc" + resp.Ref
		resp.Content = map[string]any{"application/problem+json": nil}
	}
	media := a.Header.Get("Content-Type")
	if len(resp.Content) > 0 {
		form, ok := resp.Content[strings.Split(media, ";")[0]]
		if m, free := form.(map[string]any); ok && free && m["schema"] == nil {
			return // described as anything
		}
		if !ok {
			t.Errorf("%s %s: %d comes as %q, which is not described", r.Method, path, a.StatusCode, media)
		}
	}
	if !strings.HasSuffix(media, "json") || r.Method == http.MethodHead {
		return
	}
	schema, err := d.compiler.Compile(at + "/content/" + escape(media) + "/schema")
	if err != nil {
		t.Fatal(err)
	}
	values := [][]byte{a.body}
	if media == "application/x-ndjson" {
		values = bytes.SplitAfter(bytes.TrimSpace(a.body), []byte("\n"))
	}
	for _, value := range values {
		if len(value) == 0 {
			continue
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
		if err != nil {
			t.Errorf("%s %s: %v in %s", r.Method, path, err, value)
			continue
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s %s: %d is not as described: %v\n%s", r.Method, path, a.StatusCode, err, value)
		}
	}
}

// match finds the described path of a request.
func (d *document) match(path string) (string, bool) {
	got := strings.Split(path, "/")
next:
	for p := range d.paths {
		want := strings.Split(p, "/")
		if len(want) != len(got) {
			continue
		}
		for i := range want {
			if want[i] != got[i] && !strings.HasPrefix(want[i], "{") {
				continue next
			}
		}
		return p, true
	}
	return "", false
}

func escape(s string) string {
	s = strings.NewReplacer("~", "~0", "/", "~1").Replace(s)
	return strings.NewReplacer("{", "%7B", "}", "%7D", "+", "%2B").Replace(s)
}
