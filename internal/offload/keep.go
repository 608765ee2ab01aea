package offload

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/summarise"
	"agentd/internal/tool"

	"github.com/go-json-experiment/json/jsontext"
)

// payload is what of a result is kept, and how.
type payload struct {
	format  string
	columns []chat.Column
	size    int64
	bound   string                       // the cap behind which the tool kept nothing, "" is none
	write   func(*artifact.Writer) error // may be called again, for another store
}

// keep stores the whole of a result whose preview was cut. It goes down the ladder: too large or no quota,
// then the fallback store, then none; it always says what became of it.
//
// A cap that cut what is kept is named in the preview's bounds too.
func (g *Gate) keep(ctx context.Context, c tool.Call, r tool.Result, out *summarise.Out) *chat.Artifact {
	if g.store == nil || g.o.Mode == Off || g.o.Mode == Explicit && !r.Keep {
		return &chat.Artifact{Decision: chat.ArtifactSkipped}
	}
	p := wholeOf(r, *out)
	if streamed := r.Rows != nil && r.Rows.Stream != nil; !streamed && p.size > g.o.MaxHeld {
		g.o.Log.WarnContext(ctx, "a result is too large to be stored", "tool", c.Name, "call", c.ID, "bytes", p.size)
		return &chat.Artifact{Decision: chat.ArtifactDenied}
	}
	spec := artifact.Spec{
		Owner: owner(c), CallID: c.ID, Tool: c.Name, Title: r.Summary, Format: p.format, Columns: p.columns, Size: p.size,
		Partial: r.Bounded || p.bound != "" || r.Total != nil && *r.Total > out.Count && p.format == chat.FormatRows,
		Unsure:  out.Partial || r.Source == chat.Unsure && r.Total == nil,
	}
	m, bound, err := g.put(ctx, spec, p.write)
	if err != nil {
		d := decision(ctx, err)
		g.o.Log.WarnContext(ctx, "a result was not stored", "tool", c.Name, "call", c.ID, "decision", d, "err", err)
		return &chat.Artifact{Decision: d}
	}
	if bound = cmp.Or(p.bound, bound); bound != "" && (p.bound != "" || out.Cut) { // a preview of all is complete whatever is stored
		out.Preview.BoundedBy = append(out.Preview.BoundedBy, bound)
		out.Preview.Completeness = chat.Incomplete
	}
	return m.Artifact()
}

// put writes an artifact, and once more into the fallback store where the first one fails. bound is the cap
// that cut it, or "".
func (g *Gate) put(ctx context.Context, spec artifact.Spec, write func(*artifact.Writer) error) (m chat.ArtifactMeta, bound string, err error) {
	m, bound, err = g.try(ctx, spec, write)
	if fault.KindOf(err) != fault.Internal || ctx.Err() != nil {
		return m, bound, err
	}
	spec.Fallback = true
	again, bound, ferr := g.try(ctx, spec, write)
	if ferr != nil {
		return again, "", errors.Join(err, ferr)
	}
	g.o.Log.WarnContext(ctx, "the store failed, the fallback store took it", "call", spec.CallID, "err", err)
	return again, bound, nil
}

func (g *Gate) try(ctx context.Context, spec artifact.Spec, write func(*artifact.Writer) error) (m chat.ArtifactMeta, bound string, err error) {
	w, err := g.store.Create(ctx, spec)
	if err != nil {
		return m, "", err
	}
	defer w.Abort()
	if err := write(w); err != nil && !errors.Is(err, artifact.ErrFull) {
		return m, "", err
	}
	m, err = w.Commit()
	return m, w.Bound(), err
}

func decision(ctx context.Context, err error) string {
	switch {
	case ctx.Err() != nil || fault.KindOf(err) == fault.Canceled:
		return chat.ArtifactCancelled
	case fault.CodeOf(err) == "quota":
		return chat.ArtifactDenied
	}
	return chat.ArtifactFailed
}

func owner(c tool.Call) artifact.Owner {
	return artifact.Owner{User: c.Who.User, Conversation: c.Conversation}
}

