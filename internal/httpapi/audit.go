package httpapi

import (
	"context"
	"net/http"
	"time"

	"agentd/internal/chat"
	"agentd/internal/eventlog"
	"agentd/internal/fault"
)

// Audit reads the audit in its order, a part at a time.
type Audit interface {
	AuditRows(context.Context, eventlog.AuditFilter) ([]chat.AuditRow, error)
}

const auditPage = 500

// audit streams rows as lines of JSON, so that its length does not matter.
func (a *API) audit(c *call) error {
	f := eventlog.AuditFilter{
		User: c.QueryParam("user"), Tool: c.QueryParam("tool"), Env: c.QueryParam("env"), Verdict: c.QueryParam("verdict"), Limit: auditPage,
	}
	if s := c.QueryParam("since"); s != "" {
		var err error
		if f.Since, err = time.Parse(time.RFC3339, s); err != nil {
			return refused([]fault.Field{{Pointer: "/since", Detail: "must be a time as in 2026-11-29T00:00:00Z"}})
		}
	}
	for first := true; ; first = false {
		rows, err := a.o.Audit.AuditRows(c.Request().Context(), f)
		if err != nil && !first {
			return &cut{err}
		}
		if err != nil {
			return err
		}
		if first {
			c.Response().Header().Set("Content-Type", "application/x-ndjson")
			c.Response().WriteHeader(http.StatusOK)
		}
		for _, r := range rows {
			b, err := marshal(r)
			if err != nil {
				return &cut{err}
			}
			if _, err := c.Response().Write(append(b, '\n')); err != nil {
				return &cut{err}
			}
			f.After = r.Seq
		}
		if len(rows) < f.Limit {
			return nil
		}
	}
}
