package scriptserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Server plays a script. It is an http.Handler, safe for several goroutines:
//
//	POST …/chat/completions   the model
//	GET  …/models             one model
//	GET  /health              200
//	POST /script              a new script, from its start
//	GET  /state               {"done", "left", "problems", "requests"}
type Server struct {
	mu       sync.Mutex
	rounds   []Round
	problems []string
	requests []Request
}

// New returns a server at the start of a script.
func New(s Script) *Server { return &Server{rounds: slices.Clone(s.Rounds)} }

// Requests returns the requests so far, also those that were refused.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Done returns an error that names every bad request and the number of rounds that were not used, or nil.
func (s *Server) Done() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, p := range s.problems {
		errs = append(errs, errors.New(p))
	}
	if n := s.left(); n > 0 {
		errs = append(errs, fmt.Errorf("%d rounds of the script were not used", n))
	}
	return errors.Join(errs...)
}

// AssertComplete fails a test unless the script is done and every request was right. t is a *testing.T.
func (s *Server) AssertComplete(t interface {
	Helper()
	Errorf(string, ...any)
}) {
	t.Helper()
	if err := s.Done(); err != nil {
		t.Errorf("script: %v", err)
	}
}

// left must be called with mu held.
func (s *Server) left() int {
	n := 0
	for _, r := range s.rounds {
		if !r.Repeat {
			n++
		}
	}
	return n
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/chat/completions"):
		s.complete(w, r)
	case r.Method == http.MethodPost && path == "/script":
		s.load(w, r)
	case path == "/state":
		s.state(w)
	case strings.HasSuffix(path, "/models"):
		answer(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": "scripted", "object": "model"}}})
	case path == "/health":
		answer(w, http.StatusOK, map[string]string{"status": "ok"})
	default:
		refuse(w, http.StatusNotFound, Error{Message: "File Not Found", Type: "not_found_error"})
	}
}

func (s *Server) load(w http.ResponseWriter, r *http.Request) {
	sc, err := Load(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, Error{Message: err.Error(), Type: "invalid_request_error"})
		return
	}
	s.mu.Lock()
	s.rounds, s.problems, s.requests = sc.Rounds, nil, nil
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) state(w http.ResponseWriter) {
	s.mu.Lock()
	out := struct {
		Done     bool      `json:"done"`
		Left     int       `json:"left"`
		Problems []string  `json:"problems"`
		Requests []Request `json:"requests"`
	}{s.left() == 0 && len(s.problems) == 0, s.left(), slices.Clone(s.problems), slices.Clone(s.requests)}
	s.mu.Unlock()
	answer(w, http.StatusOK, out)
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	req, err := read(r)
	var round Round
	s.mu.Lock()
	s.requests = append(s.requests, req)
	if err == nil {
		round, err = s.next(req)
	}
	if err != nil {
		s.problems = append(s.problems, fmt.Sprintf("request %d: %v", len(s.requests), err))
	}
	s.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusBadRequest, Error{Message: err.Error(), Type: "invalid_request_error"})
		return
	}
	if round.Respond != nil {
		round = round.Respond(req)
	}
	play(w, r, req, round)
}

// next must be called with mu held.
func (s *Server) next(req Request) (Round, error) {
	for i, r := range s.rounds {
		if !r.When.fits(req) {
			continue
		}
		if !r.Repeat {
			s.rounds = slices.Delete(s.rounds, i, i+1)
		}
		return r, nil
	}
	return Round{}, errors.New("the script has no round for this request")
}

func read(r *http.Request) (Request, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return Request{}, fmt.Errorf("read the request: %w", err)
	}
	req := Request{Header: r.Header.Clone()}
	if !utf8.Valid(b) || json.Unmarshal(b, &req) != nil || json.Unmarshal(b, &req.Fields) != nil {
		return req, refused("We could not parse the JSON body of your request.")
	}
	if !req.Stream {
		return req, errors.New("this server only streams: 'stream' must be true")
	}
	return req, Check(req)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that left is no concern of a fake
}

func refuse(w http.ResponseWriter, status int, e Error) {
	answer(w, status, map[string]Error{"error": e})
}
