package offload

import (
	"bytes"
	"regexp"
)

// logLine is how lines of logs and of stack traces begin.
var logLine = regexp.MustCompile(`(?mi)^\W*(\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(trace|debug|info|notice|warn(ing)?|error|fatal|critical|panic)\b|traceback|caused by|at [\w.$<>]+\(|file "|goroutine \d)`)

// errorStart is how a text begins that is one error; its cause may be one line behind a long statement.
var errorStart = regexp.MustCompile(`(?i)^\W*([\w.]*(error|exception)\b|traceback\b|fatal\b|panic\b)`)

const (
	logHead  = 8 << 10 // bytes that are looked at
	logLines = 3       // lines that make a log
)

// logLike reports whether a text is a log or an error, whose end says more than its middle. b may be JSON
// around the text, in which line breaks and quotes are escaped.
func logLike(b []byte) bool {
	head := b[:min(len(b), logHead)]
	if startsWith(head, '"') {
		head = bytes.ReplaceAll(bytes.ReplaceAll(head, []byte(`\n`), []byte("\n")), []byte(`\"`), []byte(`"`))
	}
	return errorStart.Match(head) || len(logLine.FindAllIndex(head, logLines)) == logLines
}
