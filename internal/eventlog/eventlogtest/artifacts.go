package eventlogtest

import (
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
