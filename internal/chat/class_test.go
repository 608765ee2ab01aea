package chat_test

import (
	"testing"

	"agentd/internal/chat"
)

func TestClass(t *testing.T) {
	for _, tt := range []struct {
		in, want   string
		understood bool
	}{
		{"prod", "prod", true}, {"PRD", "prod", true}, {"production", "prod", true}, {"ss-prod", "prod", true},
		{"prod2", "prod", true}, {"Live", "prod", true}, {" staging ", "staging", true}, {"stg", "staging", true},
		{"uat-3", "staging", true}, {"dev", "dev", true}, {"Development", "dev", true}, {"ss_dev", "dev", true},
		{"", "prod", false}, {"acme", "prod", false}, {"devil", "prod", false}, {"123", "prod", false},
		// Two words that disagree: the careful one.
		{"dev-prod", "prod", true}, {"prod-dev", "prod", true}, {"dev-staging", "staging", true}, {"staging-dev", "staging", true},
		{"non-prod", "prod", true},
	} {
		if got, ok := chat.Class(tt.in); got != tt.want || ok != tt.understood {
			t.Errorf("Class(%q) = %q, %v; want %q, %v", tt.in, got, ok, tt.want, tt.understood)
		}
	}
}
