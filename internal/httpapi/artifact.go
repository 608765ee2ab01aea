package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"agentd/internal/artifact"
	"agentd/internal/chat"
	"agentd/internal/fault"
)

// Artifacts keeps whole results. *artifact.Store is one. Missing for what is not there, is another's or is no id at
// all, in the same words; Gone for what has expired.
type Artifacts interface {
	Stat(context.Context, artifact.Owner, string) (chat.ArtifactMeta, error)
	Read(context.Context, artifact.Owner, string, artifact.Request) (artifact.Page, error)
	Open(context.Context, artifact.Owner, string) (chat.ArtifactMeta, io.ReadCloser, error)
	Delete(context.Context, artifact.Owner, string) error
}

func (a *API) artifactRoutes() []route {
	return []route{
		{method: "GET", path: prefix + "/artifacts/{id}", handle: a.readArtifact},
		{method: "DELETE", path: prefix + "/artifacts/{id}", handle: a.deleteArtifact},
		{method: "GET", path: prefix + "/artifacts/{id}/download", handle: a.downloadArtifact},
		{method: "HEAD", path: prefix + "/artifacts/{id}/download", handle: a.downloadArtifact},
	}
}

// owner is the person: their own request stands in no conversation.
func (c *call) owner() artifact.Owner { return artifact.Owner{User: c.who.User, AnyConversation: true} }

// readArtifact gives a page of rows, or of text.
func (a *API) readArtifact(c *call) error {
	limit, bad := limitOf(c, artifact.MaxPageRows)
	if err := refused(bad); err != nil {
		return err
	}
	q := artifact.Request{Cursor: c.QueryParam("cursor"), Limit: limit, Columns: c.QueryParams()["columns"]}
	if len(q.Columns) == 1 {
		q.Columns = strings.Split(q.Columns[0], ",") // a name with a comma is asked for by columns=…&columns=…
		if q.Columns[0] == "" {
			q.Columns = nil
		}
	}
	p, err := a.o.Artifacts.Read(c.Request().Context(), c.owner(), c.Param("id"), q)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, struct {
		Columns []chat.Column     `json:"columns"`
		Rows    []json.RawMessage `json:"rows"`
		Text    string            `json:"text,omitempty"`
		Total   *int64            `json:"total,omitempty"`
		Next    string            `json:"next_cursor,omitempty"`
		EOF     bool              `json:"eof"`
		Expires time.Time         `json:"expires_at"`
	}{list(p.Columns), list(p.Rows), p.Text, p.Meta.Rows, p.Next, p.EOF, p.Meta.Expires})
}

func (a *API) deleteArtifact(c *call) error {
	if err := c.noBody(); err != nil {
		return err
	}
	if err := a.o.Artifacts.Delete(c.Request().Context(), c.owner(), c.Param("id")); err != nil {
		return err
	}
	return c.none()
}

// downloadArtifact streams a stored result whole. An error after the first byte cuts the connection, so that a
// part is not taken for the whole.
func (a *API) downloadArtifact(c *call) error {
	meta, err := a.o.Artifacts.Stat(c.Request().Context(), c.owner(), c.Param("id"))
	if err != nil {
		return err
	}
	format, err := formatOf(c.QueryParam("format"), meta.Format)
	if err != nil {
		return err
	}
	meta, payload, err := a.o.Artifacts.Open(c.Request().Context(), c.owner(), meta.ID)
	if err != nil {
		return err
	}
	defer payload.Close()
	in := bufio.NewReader(payload)
	first, err := in.Peek(1)
	if err != nil && !errors.Is(err, io.EOF) {
		return fault.Wrap(fault.Internal, "", err)
	}
	var rows rowForm
	if meta.Format == chat.FormatRows {
		rows = rowsIn(format, meta, first)
	}
	h := c.Response().Header()
	h.Set("Content-Type", downloadTypes[format])
	h.Set("Content-Disposition", `attachment; filename="`+meta.ID+extensions[format]+`"`)
	if rows == nil {
		h.Set("Content-Length", strconv.FormatInt(meta.Size, 10))
	}
	switch {
	case c.Request().Method == http.MethodHead:
		c.Response().WriteHeader(http.StatusOK)
	case rows != nil:
		err = convertRows(c.Response(), rows, meta, in)
	default:
		_, err = io.Copy(c.Response(), in)
	}
	if err != nil && c.Response().Committed {
		return &cut{err}
	}
	return err
}

const formatCSV = "csv"

// formatOf says how a stored result leaves: rows in three ways, everything else as it is stored.
func formatOf(asked, stored string) (string, error) {
	if asked == "" || asked == stored {
		return stored, nil
	}
	if stored == chat.FormatRows && (asked == formatCSV || asked == chat.FormatJSON) {
		return asked, nil
	}
	words := "must be left out: this result is stored as " + stored
	if stored == chat.FormatRows {
		words = "must be jsonl, csv or json"
	}
	return "", refused([]fault.Field{{Pointer: "/format", Detail: words}})
}

var (
	downloadTypes = map[string]string{
		chat.FormatRows: "application/x-ndjson", chat.FormatJSON: "application/json", chat.FormatText: "text/plain; charset=utf-8",
		chat.FormatBinary: "application/octet-stream", formatCSV: "text/csv; charset=utf-8; header=present",
	}
	extensions = map[string]string{
		chat.FormatRows: ".jsonl", chat.FormatJSON: ".json", chat.FormatText: ".txt", chat.FormatBinary: ".zip", formatCSV: ".csv",
	}
)
