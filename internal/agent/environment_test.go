package agent_test

import (
	"encoding/json"
	"testing"

	"agentd/internal/agent"
	"agentd/internal/tool"
)

// A tool that names environments in its own way is judged by the first of them, and must be allowed in all.
func TestEnvironmentsOfACall(t *testing.T) {
	tests := []struct {
		name, args, denied string
		want               string
		ran                int
	}{
		{"the message's where it names none", `{"dashboard":"1"}`, "", "tool_start tool_result finished:answered", 1},
		{"its own", `{"dashboard":"ss-dev"}`, "", "tool_start tool_result finished:answered", 1},
		{"a stricter one", `{"dashboard":"ss-prod"}`, "", "confirm_required finished:awaiting_confirmation", 0},
		{"one that is not there", `{"dashboard":"ss-qa"}`, "", "tool_error:invalid finished:answered", 0},
		{"denied in its own", `{"dashboard":"ss-prod"}`, "prod/run_sql", "denied:role finished:answered", 0},
		{"denied in the other", `{"dashboard":"ss-dev,ss-prod"}`, "prod/run_sql", "denied:role finished:answered", 0},
		{"the other is not there", `{"dashboard":"ss-dev,ss-qa"}`, "", "tool_error:invalid finished:answered", 0},
		{"allowed in both", `{"dashboard":"ss-dev,ss-prod"}`, "", "tool_start tool_result finished:answered", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{ran: map[string]int{}}
			q := s.tool("run_sql", tool.Query)
			q.Envs = func(c tool.Call) []string {
				var in struct{ Dashboard string }
				_ = json.Unmarshal(c.Args, &in)
				switch in.Dashboard {
				case "1":
					return nil
				case "ss-dev,ss-prod":
					return []string{"ss-dev", "ss-prod"}
				case "ss-dev,ss-qa":
					return []string{"ss-dev", "ss-qa"}
				}
				return []string{in.Dashboard}
			}
			w := newWorld(t, rounds(t, calls("run_sql", tt.args), text("Done.")), &rules{map[string]bool{tt.denied: true}}, agent.Limits{}, q)
			a, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "Do it", Env: "ss-dev"})
			if err != nil {
				t.Fatal(err)
			}
			if got := types(w.wait(a.RunID)); got != tt.want || s.ran["run_sql"] != tt.ran {
				t.Errorf("got %s, ran %d times; want %s, %d", got, s.ran["run_sql"], tt.want, tt.ran)
			}
		})
	}
}
