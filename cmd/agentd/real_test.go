package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// realSuperset is agentd in front of a real Superset: as admin, and as users who may less. The instance is a test's
// own and is reset by it.
func realSuperset(t *testing.T, flags ...string) *process {
	t.Helper()
	base := os.Getenv("AGENTD_TEST_SUPERSET_DEV")
	if base == "" {
		t.Skip("AGENTD_TEST_SUPERSET_DEV is not set: it names a seeded Superset of the tests' own; make test-superset starts one")
	}
	dir := t.TempDir()
	env := func(id, user string) string {
		return fmt.Sprintf("  - {id: %s, class: dev, base_url: '%s', auth: {mode: service, username: %s, password_env: PASSWORD_%s}}\n", id, base, user, strings.ToUpper(user))
	}
	file := filepath.Join(dir, "agentd.yaml")
	text := "listen: 127.0.0.1:0\ndata_dir: " + filepath.Join(dir, "data") + "\nenvironments:\n" + env("ss-dev", "admin") + env("as-alpha", "alpha") + env("as-gamma", "gamma")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := []string{"PASSWORD_ADMIN=admin", "PASSWORD_ALPHA=alpha", "PASSWORD_GAMMA=gamma"}
	return startIn(t, dir, vars, append([]string{"serve", "--config", file}, flags...)...)
}

// control runs the script that starts and stops the instances.
func control(t *testing.T, args ...string) {
	t.Helper()
	script := os.Getenv("AGENTD_TEST_SUPERSET_SCRIPT")
	if script == "" {
		t.Skip("AGENTD_TEST_SUPERSET_SCRIPT is not set: it starts and stops the instance")
	}
	if out, err := exec.Command(script, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", script, args, err, out)
	}
}

// TestRealSuperset: the main job does on a real Superset what it does on the mock.
func TestRealSuperset(t *testing.T) {
	p := realSuperset(t)
	control(t, "reset", "agentd-dev")
	ask := func(env, text string) []event {
		t.Helper()
		_, es := p.say(p.conversation(), 0, map[string]any{"message": text, "env_id": env})
		return es
	}
	t.Run("search", func(t *testing.T) {
		es := ask("ss-dev", "Find dashboards about sales")
		if got := summary(es); got != "tool_start tool_result finished:answered" || !strings.Contains(find(t, es, "message").str("text"), "Sales Overview") {
			t.Errorf("events %s: %s", got, find(t, es, "message").str("text"))
		}
	})
	t.Run("all of them", func(t *testing.T) {
		es := ask("ss-dev", "Find all dashboards")
		preview, _ := find(t, es, "tool_result").data["preview"].(map[string]any)
		if preview["total"] != float64(151) || preview["returned"] != float64(5) {
			t.Errorf("preview %v", preview)
		}
	})
	t.Run("get", func(t *testing.T) {
		es := ask("ss-dev", "Open dashboard 1")
		if got := summary(es); got != "tool_start tool_result finished:answered" {
			t.Errorf("events %s", got)
		}
	})
	t.Run("rename", func(t *testing.T) {
		c := p.conversation()
		_, es := p.say(c, 0, map[string]any{"message": "Rename dashboard 1 to Real figures", "env_id": "ss-dev"})
		es = p.decide(c, last(es), find(t, es, "confirm_required"), map[string]any{"decision": "approve"})
		if got := summary(es); got != "resolved:approved tool_start tool_result finished:answered" {
			t.Errorf("events %s", got)
		}
		if text := fmt.Sprint(find(t, ask("ss-dev", "Open dashboard 1"), "tool_result").data); !strings.Contains(text, "Real figures") {
			t.Errorf("read back: %s", text)
		}
	})
	t.Run("delete", func(t *testing.T) {
		c := p.conversation()
		_, es := p.say(c, 0, map[string]any{"message": "Delete dashboard 20", "env_id": "ss-dev"})
		card := find(t, es, "confirm_required")
		if card.data["dangerous"] != true {
			t.Errorf("card %v", card.data)
		}
		es = p.decide(c, last(es), card, map[string]any{"decision": "approve"})
		if got := summary(es); got != "resolved:approved tool_start tool_result finished:answered" {
			t.Errorf("events %s", got)
		}
		if got := summary(ask("ss-dev", "Open dashboard 20")); got != "tool_start tool_error:missing finished:answered" {
			t.Errorf("afterwards: %s", got)
		}
	})
	t.Run("a write without the right", func(t *testing.T) {
		for _, env := range []string{"as-alpha", "as-gamma"} {
			es := ask(env, "Rename dashboard 151 to Mine")
			if got := summary(es); !strings.HasSuffix(got, "finished:answered") || strings.Contains(got, "confirm_required") {
				t.Errorf("%s: %s", env, got)
			}
		}
		if reason := find(t, ask("as-alpha", "Rename dashboard 151 to Mine"), "permission_denied").str("reason"); reason != "ownership" {
			t.Errorf("reason %s", reason)
		}
	})
}

// TestRealSupersetStops: a Superset that is stopped in mid-run is an error that can be tried again, and then it works.
func TestRealSupersetStops(t *testing.T) {
	s := scripted(t, `{"rounds": [
		{"calls": [{"id": "a", "name": "search_dashboards", "args": {"query": "sales"}}]},
		{"delay_ms": 4000, "calls": [{"id": "b", "name": "get_dashboard", "args": {"dashboard": "1"}}]},
		{"text": ["Superset does not answer."]},
		{"text": ["Now it does."]}]}`)
	p := realSuperset(t, s.flags()...)
	c := p.conversation()
	run := p.must(202, "POST", "/conversations/"+c+"/messages", map[string]any{"message": "Open the sales dashboard", "env_id": "ss-dev"})["run_id"].(string)
	st := p.stream(c, 0)
	var es []event
	for {
		e, ok := st.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		es = append(es, e)
		if e.typ == "tool_result" {
			break
		}
	}
	control(t, "down", "agentd-dev")
	es = append(es, st.until(run)...)
	if got := summary(es); got != "tool_start tool_result tool_start tool_retry tool_error:transient finished:answered" {
		t.Fatalf("events %s", got)
	}
	control(t, "up", "agentd-dev", "--profile", "dev")
	failed := find(t, es, "tool_error")
	again := p.must(202, "POST", "/conversations/"+c+"/calls/"+failed.str("call_id")+"/retry", map[string]any{})
	if got := summary(p.stream(c, last(es)).until(again["run_id"].(string))); got != "tool_start tool_result finished:answered" {
		t.Errorf("tried again: %s", got)
	}
}
