package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"agentd/internal/agent"
	"agentd/internal/chat"
	uicontext "agentd/internal/context"
	"agentd/internal/httpapi"

	"github.com/google/go-cmp/cmp"
)

func TestConversations(t *testing.T) {
	s := serve(t)
	id, other := s.conversation("anna"), s.conversation("anna")
	s.conversation("boris")
	type list struct {
		Conversations []struct{ ID, Title string }
		Next          string `json:"next_cursor"`
	}
	var got list
	s.do("anna", "GET", "/api/v1/conversations?limit=1", "").decode(t, &got)
	if len(got.Conversations) != 1 || got.Conversations[0].ID != id || got.Next != "good" {
		t.Errorf("first page is %+v", got)
	}
	if a := s.do("anna", "PATCH", "/api/v1/conversations/"+other, `{"title":"Выручка"}`); a.StatusCode != http.StatusNoContent {
		t.Errorf("rename: %d %s", a.StatusCode, a.body)
	}
	got = list{}
	s.do("anna", "GET", "/api/v1/conversations?q="+"%D0%92%D1%8B", "").decode(t, &got)
	if len(got.Conversations) != 1 || got.Conversations[0].Title != "Выручка" || got.Next != "" {
		t.Errorf("found %+v", got)
	}
	if a := s.do("nobody-yet", "GET", "/api/v1/conversations", ""); !strings.Contains(string(a.body), `"conversations":[]`) {
		t.Errorf("none is %s", a.body)
	}
	if a := s.do("anna", "DELETE", "/api/v1/conversations/"+id, ""); a.StatusCode != http.StatusNoContent {
		t.Errorf("delete: %d %s", a.StatusCode, a.body)
	}
	if a := s.do("anna", "DELETE", "/api/v1/conversations/"+id, ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("delete twice: %d", a.StatusCode)
	}
}

