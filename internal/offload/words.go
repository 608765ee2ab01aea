package offload

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/summarise"
	"agentd/internal/tool"
)

const (
	noticeRoom = 620 // characters that the longest notice takes
	sourceRoom = 200 // of them for what the source left out
)

// framed is what stands around a preview: a sentence before it, warnings and the notice behind it.
type framed struct {
	before, after, notice string
}

// frame takes a sentence, warnings and links into the text, together at most a quarter of it, and the hint whole.
func frame(r tool.Result, limit int) framed {
	var f framed
	room := limit / 4
	f.before = cut(r.Summary, room/2)
	room -= utf8.RuneCountInString(f.before)
	var behind []string
	add := func(line string) {
		if n := utf8.RuneCountInString(line) + 1; n <= room {
			behind = append(behind, line)
			room -= n
		}
	}
	if r.Hint != "" {
		behind = append(behind, r.Hint)
		room -= utf8.RuneCountInString(r.Hint) + 1
	}
	for _, w := range r.Warnings {
		add("Warning: " + w)
	}
	for _, l := range r.Links {
		add("Link: " + l.Title + " " + l.URL)
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

// notice tells the model how much it sees, how to read more, and that repeating the call gives the same. It is
// shorter where there is less room, and the pointer is the last to go. Advice names arguments that the tool has.
func notice(out summarise.Out, a *chat.Artifact, narrowing []string, reading bool, room int) string {
	room-- // its line break
	seen, pointer, how := seen(out), "", ""
	switch {
	case reading:
	case a != nil && a.Decision == chat.ArtifactCreated:
		pointer = "_artifact_uri: " + URI(a.ID)
		how = stored(a)
		if out.Cut {
			how += " Repeating this call gives the same cut."
		}
	case a != nil && out.Cut:
		how = "The whole was not stored: " + reason(a.Decision) + " Repeating this call gives the same cut."
		if len(narrowing) > 0 {
			how += " Ask for less with " + strings.Join(narrowing, ", ") + "."
		}
	}
	for _, s := range []string{join(seen, how, pointer), join(how, pointer), join(seen, pointer), pointer, seen} {
		if s != "" && utf8.RuneCountInString(s) <= room {
			return s
		}
	}
	return ""
}

// seen says how many of how many are shown, where that is not all.
func seen(out summarise.Out) string {
	p := out.Preview
	if p.Completeness != chat.Incomplete || p.Returned == nil {
		return ""
	}
	s := fmt.Sprintf("Shown: %d", *p.Returned)
	if p.Total != nil {
		s += fmt.Sprintf(" of %d", *p.Total)
	}
	for _, by := range p.BoundedBy {
		if by == chat.BoundBySource {
			s += fmt.Sprintf("; the source gave %d and has more", out.Count)
		}
	}
	return s + "."
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
