package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errTooMuch = errors.New("the answer is larger than any real one")

// line returns the next line without its end, or in whole mode everything. With an error it returns what was
// read before it.
func (n *normaliser) line() ([]byte, error) {
	if n.whole {
		b, err := io.ReadAll(io.LimitReader(n.src, int64(n.maxLine)+1))
		switch {
		case err != nil:
			return b, err
		case len(b) > n.maxLine:
			return nil, errTooMuch
		}
		return b, io.EOF
	}
	var long []byte
	for {
		part, err := n.src.ReadSlice('\n')
		if long == nil && err == nil {
			return bytes.TrimRight(part, "\r\n"), nil
		}
		long = append(long, part...)
		if len(long) > n.maxLine {
			return nil, errTooMuch
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(long, "\r\n"), err
		}
	}
}

// pieces gives s to f in parts of at most maxPiece bytes, cut between code points. s is valid UTF-8.
func pieces(s string, f func(string)) {
	for len(s) > maxPiece {
		at := maxPiece
		for s[at]&0xC0 == 0x80 {
			at--
		}
		f(s[:at])
		s = s[at:]
	}
	if s != "" {
		f(s)
	}
}
