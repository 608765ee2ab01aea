package artifact_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// openS3 returns a function that opens a new bucket of one server in this process.
func openS3(t *testing.T) func(*testing.T) artifact.Backend {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	mem := s3mem.New()
	srv := httptest.NewServer(gofakes3.New(mem).Server())
	t.Cleanup(srv.Close)
	n := 0
	return func(t *testing.T) artifact.Backend {
		t.Helper()
		n++
		name := fmt.Sprintf("artifacts-%d", n)
		if err := mem.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
		b, err := artifact.OpenURL(t.Context(), "s3://"+name+"?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(srv.URL))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	}
}

func TestS3(t *testing.T) { artifacttest.Run(t, openS3(t)) }

func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	b, err := artifact.OpenURL(t.Context(), "file://"+dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "artifacts", "file://host/dir", "file:", "file:///x?create_dir=1", "s3://key:secret@bucket", "gs://bucket", "http://x", "mem://", "s3://b?nope=1", "%"} {
		if b, err := artifact.OpenURL(t.Context(), bad); err == nil {
			b.Close()
			t.Errorf("%q was accepted", bad)
		}
	}
}