// wholeOf chooses how a result is kept: rows and lists by line, so that they can be paged; an object around a
// list by its list, where the preview shows all the rest of it; anything else as it is.
func wholeOf(r tool.Result, out summarise.Out) payload {
	switch {
	case r.Rows != nil && r.Rows.Stream != nil:
		s := r.Rows.Stream
		return payload{format: chat.FormatRows, columns: r.Rows.Columns, size: s.Size, bound: s.Bound, write: func(w *artifact.Writer) error {
			return s.Each(func(row json.RawMessage) error { return w.WriteRow(row) })
		}}
	case r.Rows != nil && out.Kind == summarise.Table:
		p := payload{format: chat.FormatRows, columns: r.Rows.Columns}
		for _, row := range r.Rows.Rows {
			p.size += int64(len(row)) + 1
		}
		p.write = func(w *artifact.Writer) error {
			for _, row := range r.Rows.Rows {
				if err := w.WriteRow(row); err != nil {
					return err
				}
			}
			return nil
		}
		return p
	case r.Rows != nil:
		return itemsOf(list(r.Rows.Rows), "")
	case out.Kind == summarise.List && !out.Partial && (out.Main == "" || out.Siblings && !strings.HasPrefix(out.Main, summarise.RenamedPrefix)):
		return itemsOf(r.Data, out.Main)
	case out.Kind == summarise.Prose && startsWith(r.Data, '"'):
		if text, err := jsontext.AppendUnquote(nil, r.Data); err == nil {
			return blobOf(text, chat.FormatText)
		}
		return blobOf(r.Data, chat.FormatText)
	case out.Kind == summarise.Prose || out.Partial:
		return blobOf(r.Data, chat.FormatText)
	}
	return blobOf(r.Data, chat.FormatJSON)
}

func blobOf(b []byte, format string) payload {
	return payload{format: format, size: int64(len(b)), write: func(w *artifact.Writer) error {
		_, err := w.Write(b)
		return err
	}}
}

// itemsOf keeps a JSON array, or the member main of a JSON object, item by item.
func itemsOf(b []byte, main string) payload {
	return payload{format: chat.FormatRows, size: int64(len(b)), write: func(w *artifact.Writer) error {
		d := jsontext.NewDecoder(bytes.NewReader(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if err := enter(d, main); err != nil {
			return err
		}
		for d.PeekKind() != ']' {
			v, err := d.ReadValue()
			if err != nil {
				return fault.Wrap(fault.Internal, "", err)
			}
			if err := w.WriteRow(v); err != nil {
				return err
			}
		}
		return nil
	}}
}

// enter reads up to the first item of the array.
func enter(d *jsontext.Decoder, main string) error {
	t, err := d.ReadToken()
	for err == nil && t.Kind() == '{' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		if name.Kind() == '"' && name.String() == main && d.PeekKind() == '[' {
			_, err = d.ReadToken()
			break
		}
		if err = d.SkipValue(); err != nil {
			break
		}
	}
	if err != nil {
		return fault.Wrap(fault.Internal, "", err)
	}
	return nil
}

// create opens an artifact in the store or, where that fails, in the fallback store. What fails later is not
// begun again: a stream goes by once.
func (g *Gate) create(ctx context.Context, spec artifact.Spec) (*artifact.Writer, error) {
	w, err := g.store.Create(ctx, spec)
	if fault.KindOf(err) != fault.Internal || ctx.Err() != nil {
		return w, err
	}
	spec.Fallback = true
	w, ferr := g.store.Create(ctx, spec)
	if ferr != nil {
		return nil, errors.Join(err, ferr)
	}
	return w, nil
}

// Store keeps r as a file for download, in one go. Its error has the kind of the store's: Conflict with code
// quota, Canceled, Internal; TooLarge where a cap cut it, since half a file is none. Nothing is left then.
func (g *Gate) Store(ctx context.Context, who chat.Identity, conversation, title string, r io.Reader) (*chat.Artifact, error) {
	if g.store == nil {
		return nil, fault.New(fault.Internal, "There is no store.")
	}
	w, err := g.create(ctx, artifact.Spec{
		Owner: artifact.Owner{User: who.User, Conversation: conversation}, Title: title, Format: chat.FormatBinary,
	})
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if _, err := io.Copy(w, r); errors.Is(err, artifact.ErrFull) {
		return nil, fault.Wrap(fault.TooLarge, "The file is too large to be stored.", err)
	} else if err != nil {
		return nil, err
	}
	m, err := w.Commit()
	if err != nil {
		return nil, err
	}
	return m.Artifact(), nil
}
