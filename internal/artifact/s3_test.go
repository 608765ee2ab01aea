package artifact_test

import (
	"net/http/httptest"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/artifact/artifacttest"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// TestS3 runs against a server in this process, which is kinder than a real one and there at once; s3server has a
// real one.
func TestS3(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	t.Setenv("AWS_CONFIG_FILE", "/dev/null")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
	srv := httptest.NewServer(gofakes3.New(s3mem.New()).Server())
	t.Cleanup(srv.Close)
	(&artifacttest.S3{Address: srv.URL}).Run(t)
}

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
