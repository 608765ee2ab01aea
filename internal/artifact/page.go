package artifact

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Limits of a page.
const (
	MaxPageRows  = 1000
	MaxPageBytes = 1_000_000
)

// Request asks for a page. The zero Request is the first one.
type Request struct {
	Cursor  string
	Limit   int      // rows; 0 and more than MaxPageRows are MaxPageRows
	Columns []string // a projection, in this order; none: all
	Chars   int      // code points of the rows or the text; 0 is no limit but MaxPageBytes
}

// Page is a part of an artifact: rows by position, or a piece of a text.
type Page struct {
	Meta    chat.ArtifactMeta
	Columns []chat.Column
	Rows    []json.RawMessage // numbers as they were stored
	Text    string            // of formats json and text
	Start   int64             // number of the first row, from 0
	Next    string            // cursor of the next page; "" at the end
	EOF     bool
}

// Read returns a page of an artifact and counts as a use. It has at least one row where there is one left,
// whatever its size. Errors are those of Stat; Invalid with code cursor, columns or binary; Gone with code
// cursor_expired.
func (s *Store) Read(ctx context.Context, who Owner, id string, q Request) (Page, error) {
	m, err := s.Stat(ctx, who, id)
	if err != nil {
		return Page{}, err
	}
	if m.Format == chat.FormatBinary {
		return Page{}, &fault.Error{Kind: fault.Invalid, Code: "binary", Msg: "This stored result is a file. It can be downloaded, not read."}
	}
	from, err := s.position(place{id: id}, q.Cursor)
	if err != nil {
		return Page{}, err
	}
	take, err := project(m, q.Columns)
	if err != nil {
		return Page{}, err
	}
	p := Page{Meta: m, Start: from.row, Columns: take.columns}
	if from.offset >= m.Size {
		p.EOF = true
		return p, nil
	}
	r, err := s.open(ctx, &m, from.offset)
	if err != nil {
		return Page{}, err
	}
	defer r.Close()
	p.Meta = m
	payload := bufio.NewReaderSize(io.LimitReader(r, m.Size-from.offset), 64<<10)
	if m.Format == chat.FormatRows {
		err = s.readRows(&p, payload, from, q, take)
	} else {
		err = s.readText(&p, payload, from, q)
	}
	return p, err
}

func (s *Store) readRows(p *Page, r *bufio.Reader, at position, q Request, take projection) error {
	room := newRoom(q)
	for {
		line, err := readLine(r)
		if errors.Is(err, io.EOF) {
			p.EOF = true
			return nil
		}
		if err != nil {
			return fault.Wrap(fault.Internal, "", err)
		}
		row, err := take.row(line)
		if err != nil {
			return fault.Wrap(fault.Internal, "", err)
		}
		if !room.take(row) {
			break
		}
		p.Rows = append(p.Rows, row)
		at.row++
		at.offset += int64(len(line)) + 1
	}
	p.Next = s.cursor(place{id: p.Meta.ID}, at)
	return nil
}

// readLine returns the next line without its end. Lines may be longer than the reader's buffer.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err == io.EOF && len(line) > 0 {
		return nil, io.ErrUnexpectedEOF // every row was written with its line break
	}
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}

// readText returns a piece that ends between two code points, at a line break where there is one not too far back.
func (s *Store) readText(p *Page, r *bufio.Reader, at position, q Request) error {
	chars := MaxPageBytes / utf8.UTFMax
	if q.Chars > 0 {
		chars = min(chars, q.Chars)
	}
	b := make([]byte, utf8.UTFMax*chars)
	n, err := io.ReadFull(r, b)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return fault.Wrap(fault.Internal, "", err)
	}
	b = b[:n]
	end, count := 0, 0
	for end < len(b) && count < chars {
		_, w := utf8.DecodeRune(b[end:])
		end += w
		count++
	}
	if end < len(b) {
		if nl := bytes.LastIndexByte(b[:end], '\n'); nl > end/2 {
			end = nl + 1
		}
	}
	p.Text = string(bytes.ToValidUTF8(b[:end], []byte("\uFFFD")))
	at.offset += int64(end)
	if at.offset >= p.Meta.Size {
		p.EOF = true
		return nil
	}
	p.Next = s.cursor(place{id: p.Meta.ID}, at)
	return nil
}
