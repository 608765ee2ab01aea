package superset

import (
	"encoding/json"
	"time"
)

// A Time is one of Superset's dates, which come in two forms, without a zone for UTC. The zero Time is none.
type Time struct{ time.Time }

var layouts = []string{"2006-01-02T15:04:05.999999999", "2006-01-02T15:04:05.999999999-0700", time.RFC3339Nano, "2006-01-02 15:04:05.999999999"}

// ParseTime reads any of the forms that Superset and agentd write.
func ParseTime(text string) (Time, bool) {
	for _, l := range layouts {
		if t, err := time.Parse(l, text); err == nil {
			return Time{t.UTC()}, true
		}
	}
	return Time{}, false
}

// UnmarshalJSON leaves the zero Time for null and for a text that is no date.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	*t = Time{}
	if json.Unmarshal(b, &s) == nil {
		*t, _ = ParseTime(s)
	}
	return nil
}

// MarshalJSON writes the form of String; none is null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.String())
}

// String is the date in UTC, RFC 3339, as exact as Superset keeps it; none is "".
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}
