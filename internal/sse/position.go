package sse

import (
	"net/http"
	"strconv"

	"agentd/internal/fault"
)

// ParseLastEventID returns the position after which a client wants to go on: the header Last-Event-ID, else the
// query's last_event_id, else 0. Invalid with code bad_last_event_id when it is not a decimal number.
func ParseLastEventID(r *http.Request) (int64, error) {
	s := r.Header.Get("Last-Event-ID")
	if s == "" {
		s = r.URL.Query().Get("last_event_id")
	}
	if s == "" {
		return 0, nil
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, badPosition()
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, badPosition()
	}
	return n, nil
}

func badPosition() error {
	return &fault.Error{Kind: fault.Invalid, Code: "bad_last_event_id", Msg: "The last event id is not a position of this stream."}
}
