package eventlogtest

import (
	"strings"
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
