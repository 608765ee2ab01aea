package main

import (
	"fmt"
	"os"

	"agentd/internal/fault"
	"agentd/internal/policy"
	"agentd/internal/toolfilter"
)

type policyCmd struct {
	Lint    policyLintCmd    `cmd:"" help:"Check a policy file."`
	Explain policyExplainCmd `cmd:"" help:"Say what a role may, and by which rule."`
}

type policyLintCmd struct {
	File string `arg:"" type:"existingfile" help:"CSV file."`
}

// Run prints every problem with its line and fails when the policy would be refused.
func (p policyLintCmd) Run(c *console) error {
	b, err := os.ReadFile(p.File)
	if err != nil {
		return fault.Wrap(fault.Invalid, "The policy file cannot be read: "+err.Error()+".", err)
	}
	refused := 0
	for _, problem := range policy.Lint(string(b), operationNames(), nil) {
		fmt.Fprintln(c.out, problem)
		if problem.Refuse {
			refused++
		}
	}
	if refused > 0 {
		return fault.New(fault.Invalid, fmt.Sprintf("%s would be refused: %d lines to mend.", p.File, refused))
	}
	_, err = fmt.Fprintln(c.out, p.File, "can be used.")
	return err
}

type policyExplainCmd struct {
	Role []string `required:"" help:"Role of the user; may be given several times."`
	Tool string   `required:"" help:"Name of a tool."`
	Env  string   `required:"" enum:"prod,staging,dev" help:"Class of the environment: prod, staging or dev."`
	File string   `type:"existingfile" help:"Policy file; default: the built-in policy."`
}

// Run prints the verdict and the rule that fired.
func (p policyExplainCmd) Run(c *console) error {
	pol, err := policy.Open(c.ctx, policy.Options{File: p.File, Tools: operationNames()})
	if err != nil {
		return err
	}
	defer pol.Close()
	e := pol.Explain(p.Role, p.Env, p.Tool)
	verdict := "denied"
	if e.Allowed {
		verdict = "allowed"
	}
	_, err = fmt.Fprintf(c.out, "%s: %s\n%s\n", verdict, e.Why, e.Rule)
	return err
}

func operationNames() []string {
	var out []string
	for _, o := range toolfilter.Operations() {
		out = append(out, o.Name)
	}
	return append(out, toolfilter.ReadArtifact)
}
