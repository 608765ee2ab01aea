// Package s3server holds the store's conformance suite against a real S3-compatible server: Versity's gateway over a
// folder. The test builds it and starts it. It is a module of its own, so that no server is ever part of agentd.
package s3server

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentd/internal/artifact/artifacttest"
)

const (
	user     = "test"
	secret   = "no-secret-at-all"
	patience = 20 * time.Second // of the test with a server that starts
)

// program builds the server, or takes what the last build left in Go's cache, and returns its path.
func program(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("go", "tool", "-n", "versitygw")
	var why bytes.Buffer
	cmd.Stderr = &why
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the S3 server of this test, github.com/versity/versitygw, cannot be built: %v: %s", err, strings.TrimSpace(why.String()))
	}
	return strings.TrimSpace(string(out))
}

// start starts the server, which ends with the test, and returns its address.
func start(t *testing.T) string {
	t.Helper()
	bin := program(t)
	for _, kv := range [][2]string{
		{"AWS_ACCESS_KEY_ID", user}, {"AWS_SECRET_ACCESS_KEY", secret}, {"AWS_CONFIG_FILE", "/dev/null"}, {"AWS_SHARED_CREDENTIALS_FILE", "/dev/null"},
	} {
		t.Setenv(kv[0], kv[1])
	}
	for try := 1; ; try++ {
		addr, err := listen(t, bin)
		if err == nil {
			return addr
		}
		if try == 3 { // another process may have taken the port meanwhile
			t.Fatal(err)
		}
	}
}

func listen(t *testing.T, bin string) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return "", err
	}
	root, side := t.TempDir(), t.TempDir()
	// The sidecar has what would be extended attributes of files, which not every file system knows.
	cmd := exec.Command(bin, "--port", addr, "--access", user, "--secret", secret, "--quiet", "posix", "--sidecar", side, root)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop := func() error {
		_ = cmd.Process.Kill()
		return <-ended
	}
	up := time.Now().Add(patience)
	for {
		select {
		case err := <-ended:
			return "", fmt.Errorf("the S3 server ended at once: %v\n%s", err, &said)
		default:
		}
		resp, err := http.Get("http://" + addr + "/")
		if err == nil {
			resp.Body.Close()
			t.Cleanup(func() { _ = stop() })
			return "http://" + addr, nil
		}
		if time.Now().After(up) {
			_ = stop()
			return "", fmt.Errorf("the S3 server does not answer: %v\n%s", err, &said)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestRealS3(t *testing.T) { (&artifacttest.S3{Address: start(t)}).Run(t) }
