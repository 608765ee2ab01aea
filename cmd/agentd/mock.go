package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"agentd/internal/config"
	"agentd/internal/fault"
	"agentd/internal/mocksuperset"
)

type mockCmd struct {
	Listen        string `default:"127.0.0.1:8101" help:"Address to listen on."`
	Name          string `default:"dev" enum:"dev,staging,prod" help:"Whose content: dev, staging or prod."`
	Fixture       string `type:"existingfile" help:"YAML file that adds or replaces objects."`
	Seed          uint64 `default:"1" help:"Makes the ids that are chosen at random."`
	BasePath      string `help:"Where Superset is mounted, as /superset-dev."`
	NoControl     bool   `name:"no-control" help:"Leave out /_mock/."`
	DisplayMaxRow int    `default:"100000" help:"Rows that an answer of SQL Lab has at most; Superset's own default is 10,000."`
	AnyAddress    bool   `help:"Allow another address than loopback."`
}

// Run serves one mock Superset until it is told to stop. It prints one line when it is ready.
func (m mockCmd) Run(c *console) error {
	host, _, err := net.SplitHostPort(m.Listen)
	if err != nil {
		return fault.Wrap(fault.Invalid, "--listen must be HOST:PORT, as 127.0.0.1:8101.", err)
	}
	if !config.Loopback(host) && !m.AnyAddress {
		return fault.New(fault.Invalid, "The mock has passwords that everybody knows, so it listens on loopback only; --any-address allows "+m.Listen+".")
	}
	o := mocksuperset.Options{Name: m.Name, Seed: m.Seed, NoControl: m.NoControl, BasePath: m.BasePath, DisplayMaxRow: m.DisplayMaxRow}
	if m.Fixture != "" {
		if o.Fixture, err = os.ReadFile(m.Fixture); err != nil {
			return fault.Wrap(fault.Invalid, "The fixture cannot be read: "+err.Error()+".", err)
		}
	}
	s, err := mocksuperset.Load(o)
	if err != nil {
		return err
	}
	defer s.Close()
	l, err := net.Listen("tcp", m.Listen)
	if err != nil {
		return fault.Wrap(fault.Invalid, "Cannot listen on "+m.Listen+": "+err.Error()+".", err)
	}
	fmt.Fprintln(c.out, s.ReadyLine("http://"+l.Addr().String()))
	return serveUntil(c.ctx, &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}, l, time.Second)
}

// serveUntil serves l until ctx ends, then gives open requests some time.
func serveUntil(ctx context.Context, srv *http.Server, l net.Listener, patience time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	down, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := srv.Shutdown(down); err != nil {
		_ = srv.Close() // what hangs on purpose is cut
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
