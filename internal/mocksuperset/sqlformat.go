package mocksuperset

import (
	"regexp"
	"strings"
)

// Superset parses SQL and writes it anew before it runs it. What can be noticed
// of that is done here: words in capitals, spaces, and so the names of columns
// that have none.

const sqlKeywords = " SELECT FROM WHERE GROUP ORDER BY HAVING LIMIT OFFSET UNION ALL EXCEPT INTERSECT DISTINCT AS ON USING JOIN LEFT RIGHT INNER OUTER CROSS FULL NATURAL AND OR NOT IN IS NULL LIKE BETWEEN CASE WHEN THEN ELSE END ASC DESC WITH RECURSIVE VALUES INSERT INTO UPDATE SET DELETE EXISTS CAST OVER PARTITION ROWS RANGE CREATE TABLE VIEW DROP TRUE FALSE ESCAPE GLOB COLLATE "

func keyword(word string) bool { return strings.Contains(sqlKeywords, " "+strings.ToUpper(word)+" ") }

// spacedWords stand before a parenthesis and are no functions.
const spacedWords = " IN AND OR NOT AS VALUES EXISTS OVER FROM JOIN ON WHERE SELECT HAVING BY UNION ALL USING THEN ELSE WHEN LIKE BETWEEN INTERSECT EXCEPT LIMIT OFFSET DISTINCT INTO "

// normal writes tokens as Superset would, on one line.
func normal(list []token) string {
	var out strings.Builder
	for i := range list {
		text := rewritten(list, i)
		if text == "" {
			continue
		}
		if i > 0 && spaceBetween(list, i) {
			out.WriteByte(' ')
		}
		out.WriteString(text)
	}
	return out.String()
}

// rewritten is a token as the parser writes it; empty for one that it leaves out.
func rewritten(list []token, i int) string {
	t := list[i]
	switch {
	case t.is("+") && unary(list, i):
		return ""
	case t.is(",") && (i+1 == len(list) || list[i+1].is("FROM") || i > 0 && list[i-1].is("SELECT")):
		return ""
	case t.is("!"):
		return "NOT"
	case t.kind != tokenWord:
		return t.text
	case t.is("SUBSTR") && i+1 < len(list) && list[i+1].is("("):
		return "SUBSTRING"
	case keyword(t.text), i+1 < len(list) && list[i+1].is("("), castType(list, i):
		return strings.ToUpper(t.text)
	}
	return t.text
}

// castType says whether a word is the type behind CAST(… AS.
func castType(list []token, i int) bool {
	if i+1 >= len(list) || !list[i+1].is(")") || i < 1 || !list[i-1].is("AS") {
		return false
	}
	depth := 0
	for j := i - 1; j > 0; j-- {
		switch {
		case list[j].is(")"):
			depth++
		case list[j].is("("):
			if depth--; depth < 0 {
				return list[j-1].is("CAST")
			}
		}
	}
	return false
}

func spaceBetween(list []token, i int) bool {
	before, t := list[i-1], list[i]
	switch {
	case t.is(",") || t.is(")") || t.is(".") || t.is(";"):
		return false
	case before.is("(") || before.is("."):
		return false
	case t.is("("):
		return !(before.kind == tokenWord && !strings.Contains(spacedWords, " "+strings.ToUpper(before.text)+" "))
	case before.is("-") || before.is("+"):
		return !unary(list, i-1)
	}
	return true
}

// unary says whether a sign belongs to the number behind it.
func unary(list []token, i int) bool {
	if i == 0 {
		return true
	}
	before := list[i-1]
	return before.kind == tokenSign && !before.is(")") || before.kind == tokenWord && keyword(before.text)
}

// pretty breaks SQL into the lines of its clauses, as the formatter does.
func pretty(text string) string {
	var out []string
	for _, s := range statements(text) {
		if list := code(tokens(s)); firstWord(list) == "EXPLAIN" {
			out = append(out, s)
		} else {
			out = append(out, prettyOne(aliased(list), ""))
		}
	}
	return strings.Join(out, ";\n\n")
}

