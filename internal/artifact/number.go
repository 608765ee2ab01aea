package artifact

import (
	"bytes"
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

var numberPattern = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func isNumber(b []byte) bool {
	return len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') && numberPattern.Match(b)
}

// compareNumbers compares two JSON numbers by value.
func compareNumbers(a, b string) int {
	x, _ := strconv.ParseFloat(a, 64) // out of range gives an infinity, which is right here
	y, _ := strconv.ParseFloat(b, 64)
	return compareNear(x, y, a, b)
}

// compareNear compares two numbers that are x and y as floats. Only where those are the same their exact values
// are looked at, since that is slow.
func compareNear(x, y float64, a, b string) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	case a == b:
		return 0
	}
	p, ok1 := exactNumber(a)
	q, ok2 := exactNumber(b)
	if !ok1 || !ok2 {
		return 0
	}
	return p.Cmp(q)
}

const (
	maxDigits   = 400
	maxExponent = 400
)

// same is one text for all ways to write a cell: of equal numbers, and of a text with and without escapes.
func same(c []byte) string {
	switch {
	case len(c) > 0 && c[0] == '"':
		return `"` + plain(c)
	case isNumber(c):
		if whole := !bytes.ContainsAny(c, ".eE"); whole && string(c) != "-0" {
			return string(c)
		}
		if r, ok := exactNumber(string(c)); ok {
			return r.RatString()
		}
	}
	return string(c)
}

// exactNumber refuses numbers whose exact value would take a lot of memory.
func exactNumber(s string) (*big.Rat, bool) {
	if len(s) > maxDigits {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+"))
		if err != nil || e > maxExponent || e < -maxExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

// shown is an exact number as a JSON number: all digits where they end, else twenty behind the point.
func shown(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	n, exact := r.FloatPrec()
	if !exact || n > maxDigits {
		n = 20
	}
	return strings.TrimRight(strings.TrimRight(r.FloatString(n), "0"), ".")
}
