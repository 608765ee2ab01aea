package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"agentd/internal/chat"
)

// resetType is the one event that is in no log: what the reader asked for is no longer kept.
const resetType = "reset"

// common is what every event on the wire begins with.
type common struct {
	Type  string `json:"type"`
	Seq   int64  `json:"seq"`
	RunID string `json:"run_id"`
	At    string `json:"at"`
}

// wireTime is the form of the common field at: UTC, milliseconds.
const wireTime = "2006-01-02T15:04:05.000Z"

// encode gives the wire form of a record: one line of JSON, the common fields first, then the payload. Lists are
// never null. The record is not changed. The note is not part of it.
func encode(r chat.Record) ([]byte, error) {
	payload, err := marshal(whole(r.Event))
	if err != nil {
		return nil, fmt.Errorf("encode event %d of %s: %w", r.Seq, r.Conversation, err)
	}
	return join(common{Type: r.Event.Type(), Seq: r.Seq, RunID: r.RunID, At: r.At.UTC().Format(wireTime)}, payload)
}

// encodeReset is the wire form of a reset at a position.
func encodeReset(seq int64, at time.Time) ([]byte, error) {
	return join(common{Type: resetType, Seq: seq, At: at.UTC().Format(wireTime)}, []byte("{}"))
}

// join puts the members of payload behind those of head.
func join(head common, payload []byte) ([]byte, error) {
	out, err := marshal(head)
	if err != nil {
		return nil, fmt.Errorf("encode the head of event %d: %w", head.Seq, err)
	}
	if len(payload) > len("{}") {
		out = append(out[:len(out)-1], ',')
		out = append(out, payload[1:]...)
	}
	return out, nil
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// whole returns e with empty lists where it has none, so that no client has to expect null.
func whole(e chat.Event) chat.Event {
	switch e := e.(type) {
	case *chat.RunStarted:
		c := *e
		c.Tools = list(c.Tools)
		return &c
	case *chat.ToolStart:
		c := *e
		c.Args = args(c.Args)
		return &c
	case *chat.ToolResultEvent:
		c := *e
		c.Links = list(c.Links)
		return &c
	case *chat.ConfirmRequired:
		c := *e
		c.Args = args(c.Args)
		c.AllowedDecisions = list(c.AllowedDecisions)
		c.Preview.Diff = list(c.Preview.Diff)
		c.Preview.BlastRadius = list(c.Preview.BlastRadius)
		return &c
	}
	return e
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func args(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage(`{}`)
	}
	return raw
}
