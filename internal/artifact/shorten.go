package artifact

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// shorten makes a row by position fit size bytes, as far as its cells can: the largest become a text that is
// their beginning and says how long they are. Who wants such a cell whole downloads the result.
func shorten(cells []json.RawMessage, size int) json.RawMessage {
	out := slices.Clone(cells)
	by := make([]int, len(out)) // the smallest first: what they leave of their share goes to the others
	for i := range by {
		by[i] = i
	}
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(len(out[a]), len(out[b])) })
	left := size - len(out) - 1 // brackets and commas
	for n, i := range by {
		if share := left / (len(by) - n); len(out[i]) > share {
			out[i] = beginning(out[i], share)
		}
		left -= len(out[i])
	}
	return joinCells(out)
}

// beginning is a JSON text of at most size bytes, or the mark alone where not even that fits.
func beginning(cell json.RawMessage, size int) json.RawMessage {
	text := plain(cell)
	mark := fmt.Sprintf("… (%d characters, cut)", utf8.RuneCountInString(text))
	for keep := min(size-len(mark)-2, len(text)); keep > 0; {
		for keep > 0 && !utf8.RuneStart(text[keep-1]) {
			keep--
		}
		keep = max(keep-1, 0) // the last code point may be half of one
		q, err := jsontext.AppendQuote(nil, text[:keep]+mark)
		if err != nil {
			break
		}
		if len(q) <= size {
			return q
		}
		keep = min(keep*size/len(q), keep-1) // quoting makes it longer, by up to six times
	}
	q, err := jsontext.AppendQuote(nil, mark)
	if err != nil || len(q) > size {
		return json.RawMessage(`"…"`)
	}
	return q
}
