package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestSearch: the main job's first step, with the API alone.
func TestSearch(t *testing.T) {
	p := demo(t, t.TempDir())
	c := p.conversation()
	_, es := p.say(c, 0, map[string]any{"message": "Find dashboards about sales", "env_id": "ss-dev"})
	if got := summary(es); got != "tool_start tool_result finished:answered" {
		t.Fatalf("events %s", got)
	}
	start := find(t, es, "tool_start")
	if start.str("tool") != "search_dashboards" || !strings.Contains(fmt.Sprint(start.data["args"]), "sales") {
		t.Errorf("started %v", start.data)
	}
	res := find(t, es, "tool_result")
	if _, timed := res.data["duration_ms"].(float64); !timed || res.str("summary") == "" {
		t.Errorf("result %v", res.data)
	}
	if text := find(t, es, "message").str("text"); !strings.Contains(text, "Sales") {
		t.Errorf("the answer is %q", text)
	}
}

// TestOffered: role and page decide what the model may choose from, and run_started names it.
func TestOffered(t *testing.T) {
	p := demo(t, t.TempDir())
	offered := func(view map[string]any) []string {
		_, es := p.say(p.conversation(), 0, map[string]any{"message": "Hello", "env_id": "ss-dev", "ui_context": view})
		var out []string
		for _, n := range find(t, es, "run_started").data["tools"].([]any) {
			out = append(out, n.(string))
		}
		return out
	}
	all := offered(nil)
	board := offered(map[string]any{"objectType": "dashboard", "objectId": "1"})
	dataset := offered(map[string]any{"objectType": "dataset", "objectId": "1"})
	for _, set := range [][]string{all, board, dataset} {
		if !slices.Contains(set, "show_capabilities") {
			t.Errorf("show_capabilities is missing in %v", set)
		}
	}
	if !slices.Contains(board, "update_dashboard") || slices.Contains(board, "get_dataset") {
		t.Errorf("on a dashboard: %v", board)
	}
	if !slices.Contains(dataset, "get_dataset") || slices.Contains(dataset, "update_dashboard") {
		t.Errorf("on a dataset: %v", dataset)
	}
	if len(all) <= len(board) || len(all) <= len(dataset) {
		t.Errorf("without a page %v", all)
	}
}

// TestDenied: a role without the right gets permission_denied, no confirmation exists anywhere, the run goes on.
func TestDenied(t *testing.T) {
	p := demo(t, t.TempDir(), "--auth.dev.roles", "sql_lab")
	c := p.conversation()
	_, es := p.say(c, 0, map[string]any{"message": "Hello", "env_id": "ss-dev"})
	for _, n := range find(t, es, "run_started").data["tools"].([]any) {
		if n == "delete_dashboard" || n == "update_dashboard" {
			t.Errorf("sql_lab is offered %v", n)
		}
	}
	script := scripted(t, `{"rounds": [
		{"calls": [{"id": "a", "name": "delete_dashboard", "args": {"dashboard": "1"}}]},
		{"text": ["I may not."]}]}`)
	p = demo(t, t.TempDir(), append(script.flags(), "--auth.dev.roles", "sql_lab")...)
	c = p.conversation()
	_, es = p.say(c, 0, map[string]any{"message": "Delete dashboard 1", "env_id": "ss-dev"})
	if got := summary(es); got != "permission_denied finished:answered" {
		t.Errorf("events %s", got)
	}
	if reason := find(t, es, "permission_denied").str("reason"); reason != "role" {
		t.Errorf("reason %s", reason)
	}
	if inbox := p.must(200, "GET", "/confirmations?state=pending", nil); strings.Contains(fmt.Sprint(inbox), "cnf_") {
		t.Errorf("a confirmation exists: %v", inbox)
	}
	script.complete()
}

