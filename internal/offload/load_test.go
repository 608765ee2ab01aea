package offload_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// TestFragments: what follows # is a JSON pointer within a URI, and picks a part of what is passed on.
func TestFragments(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	long := strings.Repeat("z", 300)
	doc := b.bound(tool.Result{Data: json.RawMessage(`{"note":"` + long + `","a/b":{"m~n":[10,{"ü %":9007199254740993}]},"":{"":5},"0":"zero","result":[{"id":1,"0":"first"},{"id":2,"why":"` + long + `"}]}`)}).Artifact
	if doc.Format != chat.FormatJSON {
		t.Fatalf("format %s", doc.Format)
	}
	text := b.bound(tool.Result{Data: json.RawMessage(`plain words ` + long)}).Artifact.ID
	for _, row := range []struct{ id, fragment, want string }{ // want "" is a miss
		{doc.ID, "#/a~1b/m~0n/0", `10`},
		{doc.ID, "#/a~1b/m~0n/1/%C3%BC%20%25", `9007199254740993`},
		{doc.ID, "#/a%7E1b/m%7E0n/0", `10`},
		{doc.ID, "#/a~1b/m~0n/1/ü %", `9007199254740993`}, // percent signs that are wrong are meant as they stand
		{doc.ID, "#//", `5`},
		{doc.ID, "#/0", `"zero"`},      // the document itself comes first
		{doc.ID, "#/1/id", `2`},        // then its rows, which are what is passed on without a fragment
		{doc.ID, "#/result/1/id", `2`}, // and they have their name in the document, too
		{doc.ID, "#/result/0", `{"id":1,"0":"first"}`},
		{doc.ID, "#/result/01", ``},
		{doc.ID, "#/result/-", ``},
		{doc.ID, "#/result/2", ``},
		{doc.ID, "#/result/0/id/x", ``},
		{doc.ID, "#/nope", ``},
		{doc.ID, "#result", ``},
		{doc.ID, "#/a~1b/m~0n/99999999999999999999", ``},
		{text, "#/0", ``},
		{b.rows, "#/1/s", `"a\nb"`},
		{b.rows, "#/1/n_2", ``}, // the row ends before it
		{b.rows, "#/0/n_2", `null`},
		{b.rows, "#/1", `{"n":1.50,"s":"a\nb"}`},
		{b.rows, "#/2", ``},
		{b.list, "#/1", `7`},
	} {
		got, err := b.resolve(`{"data_uri":"` + offload.URI(row.id) + row.fragment + `"}`)
		switch {
		case row.want == "" && fault.CodeOf(err) != "missing_uris":
			t.Errorf("%s: %.100s, %v, want it to be missing", row.fragment, got, err)
		case row.want != "" && (err != nil || got != `{"data":`+row.want+`}`):
			t.Errorf("%s: %.100s, %v, want %s", row.fragment, got, err, row.want)
		}
	}
	// No pointer, and the empty one, are the whole.
	whole, err := b.resolve(`{"data_uri":"` + offload.URI(b.rows) + `"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.resolve(`{"data_uri":"` + offload.URI(b.rows) + `#"}`); err != nil || got != whole {
		t.Errorf("%s, %v", got, err)
	}
	// By position where the schema asks for arrays.
	if got, err := b.resolve(`{"points_uri":"` + offload.URI(b.rows) + `#/1/0"}`); err != nil || got != `{"points":1.50}` {
		t.Errorf("%s, %v", got, err)
	}
	// What is wrong with a fragment is told.
	_, err = b.resolve(`{"data_uri":"` + offload.URI(b.rows) + `#/9"}`)
	if e, ok := err.(*fault.Error); !ok || !strings.Contains(e.Answer, "JSON pointer") {
		t.Errorf("%v", err)
	}
}

// TestWhatWasPassedOn: a card and its digest need to know what stands in the arguments.
func TestWhatWasPassedOn(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	c := call("plot")
	rows, list := offload.URI(b.rows), offload.URI(b.list)+"#/0"
	c.Args = json.RawMessage(`{"list":[7,{"data_uri":["` + list + `","` + list + `"]}],"points_uri":"` + rows + `"}`)
	got, err := b.refs.Resolve(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	meta := func(id string) chat.ArtifactMeta {
		m, err := b.store.Stat(t.Context(), ann, id)
		if err != nil || m.SHA256 == "" {
			t.Fatalf("%v, %v", m, err)
		}
		return m
	}
	r, l := meta(b.rows), meta(b.list)
	one := chat.Reference{Argument: "/list/1/data_uri", URI: list, Tool: "search_dashboards", Rows: l.Rows, SizeBytes: l.Size, SHA256: l.SHA256}
	two := chat.Reference{Argument: "/points_uri", URI: rows, Tool: "search_dashboards", Rows: r.Rows, SizeBytes: r.Size, SHA256: r.SHA256}
	if diff := cmp.Diff([]chat.Reference{one, one, two}, got.Passed); diff != "" || *r.Rows != 2 {
		t.Errorf("passed on (-want +got):\n%s", diff)
	}
	if c.Passed != nil {
		t.Error("the call that was given was changed")
	}
	c.Args = json.RawMessage(`{"title":"t"}`)
	if got, err := b.refs.Resolve(t.Context(), c); err != nil || got.Passed != nil {
		t.Errorf("%v, %v", got.Passed, err)
	}
}

// TestMissesInOrder: every one is named, where it stands and as often as it does, and nothing else that is wrong hides
// them.
func TestMissesInOrder(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{MaxBytes: 2000})
	at := func(n string) string { return offload.URI("art_01ARZ3NDEKTSV4RRFFQ69G5FA" + n) }
	file, err := b.gate.Store(t.Context(), chat.Identity{User: "ann"}, "c1", "t", strings.NewReader("PK"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.resolve(`{"deep":{"data_uri":"` + at("1") + `"},"spec_uri":"` + offload.URI(file.ID) + `","data":` + numbers(30) +
		`,"list":[{"data_uri":"` + at("2") + `"},{"data_uri":["` + at("1") + `","` + offload.URI(b.list) + `","` + at("3") + `"]}],"points_uri":"` + at("1") + `"}`)
	e, ok := err.(*fault.Error)
	if !ok || e.Code != "missing_uris" {
		t.Fatalf("%v", err)
	}
	var answer struct {
		URIs []string `json:"_missing_uris"`
	}
	if err := json.Unmarshal([]byte(e.Answer), &answer); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{at("1"), at("2"), at("1"), at("3"), at("1")}, answer.URIs); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
}

// TestExpiredAndDeleted: what has gone since is missing as what never was.
func TestExpiredAndDeleted(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	if err := b.store.Delete(t.Context(), ann, b.rows); err != nil {
		t.Fatal(err)
	}
	if err := b.index.SetArtifactState(t.Context(), b.list, chat.ArtifactExpired); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{b.rows, b.list} {
		if _, err := b.resolve(`{"data_uri":"` + offload.URI(id) + `"}`); fault.CodeOf(err) != "missing_uris" {
			t.Errorf("%v", err)
		}
	}
}

// TestTheURIWinsAndTheLogSaysSo, without what is in it.
func TestTheURIWinsAndTheLogSaysSo(t *testing.T) {
	var log bytes.Buffer
	b := newRefBench(t, offload.ReferenceOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, args := range []string{`{"deep":{"data":["secret"],"data_uri":"` + offload.URI(b.list) + `"}}`, `{"data_uri":"` + offload.URI(b.list) + `"}`} {
		if _, err := b.resolve(args); err != nil {
			t.Fatal(err)
		}
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "argument=deep.data") || strings.Contains(got, "secret") || strings.Contains(got, "yyy") {
		t.Errorf("log %s", got)
	}
}

// TestHowMuchIsPassedOn counts what stands in the arguments, all of it together.
func TestHowMuchIsPassedOn(t *testing.T) {
	b := newRefBench(t, offload.ReferenceOptions{})
	one, err := b.resolve(`{"points_uri":"` + offload.URI(b.rows) + `"}`)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(one) - len(`{"points":}`))
	stored, err := b.store.Stat(t.Context(), ann, b.rows)
	if err != nil || stored.Size > size {
		t.Fatalf("%v, %v", stored, err)
	}
	for limit, passes := range map[int64]int{stored.Size - 1: 0, size - 1: 0, size: 1, size + 1: 1, 2*size - 1: 1, 2 * size: 2, 2*size + 1: 2} {
		refs, err := offload.NewReferences(b.store, []tool.Tool{plot}, offload.ReferenceOptions{MaxBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 3; n++ {
			c := call("plot")
			uris := strings.TrimSuffix(strings.Repeat(`"`+offload.URI(b.rows)+`",`, n), ",")
			c.Args = json.RawMessage(`{"points_uri":[` + uris + `]}`)
			if _, err := refs.Resolve(t.Context(), c); (err == nil) != (n <= passes) || err != nil && (fault.CodeOf(err) != "not_passed" || fault.KindOf(err) != fault.Invalid) {
				t.Errorf("%d times %d bytes with a limit of %d: %v", n, size, limit, err)
			}
		}
	}
	// What is too large is not even opened.
	if err := b.backend.Delete(t.Context(), b.rows); err != nil {
		t.Fatal(err)
	}
	for limit, code := range map[int64]string{stored.Size - 1: "not_passed", stored.Size: "missing_uris"} {
		refs, err := offload.NewReferences(b.store, []tool.Tool{plot}, offload.ReferenceOptions{MaxBytes: limit})
		if err != nil {
			t.Fatal(err)
		}
		c := call("plot")
		c.Args = json.RawMessage(`{"points_uri":"` + offload.URI(b.rows) + `"}`)
		if _, err := refs.Resolve(t.Context(), c); fault.CodeOf(err) != code {
			t.Errorf("a payload that is not there, with a limit of %d: %v", limit, err)
		}
	}
}

// TestDamagedPayload: what is not what was stored is not passed on.
func TestDamagedPayload(t *testing.T) {
	dir := t.TempDir()
	store, err := artifact.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s := artifact.New(newIndex(), store, artifact.Options{})
	w, err := s.Create(t.Context(), artifact.Spec{Owner: ann, Format: chat.FormatRows, Columns: []chat.Column{{Name: "n"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRow([]byte(`[1]`)); err != nil {
		t.Fatal(err)
	}
	m, err := w.Commit()
	if err != nil {
		t.Fatal(err)
	}
	refs, err := offload.NewReferences(s, []tool.Tool{plot}, offload.ReferenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := call("plot")
	c.Args = json.RawMessage(`{"data_uri":"` + offload.URI(m.ID) + `"}`)
	if got, err := refs.Resolve(t.Context(), c); err != nil || string(got.Args) != `{"data":[{"n":1}]}` {
		t.Fatalf("%s, %v", got.Args, err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(path, m.ID) && !strings.HasSuffix(path, ".attrs") {
			return os.WriteFile(path, []byte("[2]\n"), 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := refs.Resolve(t.Context(), c); fault.KindOf(err) != fault.Internal {
		t.Errorf("%s, %v", got.Args, err)
	}
}
