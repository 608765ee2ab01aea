package artifacttest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func rowsByPage(b *bench) {
	m := b.table(2503)
	if *m.Rows != 2503 || m.Coverage != chat.CoverageComplete || m.State != chat.ArtifactCommitted {
		b.Errorf("meta = %+v", m)
	}
	for _, limit := range []int{7, 250, 1000, 0, 5000} {
		if limit == 7 && testing.Short() {
			continue
		}
		next, seen := "", 0
		for {
			p := b.read(m.ID, artifact.Request{Cursor: next, Limit: limit})
			if p.Start != int64(seen) {
				b.Fatalf("limit %d: a page starts at %d, want %d", limit, p.Start, seen)
			}
			for _, r := range p.Rows {
				if want := fmt.Sprintf(`[%d,"row %d"]`, seen, seen); string(r) != want {
					b.Fatalf("row %d is %s", seen, r)
				}
				seen++
			}
			if p.EOF {
				if p.Next != "" {
					b.Error("there is a cursor behind the end")
				}
				break
			}
			next = p.Next
		}
		if seen != 2503 {
			b.Errorf("limit %d: %d rows", limit, seen)
		}
	}
	if p := b.read(m.ID, artifact.Request{Chars: 40}); len(p.Rows) != 3 || p.EOF {
		b.Errorf("40 characters: %d rows", len(p.Rows))
	}
	if p := b.read(m.ID, artifact.Request{Chars: 1}); len(p.Rows) != 1 {
		b.Errorf("a page without a row does not get on: %d rows", len(p.Rows))
	}
	_, r, err := b.store.Open(b.Context(), ann, m.ID)
	b.must(err)
	defer r.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	b.must(err)
	if n != m.Size || hex.EncodeToString(sum.Sum(nil)) != m.SHA256 {
		b.Errorf("the payload has %d bytes and not the digest of %d", n, m.Size)
	}
}

