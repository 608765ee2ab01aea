package offload_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"
	"agentd/internal/chat"
	"agentd/internal/offload"
	"agentd/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// way is one way in which a result can be bounded, in each of its parts.
type way struct {
	source string // what bounds it before it comes here
	kind   string
	cut    bool // by the preview
	batch  bool // by the budget of the step
	store  string
}

func (w way) String() string {
	return fmt.Sprintf("%s, %s, cut %t, batch %t, store %s", w.source, w.kind, w.cut, w.batch, w.store)
}

func ways() (all []way) {
	for _, source := range []string{"ends", "a page", "a page of a total", "a total alone", "a total beside", "a cursor beside", "its total beside", "does not say", "does not say but counts"} {
		for _, kind := range []string{"table", "list", "list in an object"} {
			if beside := strings.HasSuffix(source, "beside"); beside != (kind == "list in an object") && beside {
				continue
			}
			for _, cut := range []bool{false, true} {
				for _, batch := range []bool{false, true} {
					for _, store := range []string{"works", "off", "only when asked", "too large", "no quota", "fails", "cancelled", "capped", "out of time"} {
						all = append(all, way{source, kind, cut, batch, store})
					}
				}
			}
		}
	}
	return all
}

// made is the result, and how many there are of it at the source where that is known.
func (w way) made() (r tool.Result, n int64, total int64) {
	n, words := int64(30), "" // fits the preview, but not the budget
	if w.cut {
		n, words = 300, strings.Repeat(" and more", 30)
	}
	beside, many := "", n+1000
	switch w.source {
	case "a page":
		r.Bounded, total = true, -1
	case "a page of a total":
		r.Bounded, r.Total, total = true, &many, many
	case "a total alone":
		r.Total, total = &many, many
	case "a total beside":
		beside, total = fmt.Sprintf(`"total":%d,`, many), many
	case "a cursor beside":
		beside, total = `"next_cursor":"abc",`, -1
	case "its total beside":
		r.Source = chat.Unsure
		beside, total = fmt.Sprintf(`"next":null,"count":%d,`, n), n
	case "does not say":
		r.Source, total = chat.Unsure, -1
	case "does not say but counts":
		r.Source, r.Total, total = chat.Unsure, &n, n
	default:
		total = n
	}
	switch w.kind {
	case "table":
		r.Rows = &tool.Table{Columns: []chat.Column{{Name: "id"}, {Name: "title"}}}
		for i := range n {
			r.Rows.Rows = append(r.Rows.Rows, json.RawMessage(fmt.Sprintf(`[%d,"Dashboard number %d, and some words%s"]`, i, i, words)))
		}
	default:
		list := strings.ReplaceAll(string(objects(int(n))), `","url"`, words+`","url"`)
		if r.Data = json.RawMessage(list); w.kind != "list" {
			r.Data = json.RawMessage(`{` + beside + `"result":` + list + `}`)
		}
	}
	return r, n, total
}

func (w way) bounded(t *testing.T) (*bench, offload.Bounded) {
	o, so := offload.Options{}, artifact.Options{}
	switch w.store {
	case "off":
		o.Mode = offload.Off
	case "only when asked":
		o.Mode = offload.Explicit
	case "too large":
		o.MaxHeld = 10
	case "no quota":
		so.Quota = chat.ArtifactQuota{User: 10}
	case "capped":
		so.MaxRows = 20
	case "out of time":
		so.MaxDuration = time.Nanosecond
	}
	if w.batch {
		o.BatchChars = 1250
	}
	b := newBench(t, o, so)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch w.store {
	case "fails":
		b.backend.At = artifacttest.AtCommit
	case "cancelled":
		cancel()
	}
	r, _, _ := w.made()
	got := b.boundOf(ctx, "search_dashboards", r)
	if w.batch {
		got = b.gate.Batch(ctx, []tool.Call{call("search_dashboards")}, []tool.Result{r}, []offload.Bounded{got})[0]
	}
	return b, got
}

func (w way) sourceHasMore() bool {
	return slices.Contains([]string{"a page", "a page of a total", "a total alone", "a total beside", "a cursor beside"}, w.source)
}

var shownLine = regexp.MustCompile(`(?m)^(\[\d|\{"id")`)

