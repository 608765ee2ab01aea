// Package sqlguard judges whether a text is surely one read-only statement in a SQL dialect. It is pure: a
// tokeniser for each dialect and a small judge that refuses what it does not know. It is the second wall; the
// first one is a database user that may only read.
package sqlguard

import (
	"fmt"
	"strings"
)

// Limits of a text.
const (
	MaxBytes = 64 << 10
	MaxDepth = 200 // brackets within brackets
)

// Verdict is what the guard says of a text. The zero Verdict refuses.
type Verdict struct {
	Allow  bool
	Rule   string // stable, snake_case; "" where it is allowed
	Reason string // a sentence that the writer of the text can act upon; "" where it is allowed

	// SQL is what may be sent, where it is allowed: the text without comments and without a semicolon at its end.
	SQL string
}

// Options are an operator's own lists. The zero Options are the built-in lists alone.
type Options struct {
	DenyFunctions  []string // names without a schema, refused in any case of letters
	AllowFunctions []string // names that the built-in lists refuse and this operator allows
}

// Judge decides about a text in a dialect, named as Superset names the backend of a database. It never panics
// and is safe for several goroutines.
func Judge(dialect, sql string, o Options) (v Verdict) {
	defer func() {
		if p := recover(); p != nil { // a hole in the judge must not become an allowance
			v = Verdict{Rule: "internal", Reason: fmt.Sprintf("The text could not be read: %v.", p)}
		}
	}()
	d, ok := dialectOf(dialect)
	if !ok {
		return refused(refuse("dialect", "There are no rules for the dialect %q, so nothing can be told about the text.", dialect))
	}
	if err := checkText(sql); err != nil {
		return refused(err)
	}
	var text string
	for i, escapes := range d.readings() {
		tokens, err := lex(d, sql, escapes)
		if err != nil {
			return refused(err)
		}
		tokens, err = one(tokens)
		if err != nil {
			return refused(err)
		}
		j := judge{dialect: d, deny: lowered(o.DenyFunctions), allow: lowered(o.AllowFunctions)}
		if err := j.statement(tokens); err != nil {
			return refused(err)
		}
		read := render(sql, tokens)
		if i > 0 && read != text { // what is a comment in one reading is text in the other
			return refused(refuse("two_readings", "Whether a backslash escapes depends on the server, and the text means different things. Write it without backslashes."))
		}
		text = read
	}
	return Verdict{Allow: true, SQL: text}
}

// refusal is why a text is refused.
type refusal struct{ rule, reason string }

func (r *refusal) Error() string { return r.reason }

func refuse(rule, format string, args ...any) *refusal {
	return &refusal{rule, fmt.Sprintf(format, args...)}
}

func refused(r *refusal) Verdict { return Verdict{Rule: r.rule, Reason: r.reason} }

// one drops semicolons at the end and refuses everything but one statement with balanced brackets.
func one(t []token) ([]token, *refusal) {
	for len(t) > 0 && t[len(t)-1].sign(";") {
		t = t[:len(t)-1]
	}
	if len(t) == 0 {
		return nil, refuse("empty", "There is no statement.")
	}
	var open []string
	for _, x := range t {
		if x.kind != sign {
			continue
		}
		switch x.text {
		case ";":
			return nil, refuse("second_statement", "Only one statement is allowed; there is something behind a semicolon.")
		case "(", "[", "{":
			if open = append(open, closing[x.text]); len(open) > MaxDepth {
				return nil, refuse("depth", "Brackets are nested deeper than %d.", MaxDepth)
			}
		case ")", "]", "}":
			if len(open) == 0 || open[len(open)-1] != x.text {
				return nil, refuse("brackets", "The brackets do not match at %q.", x.text)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return nil, refuse("brackets", "A bracket is not closed.")
	}
	return t, nil
}

var closing = map[string]string{"(": ")", "[": "]", "{": "}"}

// render takes the statement out of its text: without comments, with one blank or line break between tokens
// that had something between them. A line break stays one, since strings on two lines are one string.
func render(sql string, t []token) string {
	var b strings.Builder
	for i, x := range t {
		if i > 0 {
			gap := sql[t[i-1].to:x.from]
			switch {
			case strings.Contains(gap, "\n"):
				b.WriteByte('\n')
			case gap != "":
				b.WriteByte(' ')
			}
		}
		b.WriteString(sql[x.from:x.to])
	}
	return b.String()
}

func lowered(names []string) map[string]bool {
	m := map[string]bool{}
	for _, n := range names {
		m[lower(strings.TrimSpace(n))] = true
	}
	return m
}
