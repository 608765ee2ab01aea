package summarise

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// source is an input with its first and last bytes kept, so that what turns out to be no JSON can still be
// shown as text after it went by.
type source struct {
	r     io.Reader
	limit int
	keep  int    // bytes of head and of tail
	head  []byte // the first bytes
	tail  []byte // the last bytes, filled once head is full
	runes int64  // characters that went by
	size  int64  // bytes that went by
	err   error  // of r, but io.EOF
	eof   bool
}

func newSource(r io.Reader, limit int) *source {
	return &source{r: r, limit: limit, keep: utf8.UTFMax * (limit + 1)}
}

// fits reads the head and reports whether it is the whole input and within the limit.
func (s *source) fits() (bool, error) {
	b := make([]byte, s.keep)
	n, err := io.ReadFull(s.r, b)
	s.head = b[:n]
	switch err {
	case nil:
	case io.EOF, io.ErrUnexpectedEOF:
		s.eof = true
	default:
		return false, err
	}
	s.size, s.runes = int64(n), runeStarts(s.head)
	return s.eof && utf8.RuneCount(s.head) <= s.limit, nil
}

// clipped gives the whole input once more, head first, but for what no preview can show.
func (s *source) clipped() *clipper {
	return newClipper(io.MultiReader(bytes.NewReader(s.head), (*sourceRest)(s)), s.limit)
}

// sourceRest is what follows the head.
type sourceRest source

func (s *sourceRest) Read(p []byte) (int, error) {
	if s.eof {
		return 0, io.EOF
	}
	n, err := s.r.Read(p)
	(*source)(s).pass(p[:n])
	if err != nil {
		s.eof = true
		if err != io.EOF {
			s.err = err
		}
	}
	return n, err
}

func (s *source) pass(p []byte) {
	s.size += int64(len(p))
	s.runes += runeStarts(p)
	if len(p) >= s.keep {
		s.tail = append(s.tail[:0], p[len(p)-s.keep:]...)
		return
	}
	if len(s.tail)+len(p) > 2*s.keep { // moved seldom, not with each read
		s.tail = append(s.tail[:0], s.tail[len(s.tail)-s.keep:]...)
	}
	s.tail = append(s.tail, p...)
}

// drain reads what is left and returns the error of the underlying reader, if it had one.
func (s *source) drain() error {
	if !s.eof {
		if _, err := io.Copy(io.Discard, (*sourceRest)(s)); err != nil && s.err == nil {
			s.err = err
		}
	}
	return s.err
}

// end returns the last bytes of the input that are not in the head.
func (s *source) end() []byte {
	if len(s.tail) > s.keep {
		return s.tail[len(s.tail)-s.keep:]
	}
	return s.tail
}

// runeStarts counts the bytes that begin a code point. It is exact for valid UTF-8 and needs no state
// between two blocks.
func runeStarts(p []byte) int64 {
	n := len(p)
	for len(p) >= 8 {
		// A continuation byte has the bits 10 on top: bit 7 set, bit 6 not. Eight at a time.
		w := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
			uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
		c := w &^ (w << 1) & 0x8080808080808080
		if c != 0 {
			n -= int((c >> 7) * 0x0101010101010101 >> 56)
		}
		p = p[8:]
	}
	for _, b := range p {
		if b&0xC0 == 0x80 {
			n--
		}
	}
	return int64(n)
}
