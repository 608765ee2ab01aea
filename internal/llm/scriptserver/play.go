package scriptserver

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"
)

const damaged = `{"id":"c1","choices":[{"index":0,"delta":{"content":"tw`

// play sends a round. It returns when the round is over or the client has left.
func play(w http.ResponseWriter, r *http.Request, req Request, round Round) {
	if round.RetryAfter != "" {
		w.Header().Set("Retry-After", round.RetryAfter)
	}
	if round.Status != 0 && round.Status != http.StatusOK {
		e := Error{Message: http.StatusText(round.Status)}
		if round.Error != nil {
			e = *round.Error
		}
		refuse(w, round.Status, e)
		return
	}
	lines, end := round.lines(req)
	if round.CutAt != nil {
		end = *round.CutAt
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for i := 0; i <= len(lines); i++ {
		switch {
		case is(round.Silence, i):
			<-r.Context().Done()
			return
		case round.Cut != "" && i == end:
			if round.Cut == "abort" {
				panic(http.ErrAbortHandler) // net/http's own way to break a connection off
			}
			return
		case i == len(lines):
			return
		}
		if !pause(r, round.DelayMS) {
			return
		}
		if is(round.Malformed, i) {
			_, _ = io.WriteString(w, "data: "+damaged+"\n\n") // a failure is seen at the next write
		}
		if _, err := io.WriteString(w, "data: "+lines[i]+"\n\n"); err != nil {
			return
		}
		_ = flush.Flush()
	}
}

func is(p *int, i int) bool { return p != nil && *p == i }

func pause(r *http.Request, ms int) bool {
	if ms <= 0 {
		return r.Context().Err() == nil
	}
	t := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer t.Stop()
	select {
	case <-r.Context().Done():
		return false
	case <-t.C:
		return true
	}
}

// lines returns the data lines of a round and the position of the reason for its end.
func (round Round) lines(req Request) ([]string, int) {
	if round.Raw != nil {
		return round.Raw, len(round.Raw)
	}
	out := []string{chunk(map[string]any{"role": "assistant", "content": nil}, nil)}
	for _, t := range round.Text {
		out = append(out, chunk(map[string]any{"content": find(req, t)}, nil))
	}
	out = append(out, round.callLines(req)...)
	end := len(out)
	if round.Error != nil {
		return append(out, object(map[string]any{"error": round.Error})), end
	}
	reason := round.Finish
	if reason == "" {
		reason = "stop"
		if len(round.Calls) > 0 {
			reason = "tool_calls"
		}
	}
	out = append(out, chunk(map[string]any{}, reason))
	if req.StreamOptions.Usage {
		u := Usage{Prompt: 11, Completion: 7}
		if round.Usage != nil {
			u = *round.Usage
		}
		out = append(out, object(map[string]any{"choices": []any{}, "usage": map[string]int{
			"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
		}}))
	}
	return append(out, "[DONE]"), end
}

// callLines sends each call as a head with its name and then the pieces of its arguments.
func (round Round) callLines(req Request) []string {
	perCall := make([][]string, len(round.Calls))
	for i, c := range round.Calls {
		index := i
		if round.SameIndex {
			index = 0
		}
		one := func(v map[string]any) string {
			v["index"] = index
			return chunk(map[string]any{"tool_calls": []any{v}}, nil)
		}
		perCall[i] = append(perCall[i], one(map[string]any{
			"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""},
		}))
		for _, p := range split(find(req, cmp.Or(c.Text, string(c.Args), "{}")), cmp.Or(c.Parts, 2)) {
			perCall[i] = append(perCall[i], one(map[string]any{"function": map[string]any{"arguments": p}}))
		}
	}
	var out []string
	if !round.Mix {
		for _, lines := range perCall {
			out = append(out, lines...)
		}
		return out
	}
	for k := 0; ; k++ {
		before := len(out)
		for _, lines := range perCall {
			if k < len(lines) {
				out = append(out, lines[k])
			}
		}
		if len(out) == before {
			return out
		}
	}
}

// split cuts s into n parts of about one length, between code points.
func split(s string, n int) []string {
	runes := []rune(s)
	var out []string
	for i := range n {
		if p := string(runes[i*len(runes)/n : (i+1)*len(runes)/n]); p != "" {
			out = append(out, p)
		}
	}
	return out
}

var finder = regexp.MustCompile(`\$\{find:([^}]+)\}`)

// find puts what earlier messages say where a script asks for it. A pattern without a match stays as it is,
// so that a test sees it.
func find(req Request, s string) string {
	if !strings.Contains(s, "${find:") {
		return s
	}
	return finder.ReplaceAllStringFunc(s, func(m string) string {
		p, err := regexp.Compile(finder.FindStringSubmatch(m)[1])
		if err != nil {
			return m
		}
		for i := len(req.Messages) - 1; i >= 0; i-- {
			if g := p.FindStringSubmatch(string(req.Messages[i].Content)); g != nil {
				return g[len(g)-1]
			}
		}
		return m
	})
}

func chunk(delta map[string]any, finish any) string {
	return object(map[string]any{
		"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
	})
}

func object(v map[string]any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("scriptserver: " + err.Error())
	}
	return string(b)
}