func prettyOne(list []token, indent string) string {
	var lines []string
	var part []token
	clause, depth := "", 0
	flush := func() {
		if clause == "" && len(part) == 0 {
			return
		}
		body := normal(part)
		switch {
		case clause == "SELECT" || clause == "SELECT DISTINCT" || clause == "GROUP BY" || clause == "ORDER BY":
			items := splitTop(part)
			var texts []string
			for _, item := range items {
				texts = append(texts, indent+"  "+normal(item))
			}
			lines = append(lines, indent+clause, strings.Join(texts, ",\n"))
		case clause == "WHERE" || clause == "HAVING":
			lines = append(lines, indent+clause, indent+"  "+body)
		case clause == "ON":
			lines = append(lines, indent+"  ON "+body)
		case clause == "":
			lines = append(lines, indent+body)
		default:
			lines = append(lines, strings.TrimRight(indent+clause+" "+body, " "))
		}
		clause, part = "", nil
	}
	for i := 0; i < len(list); i++ {
		t := list[i]
		if t.is("(") {
			depth++
		} else if t.is(")") {
			depth--
		}
		if depth == 0 && t.kind == tokenWord {
			word := strings.ToUpper(t.text)
			next := ""
			if i+1 < len(list) {
				next = strings.ToUpper(list[i+1].text)
			}
			switch {
			case word == "SELECT" && next == "DISTINCT", (word == "GROUP" || word == "ORDER") && next == "BY", word == "UNION" && next == "ALL":
				flush()
				clause = word + " " + next
				i++
				continue
			case (word == "LEFT" || word == "RIGHT" || word == "INNER" || word == "CROSS" || word == "FULL") && next == "JOIN":
				flush()
				clause = word + " JOIN"
				i++
				continue
			case word == "JOIN" || word == "ON" || word == "SELECT" || word == "FROM" || word == "WHERE" || word == "HAVING" || word == "LIMIT" || word == "OFFSET" || word == "UNION" || word == "EXCEPT" || word == "INTERSECT":
				flush()
				clause = word
				continue
			}
		}
		part = append(part, t)
	}
	flush()
	return strings.Join(lines, "\n")
}

// aliased writes the AS that may be left out behind a table.
func aliased(list []token) []token {
	var out []token
	for i, t := range list {
		name := func(t token) bool { return t.kind == tokenWord && !keyword(t.text) }
		if i > 1 && name(t) && name(list[i-1]) && (list[i-2].is("FROM") || list[i-2].is("JOIN")) {
			out = append(out, token{tokenWord, "AS", t.at})
		}
		out = append(out, t)
	}
	return out
}

// splitTop splits tokens at commas outside of parentheses.
func splitTop(list []token) [][]token {
	var out [][]token
	depth, start := 0, 0
	for i, t := range list {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 0:
			out = append(out, list[start:i])
			start = i + 1
		}
	}
	return append(out, list[start:])
}

var cteColumns = regexp.MustCompile(`(?i)\b(WITH(?:\s+RECURSIVE)?\s+\w+|,\s*\w+)\s*\([^()]*\)\s+AS\s*\(`)

// limited gives a query a LIMIT of one row more than wanted. The query's own
// LIMIT counts when it is smaller; zero counts as none.
func limited(list []token, wanted int) (text string, limit int, factor string) {
	limit, factor = wanted, "DROPDOWN"
	depth, cut, offset := 0, len(list), ""
	for i, t := range list {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && t.is("LIMIT") && i+1 < len(list) && list[i+1].kind == tokenNumber:
			own := atoi(list[i+1].text)
			rest := list[i+2:]
			if len(rest) >= 2 && rest[0].is(",") {
				offset, own = list[i+1].text, atoi(rest[1].text)
			} else if len(rest) >= 2 && rest[0].is("OFFSET") {
				offset = rest[1].text
			}
			cut = i
			switch {
			case own > 0 && own < wanted:
				limit, factor = own, "QUERY"
			case own == wanted:
				factor = "QUERY_AND_DROPDOWN"
			}
		}
	}
	text = normal(list[:cut]) + "\nLIMIT " + itoa(limit+1)
	if offset != "" {
		text += "\nOFFSET " + offset
	}
	return text, limit, factor
}

func atoi(text string) int {
	n, _ := toInt(text)
	return asInt(n)
}