// TestRename: ask, approve once, reject with a reason, and of two approvals one.
func TestRename(t *testing.T) {
	p := demo(t, t.TempDir())
	c := p.conversation()
	_, es := p.say(c, 0, map[string]any{"message": "Rename dashboard 1 to Quarterly figures", "env_id": "ss-dev"})
	if got := summary(es); got != "confirm_required finished:awaiting_confirmation" {
		t.Fatalf("events %s", got)
	}
	card := find(t, es, "confirm_required")
	diff, _ := json.Marshal(card.data["preview"])
	if card.data["dangerous"] != false || card.str("env_id") != "ss-dev" || !strings.Contains(string(diff), "Quarterly figures") {
		t.Errorf("card %v", card.data)
	}
	if n := p.count("dev", "method=PUT&committed=true"); n != 0 {
		t.Fatalf("%d changes before the approval", n)
	}
	es = p.decide(c, last(es), card, map[string]any{"decision": "reject", "reason": "not now"})
	if got := summary(es); got != "resolved:rejected finished:answered" || p.count("dev", "method=PUT&committed=true") != 0 {
		t.Errorf("after the rejection: %s", got)
	}
	_, es = p.say(c, last(es), map[string]any{"message": "Rename dashboard 1 to Quarterly figures", "env_id": "ss-dev"})
	card = find(t, es, "confirm_required")
	var wg sync.WaitGroup
	var mu sync.Mutex
	runs, replays := map[string]bool{}, 0
	for range 2 {
		wg.Go(func() {
			out := p.must(200, "POST", "/conversations/"+c+"/confirmations/"+card.str("confirmation_id"), map[string]any{"decision": "approve", "args_digest": card.str("args_digest")})
			mu.Lock()
			defer mu.Unlock()
			runs[out["run_id"].(string)] = true
			if out["replayed"] == true {
				replays++
			}
		})
	}
	wg.Wait()
	if len(runs) != 1 || replays != 1 {
		t.Errorf("two approvals gave the runs %v, %d of them replayed", runs, replays)
	}
	for run := range runs {
		es = p.stream(c, last(es)).until(run)
	}
	if got := summary(es); got != "resolved:approved tool_start tool_result finished:answered" {
		t.Errorf("after the approval: %s", got)
	}
	if n := p.count("dev", "method=PUT&path=/api/v1/dashboard/1&committed=true"); n != 1 {
		t.Errorf("changed %d times, want once", n)
	}
}

// TestDelete is dangerous, takes a backup first, and survives a restart of the server.
func TestDelete(t *testing.T) {
	dir := t.TempDir()
	p := demo(t, dir)
	c := p.conversation()
	_, es := p.say(c, 0, map[string]any{"message": "Delete dashboard 1", "env_id": "ss-dev"})
	card := find(t, es, "confirm_required")
	if card.data["dangerous"] != true || card.data["countdown_seconds"] != float64(10) {
		t.Errorf("card %v", card.data)
	}
	p.stop()
	p = demo(t, dir)
	got := p.must(200, "GET", "/conversations/"+c, nil)
	if open, _ := json.Marshal(got["open_confirmations"]); !strings.Contains(string(open), card.str("confirmation_id")) {
		t.Fatalf("after the restart the card is gone: %s", open)
	}
	es = p.decide(c, last(es), card, map[string]any{"decision": "approve"})
	if got := summary(es); got != "resolved:approved tool_start tool_result finished:answered" {
		t.Errorf("events %s", got)
	}
	if n := p.count("dev", "method=DELETE&path=/api/v1/dashboard/1&committed=true"); n != 1 {
		t.Errorf("deleted %d times, want once", n)
	}
}

