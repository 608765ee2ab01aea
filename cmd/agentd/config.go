package main

import (
	"fmt"
)

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Check a configuration and print what is in force, without secrets."`
}

type configCheckCmd struct {
	File string `arg:"" type:"existingfile" help:"YAML file."`
}

// Run prints the effective configuration, or everything that is wrong with it.
func (k configCheckCmd) Run(c *console) error {
	cfg, err := c.load(k.File, false)
	if err != nil {
		return err
	}
	for _, w := range cfg.Warnings {
		fmt.Fprintln(c.err, "agentd: warning:", w)
	}
	b, err := cfg.Redacted()
	if err != nil {
		return err
	}
	_, err = c.out.Write(b)
	return err
}
