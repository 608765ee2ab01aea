package sqlguard

import (
	"strings"
	"unicode/utf8"
)

// lexer takes a text apart. What it cannot surely read it refuses.
type lexer struct {
	*dialect
	s       string
	i       int
	escapes bool
	out     []token
}

func lex(d *dialect, s string, escapes bool) ([]token, *refusal) {
	l := &lexer{dialect: d, s: s, escapes: escapes}
	for l.i < len(s) {
		from, n := l.i, len(l.out)
		if err := l.next(); err != nil {
			return nil, err
		}
		for k := n; k < len(l.out); k++ {
			l.out[k].from, l.out[k].to = from, l.i
		}
	}
	return l.out, nil
}

// at is a byte of the text, 0 behind its end.
func (l *lexer) at(i int) byte {
	if i >= 0 && i < len(l.s) {
		return l.s[i]
	}
	return 0
}

// last is the k-th token from the end, from 1.
func (l *lexer) last(k int) token {
	if len(l.out) < k {
		return token{kind: sign}
	}
	return l.out[len(l.out)-k]
}

func (l *lexer) add(k kind, text string, next int) {
	l.out = append(l.out, token{kind: k, text: text})
	l.i = next
}

// next reads one token, blank or comment.
func (l *lexer) next() *refusal {
	c, after := l.s[l.i], l.at(l.i+1)
	switch {
	case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		l.i++
		return nil
	case c == '-' && after == '-', c == '#' && l.hashComment, c == '/' && after == '/' && l.slashComment:
		return l.lineComment()
	case c == '/' && after == '*':
		return l.blockComment()
	case c == '\'' || c == '"':
		return l.quote(c)
	case c == '`':
		return l.backtickName()
	case c == '[' && l.bracketName:
		return l.bracketedName()
	case c == '$' && (l.dollar || l.dollarTag):
		return l.dollarQuote()
	case digit(c), c == '.' && digit(after) && !l.behindName():
		return l.number()
	case c < 128 && !startsWord(rune(c)):
		return l.sign(c)
	}
	return l.word()
}

// behindName reports whether a point here belongs to a path and not to a number.
func (l *lexer) behindName() bool {
	return len(l.out) > 0 && l.last(1).called() && l.at(l.i-1) != ' '
}

func (l *lexer) lineComment() *refusal {
	if l.s[l.i] == '-' && l.dashBlank && l.i+2 < len(l.s) && strings.IndexByte(" \t\r\n", l.at(l.i+2)) < 0 {
		return refuse("comment", "Two dashes without a blank behind them are no comment in this dialect.")
	}
	end := strings.IndexByte(l.s[l.i:], '\n')
	if end < 0 {
		l.i = len(l.s)
		return nil
	}
	l.i += end
	if strings.HasSuffix(strings.TrimSuffix(l.s[:l.i], "\r"), `\`) {
		return refuse("comment", "A comment that ends in a backslash may go on in the next line.")
	}
	return nil
}

func (l *lexer) blockComment() *refusal {
	from := l.i
	if l.at(from+2) == '!' || l.at(from+2)|32 == 'm' && l.at(from+3) == '!' {
		return refuse("comment", "Comments that are executed (/*! … */) are not allowed.")
	}
	for depth, i := 1, from+2; ; {
		switch {
		case i+1 >= len(l.s):
			return refuse("comment", "A comment is not closed.")
		case l.s[i] == '*' && l.s[i+1] == '/':
			i += 2
			if depth--; depth > 0 {
				continue
			}
			if l.is("mysql") && l.at(from+2) == '+' && strings.Contains(lower(l.s[from:i]), "set_var") {
				return refuse("comment", "The hint SET_VAR is not allowed.")
			}
			l.i = i
			return nil
		case l.s[i] == '/' && l.s[i+1] == '*':
			if !l.nested {
				return refuse("comment", "A comment within a comment is not allowed in this dialect.")
			}
			depth++
			i += 2
		default:
			i++
		}
	}
}

func (l *lexer) number() *refusal {
	j := l.i
	if l.s[j] == '0' && l.at(j+1)|32 == 'x' {
		for j += 2; digit(l.at(j)) || l.at(j)|32 >= 'a' && l.at(j)|32 <= 'f'; j++ {
		}
	} else {
		for ; digit(l.at(j)) || l.at(j) == '_' && digit(l.at(j+1)); j++ {
		}
		if l.at(j) == '.' {
			for j++; digit(l.at(j)); j++ {
			}
		}
		if l.at(j)|32 == 'e' && (digit(l.at(j+1)) || (l.at(j+1) == '+' || l.at(j+1) == '-') && digit(l.at(j+2))) {
			for j += 2; digit(l.at(j)); j++ {
			}
		}
	}
	if r, _ := utf8.DecodeRuneInString(l.s[j:]); j < len(l.s) && inWord(r) {
		return refuse("number", "A letter stands right behind a number; put a blank between them.")
	}
	l.add(number, l.s[l.i:j], j)
	return nil
}

// longSigns are signs of more than one character that the judge looks for.
var longSigns = []string{"->>", "|>", ":=", "::"}

func (l *lexer) sign(c byte) *refusal {
	after := l.at(l.i + 1)
	switch {
	case c == '#' && l.is("mssql"), c == '@' && l.is("mssql", "mysql", "bigquery"):
		if c == '@' && after < 128 && !inWord(rune(after)) && strings.IndexByte("@`'\"", after) < 0 {
			return refuse("character", "The sign @ stands alone.")
		}
		l.add(sign, string(c), l.i+1)
		return nil
	case strings.IndexByte(`+-*/%^&|~!=<>()[]{},.;:?@#\`, c) < 0:
		return refuse("character", "The character %q is not allowed here.", c)
	case c == '*' && after == '/', c == '/' && after == '/' && !l.is("duckdb"):
		return refuse("comment", "A sign of a comment stands where there is none in this dialect.")
	case c == '#' && !l.is("postgresql", "redshift", "duckdb"):
		return refuse("character", "The sign # is not allowed in this dialect.")
	}
	text := string(c)
	for _, long := range longSigns {
		if strings.HasPrefix(l.s[l.i:], long) {
			text = long
			break
		}
	}
	l.add(sign, text, l.i+len(text))
	return nil
}

func (l *lexer) word() *refusal {
	r, size := utf8.DecodeRuneInString(l.s[l.i:])
	if !startsWord(r) {
		return refuse("character", "The character %q is not allowed outside quotes.", r)
	}
	j := l.i + size
	for j < len(l.s) {
		r, size = utf8.DecodeRuneInString(l.s[j:])
		if !inWord(r) && (r != '#' || !l.is("mssql", "oracle")) {
			break
		}
		j += size
	}
	l.add(word, lower(l.s[l.i:j]), j)
	return nil
}
