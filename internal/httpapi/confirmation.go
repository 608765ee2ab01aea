package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/fault"
)

const (
	maxReason = 2000 // code points
	maxDigest = 128
)

// A card is a question to a person as it is listed. The event confirm_required has the same fields where it has them.
type card struct {
	ConfirmationID string              `json:"confirmation_id"`
	ConversationID string              `json:"conversation_id"`
	RunID          string              `json:"run_id"`
	CallID         string              `json:"call_id"`
	Tool           string              `json:"tool"`
	Args           json.RawMessage     `json:"args"`
	ArgsDigest     string              `json:"args_digest"`
	EnvID          string              `json:"env_id"`
	Risk           chat.Risk           `json:"risk"`
	Dangerous      bool                `json:"dangerous"`
	Countdown      int                 `json:"countdown_seconds"`
	Preview        chat.ConfirmPreview `json:"preview"`
	CreatedAt      time.Time           `json:"created_at"`
	ExpiresAt      time.Time           `json:"expires_at"`
	State          chat.ConfirmState   `json:"state"`
	User           string              `json:"user"` // who is asked
	Own            bool                `json:"own"`
	Decision       string              `json:"decision,omitempty"`
	DecidedBy      string              `json:"decided_by,omitempty"`
	DecidedAt      *time.Time          `json:"decided_at,omitempty"`
	Reason         string              `json:"reason,omitempty"`
}

// cards shows confirmations to a user.
func cards(cs []chat.Confirmation, user string) []card {
	out := []card{}
	for _, c := range cs {
		p := c.Preview
		p.Diff, p.BlastRadius = list(p.Diff), list(p.BlastRadius)
		k := card{
			ConfirmationID: c.ID, ConversationID: c.Conversation, RunID: c.RunID, CallID: c.CallID, Tool: c.Tool,
			Args: args(c.Args), ArgsDigest: c.ArgsDigest, EnvID: c.EnvID, Risk: c.Risk, Dangerous: c.Risk.Tool == "dangerous",
			Preview: p, CreatedAt: c.Created, ExpiresAt: c.Expires, State: c.State, User: c.User, Own: c.User == user,
			Decision: c.Decision, DecidedBy: c.DecidedBy, Reason: c.Reason,
		}
		if k.Dangerous {
			k.Countdown = 10
		}
		if !c.DecidedAt.IsZero() {
			k.DecidedAt = &c.DecidedAt
		}
		out = append(out, k)
	}
	return out
}

// decide takes an answer to a card. Whose card it is, is the service's question: with four eyes the conversation
// may be another's.
func (a *API) decide(c *call) error {
	conv, err := c.id("id")
	if err != nil {
		return err
	}
	id, err := c.id("confirmation_id")
	if err != nil {
		return err
	}
	o, err := c.body()
	if err != nil {
		return err
	}
	in := agent.DecisionInput{
		Decision:   o.oneOf("decision", "approve", "edit", "reject"),
		EditedArgs: o.arguments("edited_args"),
		Reason:     o.text("reason", maxReason),
		ArgsDigest: o.text("args_digest", maxDigest),
		Remember:   o.flag("remember"),
		Key:        o.pattern("idempotency_key", keyPattern, keyWords),
	}
	o.must("decision", "approve, edit or reject")
	o.must("args_digest", "the digest of the card")
	switch {
	case in.Decision == "edit":
		o.must("edited_args", "the whole arguments, with the decision edit")
	case in.Decision != "" && o.has("edited_args"):
		o.refuse("edited_args", "goes with the decision edit only")
	}
	o.done()
	if err := o.err(); err != nil {
		return err
	}
	got, err := a.o.Work.Decide(c.Request().Context(), c.who, conv, id, in)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, struct {
		RunID    string            `json:"run_id"`
		State    chat.ConfirmState `json:"state"`
		Replayed bool              `json:"replayed"`
	}{got.RunID, got.State, got.Replayed})
}

var confirmStates = []chat.ConfirmState{
	chat.ConfirmPending, chat.ConfirmClaimed, chat.ConfirmExecuting, chat.ConfirmDone, chat.ConfirmFailed,
	chat.ConfirmUnknown, chat.ConfirmRejected, chat.ConfirmExpired, chat.ConfirmSuperseded,
}

// listConfirmations is the inbox.
func (a *API) listConfirmations(c *call) error {
	state := chat.ConfirmState(c.QueryParam("state"))
	if state == "" {
		state = chat.ConfirmPending
	}
	if !slices.Contains(confirmStates, state) {
		words := make([]string, len(confirmStates))
		for i, s := range confirmStates {
			words[i] = string(s)
		}
		return refused([]fault.Field{{Pointer: "/state", Detail: "must be one of " + strings.Join(words, ", ")}})
	}
	cs, err := a.o.Log.Confirmations(c.Request().Context(), c.who.User, state)
	if err != nil {
		return err
	}
	return c.reply(http.StatusOK, struct {
		Confirmations []card `json:"confirmations"`
	}{cards(cs, c.who.User)})
}
