package summarise

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	clipBlock = 64 << 10
	clipKeep  = 2        // whole blocks of one string that pass, besides what a preview of the limit could show
	briefMost = 64 << 10 // bytes of a value that is still read at once
	digits    = "0123456789"
	blanks    = " \t\r\n"
)

// errLong ends an attempt to read a value at once that is too large for it. What was read is not lost.
var errLong = errors.New("a value is too large to be read at once")

// clipper passes a JSON text on but for the middle of very long strings, numbers and blanks, since the decoder
// holds each token whole: a string of 100 MB must not cost 100 MB. What it drops lies far behind anything that
// a preview shows. It drops whole blocks only, and blocks never end within an escape, so that JSON stays JSON.
type clipper struct {
	r     io.Reader
	keep  int    // blocks of one token that pass
	buf   []byte // one block, with a few bytes carried over in front
	out   []byte // what of buf is still to be handed out
	carry int    // bytes at the front of buf that belong to the next block
	err   error

	inStr bool
	high  bool  // the last escape was the first half of a surrogate pair
	run   int   // consecutive blocks that lay wholly within one token
	of    token // what they are
	gaps  []gap // where blocks were dropped, in order
	at    int64 // bytes that passed

	brief int // bytes that may still be handed out before errLong; negative is no end
}

// token is what a block can lie wholly within.
type token byte

const (
	mixed token = iota
	inString
	inDigits
	inBlanks
)

// gap is a place within a string where characters were dropped.
type gap struct {
	at    int64 // offset in what passed
	chars int64 // of the decoded string
}

func newClipper(r io.Reader, limit int) *clipper {
	return &clipper{r: r, keep: clipKeep + utf8.UTFMax*limit/clipBlock, buf: make([]byte, clipBlock), brief: -1}
}

func (c *clipper) Read(p []byte) (int, error) {
	if c.brief == 0 {
		return 0, errLong
	}
	for len(c.out) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		c.fill()
	}
	n := copy(p, c.out)
	c.out = c.out[n:]
	if c.brief > 0 {
		c.brief = max(0, c.brief-n)
	}
	return n, nil
}

// dropped is how many characters of a string are missing that stands between two offsets. It is asked for
// strings in their order.
func (c *clipper) dropped(from, to int64) int64 {
	var n int64
	for len(c.gaps) > 0 && c.gaps[0].at < to {
		if c.gaps[0].at > from {
			n += c.gaps[0].chars
		}
		c.gaps = c.gaps[1:]
	}
	return n
}

// fill reads the next block and decides whether it passes.
func (c *clipper) fill() {
	if c.carry > 0 {
		copy(c.buf, c.buf[len(c.buf)-c.carry:])
	}
	n, err := io.ReadFull(c.r, c.buf[c.carry:])
	b := c.buf[:c.carry+n]
	c.carry = 0
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	c.err = err
	quotes, signs, open := c.scan(b)
	if open > 0 && err == nil {
		c.carry = open // the block is full, so its last bytes are the buffer's last
		b = b[:len(b)-open]
	}
	of := mixed
	switch {
	case quotes > 0 || err != nil:
	case c.inStr:
		of = inString
	case len(bytes.TrimLeft(b, digits)) == 0:
		of = inDigits
	case len(bytes.TrimLeft(b, blanks)) == 0:
		of = inBlanks
	}
	if of != c.of {
		c.of, c.run = of, 0
	}
	c.run++
	if quotes%2 == 1 {
		c.inStr = !c.inStr
	}
	if of == mixed || c.run <= c.keep {
		c.out = b
		c.at += int64(len(b))
		return
	}
	c.out = nil
	if of != inString {
		return
	}
	if k := len(c.gaps); k == 0 || c.gaps[k-1].at != c.at {
		c.gaps = append(c.gaps, gap{at: c.at})
	}
	c.gaps[len(c.gaps)-1].chars += runeStarts(b) - signs
}

// scan looks at the escapes of b. It counts the quotes that are none of them, the characters that escapes have
// more than what they stand for, and the bytes of one at the end that is not complete.
func (c *clipper) scan(b []byte) (quotes int, signs int64, open int) {
	quotes = bytes.Count(b, []byte{'"'})
	high := c.high // an escape that begins at end is behind the first half of a pair
	c.high = false
	for end := 0; ; {
		k := bytes.IndexByte(b[end:], '\\')
		if k < 0 {
			c.high = high && end == len(b)
			return quotes, signs, 0
		}
		high = high && k == 0
		i := end + k
		need := 2
		if i+1 < len(b) && b[i+1] == 'u' {
			need = 6
		}
		if end = i + need; end > len(b) {
			// Its quote, if it has one, is counted with the next block; \u has none in valid JSON.
			c.high = high
			return quotes - bytes.Count(b[i:], []byte{'"'}), signs, len(b) - i
		}
		signs += int64(need - 1)
		if b[i+1] == '"' {
			quotes--
		}
		half := rune(0)
		if need == 6 {
			half = surrogate(b[i+2 : end])
		}
		if high && half >= 0xDC00 {
			signs++ // both halves are one character
		}
		high = half != 0 && half < 0xDC00
	}
}

// surrogate returns half of a pair as it is written in hexadecimal, or 0 for everything else.
func surrogate(hex []byte) rune {
	if hex[0] != 'd' && hex[0] != 'D' {
		return 0
	}
	n, err := strconv.ParseUint(string(hex), 16, 32)
	if r := rune(n); err == nil && utf16.IsSurrogate(r) {
		return r
	}
	return 0
}
