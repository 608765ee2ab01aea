package artifacttest

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// S3 is a server to be tested at an address, with the credentials that this process has in its environment.
type S3 struct {
	Address string
	n       int
}

func (s *S3) client(t *testing.T) *s3.Client {
	t.Helper()
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"))
	if err != nil {
		t.Fatal(err)
	}
	return s3.NewFromConfig(cfg, func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = aws.String(s.Address), true })
}

// bucket makes a new bucket and returns a backend over the part of it that has a prefix.
func (s *S3) bucket(t *testing.T, prefix string) (artifact.Backend, string) {
	t.Helper()
	s.n++
	name := fmt.Sprintf("artifacts-%d", s.n)
	if _, err := s.client(t).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	q := url.Values{"region": {"us-east-1"}, "use_path_style": {"true"}, "endpoint": {s.Address}}
	if prefix != "" {
		q.Set("prefix", prefix)
	}
	b, err := artifact.OpenURL(t.Context(), "s3://"+name+"?"+q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, name
}

// Run holds backends over the server to the suite, and to what only S3 has.
func (s *S3) Run(t *testing.T) {
	Run(t, func(t *testing.T) artifact.Backend { b, _ := s.bucket(t, ""); return b })
	for _, prefix := range []string{"", "agentd/"} {
		t.Run("an upload that a process left is removed, prefix "+prefix, func(t *testing.T) { s.leftUpload(t, prefix) })
	}
}

// leftUpload has what a process leaves that dies while it sends parts: an artifact that is staged, and an upload.
func (s *S3) leftUpload(t *testing.T, prefix string) {
	var bucket string
	b := newBench(t, func(t *testing.T) artifact.Backend {
		var backend artifact.Backend
		backend, bucket = s.bucket(t, prefix)
		return backend
	})
	b.now = time.Now().UTC()                              // the server's clock says when an upload began
	w := b.writer(artifact.Spec{Format: chat.FormatText}) // nothing of it is sent yet
	defer w.Abort()
	client := s.client(t)
	upload := func(key string) {
		t.Helper()
		up, err := client.CreateMultipartUpload(t.Context(), &s3.CreateMultipartUploadInput{Bucket: &bucket, Key: &key})
		b.must(err)
		_, err = client.UploadPart(t.Context(), &s3.UploadPartInput{
			Bucket: &bucket, Key: &key, UploadId: up.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader("the first part"),
		})
		b.must(err)
	}
	upload(prefix + w.ID())
	upload(prefix + w.ID()) // one that was tried twice
	upload(prefix + "somebody.else")
	b.keys(2)
	if n, err := b.store.Sweep(t.Context()); err != nil || n.Orphans != 0 {
		t.Errorf("what may be work in progress was swept: %+v, %v", n, err)
	}
	b.keys(2)
	b.now = b.now.Add(time.Minute)
	if n, err := b.store.Recover(t.Context()); err != nil || n.Staged != 1 || n.Orphans != 2 {
		t.Errorf("recovered %+v, %v", n, err)
	}
	b.keys(0)
	b.usage(0)
	_, err := b.store.Stat(t.Context(), ann, w.ID())
	b.fails(err, fault.Missing, "")
	left, err := client.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: &bucket})
	b.must(err)
	if len(left.Uploads) != 1 || aws.ToString(left.Uploads[0].Key) != prefix+"somebody.else" {
		t.Errorf("%d uploads are left, want only the one that is not the store's", len(left.Uploads))
	}
}
