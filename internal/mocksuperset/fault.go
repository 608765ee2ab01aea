package mocksuperset

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// A Fault is something that goes wrong with the next requests that fit. Exactly
// one of the kinds below Times is set; a Fault with none is refused.
type Fault struct {
	Method string `json:"method"`          // empty: any
	Path   string `json:"path"`            // glob over the whole path; * spans / too
	Times  int    `json:"times"`           // how many requests it hits; 0 counts as 1, negative: for good
	After  int    `json:"after,omitempty"` // how many fitting requests pass before it begins

	Status          int               // answers this instead of doing anything
	Body            any               // of Status: JSON, or a string as it is
	Headers         map[string]string // of Status
	Delay           int               // milliseconds before the request is done and answered
	Hang            bool              // does nothing, never answers
	CommitThenHang  bool              // does it, never answers
	CommitThenReset bool              // does it, then closes the connection
	Reset           bool              // closes the connection at once
	CutAfter        int               // does it, announces the whole answer, sends so many bytes and closes
	HTML            bool              // a proxy's error page: 502
	RedirectToLogin bool              // 302 to the login page
	Trickle         int               // bytes per second of the answer
}

// faultKind is the part of a Fault under "fault" in JSON.
type faultKind struct {
	Status          int               `json:"status,omitempty"`
	Body            any               `json:"body,omitempty"`
	Headers         map[string]string `json:"headers,omitempty"`
	DelayMS         int               `json:"delay_ms,omitempty"`
	Hang            bool              `json:"hang,omitempty"`
	CommitThenHang  bool              `json:"commit_then_hang,omitempty"`
	CommitThenReset bool              `json:"commit_then_reset,omitempty"`
	Reset           bool              `json:"reset,omitempty"`
	CutAfterBytes   *int              `json:"cut_after_bytes,omitempty"`
	HTML            bool              `json:"html,omitempty"`
	RedirectToLogin bool              `json:"redirect_to_login,omitempty"`
	Trickle         int               `json:"trickle_bytes_per_s,omitempty"`
}

type faultJSON struct {
	ID     int       `json:"id,omitempty"`
	Method string    `json:"method"`
	Path   string    `json:"path"`
	Times  int       `json:"times"`
	After  int       `json:"after,omitempty"`
	Fault  faultKind `json:"fault"`
}

// MarshalJSON writes a Fault in the shape of the control surface.
func (f Fault) MarshalJSON() ([]byte, error) { return json.Marshal(f.wire(0)) }

func (f Fault) wire(id int) faultJSON {
	k := faultKind{Status: f.Status, Body: f.Body, Headers: f.Headers, DelayMS: f.Delay, Hang: f.Hang,
		CommitThenHang: f.CommitThenHang, CommitThenReset: f.CommitThenReset, Reset: f.Reset, HTML: f.HTML,
		RedirectToLogin: f.RedirectToLogin, Trickle: f.Trickle}
	if f.CutAfter > 0 {
		k.CutAfterBytes = &f.CutAfter
	}
	return faultJSON{ID: id, Method: f.Method, Path: f.Path, Times: f.Times, After: f.After, Fault: k}
}

// UnmarshalJSON reads the shape of the control surface.
func (f *Fault) UnmarshalJSON(text []byte) error {
	var w faultJSON
	dec := json.NewDecoder(newBytesReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return err
	}
	k := w.Fault
	*f = Fault{Method: w.Method, Path: w.Path, Times: w.Times, After: w.After, Status: k.Status, Body: k.Body,
		Headers: k.Headers, Delay: k.DelayMS, Hang: k.Hang, CommitThenHang: k.CommitThenHang,
		CommitThenReset: k.CommitThenReset, Reset: k.Reset, HTML: k.HTML, RedirectToLogin: k.RedirectToLogin, Trickle: k.Trickle}
	if k.CutAfterBytes != nil {
		f.CutAfter = max(*k.CutAfterBytes, 1)
	}
	return nil
}

func (f Fault) check() error {
	kinds := 0
	for _, on := range []bool{f.Status != 0, f.Delay > 0, f.Hang, f.CommitThenHang, f.CommitThenReset, f.Reset,
		f.CutAfter > 0, f.HTML, f.RedirectToLogin, f.Trickle > 0} {
		if on {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return fmt.Errorf("a fault is exactly one thing, this one is %d", kinds)
	case f.Path == "":
		return fmt.Errorf("a fault needs a path, * for all")
	case f.Status != 0 && (f.Status < 100 || f.Status > 599):
		return fmt.Errorf("%d is no status", f.Status)
	}
	return nil
}

// faultList are the faults that wait, oldest first.
type faultList struct {
	mu   sync.Mutex
	last int
	list []waiting
}

type waiting struct {
	id    int
	fault Fault
}

func (l *faultList) add(f Fault) (int, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	if f.Times == 0 {
		f.Times = 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	l.list = append(l.list, waiting{l.last, f})
	return l.last, nil
}

// take gives the fault that hits this request and counts it; nil for none.
// The first that fits and has begun wins; those that fit but are not due yet count the request as passed.
func (l *faultList) take(method, path string) *Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.list {
		f := &l.list[i].fault
		if (f.Method != "" && f.Method != method) || !glob(f.Path, path) {
			continue
		}
		if f.After > 0 {
			f.After--
			continue
		}
		hit := *f
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				l.list = slices.Delete(l.list, i, i+1)
			}
		}
		return &hit
	}
	return nil
}

func (l *faultList) left() []faultJSON {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []faultJSON{}
	for _, w := range l.list {
		out = append(out, w.fault.wire(w.id))
	}
	return out
}

func (l *faultList) drop(id int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.list)
	l.list = slices.DeleteFunc(l.list, func(w waiting) bool { return w.id == id })
	return len(l.list) < before
}

func (l *faultList) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}

// glob matches a path; * is any text, / included.
func glob(pattern, path string) bool {
	text, pat := []rune(path), []rune(pattern)
	t, p, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pat) && pat[p] == '*':
			star, mark = p, t
			p++
		case p < len(pat) && pat[p] == text[t]:
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pat) && pat[p] == '*' {
		p++
	}
	return p == len(pat)
}

// Fail makes the next fitting requests fail and gives the id of the fault. It
// panics on a fault that is none: a mistake of the test.
func (s *Server) Fail(f Fault) int {
	id, err := s.faults.add(f)
	if err != nil {
		panic("mocksuperset: " + err.Error())
	}
	return id
}

// Faults says how many faults have not been used up.
func (s *Server) Faults() int { return len(s.faults.left()) }
