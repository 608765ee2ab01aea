package superset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"

	"agentd/internal/fault"
)

// A problem is what an error body says, whichever of Superset's shapes it has.
type problem struct {
	text   string
	fields []fault.Field // message by field
	jwt    bool          // from the token check
	html   bool
}

// parse understands {"message": text or by field}, {"errors": […]}, {"error": …}, {"msg": …} and pages.
func parse(body []byte) problem {
	t := bytes.TrimSpace(body)
	if len(t) == 0 || t[0] != '{' {
		return problem{html: len(t) > 0 && t[0] == '<'}
	}
	var in struct {
		Message json.RawMessage `json:"message"`
		Error   json.RawMessage `json:"error"`
		Msg     string          `json:"msg"`
		Errors  []struct {
			Message string `json:"message"`
			Extra   struct {
				Messages json.RawMessage `json:"messages"` // by field, of a schema
			} `json:"extra"`
		} `json:"errors"`
	}
	if json.Unmarshal(t, &in) != nil {
		return problem{}
	}
	var p problem
	if in.Msg != "" {
		return problem{text: in.Msg, jwt: true}
	}
	if len(in.Errors) > 0 {
		var all []string
		for _, e := range in.Errors {
			all = append(all, e.Message)
			var extra problem
			extra.flatten("/", e.Extra.Messages)
			for _, f := range extra.fields {
				f.Pointer = strings.TrimPrefix(f.Pointer, "/")
				p.fields = append(p.fields, f)
				all = append(all, strings.TrimPrefix(f.Pointer, "/")+": "+f.Detail)
			}
		}
		p.text = strings.Join(all, "; ")
		return p
	}
	raw := in.Message
	if len(raw) == 0 {
		raw = in.Error
	}
	p.flatten("", raw)
	sort.Slice(p.fields, func(i, j int) bool { return p.fields[i].Pointer < p.fields[j].Pointer })
	if p.text == "" {
		var all []string
		for _, f := range p.fields {
			all = append(all, strings.TrimPrefix(f.Pointer, "/")+": "+f.Detail)
		}
		p.text = strings.Join(all, "; ")
	}
	return p
}

// flatten walks the texts of a message: one text, a list of texts, or either by field, as deep as it goes.
func (p *problem) flatten(at string, raw json.RawMessage) {
	var text string
	var list []json.RawMessage
	var obj map[string]json.RawMessage
	switch {
	case json.Unmarshal(raw, &text) == nil:
		if at == "" {
			p.text = text
			return
		}
		p.fields = append(p.fields, fault.Field{Pointer: at, Detail: text})
	case json.Unmarshal(raw, &list) == nil:
		for _, v := range list {
			p.flatten(at, v)
		}
	case json.Unmarshal(raw, &obj) == nil:
		for k, v := range obj {
			p.flatten(at+"/"+k, v)
		}
	}
}

// failed turns an answer that is no success into a fault.
func (r call) failed(a answer) error {
	p := parse(a.problem)
	e := &fault.Error{Status: a.status, Fields: p.fields, Err: errors.New(r.method + " " + r.path + ": HTTP " + strconv.Itoa(a.status) + " " + p.text)}
	says := func(otherwise string) string {
		if p.text == "" {
			return otherwise
		}
		return "Superset: " + p.text
	}
	switch s := a.status; {
	case a.refused(r) != executed, s == http.StatusFound && toLogin(a.header.Get("Location")):
		f := signIn(e.Err)
		f.Status = s
		return f
	case s/100 == 3:
		e.Kind, e.Msg = fault.Mismatch, "Superset redirected the request, which its API never does; base_url may be wrong."
	case s == http.StatusBadGateway || s == http.StatusGatewayTimeout:
		e.Kind, e.Msg = fault.Transient, "Superset could not be reached behind its proxy (HTTP "+strconv.Itoa(s)+")."
		if r.write {
			e.Kind, e.Msg = fault.Unknown, "The proxy before Superset gave up (HTTP "+strconv.Itoa(s)+"); the change may have been made."
		}
	case s == http.StatusServiceUnavailable:
		e.Kind, e.Msg, e.RetryAfter = fault.Transient, "Superset is not available at the moment (HTTP 503).", retryAfter(a.header)
	case s == http.StatusTooManyRequests:
		e.Kind, e.Msg, e.RetryAfter = fault.RateLimited, "Superset takes no more requests for the moment.", retryAfter(a.header)
	case s == http.StatusForbidden:
		e.Kind, e.Code, e.Msg = fault.Denied, "superset", says("Superset does not allow this.")
	case s == http.StatusNotFound && p.html, s == http.StatusMethodNotAllowed:
		e.Kind, e.Msg = fault.Mismatch, "This address of the API does not exist there; base_url may lead to something else."
	case s == http.StatusNotFound:
		e.Kind, e.Msg = fault.Missing, "There is no such object, or it is hidden from this user."
	case s == http.StatusConflict:
		e.Kind, e.Msg = fault.Conflict, says("The object has changed.")
	case s == http.StatusGone:
		e.Kind, e.Msg = fault.Gone, says("The result has expired.")
	case s == http.StatusRequestEntityTooLarge || s == http.StatusRequestURITooLong:
		e.Kind, e.Msg = fault.TooLarge, "The request is larger than Superset takes."
	case s/100 == 4:
		e.Kind, e.Msg = fault.Invalid, says("Superset refused the request (HTTP "+strconv.Itoa(s)+").")
	default:
		e.Kind, e.Msg = fault.Internal, says("Superset failed (HTTP "+strconv.Itoa(s)+").")
	}
	return e
}

// broken classifies an exchange that did not come to its end.
func (r call) broken(ctx context.Context, sent bool, err error) error {
	switch {
	case r.write && sent && fault.KindOf(ctx.Err()) != fault.Timeout:
		// Also when the caller gave up: the change may have been made.
		return fault.Wrap(fault.Unknown, "The connection to Superset was lost after the request had been sent; the change may have been made.", err)
	case ctx.Err() != nil:
		return lost(ctx, err)
	case sent:
		return fault.Wrap(fault.Transient, "The connection to Superset was lost.", err)
	}
	return fault.Wrap(fault.Transient, "Superset could not be reached.", err)
}

// lost is the fault of a context that has ended.
func lost(ctx context.Context, cause error) error {
	if cause == nil {
		cause = context.Cause(ctx)
	}
	if fault.KindOf(ctx.Err()) == fault.Timeout {
		return fault.Wrap(fault.Timeout, "Superset did not answer in time.", cause)
	}
	return fault.Wrap(fault.Canceled, "It was cancelled.", cause)
}

// strange is the fault of an answer that succeeded and cannot be what was asked for. After a write nobody knows what happened.
func (r call) strange(msg string, cause error) error {
	if r.write {
		return fault.Wrap(fault.Unknown, msg+" The change may have been made.", cause)
	}
	return fault.Wrap(fault.Mismatch, msg, cause)
}

func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n > 0 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// status is the HTTP status of a fault.
func status(err error) int {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		return e.Status
	}
	return 0
}
