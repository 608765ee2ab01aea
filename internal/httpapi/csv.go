package httpapi

import (
	"encoding/json"
	"regexp"
	"strings"

	"agentd/internal/chat"
)

// csvRows is RFC 4180 for spreadsheets, as Superset does it: UTF-8 with the mark by which they know it. NULL is an
// empty cell and an empty text is "", as PostgreSQL has it. encoding/csv knows no such difference, and changes the
// line breaks within a text.
type csvRows struct{}

const byteOrderMark = "\uFEFF"

func (csvRows) begin(to []byte, cols []chat.Column) ([]byte, error) {
	to = append(to, byteOrderMark...)
	for i, col := range cols {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendText(to, col.Name)
	}
	return append(to, "\r\n"...), nil
}

func (csvRows) row(to []byte, cells []json.RawMessage) ([]byte, error) {
	for i, v := range cells {
		if i > 0 {
			to = append(to, ',')
		}
		switch {
		case string(v) == "null":
			if len(cells) == 1 {
				to = append(to, `""`...) // readers skip an empty line
			}
		case v[0] == '"':
			var s string
			if err := json.Unmarshal(v, &s); err != nil {
				return nil, err
			}
			to = appendText(to, s)
		case v[0] == '{' || v[0] == '[':
			to = appendText(to, string(v))
		default: // a number, a truth
			to = append(to, v...)
		}
	}
	return append(to, "\r\n"...), nil
}

func (csvRows) end(to []byte) []byte { return to }

// appendText writes a text, in quotes where it needs them.
func appendText(to []byte, s string) []byte {
	s = harmless(s)
	if s != "" && !strings.ContainsAny(s, "\",\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		return append(to, s...)
	}
	to = append(to, '"')
	to = append(to, strings.ReplaceAll(s, `"`, `""`)...)
	return append(to, '"')
}

// formula is the beginning of what a spreadsheet may take for a formula, with the wide signs of East Asia.
var (
	formula = regexp.MustCompile(`^[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]`)
	number  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// harmless keeps a spreadsheet from taking text for a formula. Numbers that are kept as text stay as they are.
func harmless(s string) string {
	if formula.MatchString(s) && !number.MatchString(s) {
		return "'" + s
	}
	return s
}
