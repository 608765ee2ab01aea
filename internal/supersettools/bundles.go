package supersettools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"sync"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

// export reads an export of some objects of a kind. The caller closes the bundle.
func export(ctx context.Context, s *superset.Session, k pack.Kind, ids []int) (*pack.Bundle, error) {
	read := s.ExportDashboards
	switch k {
	case pack.Chart:
		read = s.ExportCharts
	case pack.Dataset:
		read = s.ExportDatasets
	}
	r, err := read(ctx, ids...)
	if err != nil {
		return nil, exportRefused(err)
	}
	defer r.Close()
	return pack.Read(ctx, r, "", pack.Limits{})
}

// exportRefused says what Superset does not: its failure without a reason is a chart that the user may not see.
func exportRefused(err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.Internal && e.Status == 500 {
		return &fault.Error{Kind: fault.Denied, Code: "superset", Err: err,
			Msg: "Superset cannot export this for the user. Most often one of the charts, or its data, is hidden from the user."}
	}
	if isMissing(err) {
		return fault.Wrap(fault.Missing, "One of the objects does not exist, or is hidden from this user; then Superset exports none.", err)
	}
	return err
}

// keepBundle stores what write writes as a zip for download, and tells its digest.
func (o op) keepBundle(ctx context.Context, to Backups, title string, write func(io.Writer) error) (*chat.Artifact, string, error) {
	if to == nil {
		return nil, "", fault.New(fault.Internal, "no store of backups is wired")
	}
	h := sha256.New()
	r, w := io.Pipe()
	var writer sync.WaitGroup
	writer.Go(func() { w.CloseWithError(write(io.MultiWriter(w, h))) })
	a, err := to.Store(ctx, o.call.Who, o.call.Conversation, title, r)
	r.Close() // ends the writer, also where the store gave up
	writer.Wait()
	if err != nil {
		return nil, "", err
	}
	return a, hex.EncodeToString(h.Sum(nil)), nil
}

// connections are the stubs of a bundle's own connections.
func connections(b *pack.Bundle) []pack.Connection {
	var out []pack.Connection
	for _, v := range b.Objects() {
		if v.Kind == pack.Database {
			out = append(out, pack.Connection{UUID: v.UUID, Name: v.Title, Backend: v.Backend})
		}
	}
	return out
}
