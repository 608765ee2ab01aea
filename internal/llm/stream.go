package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"agentd/internal/fault"
)

// Limits of one answer; far beyond any real one, so that a broken server cannot fill the memory.
const (
	maxLine   = 8 << 20
	maxAnswer = 32 << 20
	maxCalls  = 256
	maxPiece  = 8 << 10 // of what is handed on: six bytes an escaped byte stay below langchaingo's line limit of 64 KB
)

// normaliser reads an OpenAI-compatible event stream once and gives it on twice: as typed deltas to sink while it
// comes, and as a stream that langchaingo reads right. In that stream lines are short, calls are whole and
// in order, the reason for the end comes last, and a stream without such a reason, with an error or with
// damage ends with an error of ours instead of [DONE].
//
// Read must be called by one goroutine at a time. Whatever Read returns first as an error stays.
type normaliser struct {
	src   *bufio.Reader
	sink  func(Delta) error // nil is no sink
	whole bool              // src is one JSON answer, not a stream

	out    bytes.Buffer
	err    error // io.EOF after a whole answer
	calls  []*call
	slot   map[int]int // provider's index → position in calls of the last call that used it
	finish string
	size   int

	maxLine, maxAnswer int // the constants, but for tests
}

type call struct {
	id, name string
	args     strings.Builder
}

func newNormaliser(src io.Reader, whole bool, sink func(Delta) error) *normaliser {
	return &normaliser{src: bufio.NewReader(src), whole: whole, sink: sink, slot: map[int]int{}, maxLine: maxLine, maxAnswer: maxAnswer}
}

// complete reports whether the answer came to its end.
func (n *normaliser) complete() bool { return errors.Is(n.err, io.EOF) }

func (n *normaliser) Read(p []byte) (int, error) {
	for n.out.Len() == 0 {
		if n.err != nil {
			return 0, n.err
		}
		n.step()
	}
	return n.out.Read(p)
}

// step reads one line. Providers put each chunk into one line and some forget the empty line after it, so
// lines are what is understood, not events.
func (n *normaliser) step() {
	line, err := n.line()
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if n.whole {
		data, ok = line, true
	}
	data = bytes.TrimSpace(data)
	switch {
	case errors.Is(err, errTooMuch):
		n.fail(cut(err))
		return
	case bytes.Equal(data, []byte("[DONE]")):
		n.end(nil)
		return
	case ok && len(data) > 0:
		n.take(data, err)
	}
	if err != nil && n.err == nil {
		n.end(err)
	}
}

// take understands one chunk. readErr is how reading its line ended.
func (n *normaliser) take(data []byte, readErr error) {
	c, err := parseChunk(data)
	if err != nil {
		// A last line without its end is what a cut leaves behind.
		if readErr == nil || n.finish == "" {
			n.fail(cut(fmt.Errorf("chunk of %d bytes: %w", len(data), err)))
		}
		return
	}
	if p, ok := c.problem(); ok {
		n.fail(midstream(p))
		return
	}
	if u := c.Usage; u != nil {
		n.write(chunkOut{Choices: []choiceOut{}, Usage: &usageOut{u.Prompt, u.Completion, u.Prompt + u.Completion}})
		n.emit(UsageDelta{Input: u.Prompt, Output: u.Completion})
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 { // one answer was asked for
			continue
		}
		for _, m := range []message{ch.Delta, ch.Message} {
			n.text(string(m.Content) + m.Refusal)
			for _, part := range m.Calls {
				n.part(part)
			}
		}
		if ch.Finish != "" { // some send a chunk without it afterwards
			n.finish = ch.Finish
		}
	}
}

func (n *normaliser) text(s string) {
	if s == "" || !n.room(len(s)) {
		return
	}
	pieces(s, func(p string) { n.delta(deltaOut{Content: p}, nil) })
	n.emit(TextDelta{Text: s})
}

// part adds a piece of a call. Several servers send all parallel calls with index 0: a new id, or without ids
// a new name, at a used index starts a new call.
func (n *normaliser) part(p callPart) {
	id, name, args := p.ID, p.Function.Name, string(p.Function.Arguments)
	if !n.room(len(id) + len(name) + len(args)) {
		return
	}
	at, used := n.slot[p.Index]
	if used {
		k := n.calls[at]
		used = (id == "" || k.id == "" || id == k.id) && (id != "" || name == "" || k.name == "" || name == k.name)
	}
	if !used {
		if len(n.calls) == maxCalls {
			n.fail(cut(errTooMuch))
			return
		}
		at = len(n.calls)
		n.slot[p.Index] = at
		n.calls = append(n.calls, &call{})
	}
	k := n.calls[at]
	if id != "" {
		k.id = id
	}
	if name != "" {
		k.name = name
	}
	k.args.WriteString(args)
	n.emit(CallDelta{Index: at, ID: id, Name: name, Args: args})
}

// end closes the answer: with err if it had not told why it ends.
func (n *normaliser) end(err error) {
	if n.err != nil {
		return
	}
	if n.finish == "" {
		if err == nil || errors.Is(err, io.EOF) {
			err = errNoFinish
		}
		n.fail(cut(err))
		return
	}
	for i, k := range n.calls {
		n.delta(deltaOut{Calls: []callOut{{Index: i, ID: k.id, Type: "function", Function: functionOut{Name: k.name}}}}, nil)
		pieces(k.args.String(), func(p string) { // without a type: langchaingo adds it to the last call
			n.delta(deltaOut{Calls: []callOut{{Index: i, Function: functionOut{Arguments: p}}}}, nil)
		})
	}
	n.delta(deltaOut{}, &n.finish)
	n.out.WriteString("data: [DONE]\n\n")
	n.err = io.EOF
}

func (n *normaliser) emit(d Delta) {
	if n.sink == nil || n.err != nil {
		return
	}
	if err := n.sink(d); err != nil {
		n.fail(err)
	}
}

func (n *normaliser) fail(err error) {
	if n.err == nil {
		n.err = err
	}
}

func (n *normaliser) room(size int) bool {
	n.size += size
	if n.size > n.maxAnswer {
		n.fail(cut(errTooMuch))
	}
	return n.err == nil
}

func (n *normaliser) delta(d deltaOut, finish *string) {
	n.write(chunkOut{Choices: []choiceOut{{Delta: d, Finish: finish}}})
}

func (n *normaliser) write(v chunkOut) {
	b, err := json.Marshal(v)
	if err != nil { // texts and numbers only
		n.fail(fault.Wrap(fault.Internal, "", err))
		return
	}
	n.out.WriteString("data: ")
	n.out.Write(b)
	n.out.WriteString("\n\n")
}
