package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"agentd/internal/fault"
)

func TestKindCodeMessage(t *testing.T) {
	for _, tt := range []struct {
		name          string
		err           error
		kind          fault.Kind
		code, message string
	}{
		{"nil has none", nil, "", "", "Internal error."},
		{"a kind and a sentence", fault.New(fault.Missing, "There is none."), fault.Missing, "missing", "There is none."},
		{"wrapped by what we were doing", fmt.Errorf("read it: %w", fault.New(fault.Denied, "No.")), fault.Denied, "denied", "No."},
		{"the outermost counts", fault.Wrap(fault.Conflict, "Moved.", fault.New(fault.Missing, "Gone.")), fault.Conflict, "conflict", "Moved."},
		{"a code of its own", &fault.Error{Kind: fault.Conflict, Code: "run_active", Msg: "Wait."}, fault.Conflict, "run_active", "Wait."},
		{"the zero error is internal", &fault.Error{}, fault.Internal, "internal", "Internal error."},
		{"what is foreign is internal", errors.New("password=x"), fault.Internal, "internal", "Internal error."},
		{"an internal sentence is not shown", fault.New(fault.Internal, "password=x"), fault.Internal, "internal", "Internal error."},
		{"what a peer answered is", &fault.Error{Kind: fault.Internal, Status: 500, Msg: "Superset failed (HTTP 500)."}, fault.Internal, "internal", "Superset failed (HTTP 500)."},
		{"cancel", fmt.Errorf("x: %w", context.Canceled), fault.Canceled, "canceled", "It was cancelled."},
		{"deadline", context.DeadlineExceeded, fault.Timeout, "timeout", "The time limit passed."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fault.KindOf(tt.err); got != tt.kind {
				t.Errorf("kind %q, want %q", got, tt.kind)
			}
			if got := fault.CodeOf(tt.err); got != tt.code {
				t.Errorf("code %q, want %q", got, tt.code)
			}
			if got := fault.Message(tt.err); got != tt.message {
				t.Errorf("message %q, want %q", got, tt.message)
			}
		})
	}
	cause := errors.New("why")
	if err := fault.Wrap(fault.Transient, "Later.", cause); !errors.Is(err, cause) || err.Error() != "Later.: why" {
		t.Errorf("the cause is lost: %v", err)
	}
}
