// Package policy answers whether a role may use a tool in a class of environments. It is the only home of Casbin.
package policy

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"agentd/internal/fault"
)

//go:embed builtin.csv
var builtin string

// Builtin returns the text of the built-in policy.
func Builtin() string { return builtin }

// Options say where a policy comes from. The zero Options are the built-in policy.
type Options struct {
	File     string       // "" is the built-in policy
	Reload   bool         // watch File
	Tools    []string     // every known tool; others are still judged, by pattern
	Roles    []string     // every known role, for the report of unknown names; nil: not looked at
	MinRules int          // fewer rules than these are refused; 0 is 1
	Logger   *slog.Logger // nil is silence
}

// A Policy is the rules in force. It is safe for several goroutines. Its zero value denies everything.
type Policy struct {
	now  atomic.Pointer[compiled]
	opts Options
	stop func()
}

// Open loads a policy and, with Reload, watches its file until Close or the end of ctx. Its error is Invalid and
// names every line that is refused, or Internal when the file cannot be read.
func Open(ctx context.Context, o Options) (*Policy, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Policy{opts: o}
	text := builtin
	if o.File != "" {
		b, err := os.ReadFile(o.File)
		if err != nil {
			return nil, fault.Wrap(fault.Internal, "The policy file cannot be read.", err)
		}
		text = string(b)
	}
	if err := p.Replace(text); err != nil {
		return nil, err
	}
	if o.File != "" && o.Reload {
		if err := p.watch(ctx); err != nil {
			return nil, fault.Wrap(fault.Internal, "The policy file cannot be watched.", err)
		}
	}
	return p, nil
}

// Replace puts text in force, all of it at once. A text that is refused changes nothing; the error is Invalid
// and names every line. What is only doubtful is logged.
func (p *Policy) Replace(text string) error {
	problems := Lint(text, p.opts.Tools, p.opts.Roles)
	var bad []string
	for _, q := range problems {
		if q.Refuse {
			bad = append(bad, q.String()+".")
		}
	}
	rules, _ := read(text)
	if len(bad) == 0 && len(rules) < p.opts.MinRules {
		bad = append(bad, fmt.Sprintf("The policy has %d rules, at least %d are expected.", len(rules), p.opts.MinRules))
	}
	if len(bad) > 0 {
		return fault.New(fault.Invalid, "The policy is refused. "+strings.Join(bad, " "))
	}
	sum := sha256.Sum256([]byte(text))
	c, err := compile(hex.EncodeToString(sum[:8]), rules, p.opts.Tools)
	if err != nil {
		return fault.Wrap(fault.Internal, "The policy cannot be loaded.", err)
	}
	if p.opts.Logger != nil {
		for _, q := range problems {
			p.opts.Logger.Warn("policy is doubtful", "line", q.Line, "what", q.What)
		}
	}
	p.now.Store(c)
	return nil
}

// Version names the rules in force: the beginning of the SHA-256 of their text.
func (p *Policy) Version() string {
	if c := p.now.Load(); c != nil {
		return c.version
	}
	return ""
}

// Allows reports whether somebody with roles may use tool in class. A deny of any of the roles wins; an unknown
// role, tool or class is not allowed. It looks into maps only.
func (p *Policy) Allows(roles []string, class, tool string) bool {
	c := p.now.Load()
	return c != nil && c.allows(roles, class, tool)
}

// For is Allows with the roles looked up once, of the rules that are in force now. A whole list is asked through it.
func (p *Policy) For(roles []string) func(class, tool string) bool {
	c := p.now.Load()
	if c == nil {
		return func(string, string) bool { return false }
	}
	words := c.words()
	both := make(bits, 2*len(classes)*words)
	may, never := both[:len(both)/2], both[len(both)/2:]
	for _, r := range roles {
		own := c.sets[r]
		if own == nil {
			continue
		}
		for n := range own {
			for w := range words {
				may[n*words+w] |= own[n].allow[w]
				never[n*words+w] |= own[n].deny[w]
			}
		}
	}
	for i := range may {
		may[i] &^= never[i]
	}
	return func(class, tool string) bool {
		i, known := c.index[tool]
		if !known {
			return c.allows(roles, class, tool)
		}
		n := slices.Index(classes, class)
		return n >= 0 && may[n*words:].has(i)
	}
}

// Close ends the watching and waits for it. It may be called twice.
func (p *Policy) Close() {
	if p.stop != nil {
		p.stop()
	}
}