// TestFaults: a read that fails once and twice, one that hangs, and a write whose answer never comes.
func TestFaults(t *testing.T) {
	p := demo(t, t.TempDir(), "--limits.read-timeout", "1s", "--limits.write-timeout", "2s")
	list := "/api/v1/dashboard/*"
	find1 := map[string]any{"message": "Find dashboards about sales", "env_id": "ss-dev"}

	p.fail("dev", map[string]any{"method": "GET", "path": list, "times": 1, "fault": map[string]any{"status": 503}})
	_, es := p.say(p.conversation(), 0, find1)
	if got := summary(es); got != "tool_start tool_retry tool_result finished:answered" {
		t.Errorf("503 once: %s", got)
	}
	if d := find(t, es, "tool_retry").data; d["delay_ms"] != float64(1000) || d["attempt"] != float64(2) {
		t.Errorf("retry %v", d)
	}

	p.fail("dev", map[string]any{"method": "GET", "path": list, "times": 2, "fault": map[string]any{"status": 503}})
	c := p.conversation()
	_, es = p.say(c, 0, find1)
	if got := summary(es); got != "tool_start tool_retry tool_error:transient finished:answered" {
		t.Errorf("503 twice: %s", got)
	}
	failed := find(t, es, "tool_error")
	if failed.data["retry_exhausted"] != true || failed.data["retryable"] != true {
		t.Errorf("error %v", failed.data)
	}
	again := p.must(202, "POST", "/conversations/"+c+"/calls/"+failed.str("call_id")+"/retry", map[string]any{})
	es = p.stream(c, last(es)).until(again["run_id"].(string))
	if got := summary(es); got != "tool_start tool_result finished:answered" || find(t, es, "tool_start").str("retry_of") != failed.str("call_id") {
		t.Errorf("the Retry button: %s", got)
	}
	if status, _ := p.call("POST", "/conversations/"+c+"/calls/"+again["call_id"].(string)+"/retry", map[string]any{}); status != http.StatusConflict {
		t.Errorf("retry of a success: %d, want 409", status)
	}

	p.fail("dev", map[string]any{"method": "GET", "path": list, "times": 1, "fault": map[string]any{"hang": true}})
	_, es = p.say(p.conversation(), 0, find1)
	if d := find(t, es, "tool_timeout").data; d["is_write_tool"] != false || d["retryable"] != true || d["outcome"] != "none" {
		t.Errorf("a read that hangs: %v", d)
	}

	c = p.conversation()
	_, es = p.say(c, 0, map[string]any{"message": "Rename dashboard 1 to Twice shy", "env_id": "ss-dev"})
	p.fail("dev", map[string]any{"method": "PUT", "path": "/api/v1/dashboard/1", "times": 1, "fault": map[string]any{"commit_then_hang": true}})
	es = p.decide(c, last(es), find(t, es, "confirm_required"), map[string]any{"decision": "approve"})
	if got := summary(es); got != "resolved:approved tool_start tool_timeout outcome:applied finished:answered" {
		t.Errorf("a write that hangs after its commit: %s", got)
	}
	if d := find(t, es, "tool_timeout").data; d["is_write_tool"] != true || d["retryable"] != false || d["outcome"] != "unknown" {
		t.Errorf("timeout %v", d)
	}
	if n := p.count("dev", "method=PUT&path=/api/v1/dashboard/1&committed=true"); n != 1 {
		t.Errorf("committed %d times, want once", n)
	}
	if status, _ := p.call("POST", "/conversations/"+c+"/calls/"+find(t, es, "tool_timeout").str("call_id")+"/retry", map[string]any{}); status != http.StatusConflict {
		t.Errorf("retry of a write: %d, want 409", status)
	}
}

// TestLargeResult: all 151 dashboards reach the model as 5 items and the count, within its limit.
func TestLargeResult(t *testing.T) {
	script := scripted(t, `{"rounds": [
		{"calls": [{"id": "a", "name": "search_dashboards", "args": {}}]},
		{"text": ["There are many."]}]}`)
	p := demo(t, t.TempDir(), script.flags()...)
	_, es := p.say(p.conversation(), 0, map[string]any{"message": "List all dashboards", "env_id": "ss-dev"})
	preview, _ := find(t, es, "tool_result").data["preview"].(map[string]any)
	if preview["returned"] != float64(5) || preview["total"] != float64(151) || preview["completeness"] != "INCOMPLETE" {
		t.Errorf("preview %v", preview)
	}
	reqs := script.server.Requests()
	msg, _ := reqs[len(reqs)-1].Last("tool")
	if n := len([]rune(string(msg.Content))); n > 4000 || !strings.Contains(string(msg.Content), "151") {
		t.Errorf("the model reads %d characters: %.200s", n, msg.Content)
	}
	script.complete()
}

// TestStreamIsCut: a connection that drops in mid-answer loses nothing and doubles nothing; a second reader sees
// the same.
func TestStreamIsCut(t *testing.T) {
	words := make([]string, 120)
	for i := range words {
		words[i] = fmt.Sprintf("word%d ", i)
	}
	b, _ := json.Marshal(map[string]any{"rounds": []any{map[string]any{"text": words, "delay_ms": 10}}})
	script := scripted(t, string(b))
	p := demo(t, t.TempDir(), script.flags()...)
	c := p.conversation()
	run := p.must(202, "POST", "/conversations/"+c+"/messages", map[string]any{"message": "Talk"})["run_id"].(string)
	second := p.stream(c, 0)
	var after int64
	text := []rune{}
	for cut := 0; ; cut++ {
		s := p.stream(c, after)
		ended := false
		for n := 0; n < 4 || cut > 2; n++ { // three times it breaks off after four events
			e, ok := s.next()
			if !ok {
				t.Fatal("the stream ended")
			}
			if e.seq != after+1 {
				t.Fatalf("event %d follows %d", e.seq, after)
			}
			after = e.seq
			if e.typ == "text_delta" {
				text = append(text[:int(e.data["offset"].(float64))], []rune(e.str("text"))...)
			}
			if e.typ == "message" && e.str("role") == "assistant" {
				text = []rune(e.str("text"))
			}
			if ended = e.typ == "run_finished"; ended {
				break
			}
		}
		s.close()
		if ended {
			break
		}
	}
	want := strings.Join(words, "")
	if string(text) != want {
		t.Errorf("the text is %q", string(text))
	}
	if got := find(t, second.until(run), "message").str("text"); got != want {
		t.Errorf("the second reader has %q", got)
	}
}