func TestSnapshot(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	var empty struct {
		Items []any
		Open  []any `json:"open_confirmations"`
		Last  int64 `json:"last_event_id"`
	}
	s.do("anna", "GET", "/api/v1/conversations/"+id, "").decode(t, &empty)
	if empty.Items == nil || empty.Open == nil || empty.Last != 0 {
		t.Errorf("an empty conversation is %+v", empty)
	}
	s.log.append(id, "run_1", &chat.MessageEvent{MessageID: "msg_1", Role: "user", Text: "Rename it"}, &chat.RunStarted{Cause: "message", MessageID: "msg_1"})
	for i := range 1200 { // more than one page of the log
		s.log.append(id, "run_1", &chat.TextDelta{MessageID: "msg_2", Offset: i, Text: "я"})
	}
	s.log.append(id, "run_1",
		&chat.MessageEvent{MessageID: "msg_2", Role: "assistant", Text: "Shall I?"},
		&chat.ConfirmRequired{ConfirmationID: "cnf_1", CallID: "call_1", Tool: "update_chart", Args: json.RawMessage(`{"id":9007199254740993}`),
			ArgsDigest: strings.Repeat("0", 64), Risk: chat.Risk{Tool: "write", Env: "dev", Permission: "granted"}, AllowedDecisions: []string{"approve"}, ExpiresAt: noon})
	s.log.mu.Lock()
	s.log.open[id] = []chat.Confirmation{{ID: "cnf_1", Conversation: id, RunID: "run_1", User: "anna", CallID: "call_1", Tool: "update_chart",
		Args: json.RawMessage(`{"id":9007199254740993}`), Risk: chat.Risk{Tool: "dangerous", Env: "dev", Permission: "granted"}, State: chat.ConfirmPending, Created: noon, Expires: noon}}
	s.log.run[id] = chat.Run{ID: "run_1"}
	s.log.mu.Unlock()
	a := s.do("anna", "GET", "/api/v1/conversations/"+id, "")
	var got struct {
		Items []struct{ Kind, State, Text string }
		Open  []struct {
			ID        string `json:"confirmation_id"`
			Dangerous bool
			Countdown int `json:"countdown_seconds"`
			Own       bool
		} `json:"open_confirmations"`
		ActiveRun string `json:"active_run"`
		Last      int64  `json:"last_event_id"`
	}
	a.decode(t, &got)
	want := []struct{ Kind, State, Text string }{{"message", "final", "Rename it"}, {"run", "going", ""}, {"message", "final", "Shall I?"}, {"confirmation", "pending", ""}}
	if diff := cmp.Diff(want, got.Items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	if got.ActiveRun != "run_1" || got.Last != 1204 || len(got.Open) != 1 || !got.Open[0].Dangerous || got.Open[0].Countdown != 10 || !got.Open[0].Own {
		t.Errorf("snapshot is %+v", got)
	}
	if strings.Count(string(a.body), "9007199254740993") != 2 {
		t.Error("a number was rounded")
	}
	// The stream goes on where the snapshot ends.
	st := s.open("anna", id, "1204")
	s.log.append(id, "run_1", &chat.RunFinished{Outcome: "awaiting_confirmation"})
	if f := st.take(1)[0]; f.id != "1205" {
		t.Errorf("after the snapshot came %v", f)
	}
	var inbox struct{ Confirmations []struct{ State string } }
	s.do("anna", "GET", "/api/v1/confirmations", "").decode(t, &inbox)
	if len(inbox.Confirmations) != 1 || inbox.Confirmations[0].State != "pending" {
		t.Errorf("inbox is %+v", inbox)
	}
	for path, user := range map[string]string{"/api/v1/confirmations": "boris", "/api/v1/confirmations?state=done": "anna"} {
		if a := s.do(user, "GET", path, ""); !strings.Contains(string(a.body), `"confirmations":[]`) {
			t.Errorf("%s of %s is %s", path, user, a.body)
		}
	}
}

func TestMessage(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	path := "/api/v1/conversations/" + id + "/messages"
	bodies := map[string]agent.MessageInput{
		`{"message":"x"}`: {Text: "x"},
		`{"message":"x","env_id":null,"ui_context":null,"strategy":null,"idempotency_key":null,"replaces":null}`: {Text: "x"},
		`{"message":" <b>\"привет\" & '😀'\u2028 ","env_id":"ss-dev","strategy":"interrupt","idempotency_key":"k-1:2","replaces":"msg_1","ui_context":{"objectType":"dashboard","objectId":"sales-2026","objectName":"Продажи","envId":"ss-prod","route":"/superset/dashboard/1/"}}`: {
			Text: " <b>\"привет\" & '😀'\u2028 ", Env: "ss-dev", Strategy: "interrupt", Key: "k-1:2", Replaces: "msg_1",
			View: uicontext.View{ObjectType: "dashboard", ObjectID: "sales-2026", ObjectName: "Продажи", EnvID: "ss-prod", Route: "/superset/dashboard/1/"}},
		`{"message":"x","ui_context":{"objectType":"unknown_kind"}}`: {Text: "x", View: uicontext.View{ObjectType: "unknown_kind"}},
		`{"message":"x","ui_context":{}}`:                            {Text: "x"},
	}
	for body, want := range bodies {
		s.work.messages = nil
		a := s.do("anna", "POST", path, body, "Content-Type", "application/json; charset=utf-8")
		if a.StatusCode != http.StatusAccepted || strings.TrimSpace(string(a.body)) != `{"run_id":"run_1","message_id":"msg_1"}` {
			t.Errorf("%s: %d %s", body, a.StatusCode, a.body)
			continue
		}
		if diff := cmp.Diff([]agent.MessageInput{want}, s.work.messages); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
	none := serve(t, func(o *httpapi.Options) { o.Environments = nil })
	id = none.conversation("anna")
	a := none.do("anna", "POST", "/api/v1/conversations/"+id+"/messages", `{"message":"x","env_id":"ss-prod"}`)
	if a.StatusCode != 422 || !strings.Contains(a.problem(t).Errors[0].Detail, "no environment is configured") {
		t.Errorf("without environments: %d %s", a.StatusCode, a.body)
	}
}

func TestRunRoutes(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	base := "/api/v1/conversations/" + id
	var asked []string
	s.work.canceled = func(who chat.Identity, conv string) error {
		asked = append(asked, "cancel "+who.User+" "+conv)
		return nil
	}
	s.work.retried = func(who chat.Identity, conv, call string) (agent.Retried, error) {
		asked = append(asked, "retry "+who.User+" "+conv+" "+call)
		return agent.Retried{RunID: "run_3", CallID: "call_2"}, nil
	}
	for range 2 { // idempotent, with and without a body
		if a := s.do("anna", "POST", base+"/cancel", "{}"); a.StatusCode != http.StatusNoContent {
			t.Errorf("cancel: %d %s", a.StatusCode, a.body)
		}
	}
	if a := s.do("anna", "POST", base+"/calls/toolu_01.a:b-c/retry", ""); a.StatusCode != http.StatusAccepted || strings.TrimSpace(string(a.body)) != `{"run_id":"run_3","call_id":"call_2"}` {
		t.Errorf("retry: %d %s", a.StatusCode, a.body)
	}
	want := []string{"cancel anna " + id, "cancel anna " + id, "retry anna " + id + " toolu_01.a:b-c"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// Every decision goes with every optional field that is meant for it.
func TestDecide(t *testing.T) {
	s := serve(t)
	id := s.conversation("anna")
	var got agent.DecisionInput
	s.work.decision = func(_ chat.Identity, conv, confirmation string, in agent.DecisionInput) (agent.Decided, error) {
		if conv != id || confirmation != "cnf_1" {
			t.Errorf("decided %s of %s", confirmation, conv)
		}
		got = in
		return agent.Decided{RunID: "run_2", State: chat.ConfirmClaimed, Replayed: in.Key == "again"}, nil
	}
	for body, want := range map[string]agent.DecisionInput{
		`{"decision":"approve","args_digest":"d"}`:                                         {Decision: "approve", ArgsDigest: "d"},
		`{"decision":"approve","args_digest":"d","reason":"ok","remember":true}`:           {Decision: "approve", ArgsDigest: "d", Reason: "ok", Remember: true},
		`{"decision":"approve","args_digest":"d","edited_args":null,"reason":null}`:        {Decision: "approve", ArgsDigest: "d"},
		`{"decision":"reject","args_digest":"d"}`:                                          {Decision: "reject", ArgsDigest: "d"},
		`{"decision":"reject","args_digest":"d","reason":"no","idempotency_key":"k"}`:      {Decision: "reject", ArgsDigest: "d", Reason: "no", Key: "k"},
		`{"decision":"edit","args_digest":"d","edited_args":{"id":9007199254740993}}`:      {Decision: "edit", ArgsDigest: "d", EditedArgs: json.RawMessage(`{"id":9007199254740993}`)},
		`{"decision":"edit","args_digest":"d","edited_args":{},"idempotency_key":"again"}`: {Decision: "edit", ArgsDigest: "d", EditedArgs: json.RawMessage(`{}`), Key: "again"},
	} {
		a := s.do("anna", "POST", "/api/v1/conversations/"+id+"/confirmations/cnf_1", body)
		reply := `{"run_id":"run_2","state":"claimed","replayed":false}`
		if want.Key == "again" {
			reply = strings.Replace(reply, "false", "true", 1)
		}
		if a.StatusCode != http.StatusOK || strings.TrimSpace(string(a.body)) != reply {
			t.Errorf("%s: %d %s", body, a.StatusCode, a.body)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

func TestSurroundings(t *testing.T) {
	s := serve(t)
	for path, want := range map[string]string{
		"/api/v1/me":           `{"user":"anna","roles":["Gamma"],"language":"en","may":{"inbox":true,"audit":false},"model":{"provider":"offline","name":"","offline":true},"limits":{"message_chars":20000}}`,
		"/api/v1/environments": `{"environments":[{"id":"ss-prod","title":"Production","class":"prod","reachable":true},{"id":"ss-dev","title":"Dev","class":"dev","reachable":false}]}`,
		"/api/v1/capabilities?objectType=dashboard&objectId=1&envId=ss-dev": `{"user":"anna","roles":["Gamma"],"environments":[],"mcp_servers":[{"name":"shop","state":"down"}],"offered":[{"name":"show_capabilities","risk":"read"}],"hidden":[{"name":"run_sql","why":"role"}],"model":"offline"}`,
	} {
		if a := s.do("anna", "GET", path, ""); a.StatusCode != 200 || strings.TrimSpace(string(a.body)) != want {
			t.Errorf("%s: %d\n%s, want\n%s", path, a.StatusCode, a.body, want)
		}
	}
}
