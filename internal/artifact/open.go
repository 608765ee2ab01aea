package artifact

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // registers s3://
)

// OpenURL returns the backend of an address: file:///dir, or s3://bucket with the query parameters of
// gocloud.dev's s3blob (region, prefix, endpoint and more). Credentials of S3 come from the environment as
// Amazon's SDK reads it, never from the address.
//
// What uploads a process left unfinished at S3 when it died is found and removed as everything else is. That
// needs the permissions s3:ListBucketMultipartUploads and s3:AbortMultipartUpload.
func OpenURL(ctx context.Context, address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("address of artifacts: %w", err)
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" && u.Host != "localhost" || u.Path == "" || u.RawQuery != "" {
			return nil, fmt.Errorf("address of artifacts: %s must be file:///directory", address)
		}
		return OpenDir(filepath.FromSlash(u.Path))
	case "s3":
		if u.User != nil {
			return nil, fmt.Errorf("address of artifacts: credentials do not belong into it")
		}
		b, err := blob.OpenBucket(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("address of artifacts: %w", err)
		}
		return &Bucket{b: b, uploads: uploadsOf(b, u.Host, u.Query().Get("prefix"))}, nil
	}
	return nil, fmt.Errorf("address of artifacts: the scheme %q is not known; there are file and s3", u.Scheme)
}
