package toolfilter

import (
	"slices"
	"strings"
)

// nearestMax is how many names a miss is answered with.
const nearestMax = 3

// Nearest returns the offered names that a miss may have meant, the likeliest first and at most three: the same
// but for case and separators, with a namespace before it (even twice), a prefix of one another, or a few letters
// away. A name that is offered as it is returns itself alone.
func Nearest(name string, offered []string) []string {
	if slices.Contains(offered, name) {
		return []string{name}
	}
	type guess struct {
		name string
		rank int
	}
	var out []guess
	miss := fold(name)
	if miss == "" {
		return nil
	}
	for _, o := range offered {
		if r, ok := distance(miss, fold(o)); ok {
			out = append(out, guess{o, r})
		}
	}
	slices.SortStableFunc(out, func(a, b guess) int { return a.rank - b.rank })
	var names []string
	for _, g := range out[:min(len(out), nearestMax)] {
		names = append(names, g.name)
	}
	return names
}

// maxFold is more than any tool's name has; a model may send a whole text as a name.
const maxFold = 128

// fold keeps letters and digits, in lower case: Get-Dashboard, get dashboard and getDashboard are one.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, s[:min(len(s), maxFold)])
}

// distance ranks how far a miss is from an offered name: 0 the same, below 100 a namespace before or after it or a
// part of it, above that edits.
func distance(miss, offered string) (rank int, ok bool) {
	switch {
	case miss == offered:
		return 0, true
	case strings.HasSuffix(miss, offered):
		return 1, true
	case strings.HasPrefix(miss, offered):
		return 2, true
	case len(miss) >= 3 && strings.HasPrefix(offered, miss):
		return 3, true
	case len(miss) >= 3 && strings.HasSuffix(offered, miss):
		return 4, true
	}
	if d := edits(miss, offered); d <= max(2, len(offered)/4) {
		return 100 + d, true
	}
	return 0, false
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}
