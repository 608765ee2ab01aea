package mocksuperset

import "strings"

type tokenKind int

const (
	tokenWord tokenKind = iota
	tokenName           // quoted name
	tokenText           // quoted text
	tokenNumber
	tokenSign // operator or punctuation
	tokenComment
	tokenBroken // a quote that is not closed
)

// token is one piece of SQL without the space around it.
type token struct {
	kind tokenKind
	text string
	at   int // byte offset
}

func (t token) is(word string) bool {
	return (t.kind == tokenWord || t.kind == tokenSign) && strings.EqualFold(t.text, word)
}

// tokens cuts SQL into pieces. It never fails: what it cannot read is a sign.
func tokens(text string) []token {
	var out []token
	for i := 0; i < len(text); {
		start, c := i, text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case strings.HasPrefix(text[i:], "--"):
			i += lineEnd(text[i:])
			out = append(out, token{tokenComment, text[start:i], start})
		case strings.HasPrefix(text[i:], "/*"):
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				i = len(text)
			} else {
				i += end + 4
			}
			out = append(out, token{tokenComment, text[start:i], start})
		case c == '\'' || c == '"' || c == '`' || c == '[':
			end, closed := quotedEnd(text, i)
			i = end
			kind := tokenName
			if c == '\'' {
				kind = tokenText
			}
			if !closed {
				kind = tokenBroken
			}
			out = append(out, token{kind, text[start:i], start})
		case isDigit(c) || (c == '.' && i+1 < len(text) && isDigit(text[i+1])):
			for i < len(text) && (isWord(text[i]) || text[i] == '.' || ((text[i] == '+' || text[i] == '-') && (text[i-1] == 'e' || text[i-1] == 'E'))) {
				i++
			}
			out = append(out, token{tokenNumber, text[start:i], start})
		case isWord(c):
			for i < len(text) && isWord(text[i]) {
				i++
			}
			if (text[start:i] == "x" || text[start:i] == "X") && i < len(text) && text[i] == '\'' {
				i, _ = quotedEnd(text, i)
				out = append(out, token{tokenText, text[start:i], start})
				continue
			}
			out = append(out, token{tokenWord, text[start:i], start})
		default:
			i += signLength(text[i:])
			out = append(out, token{tokenSign, text[start:i], start})
		}
	}
	return out
}

func lineEnd(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

func quotedEnd(text string, at int) (int, bool) {
	closing := text[at]
	if closing == '[' {
		closing = ']'
	}
	for i := at + 1; i < len(text); i++ {
		if text[i] != closing {
			continue
		}
		if closing != ']' && i+1 < len(text) && text[i+1] == closing {
			i++
			continue
		}
		return i + 1, true
	}
	return len(text), false
}

func signLength(text string) int {
	for _, two := range []string{"<=", ">=", "<>", "!=", "==", "||", "<<", ">>", "->"} {
		if strings.HasPrefix(text, two) {
			if strings.HasPrefix(text, "->>") {
				return 3
			}
			return 2
		}
	}
	return 1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || c == '$' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// code leaves the comments out.
func code(list []token) []token {
	var out []token
	for _, t := range list {
		if t.kind != tokenComment {
			out = append(out, t)
		}
	}
	return out
}

// statements splits SQL at semicolons; empty ones are left out, comments stay where they are.
func statements(text string) []string {
	var out []string
	start := 0
	add := func(end int) {
		if s := strings.TrimSpace(text[start:end]); len(code(tokens(s))) > 0 {
			out = append(out, s)
		}
	}
	for _, t := range tokens(text) {
		if t.is(";") {
			add(t.at)
			start = t.at + 1
		}
	}
	add(len(text))
	return out
}

// balanced says whether every parenthesis has its partner and every quote is closed.
func balanced(list []token) bool {
	depth := 0
	for _, t := range list {
		switch {
		case t.kind == tokenBroken:
			return false
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// unbalancedAt finds the token where a parser gives up on parentheses: one that
// closes nothing, or the last one where something stays open.
func unbalancedAt(list []token) (token, bool) {
	depth := 0
	for _, t := range list {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth < 0 {
				return t, true
			}
		}
	}
	if depth == 0 || len(list) == 0 {
		return token{}, false
	}
	return list[len(list)-1], true
}

// plainName takes the quotes off a name.
func plainName(t token) string {
	if t.kind != tokenName || len(t.text) < 2 {
		return t.text
	}
	inner := t.text[1 : len(t.text)-1]
	return strings.ReplaceAll(inner, `""`, `"`)
}

// withRules replaces tables in SQL by what a row-level rule leaves of them.
// rule gives the condition of a table, empty for none.
func withRules(text string, rule func(table string) string) string {
	list := code(tokens(text))
	var out strings.Builder
	copied := 0
	for i := 0; i < len(list); i++ {
		if !list[i].is("FROM") && !list[i].is("JOIN") {
			continue
		}
		for i+1 < len(list) && (list[i+1].kind == tokenWord || list[i+1].kind == tokenName) {
			first, last := i+1, i+1
			if last+2 < len(list) && list[last+1].is(".") {
				last += 2
			}
			name := plainName(list[last])
			end := list[last].at + len(list[last].text)
			if where := rule(name); where != "" {
				out.WriteString(text[copied:list[first].at])
				out.WriteString("(SELECT * FROM " + text[list[first].at:end] + " WHERE " + where + ")")
				alias := last+1 < len(list) && (list[last+1].is("AS") || (list[last+1].kind == tokenWord && !clauseWord(list[last+1].text)))
				if !alias {
					out.WriteString(" AS " + list[last].text)
				}
				copied = end
			}
			i = last
			for i+1 < len(list) && !list[i+1].is(",") && !list[i+1].is("JOIN") && (list[i+1].is("AS") || (list[i+1].kind == tokenWord && !clauseWord(list[i+1].text))) {
				i++
			}
			if i+1 < len(list) && list[i+1].is(",") {
				i++
				continue
			}
			break
		}
	}
	out.WriteString(text[copied:])
	return out.String()
}

const clauseWords = " WHERE GROUP ORDER HAVING LIMIT OFFSET UNION EXCEPT INTERSECT JOIN LEFT RIGHT INNER OUTER CROSS FULL NATURAL ON USING SET VALUES SELECT WINDOW "

func clauseWord(w string) bool { return strings.Contains(clauseWords, " "+strings.ToUpper(w)+" ") }
