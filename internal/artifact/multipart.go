package artifact

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
)

// uploads are the unfinished multipart uploads of a bucket of S3. Their parts take up room, and no listing of
// objects shows them.
type uploads struct {
	client         *s3.Client
	bucket, prefix string
}

// uploadsOf is nil for a bucket that is not S3.
func uploadsOf(b *blob.Bucket, name, prefix string) *uploads {
	u := &uploads{bucket: name, prefix: prefix}
	if !b.As(&u.client) {
		return nil
	}
	return u
}

// unfinished is the name of an upload among the keys of a bucket, as a temporary file has one: the key that it
// would have got, and its id in hexadecimal.
var unfinished = regexp.MustCompile(`^(art_[0-9A-HJKMNP-TV-Z]{26})\.([0-9a-f]+)\.upload$`)

// list calls each with every upload of a key that the store makes and that begins with start.
func (u *uploads) list(ctx context.Context, start string, each func(string, time.Time) error) error {
	pages := s3.NewListMultipartUploadsPaginator(u.client, &s3.ListMultipartUploadsInput{Bucket: aws.String(u.bucket), Prefix: aws.String(u.prefix + start)})
	for pages.HasMorePages() {
		p, err := pages.NextPage(ctx)
		if noUpload(err) {
			return nil // what some servers say of a bucket that has none
		}
		if err != nil {
			return fmt.Errorf("list unfinished uploads (this needs the permission s3:ListBucketMultipartUploads): %w", err)
		}
		for _, x := range p.Uploads {
			name := strings.TrimPrefix(aws.ToString(x.Key), u.prefix) + "." + hex.EncodeToString([]byte(aws.ToString(x.UploadId))) + ".upload"
			if !unfinished.MatchString(name) {
				continue
			}
			if err := each(name, aws.ToTime(x.Initiated)); err != nil {
				return err
			}
		}
	}
	return nil
}

// abort ends the upload of a name that list gave; one that is not there is no error. done is false for any
// other name.
func (u *uploads) abort(ctx context.Context, name string) (done bool, err error) {
	m := unfinished.FindStringSubmatch(name)
	if m == nil {
		return false, nil
	}
	id, err := hex.DecodeString(m[2])
	if err != nil {
		return false, nil
	}
	_, err = u.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
		Bucket: aws.String(u.bucket), Key: aws.String(u.prefix + m[1]), UploadId: aws.String(string(id)),
	})
	if err != nil && !noUpload(err) {
		return true, fmt.Errorf("abort an unfinished upload: %w", err)
	}
	return true, nil
}

// abortAll ends the uploads of a key. gocloud's writer does so with the context that has just ended, which does
// nothing.
func (u *uploads) abortAll(ctx context.Context, key string) error {
	return u.list(ctx, key, func(name string, _ time.Time) error {
		_, err := u.abort(ctx, name)
		return err
	})
}

func noUpload(err error) bool {
	var coded interface{ ErrorCode() string }
	return errors.As(err, &coded) && coded.ErrorCode() == "NoSuchUpload"
}
