package summarise

import (
	"bytes"
	"io"
)

const (
	clipBlock = 64 << 10
	clipKeep  = 2 // whole blocks of one string that pass
)

// clipper passes a JSON text on but for the middle of very long strings and blanks, since the decoder holds
// each token whole: a string of 100 MB must not cost 100 MB. What it drops lies far behind anything that a
// preview shows. It drops whole blocks only, and blocks never end within an escape, so that JSON stays JSON.
type clipper struct {
	r      io.Reader
	buf    []byte // one block, with a few bytes carried over in front
	out    []byte // what of buf is still to be handed out
	carry  int    // bytes at the front of buf that belong to the next block
	inStr  bool
	inside int // consecutive blocks that lay wholly within one string
	blank  bool
	err    error
}

func newClipper(r io.Reader) *clipper {
	return &clipper{r: r, buf: make([]byte, clipBlock)}
}

func (c *clipper) Read(p []byte) (int, error) {
	for len(c.out) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		c.fill()
	}
	n := copy(p, c.out)
	c.out = c.out[n:]
	return n, nil
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
	quotes, open := c.scan(b)
	if open > 0 && err == nil {
		c.carry = open // the block is full, so its last bytes are the buffer's last
		b = b[:len(b)-open]
	}
	wasIn := c.inStr
	if quotes%2 == 1 {
		c.inStr = !c.inStr
	}
	switch {
	case quotes > 0:
		c.inside, c.blank = 0, false
	case wasIn:
		c.inside++
		if c.inside > clipKeep && err == nil {
			b = nil
		}
	case len(b) == clipBlock && len(bytes.TrimLeft(b, " \t\r\n")) == 0:
		if c.blank {
			b = nil
		}
		c.blank = true
	default:
		c.blank = false
	}
	c.out = b
}

// scan counts the quotes of b that are not escaped and the bytes of an escape at its end that is not complete.
func (c *clipper) scan(b []byte) (quotes, open int) {
	quotes = bytes.Count(b, []byte{'"'})
	for i := 0; ; {
		k := bytes.IndexByte(b[i:], '\\')
		if k < 0 {
			return quotes, 0
		}
		i += k
		need := 2
		if i+1 < len(b) && b[i+1] == 'u' {
			need = 6
		}
		if i+need > len(b) {
			// Its quote, if it has one, is counted with the next block; \u has none in valid JSON.
			return quotes - bytes.Count(b[i:], []byte{'"'}), len(b) - i
		}
		if b[i+1] == '"' {
			quotes--
		}
		i += 2
	}
}
