package artifact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
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

// cursor packs a position of one artifact, signed and with an end: position and expiry, no more.
func (s *Store) cursor(id string, p position) string {
	var b []byte
	b = binary.AppendUvarint(b, uint64(p.row))
	b = binary.AppendUvarint(b, uint64(p.offset))
	b = binary.AppendUvarint(b, uint64(s.o.Now().Add(s.o.CursorTTL).Unix()))
	return base64.RawURLEncoding.EncodeToString(append(b, s.sign(id, b)...))
}

func (s *Store) sign(id string, b []byte) []byte {
	m := hmac.New(sha256.New, s.o.Secret)
	m.Write([]byte("cursor\x00" + id + "\x00"))
	m.Write(b)
	return m.Sum(nil)[:macSize]
}

// position unpacks a cursor. Invalid with code cursor for one that was not made for id; Gone with code
// cursor_expired for one that has ended.
func (s *Store) position(id, cursor string) (position, error) {
	if cursor == "" {
		return position{}, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) < macSize {
		return position{}, badCursor()
	}
	b, mac := b[:len(b)-macSize], b[len(b)-macSize:]
	if !hmac.Equal(mac, s.sign(id, b)) {
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
	return &fault.Error{Kind: fault.Invalid, Code: "cursor", Msg: "The cursor does not belong to this stored result. Use next_cursor as it was given, or none to read from the beginning.",
		Fields: []fault.Field{{Pointer: "/cursor", Detail: "must be a next_cursor of this artifact"}}}
}
