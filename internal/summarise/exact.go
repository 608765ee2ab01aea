package summarise

import "encoding/json"

// maxExact is 2^53-1, the largest integer that a browser keeps exact.
const maxExact = "9007199254740991"

// exact returns compact JSON with every integer beyond 2^53-1 as a string.
func exact(b []byte) json.RawMessage {
	var out []byte // nil as long as nothing was changed
	from := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			i++
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(b) && numeric(b[end]) {
				end++
			}
			if beyond(string(b[i:end])) {
				out = append(out, b[from:i]...)
				out = append(append(append(out, '"'), b[i:end]...), '"')
				from = end
			}
			i = end
		default:
			i++
		}
	}
	if out == nil {
		return b
	}
	return append(out, b[from:]...)
}

func numeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}

// beyond reports whether a JSON number is an integer that a browser would round.
func beyond(num string) bool {
	if num[0] == '-' {
		num = num[1:]
	}
	for i := range len(num) {
		if num[i] < '0' || num[i] > '9' {
			return false
		}
	}
	return len(num) > len(maxExact) || len(num) == len(maxExact) && num > maxExact
}
