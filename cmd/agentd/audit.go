package main

import (
	"fmt"

	"agentd/internal/eventlog"
)

type auditCmd struct {
	Verify auditVerifyCmd `cmd:"" help:"Look for gaps and edits in the audit's chain."`
}

type auditVerifyCmd struct {
	File string `name:"config" type:"existingfile" help:"Configuration file."`
}

// Run fails on the first row that is missing or was changed.
func (a auditVerifyCmd) Run(c *console) error {
	cfg, err := c.load(a.File, false)
	if err != nil {
		return err
	}
	log, err := eventlog.Open(c.ctx, eventlog.Options{Dir: cfg.DataDir, URL: cfg.DatabaseURL})
	if err != nil {
		return err
	}
	defer log.Close()
	if err := log.VerifyAudit(c.ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, "The audit is whole.")
	return err
}
