package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"agentd/internal/agent"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

// A result that comes after its call was given up is let go of: its rows lie in a file.
func TestLateResultIsClosed(t *testing.T) {
	began, release, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	slow := tool.New(tool.Tool{Name: "run_sql", Risk: tool.Query, NeedsEnv: true, Perms: []string{"can_x on Dashboard"}}, func(tool.Call, args) (tool.Bound, error) {
		return tool.Bound{Risk: tool.Query, Run: func(context.Context) (tool.Result, error) {
			close(began)
			<-release
			return tool.Result{Rows: &tool.Table{Stream: &tool.Stream{Close: func() { close(closed) }}}}, nil
		}}, nil
	})
	w := newWorld(t, rounds(t, calls("run_sql", `{"dashboard":"1"}`)), &rules{}, agent.Limits{}, slow)
	a, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "Go", Env: "ss-dev"})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	if err := w.svc.Cancel(t.Context(), w.who, w.conv); err != nil {
		t.Fatal(err)
	}
	if got := types(w.wait(a.RunID)); got != "tool_start tool_error:transient finished:cancelled" {
		t.Errorf("events %s", got)
	}
	close(release)
	<-closed
}

// A tool that was out of time knows best what became of what it had begun.
func TestTimeoutInTheToolsWords(t *testing.T) {
	s := &shelf{ran: map[string]int{}, run: func(context.Context, int) error {
		return fault.New(fault.Timeout, "The query may still be running.")
	}}
	m := rounds(t, calls("run_sql", `{"dashboard":"1"}`), text("Well."))
	w := newWorld(t, m, &rules{}, agent.Limits{}, s.tool("run_sql", tool.Query))
	if got := types(w.say("Go")); got != "tool_start timeout:timeout:none:write=false:retry=false finished:answered" {
		t.Errorf("events %s", got)
	}
	if got := fmt.Sprint(m.prompts[1]); !strings.Contains(got, "The query may still be running. Nothing was changed.") {
		t.Errorf("the model reads %s", got)
	}
}
