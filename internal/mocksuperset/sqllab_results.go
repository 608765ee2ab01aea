package mocksuperset

import (
	"sync"

	"github.com/google/uuid"
)

// labResults is a results backend: SQL Lab's rows by key. A nil one keeps nothing.
type labResults struct {
	mu   sync.Mutex
	kept map[string]labBody // key → answer
}

// keep gives an answer a key, or "".
func (l *labResults) keep(b labBody) string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = map[string]labBody{}
	}
	key := uuid.NewString()
	l.kept[key] = b
	return key
}

func (l *labResults) find(key string) (labBody, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, ok := l.kept[key]
	return b, ok
}

func (l *labResults) reset() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = nil
}

// labResults gives the rows that are kept, all of them unless fewer are asked for.
func (c *call) labResults() answer {
	v, a, good := c.argument()
	if !good {
		return a
	}
	q, _ := v.(obj)
	if q["key"] == nil {
		return message(400, "Not a valid rison schema 'key' is a required property")
	}
	if c.s.results == nil {
		return c.refusal(problems(500, problem{message: "Results backend is not configured.", kind: "RESULTS_BACKEND_NOT_CONFIGURED_ERROR", codes: []int{1021}}))
	}
	key, _ := q["key"].(string)
	b, ok := c.s.results.find(key)
	if !ok || !c.isAdmin() && asInt(b.query["userId"]) != c.userID() {
		return c.refusal(problems(404, problem{message: "The query associated with these results could not be found. You need to re-run the original query.",
			kind: "RESULTS_BACKEND_ERROR", codes: []int{1031, 1032, 1033}}))
	}
	most := len(b.rows)
	if n := asInt(q["rows"]); n > 0 {
		most = n
	}
	return b.answer(most)
}
