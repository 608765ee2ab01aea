package policy

import (
	"encoding/csv"
	"fmt"
	"strings"
)

const (
	rolePrefix = "role:"
	toolPrefix = "tool:"
	anyClass   = "*"
)

// A rule is one line of a policy as it was read: p (role, class, tool, effect) or g (role, parent, class).
type rule struct {
	line   int
	text   string
	kind   string
	fields []string // without kind
}

func (r rule) String() string { return fmt.Sprintf("line %d: %s", r.line, r.text) }

// read splits text into rules the way Casbin reads its files: CSV by line, "#" only at the start of a line.
// Lines that are no CSV are problems and left out.
func read(text string) (rules []rule, problems []Problem) {
	n := 0
	for raw := range strings.SplitSeq(text, "\n") {
		n++
		line := strings.TrimSpace(raw)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := csv.NewReader(strings.NewReader(line))
		c.Comment, c.TrimLeadingSpace = '#', true
		f, err := c.Read()
		if err != nil {
			problems = append(problems, Problem{Line: n, What: "is not a line of values separated by commas, perhaps it was cut", Refuse: true})
			continue
		}
		rules = append(rules, rule{line: n, text: line, kind: f[0], fields: f[1:]})
	}
	return rules, problems
}

// matches is Casbin's keyMatch for what Lint lets through: a name, or a prefix before one last star.
func matches(pattern, tool string) bool {
	if p, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(tool, p)
	}
	return pattern == tool
}
