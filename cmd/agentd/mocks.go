package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"agentd/internal/config"
	"agentd/internal/mocksuperset"
)

// mockAccount is who agentd is at a mock; everybody knows the password.
const mockAccount = "admin"

// mockRows is DISPLAY_MAX_ROW of the mocks: as many as a stored result may have, so that whole results can be tried.
const mockRows = 100_000

// mocks are the Supersets that the demo serves itself.
type mocks struct {
	servers []*http.Server
	content []*mocksuperset.Server
	done    []chan error
	envs    map[string]bool // ids of the environments that they are
}

// startMocks serves each environment whose address says mock://NAME on a loopback port of its own, and writes the
// real address into cfg. It prints a line for each.
func startMocks(cfg *config.Config, out io.Writer) (_ *mocks, err error) {
	m := &mocks{envs: map[string]bool{}}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	for i := range cfg.Environments {
		e := &cfg.Environments[i]
		name, ok := strings.CutPrefix(e.BaseURL, config.MockScheme+"://")
		if !ok {
			continue
		}
		s, err := mocksuperset.Load(mocksuperset.Options{Name: name, DisplayMaxRow: mockRows})
		if err != nil {
			return nil, err
		}
		m.content = append(m.content, s)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("listen for the mock %s: %w", name, err)
		}
		srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
		done := make(chan error, 1)
		go func() { done <- srv.Serve(l) }()
		m.servers, m.done = append(m.servers, srv), append(m.done, done)
		e.BaseURL = "http://" + l.Addr().String()
		e.PublicURL = e.BaseURL
		m.envs[e.ID] = true
		fmt.Fprintln(out, s.ReadyLine("http://"+l.Addr().String()))
	}
	return m, nil
}

// close stops them at once: what hangs there hangs on purpose.
func (m *mocks) close() {
	for i, s := range m.servers {
		_ = s.Close()
		if err := <-m.done[i]; !errors.Is(err, http.ErrServerClosed) {
			fmt.Println("agentd: mock:", err)
		}
	}
	for _, s := range m.content {
		_ = s.Close()
	}
}