// TestKill: kill -9 in mid-run and a restart: the run comes to its end, a read is repeated, a write is not.
func TestKill(t *testing.T) {
	mock := mockSuperset(t)
	env := func(dir string) string {
		return writeConfig(t, dir, mock, "limits: {read_timeout: 20s, write_timeout: 20s}\n")
	}
	t.Run("read", func(t *testing.T) {
		dir := t.TempDir()
		p := serve(t, dir, env(dir))
		c := p.conversation()
		mock.fail("dev", map[string]any{"method": "GET", "path": "/api/v1/dashboard/*", "times": 1, "fault": map[string]any{"hang": true}})
		run := p.must(202, "POST", "/conversations/"+c+"/messages", map[string]any{"message": "Find dashboards about sales", "env_id": "ss-dev"})["run_id"].(string)
		for mock.count("dev", "method=GET&path=/api/v1/dashboard/*") == 0 {
		}
		p.kill()
		p = serve(t, dir, env(dir))
		es := p.stream(c, 0).until(run)
		if got := summary(es); got != "tool_start tool_start tool_result finished:answered" {
			t.Errorf("events %s", got)
		}
	})
	t.Run("write", func(t *testing.T) {
		dir := t.TempDir()
		p := serve(t, dir, env(dir))
		c := p.conversation()
		_, es := p.say(c, 0, map[string]any{"message": "Rename dashboard 2 to Killed", "env_id": "ss-dev"})
		mock.fail("dev", map[string]any{"method": "PUT", "path": "/api/v1/dashboard/2", "times": 1, "fault": map[string]any{"commit_then_hang": true}})
		card := find(t, es, "confirm_required")
		out := p.must(200, "POST", "/conversations/"+c+"/confirmations/"+card.str("confirmation_id"), map[string]any{"decision": "approve", "args_digest": card.str("args_digest")})
		for mock.count("dev", "method=PUT&path=/api/v1/dashboard/2&committed=true") == 0 {
		}
		p.kill()
		p = serve(t, dir, env(dir))
		es = p.stream(c, last(es)).until(out["run_id"].(string))
		if got := summary(es); got != "resolved:approved tool_start tool_timeout outcome:applied finished:answered" {
			t.Errorf("events %s", got)
		}
		if cause := find(t, es, "tool_timeout").str("cause"); cause != "restart" {
			t.Errorf("cause %s", cause)
		}
		if n := mock.count("dev", "method=PUT&path=/api/v1/dashboard/2&committed=true"); n != 1 {
			t.Errorf("committed %d times, want once", n)
		}
	})
}

