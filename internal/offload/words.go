package offload

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/summarise"
	"agentd/internal/tool"
)

// noticeRoom is how many characters the longest notice takes.
const noticeRoom = 640

// framed is what stands around a preview: a sentence before it, warnings and the notice behind it.
type framed struct {
	before, after, notice string
}

// frame takes the hint whole, or not at all where there is no room for it, and a sentence, warnings and links into
// the text, together at most a quarter of it.
func frame(r tool.Result, limit int) framed {
	var f framed
	var behind []string
	room, left := limit/4, limit-1 // one character is for the payload
	add := func(line string, most int) {
		if n := utf8.RuneCountInString(line) + 1; line != "" && n <= most {
			behind = append(behind, line)
			room, left = room-n, left-n
		}
	}
	add(r.Hint, left)
	if f.before = cut(r.Summary, min(limit/8, left-1)); f.before != "" {
		n := utf8.RuneCountInString(f.before)
		room, left = room-n, left-n-1
	}
	for _, w := range r.Warnings {
		add("Warning: "+w, min(room, left))
	}
	for _, l := range r.Links {
		add("Link: "+l.Title+" "+l.URL, min(room, left))
	}
	f.after = join(behind...)
	return f
}

func cut(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	if limit <= 0 {
		return ""
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// size is what the frame takes, line breaks included, without the notice.
func (f framed) size() int {
	n := 0
	for _, s := range []string{f.before, f.after} {
		if s != "" {
			n += utf8.RuneCountInString(s) + 1
		}
	}
	return n
}

func (f framed) around(text string) string { return join(f.before, text, f.after, f.notice) }

// ending is what is said behind a preview.
type ending struct {
	out       summarise.Out
	artifact  *chat.Artifact
	narrowing []string // arguments that the tool has
	reading   bool     // a page of a stored result
	batch     bool     // cut once more for the budget of the step
}

// notice tells the model how much it sees, how to read more, and that repeating the call gives the same. It is
// shorter where there is less room, and the pointer is the last to go. Advice names arguments that the tool has.
func (e ending) notice(room int) string {
	room-- // its line break
	seen, pointer, how := e.seen(), "", ""
	again := " Repeating this call gives the same cut."
	if e.batch {
		again = " The results of this step were too large together; called alone, it shows more."
	}
	a := e.artifact
	switch {
	case e.reading:
		if e.batch {
			how = strings.TrimSpace(again)
		}
	case a != nil && a.Decision == chat.ArtifactCreated:
		pointer = "_artifact_uri: " + URI(a.ID)
		how = stored(a)
		if e.out.Cut {
			how += again
		}
	case a != nil && e.out.Cut:
		how = "The whole was not stored: " + reason(a.Decision) + again
		if len(e.narrowing) > 0 {
			how += " Ask for less with " + strings.Join(e.narrowing, ", ") + "."
		}
	}
	for _, s := range []string{join(seen, how, pointer), join(how, pointer), join(seen, pointer), pointer, seen} {
		if s != "" && utf8.RuneCountInString(s) <= room {
			return s
		}
	}
	return ""
}

// seen says how many of how many are shown, where that is not all, or may not be.
func (e ending) seen() string {
	p := e.out.Preview
	if p.Returned == nil {
		return ""
	}
	s := fmt.Sprintf("Shown: %d", *p.Returned)
	if p.Total != nil {
		s += fmt.Sprintf(" of %d", *p.Total)
	}
	switch {
	case p.Completeness == chat.Unsure:
		return s + "; the source does not say whether it has more."
	case p.Completeness != chat.Incomplete:
		return ""
	case !e.reading && slices.Contains(p.BoundedBy, chat.BoundBySource): // a page has a warning of its own
		s += fmt.Sprintf("; the source gave %d and has more", e.out.Count)
	}
	return s + "."
}

// count is a summary of a result that came without one.
func count(out summarise.Out) string {
	p := out.Preview
	switch {
	case p.Returned == nil:
		return ""
	case p.Total != nil && *p.Total != *p.Returned:
		return fmt.Sprintf("%d of %d items.", *p.Returned, *p.Total)
	case p.Total == nil && p.Completeness == chat.Incomplete:
		return fmt.Sprintf("%d items, and there are more.", *p.Returned)
	}
	return fmt.Sprintf("%d items.", *p.Returned)
}

func stored(a *chat.Artifact) string {
	what := fmt.Sprintf("%d bytes of %s", a.SizeBytes, a.Format)
	if a.Rows != nil {
		what = fmt.Sprintf("%d rows", *a.Rows)
	}
	s := "Stored: " + what
	if a.Coverage == chat.CoveragePrefix {
		s += " (not all that there is)"
	}
	if a.ExpiresAt != nil {
		s += " until " + a.ExpiresAt.UTC().Format(time.RFC3339)
	}
	if a.Format == chat.FormatBinary {
		return s + ", for download only."
	}
	return s + fmt.Sprintf(". Read it with %s{\"artifact_id\":%q}, or pass _artifact_uri as the argument <name>_uri of another tool.", ReadArtifact, a.ID)
}

func reason(decision string) string {
	switch decision {
	case chat.ArtifactDenied:
		return "it is too large, or the quota is used up."
	case chat.ArtifactCancelled:
		return "the run was cancelled."
	case chat.ArtifactSkipped:
		return "that is switched off."
	}
	return "the store did not work."
}
