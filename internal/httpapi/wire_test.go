package httpapi

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentd/internal/chat"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// fixtures reads the wire objects of one type, as they stand in the file.
func fixtures(t *testing.T, typ string) []json.RawMessage {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "events", typ+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var out []json.RawMessage
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	if len(out) == 0 {
		t.Fatalf("%s has no fixture", typ)
	}
	return out
}

func schemaOf(t *testing.T, typ string) *jsonschema.Schema {
	t.Helper()
	all, err := eventSchemas()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(all[typ]))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("urn:agentd:event:"+typ, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("urn:agentd:event:" + typ)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// exact decodes without rounding numbers.
func exact(t *testing.T, b []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}

// decodeWire is the inverse of encode.
func decodeWire(t *testing.T, b []byte) chat.Record {
	t.Helper()
	var c common
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(wireTime, c.At)
	if err != nil {
		t.Fatal(err)
	}
	e := chat.NewEvent(c.Type)
	if e == nil {
		t.Fatalf("unknown type %q", c.Type)
	}
	if err := json.Unmarshal(b, e); err != nil {
		t.Fatal(err)
	}
	return chat.Record{Conversation: "cnv", Seq: c.Seq, RunID: c.RunID, At: at, Entry: chat.Entry{Event: e}}
}

func TestFixtures(t *testing.T) {
	for _, typ := range chat.EventTypes() {
		t.Run(typ, func(t *testing.T) {
			schema := schemaOf(t, typ)
			for n, fixture := range fixtures(t, typ) {
				want := exact(t, fixture)
				if err := schema.Validate(want); err != nil {
					t.Errorf("fixture %d: %v", n, err)
				}
				out, err := encode(decodeWire(t, fixture))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, exact(t, out)); diff != "" {
					t.Errorf("fixture %d, decoded and encoded (-fixture +encoded):\n%s", n, diff)
				}
				if bytes.ContainsAny(out, "\n\r") {
					t.Errorf("fixture %d is not one line: %q", n, out)
				}
				refuseChanged(t, schema, want.(map[string]any))
			}
		})
	}
}

// refuseChanged holds the schema to be closed: no field more, none of the common ones less, none of another type.
func refuseChanged(t *testing.T, schema *jsonschema.Schema, fixture map[string]any) {
	t.Helper()
	change := func(what string, f func(map[string]any)) {
		c := map[string]any{}
		for k, v := range fixture {
			c[k] = v
		}
		f(c)
		if schema.Validate(c) == nil {
			t.Errorf("schema accepts a fixture %s", what)
		}
	}
	change("with an unknown field", func(m map[string]any) { m["surprise"] = true })
	for _, k := range []string{"type", "seq", "run_id", "at"} {
		change("without "+k, func(m map[string]any) { delete(m, k) })
	}
	for k := range fixture {
		if k != "edit_schema" {
			change("with a number for "+k, func(m map[string]any) { m[k] = json.Number("-1.5") })
		}
	}
}

func TestResetEvent(t *testing.T) {
	b, err := encodeReset(41, time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), `{"type":"reset","seq":41,"run_id":"","at":"2026-11-29T20:00:00.000Z"}`; got != want {
		t.Errorf("reset is %s, want %s", got, want)
	}
	if err := schemaOf(t, resetType).Validate(exact(t, b)); err != nil {
		t.Error(err)
	}
}

// Every field of the Go types is in the schema, and the other way round.
func TestSchemasNameEveryField(t *testing.T) {
	all, err := eventSchemas()
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range chat.EventTypes() {
		want := map[string]bool{"type": true, "seq": true, "run_id": true, "at": true}
		rt := reflect.TypeOf(chat.NewEvent(typ)).Elem()
		for i := range rt.NumField() {
			name, _, _ := strings.Cut(rt.Field(i).Tag.Get("json"), ",")
			if want[name] {
				t.Errorf("%s: the payload's %s hides the common field", typ, name)
			}
			want[name] = true
		}
		var schema struct {
			Properties map[string]any `json:"properties"`
		}
		if err := json.Unmarshal(all[typ], &schema); err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for name := range schema.Properties {
			got[name] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-Go +schema):\n%s", typ, diff)
		}
	}
}

// The zero event of every type must not put null where a client reads a list or an object.
func TestEncodeZeroEvents(t *testing.T) {
	for _, typ := range chat.EventTypes() {
		out, err := encode(chat.Record{Seq: 1, RunID: "r", Entry: chat.Entry{Event: chat.NewEvent(typ)}})
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range exact(t, out).(map[string]any) {
			if v == nil && k != "ui_context" && k != "preview" && k != "artifact" {
				t.Errorf("%s: %s is null", typ, k)
			}
		}
		if !bytes.HasPrefix(out, []byte(`{"type":"`+typ+`","seq":1,"run_id":"r","at":"`)) {
			t.Errorf("%s does not begin with the common fields: %s", typ, out)
		}
	}
}

func TestEncodeKeepsNumbersAndTags(t *testing.T) {
	e := &chat.ToolStart{Args: json.RawMessage(`{"id":9007199254740993,"sql":"a < b && c > d"}`)}
	out, err := encode(chat.Record{Seq: 7, Entry: chat.Entry{Event: e}})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(out, e.Args) {
		t.Errorf("arguments were changed: %s", out)
	}
}
