package eventlog_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"agentd/internal/eventlog"
	"agentd/internal/eventlog/eventlogtest"
	"agentd/internal/fault"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sqlitePlace(t *testing.T) eventlogtest.Place {
	dir := filepath.Join(t.TempDir(), "a b?#%41")
	return eventlogtest.Place{
		Open: func(t *testing.T, o eventlog.Options) *eventlog.Log {
			t.Helper()
			o.Dir = dir
			return open(t, o)
		},
		Exec: func(t *testing.T, statement string) {
			t.Helper()
			if err := os.Symlink(dir, filepath.Join(filepath.Dir(dir), "plain")); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", "file:"+filepath.Join(filepath.Dir(dir), "plain", eventlog.FileName)+"?_pragma=busy_timeout(5000)")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func open(t testing.TB, o eventlog.Options) *eventlog.Log {
	t.Helper()
	l, err := eventlog.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func TestSQLite(t *testing.T) { eventlogtest.Run(t, sqlitePlace) }

func TestSQLiteFilesAreTheOwners(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	l := open(t, eventlog.Options{Dir: dir})
	if _, err := l.CreateConversation(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 3 {
		t.Fatalf("files: %v, %v; want the log, its WAL and its index", files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

func TestOpenNeedsOnePlace(t *testing.T) {
	for name, o := range map[string]eventlog.Options{"none": {}, "both": {Dir: t.TempDir(), URL: "postgres://h/d"}, "no URL": {URL: "postgres://u:secret@h:x/d"}} {
		_, err := eventlog.Open(t.Context(), o)
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: got %v, want invalid", name, err)
		}
	}
}
