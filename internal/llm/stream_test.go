package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"agentd/internal/fault"
)

// normalise reads a stream to its end and returns what langchaingo would get and what the sink heard.
func normalise(in io.Reader, whole bool) (out []byte, text string, calls map[int]string, err error) {
	var said strings.Builder
	args := map[int]string{}
	n := newNormaliser(in, whole, func(d Delta) error {
		switch d := d.(type) {
		case TextDelta:
			said.WriteString(d.Text)
		case CallDelta:
			args[d.Index] += d.Args
		}
		return nil
	})
	out, err = io.ReadAll(n)
	return out, said.String(), args, err
}

// normal checks a normalised stream and returns the text and the arguments in it.
func normal(t *testing.T, out []byte) (text string, calls map[int]string) {
	t.Helper()
	calls = map[int]string{}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n\n"), "\n\n")
	if lines[len(lines)-1] != "data: [DONE]" {
		t.Fatalf("it does not end with [DONE]: %q", lines[len(lines)-1])
	}
	lines = lines[:len(lines)-1]
	started := -1
	for i, l := range lines {
		if len(l) >= 64<<10 {
			t.Fatalf("a line of %d bytes", len(l))
		}
		data, ok := strings.CutPrefix(l, "data: ")
		var c struct {
			Choices []struct {
				Delta struct {
					Content string
					Calls   []struct {
						Index    int
						Type     string
						Function struct{ Arguments string }
					} `json:"tool_calls"`
				}
				Finish *string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil || !ok {
			t.Fatalf("line %q: %v", l, err)
		}
		for _, ch := range c.Choices {
			text += ch.Delta.Content
			if (ch.Finish != nil && *ch.Finish != "") != (i == len(lines)-1) {
				t.Fatalf("line %d of %d: reason for the end %v", i+1, len(lines), ch.Finish)
			}
			for _, k := range ch.Delta.Calls {
				if (k.Type == "function") != (k.Index == started+1) || k.Index < started {
					t.Fatalf("a part of call %d after the start of call %d", k.Index, started)
				}
				started = k.Index
				calls[k.Index] += k.Function.Arguments
			}
		}
	}
	return text, calls
}

func FuzzNormaliser(f *testing.F) {
	chunk := func(delta, finish string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
	}
	f.Add([]byte(chunk(`{"content":"Hel"}`, "null")+chunk(`{"content":"lo"}`, `"stop"`)+"data: [DONE]\n\n"), false)
	f.Add([]byte(chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{}"}}]}`, "null")+
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`, "null")+chunk(`{}`, `"tool_calls"`)+"data: [DONE]"), false)
	f.Add([]byte(chunk(`{"content":"`+strings.Repeat("ü", 9000)+`"}`, `"length"`)), false)
	f.Add([]byte(": comment\r\nevent: x\r\nid: 1\r\ndata:{\"error\":{\"message\":\"m\",\"code\":503}}\r\n\r\n"), false)
	f.Add([]byte(`{"choices":[{"message":{"content":[{"text":"a"}],"refusal":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`), true)
	f.Add([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ud83d\"}}]}\n"), false)
	f.Add([]byte("data: null\ndata: []\ndata: {\"choices\":[null],\"usage\":{}}\n"), false)
	f.Fuzz(func(t *testing.T, in []byte, whole bool) {
		out, said, args, err := normalise(bytes.NewReader(in), whole)
		if !utf8.ValidString(said) {
			t.Fatalf("the sink heard %q", said)
		}
		if err != nil {
			if fault.KindOf(err) == fault.Internal {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		text, calls := normal(t, out)
		if text != said {
			t.Errorf("handed on %q, heard %q", text, said)
		}
		if len(calls) != len(args) {
			t.Errorf("handed on %d calls, heard %d", len(calls), len(args))
		}
		for i, a := range args {
			if calls[i] != a {
				t.Errorf("call %d: handed on %q, heard %q", i, calls[i], a)
			}
		}
		again, _, _, err := normalise(iotest.OneByteReader(bytes.NewReader(in)), whole)
		if err != nil || !bytes.Equal(out, again) {
			t.Errorf("byte by byte it is another stream: %v", err)
		}
		// What comes out is a stream that comes out the same.
		twice, heard, _, err := normalise(bytes.NewReader(out), false)
		if err != nil || heard != said || !bytes.Equal(out, twice) {
			t.Errorf("a normalised stream changes: %v", err)
		}
	})
}

func TestLimitsOfAnAnswer(t *testing.T) {
	const head, tail = `data: {"choices":[{"index":0,"delta":{"content":"`, "\"},\"finish_reason\":\"stop\"}]}\n"
	const overhead = len(head) + len(tail)
	line := func(n int) string { return head + strings.Repeat("x", n-overhead) + tail }
	const mostLine, mostText = 10_000, 40_000 // far below the real ones, so that the test is quick; above bufio's 4,096
	textOf := func(n int) string { return strings.Repeat(line(overhead+1_000), n/1_000) + line(overhead+n%1_000) }
	calls := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":` + string(must(json.Marshal(i))) + `,"id":"a","function":{"name":"f"}}]}}]}` + "\n")
		}
		return b.String() + `data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}` + "\n"
	}
	for _, row := range []struct {
		name string
		in   string
		ok   bool
	}{
		{"a line below the limit", line(mostLine - 1), true},
		{"a line at the limit", line(mostLine), true},
		{"a line above the limit", line(mostLine + 1), false},
		{"text below the limit of an answer", textOf(mostText - 1), true},
		{"text at the limit of an answer", textOf(mostText), true},
		{"text above the limit of an answer", textOf(mostText + 1), false},
		{"as many calls as may be", calls(maxCalls), true},
		{"one call more", calls(maxCalls + 1), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := newNormaliser(strings.NewReader(row.in), false, nil)
			n.maxLine, n.maxAnswer = mostLine, mostText
			_, err := io.ReadAll(n)
			if (err == nil) != row.ok || (!row.ok && fault.CodeOf(err) != CodeCut) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNormaliserKeepsItsError(t *testing.T) {
	boom := errors.New("boom")
	n := newNormaliser(strings.NewReader("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n"), false, func(Delta) error { return boom })
	for range 2 {
		if _, err := io.ReadAll(n); !errors.Is(err, boom) {
			t.Errorf("got %v", err)
		}
	}
	if n.complete() {
		t.Error("it says that the answer is complete")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
