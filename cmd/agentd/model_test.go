package main

import (
	"os"
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
	if start := find(t, es, "tool_start"); start.str("tool") != "search_dashboards" {
		t.Errorf("the model called %s", start.str("tool"))
	}
	if u := find(t, es, "usage"); u.data["input_tokens"].(float64) <= 0 || u.data["output_tokens"].(float64) <= 0 {
		t.Errorf("usage %v", u.data)
	}
}
