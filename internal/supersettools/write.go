package supersettools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

// A change is one call of an operation that writes.
type change interface {
	preview(context.Context, *superset.Session) (tool.Preview, error)
	run(context.Context, *superset.Session) (tool.Result, error)
	// readBack finds out whether the change is there; shown is the preview that was approved.
	readBack(ctx context.Context, s *superset.Session, shown tool.Preview) (tool.Outcome, error)
}

// writing is a Bound that changes something; its risk is that of its tool.
func (o op) writing(c change, verify string) tool.Bound {
	return tool.Bound{
		Preview: func(ctx context.Context) (tool.Preview, error) { return with(o, ctx, c.preview) },
		Run:     func(ctx context.Context) (tool.Result, error) { return with(o, ctx, c.run) },
		ReadBack: func(ctx context.Context, shown tool.Preview) (tool.Outcome, error) {
			return with(o, ctx, func(ctx context.Context, s *superset.Session) (tool.Outcome, error) { return c.readBack(ctx, s, shown) })
		},
		Verify: verify,
	}
}

func with[T any](o op, ctx context.Context, f func(context.Context, *superset.Session) (T, error)) (T, error) {
	s, err := o.session()
	if err != nil {
		var zero T
		return zero, err
	}
	return f(ctx, s)
}

// afterWrite is the error of a read that follows a write: Superset took the write, and it was not seen with own eyes.
func afterWrite(err error) error {
	return &fault.Error{Kind: fault.Unknown, Msg: "Superset accepted the change, but it could not be read back. " + fault.Message(err), Err: err}
}

// notTaken is the error of a write that answered well and left something as it was.
func notTaken(fields []string) error {
	return &fault.Error{Kind: fault.Mismatch, Code: "not_taken", Err: errors.New("read back: " + strings.Join(fields, ", ")),
		Msg: "Superset accepted the change, but reading it back shows other values in: " + strings.Join(fields, ", ") + ". Look at the object in Superset before doing anything else."}
}

// fingerprint is a digest of an object's state.
func fingerprint(v any) string {
	h := sha256.Sum256(object(v))
	return hex.EncodeToString(h[:])
}

// outcome judges what reading back found: left are the wanted values that are not there, shown is the diff that was approved.
func outcome(what string, left []string, shown []chat.Change, r *tool.Result) tool.Outcome {
	if len(left) == 0 {
		return tool.Outcome{Outcome: chat.OutcomeApplied, Evidence: "The " + what + " was read and has all the new values.", Result: r}
	}
	there := slices.ContainsFunc(shown, func(c chat.Change) bool {
		return !slices.ContainsFunc(left, func(l string) bool { return c.Field == l || strings.HasPrefix(c.Field, l+"/") })
	})
	if !there {
		return tool.Outcome{Outcome: chat.OutcomeNotApplied, Evidence: "The " + what + " was read and has none of the new values."}
	}
	return tool.Outcome{Outcome: chat.OutcomeStillUnknown, Evidence: "The " + what + " was read and lacks a part of the new values: " + strings.Join(left, ", ") + "."}
}
