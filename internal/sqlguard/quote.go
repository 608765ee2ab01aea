package sqlguard

import (
	"strings"
	"unicode/utf8"
)

// quoted reads from i, behind the opening quote, up to the closing one; a doubled quote is one within.
func (l *lexer) quoted(i int, q byte, escapes bool) (text string, next int, err *refusal) {
	var b strings.Builder
	for i < len(l.s) {
		c := l.s[i]
		switch {
		case escapes && c == '\\':
			if i+1 >= len(l.s) {
				return "", 0, notClosed(q)
			}
			b.WriteString(l.s[i : i+2]) // as it stands: what it means differs
			i += 2
		case c == q && l.at(i+1) == q:
			b.WriteByte(q)
			i += 2
		case c == q:
			return b.String(), i + 1, nil
		default:
			b.WriteByte(c)
			i++
		}
	}
	return "", 0, notClosed(q)
}

func notClosed(q byte) *refusal {
	return refuse("not_closed", "A quote (%c) is not closed.", q)
}

// quote reads what stands in ' or ".
func (l *lexer) quote(q byte) *refusal {
	if l.triple && l.at(l.i+1) == q && l.at(l.i+2) == q {
		return l.tripleQuote(q)
	}
	kind, escapes := str, l.escapes
	if q == '"' && !l.doubleString {
		kind, escapes = name, l.is("clickhouse")
	}
	before := l.at(l.i-1) | 32
	switch {
	case l.eString && !l.either && q == '\'' && l.last(1).kind == str && l.last(2).word("e"):
		return refuse("escape_string", "A string right behind an E'' string is not allowed: whether it escapes cannot be told.")
	case l.eString && q == '\'' && before == 'e' && l.last(1).word("e"):
		escapes = true
	case kind == name && l.at(l.i-1) == '&' && l.last(2).word("u"):
		return refuse("unicode_name", `Names with escapes (U&"…") are not allowed.`)
	case l.qString && q == '\'' && before == 'q' && (l.last(1).text == "q" || l.last(1).text == "nq"):
		return l.alternativeQuote()
	}
	text, next, err := l.quoted(l.i+1, q, escapes)
	switch {
	case err != nil:
		return err
	case kind == name:
		return l.addName(text, next)
	case l.is("databricks") && before == 'r' && l.last(1).word("r") && strings.Contains(text, `\`+string(q)):
		return refuse("raw_string", "A raw string that holds a backslash before a quote is not allowed.")
	}
	l.add(kind, text, next)
	return nil
}

func (l *lexer) tripleQuote(q byte) *refusal {
	end := strings.Repeat(string(q), 3)
	for j := l.i + 3; j < len(l.s); j++ {
		if l.s[j] == '\\' {
			j++
			continue
		}
		if strings.HasPrefix(l.s[j:], end) {
			l.add(str, l.s[l.i+3:j], j+3)
			return nil
		}
	}
	return notClosed(q)
}

// alternativeQuote reads q'[…]' of Oracle. The word before it becomes part of the string.
func (l *lexer) alternativeQuote() *refusal {
	open, size := utf8.DecodeRuneInString(l.s[l.i+1:])
	end := string(open)
	if p := strings.IndexRune("([{<", open); p >= 0 {
		end = string(")]}>"[p])
	}
	from := l.i + 1 + size
	j := -1
	if size > 0 {
		j = strings.Index(l.s[from:], end+"'")
	}
	if j < 0 {
		return notClosed('\'')
	}
	last := &l.out[len(l.out)-1]
	last.kind, last.text = str, ""
	l.i = from + j + len(end) + 1
	last.to = l.i
	return nil
}

func (l *lexer) backtickName() *refusal {
	if !l.backtick {
		return refuse("character", "Backticks are not allowed in this dialect.")
	}
	text, next, err := l.quoted(l.i+1, '`', l.is("clickhouse", "bigquery"))
	if err != nil {
		return err
	}
	return l.addName(text, next)
}

func (l *lexer) addName(text string, next int) *refusal {
	if text == "" {
		return refuse("empty_name", "A quoted name is empty.")
	}
	l.add(name, text, next)
	return nil
}

func (l *lexer) bracketedName() *refusal {
	if l.is("sqlite") { // it knows no doubled bracket
		end := strings.IndexByte(l.s[l.i:], ']')
		if end < 0 {
			return notClosed('[')
		}
		return l.addName(l.s[l.i+1:l.i+end], l.i+end+1)
	}
	text, next, err := l.quoted(l.i+1, ']', false)
	if err != nil {
		return err
	}
	return l.addName(text, next)
}

// dollarQuote reads $tag$…$tag$, and $1 of Snowflake.
func (l *lexer) dollarQuote() *refusal {
	j := l.i + 1
	for j < len(l.s) && l.s[j] != '$' && (l.s[j] >= 128 || inWord(rune(l.s[j]))) {
		j++
	}
	if l.at(j) == '$' && (j == l.i+1 || l.dollarTag && !digit(l.s[l.i+1])) {
		tag := l.s[l.i : j+1]
		end := strings.Index(l.s[j+1:], tag)
		if end < 0 {
			return notClosed('$')
		}
		l.add(str, l.s[j+1:j+1+end], j+1+end+len(tag))
		return nil
	}
	if l.is("snowflake") && j > l.i+1 {
		l.add(number, l.s[l.i:j], j)
		return nil
	}
	return refuse("character", "The sign $ stands alone.")
}
