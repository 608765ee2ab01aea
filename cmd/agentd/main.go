// Command agentd is the governed agent for Apache Superset: one server, and a few commands for those who run it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"agentd/internal/config"
	"agentd/internal/fault"

	"github.com/alecthomas/kong"
)

// version is set by the build.
var version = ""

// Exit codes.
const (
	exitOK      = 0
	exitFailed  = 1 // it did not work
	exitRefused = 2 // the command line, the configuration or the input cannot be used
)

// cli is the command line. Flags that set a key of the configuration are taken out before it is parsed.
type cli struct {
	Demo         demoCmd    `cmd:"" help:"Three mock Supersets, an offline model and one user. Nothing else is needed."`
	Serve        serveCmd   `cmd:"" help:"Serve as the configuration says."`
	MockSuperset mockCmd    `cmd:"" help:"The mock Superset alone, for integration tests of others."`
	Policy       policyCmd  `cmd:"" help:"Look at a policy of roles."`
	SQL          sqlCmd     `cmd:"" help:"Look at what run_sql lets through."`
	Audit        auditCmd   `cmd:"" help:"Look at the audit."`
	Doctor       doctorCmd  `cmd:"" help:"Look at what is kept."`
	Config       configCmd  `cmd:"" help:"Look at the configuration."`
	Version      versionCmd `cmd:"" help:"Print the version."`
}

// console is where a command reads and writes, and how its flags set keys of the configuration.
type console struct {
	ctx       context.Context
	in        io.Reader
	out, err  io.Writer
	environ   []string
	overrides map[string]string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program but for the process: tests call it.
func run(ctx context.Context, args, environ []string, in io.Reader, out, errw io.Writer) int {
	var overrides map[string]string
	rest := args
	if len(args) > 0 && args[0] != "mock-superset" { // the mock has no configuration, and a --listen of its own
		overrides, rest = config.SplitFlags(args)
	}
	c := &console{ctx: ctx, in: in, out: out, err: errw, environ: environ, overrides: overrides}
	var left *int
	parser, err := kong.New(&cli{}, kong.Name("agentd"), kong.Bind(c), kong.Writers(out, errw),
		kong.Description("The governed agent for Apache Superset. Any key of the configuration is also a flag: --llm.base-url=URL."),
		kong.Exit(func(code int) { left = &code }))
	if err != nil {
		fmt.Fprintln(errw, "agentd:", err)
		return exitFailed
	}
	if len(rest) == 0 {
		rest = []string{"--help"}
	}
	k, err := parser.Parse(rest)
	if left != nil { // help was asked for, and shown
		return *left
	}
	if err != nil {
		fmt.Fprintf(errw, "agentd: %v\nTry: agentd --help\n", err)
		return exitRefused
	}
	return c.exit(k.Run())
}

// exit tells what went wrong, once, and how the process ends.
func (c *console) exit(err error) int {
	if err == nil {
		return exitOK
	}
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind == fault.Internal || e.Kind == "" {
		fmt.Fprintln(c.err, "agentd:", err)
		return exitFailed
	}
	fmt.Fprintln(c.err, "agentd:", e.Msg)
	return exitRefused
}

// load reads the configuration with what the command line says, and tells what was understood with a doubt.
func (c *console) load(file string, demo bool) (config.Config, error) {
	return config.Load(config.Options{File: file, Environ: c.environ, Overrides: c.overrides, Demo: demo})
}

type versionCmd struct{}

// Run prints the version of the build.
func (versionCmd) Run(c *console) error {
	_, err := fmt.Fprintln(c.out, "agentd", buildVersion())
	return err
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" {
		return b.Main.Version
	}
	return "unknown"
}
