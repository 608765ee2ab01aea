package main

import (
	"fmt"

	"agentd/internal/config"
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
	_, log, err := c.openLog(a.File)
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

// openLog opens the log that a configuration names, for a look at it. The caller closes it.
func (c *console) openLog(file string) (config.Config, *eventlog.Log, error) {
	cfg, err := c.load(file, false)
	if err != nil {
		return cfg, nil, err
	}
	log, err := eventlog.Open(c.ctx, eventlog.Options{Dir: cfg.DataDir, URL: cfg.DatabaseURL})
	return cfg, log, err
}
