package eventlog

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"
)

// encode writes v as JSON text that both databases store as it is: valid UTF-8 without NUL. HTML is not
// escaped: the text is for readers of the log, and a page escapes what it shows.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fault.Wrap(fault.Internal, "An entry of the event log could not be written as JSON.", err)
	}
	return clean(strings.TrimSuffix(b.String(), "\n")), nil
}

// clean makes text that PostgreSQL accepts.
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return s
}

func decode(s string, into any) error {
	if err := json.Unmarshal([]byte(s), into); err != nil {
		return fault.Wrap(fault.Internal, "An entry of the event log could not be read.", err)
	}
	return nil
}

// encodeNote writes a note; none is "".
func encodeNote(n *chat.Note) (string, error) {
	if n == nil {
		return "", nil
	}
	return encode(n)
}

func decodeEntry(typ, body, note string) (chat.Entry, error) {
	e := chat.Entry{Event: chat.NewEvent(typ)}
	if e.Event == nil {
		return e, fault.New(fault.Internal, "The event log holds an event of the type "+typ+", which this version does not know.")
	}
	if err := decode(body, e.Event); err != nil {
		return e, err
	}
	if note != "" {
		e.Note = &chat.Note{}
		if err := decode(note, e.Note); err != nil {
			return e, err
		}
	}
	return e, nil
}
