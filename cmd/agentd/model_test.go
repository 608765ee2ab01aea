package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRealModel: the main job once through a real model. Only what such a small one is sure to do is asked for.
func TestRealModel(t *testing.T) {
	base := os.Getenv("AGENTD_TEST_MODEL_URL")
	if base == "" {
		t.Skip("AGENTD_TEST_MODEL_URL is not set: it names an OpenAI-compatible server; see make test-model")
	}
	name := os.Getenv("AGENTD_TEST_MODEL_NAME")
	if name == "" {
		name = "test"
	}
	p := demo(t, t.TempDir(), "--llm.provider", "openai", "--llm.model", name, "--llm.base-url", base, "--llm.idle-timeout", "300s")
	c := p.conversation()
	run := p.must(202, "POST", "/conversations/"+c+"/messages", map[string]any{
		"message": "Find dashboards about sales", "env_id": "ss-dev", "ui_context": map[string]any{"objectType": "dashboard", "objectId": "1", "envId": "ss-dev"},
	})["run_id"].(string)
	es := p.slow(c).until(run)
	got := summary(es)
	if !strings.HasSuffix(got, "finished:answered") && !strings.HasSuffix(got, "finished:awaiting_confirmation") && !strings.HasSuffix(got, "finished:repetition") {
		t.Errorf("events %s", got)
	}
	// It fills in optional arguments as it likes, also such as exclude each other; then the call is refused and says why.
	called := slices.IndexFunc(es, func(e event) bool { return e.typ == "tool_start" || e.typ == "tool_error" })
	if called < 0 || es[called].str("tool") != "search_dashboards" || es[called].typ == "tool_error" && es[called].str("class") != "invalid" {
		t.Errorf("the model did not call search_dashboards: %s", got)
	}
	if u := find(t, es, "usage"); u.data["input_tokens"].(float64) <= 0 || u.data["output_tokens"].(float64) <= 0 {
		t.Errorf("usage %v", u.data)
	}
}
