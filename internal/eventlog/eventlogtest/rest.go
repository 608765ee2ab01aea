package eventlogtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func conversations(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	got, err := d.log.Conversation(ctx, d.conv.ID, user)
	d.ok(err)
	if diff := cmp.Diff(d.conv, got); diff != "" {
		t.Errorf("stored conversation (-want +got):\n%s", diff)
	}
	for _, c := range [][2]string{{d.conv.ID, "bob"}, {"nope", user}, {d.conv.ID, ""}} {
		_, err = d.log.Conversation(ctx, c[0], c[1])
		d.fails(err, fault.Missing, "")
	}
	d.fails(d.log.RenameConversation(ctx, d.conv.ID, "bob", "x"), fault.Missing, "")
	d.fails(d.log.RenameConversation(ctx, d.conv.ID, user, " \n\t"), fault.Invalid, "")
	d.fails(d.log.DeleteConversation(ctx, d.conv.ID, "bob"), fault.Missing, "")

	_, _, err = d.log.StartRun(ctx, eventlog.Start{Run: d.run("r1"), Entries: []chat.Entry{said("m", "  Почему 100% дашборд_ов\nупали?\x00 ")}})
	d.ok(err)
	d.title("Почему 100% дашборд_ов упали?")
	long := strings.Repeat("я", 300)
	d.ok(d.log.RenameConversation(ctx, d.conv.ID, user, long))
	d.title(strings.Repeat("я", 199) + "…")
	d.ok(d.log.RenameConversation(ctx, d.conv.ID, user, "Выручка 100%_x"))

	var ids []string
	for i := range 5 {
		d.now = d.now.Add(time.Duration(i%2) * time.Second) // some share their time
		ids = append([]string{d.create(user).ID}, ids...)
	}
	d.create("bob")
	var listed []string
	cursor := ""
	for {
		page, next, err := d.log.Conversations(ctx, user, eventlog.ListFilter{Cursor: cursor, Limit: 2})
		d.ok(err)
		for _, c := range page {
			listed = append(listed, c.ID)
		}
		if next == "" {
			break
		}
		cursor = next
	}
	if diff := cmp.Diff(append(ids, d.conv.ID), listed); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	for q, want := range map[string]int{"выруч": 1, "ВЫРУЧКА": 1, "100%_x": 1, "0_x": 0, "%": 1, "": 6, "\\": 0} {
		page, _, err := d.log.Conversations(ctx, user, eventlog.ListFilter{Query: q})
		d.ok(err)
		if len(page) != want {
			t.Errorf("search %q: got %d, want %d", q, len(page), want)
		}
	}
	for _, bad := range []string{"!", "YWJj", "MTIz", "eCB5"} {
		_, _, err := d.log.Conversations(ctx, user, eventlog.ListFilter{Cursor: bad})
		d.fails(err, fault.Invalid, "bad_cursor")
	}

	// Deleting while a run goes on: everything is gone, the run's next write too.
	changed := d.log.Changed(d.conv.ID)
	d.ok(d.log.DeleteConversation(ctx, d.conv.ID, user))
	<-changed
	_, err = d.log.Read(ctx, d.conv.ID, 0, 0)
	d.fails(err, fault.Missing, "")
	_, err = d.log.Write(ctx, eventlog.Write{RunID: "r1", Entries: []chat.Entry{delta("x")}})
	d.fails(err, fault.Missing, "")
	d.fails(d.log.DeleteConversation(ctx, d.conv.ID, user), fault.Missing, "")
}

func (d *desk) title(want string) {
	d.Helper()
	c, err := d.log.Conversation(d.Context(), d.conv.ID, user)
	d.ok(err)
	if want = strings.ReplaceAll(want, "\x00", "\uFFFD"); c.Title != want && c.Title != want+"\uFFFD" {
		d.Errorf("title: got %q, want %q", c.Title, want)
	}
}

