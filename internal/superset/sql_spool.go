package superset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"slices"
	"time"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/go-json-experiment/json/jsontext"
)

// SQLCaps bound what is kept of a statement's rows. Rows behind a cap are read and counted, not kept: whose answer it
// is stands at its end. Zero values are the defaults.
type SQLCaps struct {
	Rows  int64         // 0 is SQLMaxRows
	Bytes int64         // of the rows as lines of JSON; 0 is 100 MiB
	Time  time.Duration // from the first row on; 0 is a minute
}

func (c SQLCaps) withDefaults() SQLCaps {
	if c.Rows <= 0 {
		c.Rows = SQLMaxRows
	}
	if c.Bytes <= 0 {
		c.Bytes = 100 << 20
	}
	if c.Time <= 0 {
		c.Time = time.Minute
	}
	return c
}

// heldBytes is how much of the rows stays in memory, but at least one row does. Most results are smaller and never see
// a file.
const heldBytes = 1 << 20

// A spool keeps rows until the end of the answer is known. They cannot go where they are kept for good in the same
// pass: the types of the columns come after the rows, and without them nobody knows whether "9007199254740993" is a
// number or a text; whose answer it is and whether there is more comes last of all.
//
// The first rows are held, the others are in a file without a name, so that a process that dies leaves none behind. A
// row is a record: the number of its cells, then each cell behind its length.
type spool struct {
	caps SQLCaps
	end  time.Time // of the time cap; zero before the first row

	names []string       // as the rows name their cells, in the order of their first coming
	place map[string]int // JSON text of a name → place in names

	count int64 // rows that came
	rows  int64 // of them that are kept
	size  int64 // of these, as lines of JSON
	bound string

	held     []byte
	heldRows int64
	file     *os.File
	named    bool // the system does not let go of the name while the file is open
	w        *bufio.Writer
	lost     error // of the file: what was not kept is not kept, and the answer is still good

	cells  []byte // of the row that is being read
	spans  []span // place → its cell in cells
	record []byte
	text   []byte
}

type span struct{ from, to int }

func newSpool(caps SQLCaps) *spool {
	return &spool{caps: caps.withDefaults(), place: map[string]int{}}
}

// row reads one row, an object.
func (s *spool) row(d *jsontext.Decoder) error {
	s.count++
	if s.full() {
		if k := d.PeekKind(); k != '{' && k != 0 {
			return errShape
		}
		return d.SkipValue()
	}
	if err := expect(d, '{'); err != nil {
		return err
	}
	s.cells = s.cells[:0]
	clear(s.spans)
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return err
		}
		at, err := s.at(name)
		if err != nil {
			return err
		}
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		from := len(s.cells)
		s.cells = s.append(s.cells, v)
		s.spans[at] = span{from, len(s.cells)}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	s.keep()
	return nil
}

// append adds a value. Superset escapes every letter beyond ASCII: they are written as themselves, since a model reads
// the rows, and half a pair of surrogates stays as it is.
func (s *spool) append(cells, v []byte) []byte {
	if v[0] != '"' || !bytes.Contains(v, []byte(`\u`)) {
		return append(cells, v...)
	}
	var err error
	if s.text, err = jsontext.AppendUnquote(s.text[:0], v); err != nil {
		return append(cells, v...)
	}
	out, err := jsontext.AppendQuote(cells, s.text)
	if err != nil {
		return append(cells, v...)
	}
	return out
}

// at is the place of a cell by the JSON text of its name.
func (s *spool) at(name []byte) (int, error) {
	if at, ok := s.place[string(name)]; ok {
		return at, nil
	}
	var plain string
	if err := json.Unmarshal(name, &plain); err != nil {
		return 0, err
	}
	at := slices.Index(s.names, plain)
	if at < 0 { // in the first row, but for a source that has none like the other
		at = len(s.names)
		s.names = append(s.names, plain)
		s.spans = append(s.spans, span{})
		s.size += s.rows * int64(len(",null")) // it is missing in those that came before
	}
	s.place[string(name)] = at
	return at, nil
}