// TestEveryWayToBeBounded goes over all combinations: the fields of the event, and what the model is told.
func TestEveryWayToBeBounded(t *testing.T) {
	for _, w := range ways() {
		b, got := w.bounded(t)
		_, n, total := w.made()
		p := got.Preview
		isCut := w.cut || w.batch

		var by []string
		if w.sourceHasMore() {
			by = append(by, chat.BoundBySource)
		}
		if w.cut {
			by = append(by, chat.BoundByPreview)
		}
		if w.batch {
			by = append(by, chat.BoundByBatch)
		}
		if isCut && w.store == "capped" {
			by = append(by, chat.BoundBySize)
		}
		if isCut && w.store == "out of time" {
			by = append(by, chat.BoundByTime)
		}
		slices.Sort(by)
		gotBy := slices.Sorted(slices.Values(p.BoundedBy))
		if diff := cmp.Diff(by, gotBy); diff != "" {
			t.Errorf("%s: bounded by (-want +got):\n%s", w, diff)
		}
		want := chat.Complete
		switch {
		case len(by) > 0:
			want = chat.Incomplete
		case w.source == "does not say":
			want = chat.Unsure
		}
		shown := int64(len(p.Rows) + len(p.Items))
		if p.Completeness != want || *p.Returned != shown || orNone(p.Total) != total || isCut == (shown == n) {
			t.Errorf("%s: %s, %d of %d with %d of %d shown", w, p.Completeness, *p.Returned, orNone(p.Total), shown, n)
		}
		decision, coverage := w.kept(isCut)
		a := got.Artifact
		if decisionOf(got) != decision || a != nil && a.Coverage != coverage || a != nil && (a.ID != "") != (decision == chat.ArtifactCreated) {
			t.Errorf("%s: artifact is %+v", w, a)
		}
		w.words(t, got, want, shown, total, n)
		if decision == chat.ArtifactCreated && coverage == chat.CoverageComplete && !strings.Contains(b.payload(a.ID), fmt.Sprintf("Dashboard number %d", n-1)) {
			t.Errorf("%s: the last row is not stored", w)
		}
		if t.Failed() {
			t.Fatalf("text:\n%s", got.Text)
		}
	}
}

// kept is what becomes of the whole.
func (w way) kept(isCut bool) (decision, coverage string) {
	if !isCut {
		return "", ""
	}
	switch w.store {
	case "off", "only when asked":
		return chat.ArtifactSkipped, ""
	case "too large", "no quota":
		return chat.ArtifactDenied, ""
	case "fails":
		return chat.ArtifactFailed, ""
	case "cancelled":
		return chat.ArtifactCancelled, ""
	}
	switch {
	case w.sourceHasMore() || w.store == "capped" || w.store == "out of time":
		return chat.ArtifactCreated, chat.CoveragePrefix
	case w.source == "does not say":
		return chat.ArtifactCreated, chat.CoverageUnknown
	}
	return chat.ArtifactCreated, chat.CoverageComplete
}

// words checks what the model reads against the fields.
func (w way) words(t *testing.T, got offload.Bounded, completeness chat.Completeness, shown, total, n int64) {
	t.Helper()
	text := got.Text
	has := func(want bool, words string) {
		t.Helper()
		if strings.Contains(text, words) != want {
			t.Errorf("%s: %q is in the text: %t", w, words, !want)
		}
	}
	if w.kind == "table" || got.Artifact != nil {
		if lines := len(shownLine.FindAllString(text, -1)); int64(lines) != shown {
			t.Errorf("%s: the model sees %d, the page %d", w, lines, shown)
		}
	}
	isCut := w.cut || w.batch
	of := fmt.Sprintf("Shown: %d", shown)
	if total >= 0 {
		of += fmt.Sprintf(" of %d", total)
	}
	has(completeness == chat.Incomplete && !w.sourceHasMore(), of+".")
	has(completeness == chat.Incomplete && w.sourceHasMore(), of+fmt.Sprintf("; the source gave %d and has more.", n))
	has(completeness == chat.Unsure, of+"; the source does not say whether it has more.")
	has(isCut && !w.batch, "Repeating this call gives the same cut.")
	has(w.batch, "The results of this step were too large together; called alone, it shows more.")
	decision, coverage := w.kept(isCut)
	created := decision == chat.ArtifactCreated
	has(created, "_artifact_uri: agentd+artifact:///")
	has(created, `read_artifact{"artifact_id":"art_`)
	has(created && coverage == chat.CoveragePrefix, "(not all that there is)")
	has(isCut && !created, "The whole was not stored: ")
	has(decision == chat.ArtifactSkipped, "that is switched off.")
	has(decision == chat.ArtifactDenied, "it is too large, or the quota is used up.")
	has(decision == chat.ArtifactFailed, "the store did not work.")
	has(decision == chat.ArtifactCancelled, "the run was cancelled.")
	if isCut && completeness == chat.Incomplete && total >= 0 {
		has(true, fmt.Sprintf("Found %d items:", total))
		has(true, fmt.Sprintf("and %d more items.", total-shown))
	}
	if isCut && total < 0 && w.sourceHasMore() {
		has(true, fmt.Sprintf("Found at least %d items:", n))
	}
}