func records(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	if n, err := d.log.Last(ctx, d.conv.ID); n != 0 || err != nil {
		t.Errorf("last of an empty conversation: %d, %v", n, err)
	}
	_, err := d.log.Last(ctx, "nope")
	d.fails(err, fault.Missing, "")
	_, err = d.log.Read(ctx, "nope", 0, 10)
	d.fails(err, fault.Missing, "")

	run := d.start("r1")
	before := d.log.Changed(d.conv.ID)
	quiet := d.log.Changed(d.create(user).ID)
	var want []chat.Record
	want = append(want, chat.Record{Conversation: d.conv.ID, Seq: 1, RunID: run.ID, At: d.now, Entry: said("m-r1", "hello r1")})
	for i := range 9 {
		e := delta(fmt.Sprintf("<b>&\u2028 %d", i))
		d.now = d.now.Add(time.Millisecond)
		d.write(eventlog.Write{RunID: "r1", Entries: []chat.Entry{e}})
		want = append(want, chat.Record{Conversation: d.conv.ID, Seq: int64(i) + 2, RunID: run.ID, At: d.now, Entry: e})
	}
	<-before
	select {
	case <-quiet:
		t.Error("a conversation that did not change was announced")
	default:
	}
	for _, c := range []struct {
		after int64
		limit int
		from  int
		to    int
	}{{0, 0, 0, 10}, {0, 3, 0, 3}, {3, 3, 3, 6}, {9, 3, 9, 10}, {10, 3, 10, 10}, {99, 3, 10, 10}} {
		got, err := d.log.Read(ctx, d.conv.ID, c.after, c.limit)
		d.ok(err)
		if diff := cmp.Diff(append([]chat.Record{}, want[c.from:c.to]...), append([]chat.Record{}, got...)); diff != "" {
			t.Errorf("read after %d limit %d (-want +got):\n%s", c.after, c.limit, diff)
		}
		lines, err := d.log.Lines(ctx, d.conv.ID, c.after, c.limit)
		d.ok(err)
		if len(lines) != len(got) || (len(lines) > 0 && lines[0].Seq != got[0].Seq) {
			t.Errorf("lines after %d: got %d, want %d", c.after, len(lines), len(got))
		}
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	_, err = d.log.Read(ended, d.conv.ID, 0, 0)
	d.fails(err, fault.Canceled, "")
	_, err = d.log.Write(ended, eventlog.Write{RunID: "r1", Entries: []chat.Entry{delta("x")}})
	d.fails(err, fault.Canceled, "")
}

func answers(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	d.start("r1")
	d.ok(d.log.Feedback(ctx, d.conv.ID, "m-r1", user, "up", "good\x00"))
	d.ok(d.log.Feedback(ctx, d.conv.ID, "m-r1", user, "down", ""))
	d.ok(d.log.Feedback(ctx, d.conv.ID, "m-r1", user, "", ""))
	d.fails(d.log.Feedback(ctx, d.conv.ID, "nope", user, "up", ""), fault.Missing, "")
	d.fails(d.log.Feedback(ctx, d.conv.ID, "m-r1", user, "great", ""), fault.Invalid, "")

	r := eventlog.Remembered{User: user, Conversation: d.conv.ID, Env: "dev", Tool: "update_chart", ArgsClass: "title"}
	d.ok(d.log.Remember(ctx, r))
	d.ok(d.log.Remember(ctx, r))
	elsewhere := r
	elsewhere.Conversation = d.create(user).ID
	d.ok(d.log.Remember(ctx, elsewhere))
	elsewhere.Conversation = "nope"
	d.fails(d.log.Remember(ctx, elsewhere), fault.Missing, "")
	all, err := d.log.Remembered(ctx, user, "")
	d.ok(err)
	here, err := d.log.Remembered(ctx, user, d.conv.ID)
	d.ok(err)
	if len(all) != 2 || len(here) != 1 {
		t.Fatalf("remembered: got %d and %d, want 2 and 1", len(all), len(here))
	}
	r.ID, r.Created = here[0].ID, d.now
	if diff := cmp.Diff(r, here[0]); diff != "" {
		t.Errorf("remembered (-want +got):\n%s", diff)
	}
	d.fails(d.log.Forget(ctx, r.ID, "bob"), fault.Missing, "")
	d.ok(d.log.Forget(ctx, r.ID, user))
	d.fails(d.log.Forget(ctx, r.ID, user), fault.Missing, "")
}

func audit(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	d.ok(d.log.VerifyAudit(ctx))
	for i := range 5 {
		d.now = d.now.Add(time.Minute)
		d.ok(d.log.Audit(ctx, chat.AuditRow{Kind: "guard", User: []string{"ann", "bob"}[i%2], Tool: "t", EnvID: "prod", Verdict: "allow"},
			chat.AuditRow{Kind: "started", User: "ann", Tool: "u", ArgsShown: []byte(`{"a":"<1>"}`)}))
	}
	d.ok(d.log.Audit(ctx))
	d.ok(d.log.VerifyAudit(ctx))
	for want, f := range map[int]eventlog.AuditFilter{
		10: {}, 8: {User: "ann"}, 2: {User: "bob", Env: "prod", Tool: "t", Verdict: "allow"}, 4: {Since: d.now.Add(-time.Minute)}, 3: {After: 7}, 1: {After: 7, Limit: 1}, 0: {Tool: "none"},
	} {
		rows, err := d.log.AuditRows(ctx, f)
		d.ok(err)
		if len(rows) != want {
			t.Errorf("rows of %+v: got %d, want %d", f, len(rows), want)
		}
	}
	for _, c := range []struct{ statement, undo, want string }{
		{`UPDATE audit SET verdict = 'deny' WHERE seq = 3`, `UPDATE audit SET verdict = 'allow' WHERE seq = 3`, "Row 3 "},
		{`UPDATE audit SET body = replace(body, '"bob"', '"eve"'), user_name = 'eve' WHERE seq = 3`,
			`UPDATE audit SET body = replace(body, '"eve"', '"bob"'), user_name = 'bob' WHERE seq = 3`, "Row 3 "},
		{`UPDATE audit SET seq = 50 WHERE seq = 7`, `UPDATE audit SET seq = 7 WHERE seq = 50`, "Row 7 of the audit is missing"},
		{`UPDATE audit SET seq = -1 WHERE seq = 1`, `UPDATE audit SET seq = 1 WHERE seq = -1`, "Row 1 of the audit is missing"},
		{`DELETE FROM audit WHERE seq > 8`, ``, "ends with row 8"},
	} {
		p.Exec(t, c.statement)
		err := d.log.VerifyAudit(ctx)
		d.fails(err, fault.Conflict, "audit_broken")
		if !strings.Contains(fault.Message(err), c.want) {
			t.Errorf("after %s: got %q, want %q in it", c.statement, fault.Message(err), c.want)
		}
		if c.undo != "" {
			p.Exec(t, c.undo)
			d.ok(d.log.VerifyAudit(ctx))
		}
	}
}

func artifacts(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	meta := func(id string) chat.ArtifactMeta {
		return chat.ArtifactMeta{ID: id, User: user, Conversation: d.conv.ID, Tool: "run_sql", Format: "jsonl", Created: d.now, LastUsed: d.now, Expires: d.now.Add(time.Hour)}
	}
	quota := eventlog.Quota{Conversation: 100, User: 150, Total: 1000}
	d.ok(d.log.CreateArtifact(ctx, meta("a"), 100, quota))
	d.fails(d.log.CreateArtifact(ctx, meta("b"), 1, quota), fault.Conflict, "quota")
	m := meta("a")
	m.Size, m.SHA256, m.Columns = 40, "abc", []chat.Column{{Name: "x", Exact: true}}
	d.ok(d.log.CommitArtifact(ctx, m))
	d.fails(d.log.CommitArtifact(ctx, m), fault.Conflict, "artifact_state")
	d.fails(d.log.CommitArtifact(ctx, meta("nope")), fault.Missing, "")
	got, err := d.log.Artifact(ctx, "a")
	d.ok(err)
	m.State = chat.ArtifactCommitted
	if diff := cmp.Diff(m, got); diff != "" {
		t.Errorf("committed (-want +got):\n%s", diff)
	}
	d.fails(d.log.CreateArtifact(ctx, meta("b"), 61, quota), fault.Conflict, "quota")
	d.ok(d.log.CreateArtifact(ctx, meta("b"), 60, quota))
	d.usage(100, 100, 100)
	d.ok(d.log.SetArtifactState(ctx, "b", chat.ArtifactDeleted))
	d.usage(40, 40, 40)
	d.fails(d.log.CommitArtifact(ctx, meta("b")), fault.Conflict, "artifact_state")
	d.fails(d.log.SetArtifactState(ctx, "a", chat.ArtifactCommitted), fault.Invalid, "")
	d.fails(d.log.SetArtifactState(ctx, "nope", chat.ArtifactDeleted), fault.Missing, "")

	d.now = d.now.Add(time.Minute)
	d.ok(d.log.TouchArtifact(ctx, "a", d.now.Add(time.Hour)))
	d.ok(d.log.TouchArtifact(ctx, "a", d.now)) // earlier: ignored
	d.fails(d.log.TouchArtifact(ctx, "b", d.now), fault.Missing, "")
	got, err = d.log.Artifact(ctx, "a")
	d.ok(err)
	if !got.LastUsed.Equal(d.now) || !got.Expires.Equal(d.now.Add(time.Hour)) {
		t.Errorf("touched: used %v, expires %v", got.LastUsed, got.Expires)
	}
	for _, c := range []struct {
		f    eventlog.ArtifactFilter
		want string
	}{
		{eventlog.ArtifactFilter{}, "b a"},
		{eventlog.ArtifactFilter{Limit: 1}, "b"},
		{eventlog.ArtifactFilter{States: []chat.ArtifactState{chat.ArtifactCommitted, chat.ArtifactStaged}}, "a"},
		{eventlog.ArtifactFilter{Conversation: "nope"}, ""},
		{eventlog.ArtifactFilter{ExpiredBefore: got.Expires.Add(-time.Microsecond)}, "b"},
		{eventlog.ArtifactFilter{ExpiredBefore: got.Expires}, "b a"},
	} {
		list, err := d.log.Artifacts(ctx, c.f)
		d.ok(err)
		var ids []string
		for _, m := range list {
			ids = append(ids, m.ID)
		}
		if s := strings.Join(ids, " "); s != c.want {
			t.Errorf("artifacts of %+v: got %q, want %q", c.f, s, c.want)
		}
	}
	d.ok(d.log.DeleteConversation(ctx, d.conv.ID, user))
	list, err := d.log.Artifacts(ctx, eventlog.ArtifactFilter{ExpiredBefore: d.now, States: []chat.ArtifactState{chat.ArtifactCommitted}})
	d.ok(err)
	if len(list) != 1 {
		t.Errorf("expired with their conversation: got %d, want 1", len(list))
	}

	t.Run("fifty writers and room for ten", func(t *testing.T) {
		d := newDesk(t, p)
		var wg sync.WaitGroup
		var mu sync.Mutex
		fit := 0
		for i := range 50 {
			wg.Go(func() {
				m := meta(fmt.Sprint("p", i))
				m.Conversation = d.conv.ID
				switch err := d.log.CreateArtifact(ctx, m, 10, eventlog.Quota{Conversation: 100}); {
				case err == nil:
					mu.Lock()
					fit++
					mu.Unlock()
				case fault.CodeOf(err) != "quota":
					t.Errorf("create: %v", err)
				}
			})
		}
		wg.Wait()
		if fit != 10 {
			t.Errorf("got %d artifacts, want 10", fit)
		}
	})
}

func (d *desk) usage(conversation, user1, total int64) {
	d.Helper()
	got, err := d.log.ArtifactUsage(d.Context(), d.conv.ID, user)
	d.ok(err)
	if want := (eventlog.Usage{Conversation: conversation, User: user1, Total: total}); got != want {
		d.Errorf("usage: got %+v, want %+v", got, want)
	}
}

// crowd writes from many goroutines, some writes failing after they wrote, while readers follow.
func crowd(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	const writers, each = 16, 40
	failed, fail := context.WithCancel(ctx) // a reader does not wait for a writer that has failed
	defer fail()
	var wg sync.WaitGroup
	for w := range writers {
		conv := d.create(user).ID
		run := fmt.Sprint("r", w)
		_, _, err := d.log.StartRun(ctx, eventlog.Start{Run: chat.Run{ID: run, Conversation: conv, Who: chat.Identity{User: user}}})
		d.ok(err)
		wg.Go(func() {
			for i := range each {
				if i%10 == 3 {
					_, err := d.log.Write(ctx, eventlog.Write{RunID: run, Entries: []chat.Entry{delta("undone")},
						Move: []eventlog.Move{{ID: "nope", From: []chat.ConfirmState{chat.ConfirmPending}, To: chat.ConfirmDone}}})
					if fault.CodeOf(err) != "confirmation_state" {
						t.Errorf("a write that must fail: %v", err)
					}
				}
				n, err := d.log.Write(ctx, eventlog.Write{RunID: run, Entries: []chat.Entry{delta(fmt.Sprint(i))}, Audit: []chat.AuditRow{{Kind: "guard"}}})
				if err != nil || n != int64(i)+1 {
					t.Errorf("write %d of %s: seq %d, %v", i, run, n, err)
					fail()
					return
				}
			}
		})
		wg.Go(func() {
			for seen := int64(0); seen < each; {
				changed := d.log.Changed(conv)
				got, err := d.log.Read(ctx, conv, seen, 7)
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				for _, r := range got {
					if seen++; r.Seq != seen || r.Event.(*chat.TextDelta).Text != fmt.Sprint(seen-1) {
						t.Errorf("reader of %s: seq %d, %v; want seq %d", conv, r.Seq, r.Event, seen)
						return
					}
				}
				if len(got) > 0 {
					continue
				}
				select {
				case <-changed:
				case <-failed.Done():
					return
				}
			}
		})
	}
	wg.Wait()
	rows, err := d.log.AuditRows(ctx, eventlog.AuditFilter{})
	d.ok(err)
	if len(rows) != writers*each {
		t.Errorf("audit rows: got %d, want %d", len(rows), writers*each)
	}
	d.ok(d.log.VerifyAudit(ctx))
}

// reopened is what a restart finds, and what a closed log says.
func reopened(t *testing.T, p Place) {
	d := newDesk(t, p)
	ctx := t.Context()
	c := d.asked("r1", "c1")
	d.ok(d.log.Close())
	d.ok(d.log.Close())
	_, err := d.log.Write(ctx, eventlog.Write{RunID: "r1", Entries: []chat.Entry{delta("x")}, Late: true})
	d.fails(err, fault.Transient, "")
	d.log = p.Open(t, eventlog.Options{Now: func() time.Time { return d.now }})
	if diff := cmp.Diff([]string{"r1 message", "r1 confirm_required", "r1 run_finished"}, d.types()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	got, err := d.log.Decide(ctx, d.decision(c, "approve", "r2"))
	d.ok(err)
	if got.RunID != "r2" {
		t.Errorf("decision after a restart: %+v", got)
	}
	d.ok(d.log.VerifyAudit(ctx))
}
