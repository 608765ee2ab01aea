package offload_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/offload"
	"agentd/internal/tool"
)

func TestTheEndOfLogsIsShown(t *testing.T) {
	line := "[2026-01-01 10:00:00] INFO started the next step of the run.\n"
	trace := "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n  File \"b.py\", line 2, in g\n"
	for name, c := range map[string]struct {
		body string
		tail bool
	}{
		"a log":     {strings.Repeat(line, 300) + "THE END", true},
		"a trace":   {trace + strings.Repeat("    some code that was run here\n", 300) + "THE END", true},
		"an error":  {"sqlalchemy.exc.ProgrammingError: (UndefinedTable) [SQL: SELECT " + strings.Repeat("a_column, ", 900) + "1] THE END", true},
		"a word":    {"Errors of this kind are seldom. " + strings.Repeat("This is a sentence of an answer. ", 300) + "THE END", false},
		"an answer": {strings.Repeat("This is a sentence of an answer. ", 300) + "THE END", false},
	} {
		quoted, err := json.Marshal(c.body)
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{[]byte(c.body), quoted} {
			got := newBench(t, offload.Options{}, artifact.Options{}).bound(tool.Result{Data: data})
			if strings.Contains(got.Text, "THE END") != c.tail {
				t.Errorf("%s: the end is shown %t, want %t", name, !c.tail, c.tail)
			}
			if !strings.HasPrefix(got.Text, c.body[:30]) {
				t.Errorf("%s: the beginning is not shown", name)
			}
		}
	}
}