// TestPagesAreNeverComplete reads what was stored back: a part is never called the whole, also where all that is
// stored fits a page.
func TestPagesAreNeverComplete(t *testing.T) {
	for _, c := range []struct {
		name     string
		stored   tool.Result
		args     string
		want     chat.Completeness
		by       string
		returned int64
		total    int64
		words    string
	}{
		{"all of a whole", tool.Result{Rows: dashboards(40), Keep: true}, `"columns":["id"]`, chat.Complete, "", 40, 40, "This is the end."},
		{"a page of a whole", tool.Result{Rows: dashboards(40), Keep: true}, `"limit":10`, chat.Incomplete, "preview_limit", 10, 40, "next_cursor: "},
		{"all that is stored of a page", tool.Result{Rows: dashboards(40), Keep: true, Bounded: true}, `"columns":["id"]`, chat.Incomplete, "source_limit", 40, 40, "The source had more than what was stored."},
		{"a page of a page", tool.Result{Rows: dashboards(40), Keep: true, Bounded: true}, `"limit":10`, chat.Incomplete, "source_limit preview_limit", 10, 40, "The source had more than what was stored."},
		{"what matches in a page", tool.Result{Rows: dashboards(40), Keep: true, Bounded: true}, `"filter":[{"column":"id","op":"lt","value":"3"}]`, chat.Incomplete, "source_limit", 3, -1, "The source had more than what was stored."},
		{"a sum over a page", tool.Result{Rows: dashboards(40), Keep: true, Bounded: true}, `"aggregate":{"values":[{"fn":"count"}]}`, chat.Incomplete, "source_limit", 1, -1, "The source had more than what was stored."},
		{"a sum over a whole", tool.Result{Rows: dashboards(40), Keep: true}, `"aggregate":{"values":[{"fn":"count"}]}`, chat.Complete, "", 1, -1, "This is the end."},
		{"all of what may go on", tool.Result{Rows: dashboards(40), Keep: true, Source: chat.Unsure}, `"columns":["id"]`, chat.Unsure, "", 40, 40, "the source does not say whether it has more."},
		{"a piece of a text", tool.Result{Data: json.RawMessage(strings.Repeat("A line. ", 2000))}, ``, chat.Incomplete, "preview_limit", -1, -1, "next_cursor: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, offload.Options{}, artifact.Options{})
			args := fmt.Sprintf(`{"artifact_id":%q`, b.bound(c.stored).Artifact.ID)
			if c.args != "" {
				args += "," + c.args
			}
			got := b.mustRead(args + "}")
			p := got.Preview
			if p.Completeness != c.want || strings.Join(p.BoundedBy, " ") != c.by || orNone(p.Returned) != c.returned || orNone(p.Total) != c.total {
				t.Errorf("%s by %s, %d of %d", p.Completeness, p.BoundedBy, orNone(p.Returned), orNone(p.Total))
			}
			if !strings.Contains(got.Text, c.words) {
				t.Errorf("%q is not in the text:\n%s", c.words, got.Text)
			}
		})
	}
}

// TestTheLastPieceOfATextIsNotAllOfIt
func TestTheLastPieceOfATextIsNotAllOfIt(t *testing.T) {
	b := newBench(t, offload.Options{}, artifact.Options{})
	id, cursor := b.bound(text(9000)).Artifact.ID, ""
	for {
		page := b.mustRead(fmt.Sprintf(`{"artifact_id":%q,"cursor":%q}`, id, cursor))
		if page.Preview.Completeness != chat.Incomplete {
			t.Errorf("a piece is %q", page.Preview.Completeness)
		}
		m := nextCursor.FindStringSubmatch(page.Text)
		if m == nil {
			break
		}
		cursor = m[1]
	}
}

// What must be said of a result that fits cuts it only where it would not fit.
func TestWhatIsSaidTakesNoMoreThanItNeeds(t *testing.T) {
	note := utf8Len("\nShown: 1 of 9; the source gave 1 and has more.")
	for extra, cut := range map[int]bool{-1: false, 0: false, 1: true} {
		b := newBench(t, offload.Options{}, artifact.Options{})
		got := b.bound(tool.Result{Data: json.RawMessage(`["` + strings.Repeat("ü", 4000-4-note+extra) + `"]`), Total: ptr(9), Bounded: true})
		if (got.Artifact != nil) != cut || !cut && utf8Len(got.Text) != 4000+extra {
			t.Errorf("%d characters: artifact %+v, text of %d", 4000+extra, got.Artifact, utf8Len(got.Text))
		}
		got = b.bound(tool.Result{Data: json.RawMessage(`["` + strings.Repeat("ü", 4000-4+extra) + `"]`), Total: ptr(1)})
		if (got.Artifact != nil) != cut {
			t.Errorf("%d characters of which nothing must be said: artifact %+v", 4000+extra, got.Artifact)
		}
	}
}

func utf8Len(s string) int { return len([]rune(s)) }