func objectItems(b *bench) {
	w := b.writer(artifact.Spec{Format: chat.FormatRows})
	b.must(w.WriteRow([]byte(`{"id": 1, "big": 9007199254740993}`)))
	b.must(w.WriteRow([]byte(`{"name":"x","id":2,"deep":{"a":[1]}}`)))
	m, err := w.Commit()
	b.must(err)
	p := b.read(m.ID, artifact.Request{})
	want := []string{`[1,9007199254740993,null,null]`, `[2,null,"x",{"a":[1]}]`}
	if diff := cmp.Diff(want, texts(p.Rows)); diff != "" {
		b.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("id big name deep", names(p.Columns)); diff != "" {
		b.Errorf("columns (-want +got):\n%s", diff)
	}
}

func anyItems(b *bench) {
	w := b.writer(artifact.Spec{Format: chat.FormatRows})
	for _, v := range []string{`{"a":1}`, `[1,2]`, `"line\nbreak"`, `null`, `1e400`} {
		b.must(w.WriteRow([]byte(v)))
	}
	m, err := w.Commit()
	b.must(err)
	p := b.read(m.ID, artifact.Request{Columns: []string{"value"}})
	want := []string{`[{"a":1}]`, `[[1,2]]`, `["line\nbreak"]`, `[null]`, `[1e400]`}
	if diff := cmp.Diff(want, texts(p.Rows)); diff != "" {
		b.Errorf("rows (-want +got):\n%s", diff)
	}
}

func projected(b *bench) {
	m := b.table(3)
	p := b.read(m.ID, artifact.Request{Columns: []string{"s", "n", "s"}})
	if diff := cmp.Diff([]string{`["row 0",0,"row 0"]`, `["row 1",1,"row 1"]`, `["row 2",2,"row 2"]`}, texts(p.Rows)); diff != "" {
		b.Errorf("rows (-want +got):\n%s", diff)
	}
	if names(p.Columns) != "s n s" || p.Columns[1].Type != "BIGINT" {
		b.Errorf("columns = %+v", p.Columns)
	}
	_, err := b.store.Read(b.Context(), ann, m.ID, artifact.Request{Columns: []string{"nope"}})
	b.fails(err, fault.Invalid, "columns")
	if err == nil || !strings.Contains(err.Error(), "n, s") {
		b.Errorf("the error does not name the columns: %v", err)
	}
}

func textByPage(b *bench) {
	long := strings.Repeat("Zeile mit ü und 👍.\n", 3000) + strings.Repeat("👍", 5000)
	for chars, body := range map[int]string{0: long, 997: long, 7: long[len(long)-1000:], 1: "é\n👍"} {
		for _, format := range []string{chat.FormatText, chat.FormatJSON} {
			m := b.text(format, body)
			next, got := "", strings.Builder{}
			for {
				p := b.read(m.ID, artifact.Request{Cursor: next, Chars: chars})
				if chars > 0 && len([]rune(p.Text)) > chars || p.Text == "" {
					b.Fatalf("a piece of %d characters, limit %d", len([]rune(p.Text)), chars)
				}
				got.WriteString(p.Text)
				if next = p.Next; p.EOF {
					break
				}
			}
			if got.String() != body {
				b.Errorf("%s in pieces of %d is not what was written", format, chars)
			}
		}
	}
}

func binary(b *bench) {
	m := b.text(chat.FormatBinary, "PK\x03\x04\xff\x00")
	_, err := b.store.Read(b.Context(), ann, m.ID, artifact.Request{})
	b.fails(err, fault.Invalid, "binary")
	_, r, err := b.store.Open(b.Context(), ann, m.ID)
	b.must(err)
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "PK\x03\x04\xff\x00" {
		b.Errorf("got %q, %v", got, err)
	}
}

func boundCursor(b *bench) {
	m, other := b.table(10), b.table(10)
	next := b.read(m.ID, artifact.Request{Limit: 3}).Next
	for _, c := range []string{"x", "AAAA", next[1:], next + "A", strings.ToUpper(next), "=" + next} {
		_, err := b.store.Read(b.Context(), ann, m.ID, artifact.Request{Cursor: c})
		b.fails(err, fault.Invalid, "cursor")
	}
	_, err := b.store.Read(b.Context(), ann, other.ID, artifact.Request{Cursor: next})
	b.fails(err, fault.Invalid, "cursor")
	// Every single bit counts.
	for i := range len(next) {
		if next[i] == 'A' {
			continue
		}
		if _, err := b.store.Read(b.Context(), ann, m.ID, artifact.Request{Cursor: next[:i] + "A" + next[i+1:]}); err == nil {
			b.Errorf("a cursor with another sign at %d was accepted", i)
		}
	}
	if p, err := b.with(artifact.Options{}).Read(b.Context(), ann, m.ID, artifact.Request{Cursor: next}); err != nil || p.Start != 3 {
		b.Errorf("another store with the same secret: %v", err)
	}
	b.now = b.now.Add(2 * time.Hour)
	_, err = b.store.Read(b.Context(), ann, m.ID, artifact.Request{Cursor: next})
	b.fails(err, fault.Gone, "cursor_expired")
}

func empty(b *bench) {
	m := b.table(0)
	p := b.read(m.ID, artifact.Request{})
	if !p.EOF || len(p.Rows) != 0 || p.Next != "" || names(p.Columns) != "n s" || *m.Rows != 0 {
		b.Errorf("page = %+v", p)
	}
	w := b.writer(artifact.Spec{Format: chat.FormatText})
	m, err := w.Commit()
	b.must(err)
	_, r, err := b.store.Open(b.Context(), ann, m.ID)
	b.must(err)
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || len(got) != 0 {
		b.Errorf("got %q, %v", got, err)
	}
}

func texts(rows []json.RawMessage) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = string(r)
	}
	return out
}

func names(cols []chat.Column) string {
	var out []string
	for _, c := range cols {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}
