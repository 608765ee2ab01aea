package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"agentd/internal/fault"
	"agentd/internal/sqlguard"
)

type sqlCmd struct {
	Check sqlCheckCmd `cmd:"" help:"Judge SQL from standard input as run_sql would."`
}

type sqlCheckCmd struct {
	Dialect string `help:"Backend of the database as Superset names it: postgresql, mysql, sqlite, …"`
	JSONL   bool   `name:"jsonl" help:"Read lines {dialect, sql}, write lines {verdict, rule, reason}."`
}

// judged is a line of the answer.
type judged struct {
	Verdict string `json:"verdict"` // allow, refuse
	Rule    string `json:"rule"`
	Reason  string `json:"reason"`
}

func judge(dialect, sql string) judged {
	v := sqlguard.Judge(dialect, sql, sqlguard.Options{})
	out := judged{Verdict: "refuse", Rule: v.Rule, Reason: v.Reason}
	if v.Allow {
		out.Verdict = "allow"
	}
	return out
}

// maxSQL bounds what is read at once; the guard refuses shorter texts than this already.
const maxSQL = 16 << 20

// Run prints the verdict. A refusal is an answer and no failure: the exit code is 0.
func (s sqlCheckCmd) Run(c *console) error {
	if s.JSONL {
		return s.lines(c)
	}
	if s.Dialect == "" {
		return fault.New(fault.Invalid, "--dialect must name the backend of the database, as postgresql.")
	}
	b, err := io.ReadAll(io.LimitReader(c.in, maxSQL))
	if err != nil {
		return err
	}
	v := judge(s.Dialect, string(b))
	_, err = fmt.Fprintf(c.out, "%s: %s\n%s\n", v.Verdict, v.Rule, v.Reason)
	return err
}

func (s sqlCheckCmd) lines(c *console) error {
	in := bufio.NewScanner(c.in)
	in.Buffer(nil, maxSQL)
	out := json.NewEncoder(c.out)
	out.SetEscapeHTML(false)
	for n := 1; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var q struct{ Dialect, SQL string }
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			return fault.Wrap(fault.Invalid, fmt.Sprintf("Line %d is no JSON object with dialect and sql.", n), err)
		}
		if q.Dialect == "" {
			q.Dialect = s.Dialect
		}
		if err := out.Encode(judge(q.Dialect, q.SQL)); err != nil {
			return err
		}
	}
	return in.Err()
}
