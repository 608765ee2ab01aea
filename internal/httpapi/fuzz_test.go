package httpapi

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/internal/agent"
	"agentd/internal/fault"
)

// Whatever comes as a message is either refused with a reason or is within every limit.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"message":"x"}`, `{"message":"x","env_id":"ss-prod","ui_context":{"objectType":"dashboard","objectId":"1","envId":"ss-dev"}}`,
		`{"message":"\ud83d\ude00","strategy":"interrupt","idempotency_key":"k","replaces":"msg_1"}`, `{"message":null}`, `[]`, `{`, "\xff", `{"a":{"a":{}}}`,
		`{"message":"x","message":"y"}`, `{"message":1e999}`, `{"message":"x"}x`,
	} {
		f.Add([]byte(seed))
	}
	a := &API{o: Options{MessageChars: 50, Environments: []agent.Environment{{ID: "ss-prod"}, {ID: "ss-dev"}}}, envs: map[string]bool{"ss-prod": true, "ss-dev": true}}
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := a.parseMessage(body)
		if err != nil {
			status, p := statusOf(err), problemOf(err, "id")
			if status != 400 && status != 422 || p.Detail == "" || status == 422 && len(p.Errors) == 0 {
				t.Fatalf("%q is refused with %d %+v", body, status, p)
			}
			if fault.KindOf(err) != fault.Invalid || !utf8.ValidString(p.Detail) {
				t.Fatalf("%q: %v", body, err)
			}
			for _, e := range p.Errors {
				if e.Detail == "" || e.Pointer != "" && e.Pointer[0] != '/' {
					t.Fatalf("%q: %+v", body, e)
				}
			}
			return
		}
		switch n := utf8.RuneCountInString(in.Text); {
		case !json.Valid(body), !utf8.Valid(body):
			t.Fatalf("%q is not JSON and was accepted", body)
		case strings.TrimSpace(in.Text) == "", n > 50, strings.ContainsRune(in.Text, 0), !utf8.ValidString(in.Text):
			t.Fatalf("%q was accepted as the text %q", body, in.Text)
		case in.Env != "" && !a.envs[in.Env], in.View.EnvID != "" && !a.envs[in.View.EnvID]:
			t.Fatalf("%q was accepted for an environment that is not there", body)
		case in.View.Validate("") != nil:
			t.Fatalf("%q was accepted with the view %+v", body, in.View)
		case len(in.Key) > 128, strings.ContainsAny(in.Replaces, `'"/\ `):
			t.Fatalf("%q was accepted: %+v", body, in)
		}
	})
}

func (a *API) parseMessage(body []byte) (agent.MessageInput, error) {
	o, err := parseObject(body)
	if err != nil {
		return agent.MessageInput{}, err
	}
	return a.readMessage(o)
}
