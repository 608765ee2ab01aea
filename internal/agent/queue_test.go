package agent_test

import (
	"context"
	"strings"
	"testing"

	"agentd/internal/agent"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/tool"
)

// TestEnqueue: messages that wait are answered in their order, each in a run of its own, and none stands between a
// step and its results.
func TestEnqueue(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	s := &shelf{ran: map[string]int{}, run: func(ctx context.Context, _ int) error {
		close(began)
		<-goOn
		return nil
	}}
	m := rounds(t, calls("get_dashboard", `{"dashboard":"1"}`), text("First."), text("Second."), text("Third."))
	w := newWorld(t, m, &rules{}, agent.Limits{RunsPerUser: 3}, s.tool("get_dashboard", tool.Read))
	send := func(text, strategy string) (agent.Accepted, error) {
		return w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: text, Env: "ss-dev", Strategy: strategy})
	}
	first, err := send("one", "")
	if err != nil {
		t.Fatal(err)
	}
	<-began
	second, err := send("two", agent.StrategyEnqueue)
	if err != nil {
		t.Fatal(err)
	}
	third, err := send("three", agent.StrategyEnqueue)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := send("four", agent.StrategyEnqueue); fault.KindOf(err) != fault.RateLimited {
		t.Errorf("one more than the user may: %v", err)
	}
	if _, err := send("now", ""); fault.CodeOf(err) != "run_active" {
		t.Errorf("without waiting: %v", err)
	}
	close(goOn)
	for _, a := range []agent.Accepted{first, second, third} {
		if got := types(w.wait(a.RunID)); !strings.HasSuffix(got, "finished:answered") {
			t.Errorf("events %s", got)
		}
	}
	answersOnce(t, m.prompts[3])
	var said []string
	for _, x := range m.prompts[3].Messages {
		switch x := x.(type) {
		case chat.UserMessage:
			said = append(said, x.Text)
		case chat.AssistantMessage:
			if x.Text != "" {
				said = append(said, x.Text)
			}
		}
	}
	if got := strings.Join(said, " "); got != "one First. two Second. three" {
		t.Errorf("the model reads %s", got)
	}
}

// TestEnqueueWaitsForTheAnswer: while a card is open nothing that waits begins; the decision's run is followed by it.
func TestEnqueueWaitsForTheAnswer(t *testing.T) {
	began, goOn := make(chan struct{}), make(chan struct{})
	s := &shelf{ran: map[string]int{}, preview: func() error {
		select {
		case <-began:
		default:
			close(began)
		}
		<-goOn
		return nil
	}}
	m := rounds(t, calls("update_dashboard", `{"dashboard":"1"}`), text("Renamed."), text("And that."))
	w := newWorld(t, m, &rules{}, agent.Limits{}, s.tool("update_dashboard", tool.Write))
	first, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "rename", Env: "ss-dev"})
	if err != nil {
		t.Fatal(err)
	}
	<-began
	second, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "then this", Env: "ss-dev", Strategy: agent.StrategyEnqueue})
	if err != nil {
		t.Fatal(err)
	}
	close(goOn)
	w.wait(first.RunID)
	if r, err := w.log.Run(t.Context(), second.RunID); err != nil || !r.Queued {
		t.Fatalf("while a card is open: %+v, %v", r, err)
	}
	if _, err := w.svc.Message(t.Context(), w.who, w.conv, agent.MessageInput{Text: "yes", Env: "ss-dev", Strategy: agent.StrategyEnqueue}); fault.CodeOf(err) != "confirmation_open" {
		t.Errorf("a message while a card is open: %v", err)
	}
	w.wait(w.approve(0))
	if got := types(w.wait(second.RunID)); got != "finished:answered" {
		t.Errorf("what waited: %s", got)
	}
}
