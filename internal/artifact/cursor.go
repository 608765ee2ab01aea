package artifact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"agentd/internal/fault"
)

// position is where a page begins. It has the byte beside the row, so that a page far behind costs what the
// first one costs, without an index of rows to keep.
type position struct {
	row    int64
	offset int64
}

const macSize = 16

// place is what a cursor is bound to: one artifact, and what is asked of it. An artifact has one owner, so a
// cursor is bound to that one too.
type place struct{ id, query string }

// print tells queries apart whose positions are not the same. A projection may change from page to page.
func (q Query) print() string {
	if len(q.Filter) == 0 && len(q.Sort) == 0 && q.Aggregate == nil {
		return ""
	}
	b, err := json.Marshal([]any{q.Filter, q.Sort, q.Aggregate})
	if err != nil {
		panic(err) // texts and truths only
	}
	sum := sha256.Sum256(b)
	return string(sum[:])
}

// cursor packs a position of one place, signed and with an end: position and expiry, no more.
func (s *Store) cursor(at place, p position) string {
	var b []byte
	b = binary.AppendUvarint(b, uint64(p.row))
	b = binary.AppendUvarint(b, uint64(p.offset))
	b = binary.AppendUvarint(b, uint64(s.o.Now().Add(s.o.CursorTTL).Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, s.sign(at, b)...))
}

func (s *Store) sign(at place, b []byte) []byte {
	m := hmac.New(sha256.New, s.o.Secret)
	m.Write([]byte("cursor\x00" + at.id + "\x00" + at.query + "\x00"))
	m.Write(b)
	return m.Sum(nil)[:macSize]
}

// position unpacks a cursor. Invalid with code cursor for one that was not made for the place; Gone with code
// cursor_expired for one that has ended.
func (s *Store) position(at place, cursor string) (position, error) {
	if cursor == "" {
		return position{}, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) < macSize {
		return position{}, badCursor()
	}
	b, mac := b[:len(b)-macSize], b[len(b)-macSize:]
	if !hmac.Equal(mac, s.sign(at, b)) {
		return position{}, badCursor()
	}
	row, n := binary.Uvarint(b)
	offset, m := binary.Uvarint(b[max(n, 0):])
	end, k := binary.Uvarint(b[max(n, 0)+max(m, 0):])
	if n <= 0 || m <= 0 || k <= 0 {
		return position{}, badCursor()
	}
	if s.o.Now().After(time.Unix(int64(end), 0)) {
		return position{}, &fault.Error{Kind: fault.Gone, Code: "cursor_expired", Msg: "The cursor has expired. Read from the beginning again."}
	}
	return position{row: int64(row), offset: int64(offset)}, nil
}

func badCursor() error {
	return &fault.Error{Kind: fault.Invalid, Code: "cursor", Msg: "The cursor does not belong to this stored result and what is asked of it. Use next_cursor as it was given and with the same filter, sort and aggregate, or none to read from the beginning.",
		Fields: []fault.Field{{Pointer: "/cursor", Detail: "must be a next_cursor of this artifact and the same query"}}}
}