// TestModelOverHTTP: the same through a real OpenAI-compatible server, its failures included.
func TestModelOverHTTP(t *testing.T) {
	for _, tt := range []struct {
		name, rounds string
		want         string
		text         string
	}{
		{"text", `[{"text": ["Hel", "lo."]}]`, "finished:answered", "Hello."},
		{"one call", `[{"calls": [{"id": "a", "name": "get_dashboard", "args": {"dashboard": "1"}}]}, {"text": ["There it is."]}]`, "tool_start tool_result finished:answered", "There it is."},
		{"several calls whose pieces interleave", `[{"mix": true, "calls": [{"id": "a", "name": "get_dashboard", "args": {"dashboard": "1"}}, {"id": "b", "name": "search_dashboards", "args": {"query": "sales"}}]}, {"text": ["Both."]}]`,
			"tool_start tool_result tool_start tool_result finished:answered", "Both."},
		{"several calls of one index", `[{"same_index": true, "calls": [{"id": "a", "name": "get_dashboard", "args": {"dashboard": "1"}}, {"id": "b", "name": "get_dashboard", "args": {"dashboard": "2"}}]}, {"text": ["Both."]}]`,
			"tool_start tool_result tool_start tool_result finished:answered", "Both."},
		{"a stream that is cut once", `[{"text": ["Half"], "cut": "abort"}, {"text": ["The whole."]}]`, "finished:answered", "The whole."},
		{"429 once", `[{"status": 429, "retry_after": "0", "error": {"message": "slow down"}}, {"text": ["Now."]}]`, "finished:answered", "Now."},
		{"500 once", `[{"status": 500, "error": {"message": "oops"}}, {"text": ["Now."]}]`, "finished:answered", "Now."},
		{"500 for ever", `[{"status": 500, "repeat": true, "error": {"message": "secret detail"}}]`, "error:model_unavailable", ""},
		{"a call cut by the token limit", `[{"finish": "length", "calls": [{"id": "a", "name": "delete_dashboard", "args_text": "{\"dashboard\": \"1"}]}]`, "finished:token_budget", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scripted(t, `{"rounds": `+tt.rounds+`}`)
			p := demo(t, t.TempDir(), s.flags()...)
			_, es := p.say(p.conversation(), 0, map[string]any{"message": "Go", "env_id": "ss-dev"})
			if got := summary(es); got != tt.want {
				t.Errorf("events %s, want %s", got, tt.want)
			}
			if tt.text != "" && find(t, es, "message").str("text") != tt.text {
				t.Errorf("the answer is %q, want %q", find(t, es, "message").str("text"), tt.text)
			}
			if b, _ := json.Marshal(es[len(es)-1].data); strings.Contains(string(b), "secret detail") {
				t.Errorf("the provider's words are shown: %s", b)
			}
			if !strings.Contains(tt.rounds, "repeat") {
				s.complete()
			}
		})
	}
}

// TestBadInput: each gets a clear answer of the right status that names the field, and nothing is stored.
func TestBadInput(t *testing.T) {
	p := demo(t, t.TempDir())
	c := p.conversation()
	msg := "/conversations/" + c + "/messages"
	for _, tt := range []struct {
		name, path string
		body       any
		status     int
		pointer    string
	}{
		{"malformed JSON", msg, `{"message": `, 400, ""},
		{"an unknown field", msg, `{"message": "x", "colour": "red"}`, 422, "/colour"},
		{"a message of 20,001 characters", msg, map[string]any{"message": strings.Repeat("я", 20001)}, 422, "/message"},
		{"an environment that is not there", msg, map[string]any{"message": "x", "env_id": "ss-qa"}, 422, "/env_id"},
		{"an environment of the page that is not there", msg, map[string]any{"message": "x", "ui_context": map[string]any{"envId": "ss-qa"}}, 422, "/ui_context/envId"},
		{"a wrong objectType", msg, map[string]any{"message": "x", "ui_context": map[string]any{"objectType": "Dash board"}}, 422, "/ui_context/objectType"},
		{"an id with a quote", msg, map[string]any{"message": "x", "ui_context": map[string]any{"objectType": "dashboard", "objectId": "1' or 1=1"}}, 422, "/ui_context/objectId"},
		{"no such conversation", "/conversations/conv_01/messages", map[string]any{"message": "x"}, 404, ""},
		{"over a megabyte", msg, map[string]any{"message": strings.Repeat("x", 1<<20)}, 413, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, out := p.call("POST", tt.path, tt.body)
			if status != tt.status || out["code"] == nil {
				t.Errorf("%d %v, want %d", status, out, tt.status)
			}
			if errs, _ := json.Marshal(out["errors"]); tt.pointer != "" && !strings.Contains(string(errs), `"`+tt.pointer+`"`) {
				t.Errorf("names %s, want %s", errs, tt.pointer)
			}
		})
	}
	if got := p.must(200, "GET", "/conversations/"+c, nil); fmt.Sprint(got["items"]) != "[]" || got["last_event_id"] != float64(0) {
		t.Errorf("after all that: %v", got)
	}
	if _, es := p.say(c, 0, map[string]any{"message": strings.Repeat("x", 20000)}); summary(es) != "finished:answered" {
		t.Errorf("20,000 characters: %s", summary(es))
	}
}