// full reports whether a cap is reached, and looks at the time.
func (s *spool) full() bool {
	now := time.Now()
	if s.end.IsZero() {
		s.end = now.Add(s.caps.Time)
	}
	switch {
	case s.bound != "":
	case s.rows >= s.caps.Rows:
		s.bound = chat.BoundBySize
	case now.After(s.end):
		s.bound = chat.BoundByTime
	}
	return s.bound != ""
}

// keep puts the row that was read behind the others.
func (s *spool) keep() {
	line := int64(2 + max(len(s.spans), 1)) // brackets, commas, the end of the line
	s.record = binary.AppendUvarint(s.record[:0], uint64(len(s.spans)))
	for _, c := range s.spans {
		cell := s.cells[c.from:c.to]
		if len(cell) == 0 {
			cell = null
		}
		line += int64(len(cell))
		s.record = append(binary.AppendUvarint(s.record, uint64(len(cell))), cell...)
	}
	if s.size+line > s.caps.Bytes {
		s.bound = chat.BoundBySize
		return
	}
	if s.file == nil && s.lost == nil && s.rows > 0 && len(s.held)+len(s.record) > heldBytes {
		s.open()
	}
	switch {
	case s.lost != nil:
		return
	case s.file == nil:
		s.held = append(s.held, s.record...)
		s.heldRows++
	default:
		if _, err := s.w.Write(s.record); err != nil {
			s.lose(err)
			return
		}
	}
	s.rows++
	s.size += line
}

var null = []byte("null")

func (s *spool) open() {
	f, err := os.CreateTemp("", "agentd-rows-*") // readable for its owner only
	if err != nil {
		s.lose(err)
		return
	}
	s.named = os.Remove(f.Name()) != nil
	s.file, s.w = f, bufio.NewWriterSize(f, 256<<10)
}

func (s *spool) lose(err error) { s.lost = fault.Wrap(fault.Internal, "", err) }

// each decodes the rows that are kept, from the first on. Cells are good until yield returns.
func (s *spool) each(yield func(cells [][]byte) error) error {
	if s.file != nil && s.lost == nil {
		if err := s.w.Flush(); err != nil {
			s.lose(err)
		}
	}
	if s.lost != nil {
		return s.lost
	}
	all := io.Reader(bytes.NewReader(s.held))
	if s.file != nil {
		all = io.MultiReader(all, io.NewSectionReader(s.file, 0, 1<<62))
	}
	return records(bufio.NewReaderSize(all, 256<<10), s.rows, yield)
}

// first decodes the rows in memory.
func (s *spool) first(yield func(cells [][]byte) error) error {
	return records(bufio.NewReader(bytes.NewReader(s.held)), s.heldRows, yield)
}

func records(r *bufio.Reader, n int64, yield func([][]byte) error) error {
	var cells [][]byte
	for range n {
		width, err := binary.ReadUvarint(r)
		if err != nil {
			return fault.Wrap(fault.Internal, "", err)
		}
		for uint64(len(cells)) < width {
			cells = append(cells, nil)
		}
		for i := range cells[:width] {
			size, err := binary.ReadUvarint(r)
			if err == nil {
				cells[i] = slices.Grow(cells[i][:0], int(size))[:size]
				_, err = io.ReadFull(r, cells[i])
			}
			if err != nil {
				return fault.Wrap(fault.Internal, "", err)
			}
		}
		if err := yield(cells[:width]); err != nil {
			return err
		}
	}
	return nil
}

// close lets go of the file. It may be called again.
func (s *spool) close() {
	if s == nil || s.file == nil {
		return
	}
	_ = s.file.Close() // it was only read, or nobody wants it
	if s.named {
		_ = os.Remove(s.file.Name())
	}
	s.file = nil
}
