package mocksuperset

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

//go:embed fixtures/*.gz
var fixtureFiles embed.FS

// fixtures holds each built-in state, read once however many servers there are.
var fixtures = map[string]func() (*state, error){
	"dev":     sync.OnceValues(func() (*state, error) { return readFixture("dev") }),
	"staging": sync.OnceValues(func() (*state, error) { return readFixture("staging") }),
	"prod":    sync.OnceValues(func() (*state, error) { return readFixture("prod") }),
}

// seededOn is when accounts and connections of the fixtures came to be.
const seededOn = "2026-03-31 18:00:00.000000"

func readFixture(name string) (*state, error) {
	packed, err := fixtureFiles.ReadFile("fixtures/" + name + ".json.gz")
	if err != nil {
		return nil, fmt.Errorf("read fixture %s: %w", name, err)
	}
	text, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("unpack fixture %s: %w", name, err)
	}
	var tables map[string][]json.RawMessage
	if err := json.Unmarshal(text, &tables); err != nil {
		return nil, fmt.Errorf("parse fixture %s: %w", name, err)
	}
	out := newState()
	for table, rows := range tables {
		t := out.own(table)
		for _, raw := range rows {
			v, err := parseJSON(raw)
			if err != nil {
				return nil, fmt.Errorf("parse %s of fixture %s: %w", table, name, err)
			}
			t.put(row(v.(obj)))
		}
	}
	settle(out, name)
	return out, nil
}

// settle puts right what the dump leaves open: addresses, passwords, and dates
// of the seeding, which differ from one real instance to the next.
func settle(s *state, name string) {
	for db := range s.own("dbs").all() {
		uri := strings.Replace(db.str("sqlalchemy_uri"), "sqlite:///<data>/", "sqlite:///"+dataFolder+name+"/", 1)
		s.update("dbs", db.id(), row{"sqlalchemy_uri": uri})
	}

	for u := range s.own("ab_user").all() {
		s.update("ab_user", u.id(), row{"password": u.str("username"), "created_on": seededOn, "login_count": 0})
	}
	for name, t := range s.tables {
		for r := range t.all() {
			changes := row{}
			for _, column := range []string{"created_on", "changed_on", "dttm"} {
				if r.str(column) > seededOn {
					changes[column] = seededOn
				}
			}
			if len(changes) > 0 {
				s.own(name).put(r.with(changes))
			}
		}
	}
}

func unpack(packed []byte) ([]byte, error) {
	in, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(in)
}
