package arch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pkg is a package of the module and what its code, without its tests, imports.
type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module) }

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports", module+"...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(p.ImportPath, "/node_modules/") {
			continue
		}
		touch(t, p)
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("%d packages found, that cannot be all", len(all))
	}
	return all
}

// touch looks at the files of p, so that a result of this test is not taken from the cache after they changed: of what
// the go command reads the cache knows nothing.
func touch(t *testing.T, p pkg) {
	t.Helper()
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		if _, err := os.ReadDir(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	for _, f := range p.GoFiles {
		if _, err := os.Stat(filepath.Join(p.Dir, f)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, broken := range breaks(p) {
			t.Error(broken)
		}
	}
}

// breaks lists the imports of p that break a rule.
func breaks(p pkg) (out []string) {
	say := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	from := family(p.name())
	if from == "" {
		say("%s has no place in the table of layers", p.name())
		return out
	}
	for _, imp := range p.Imports {
		for lib, at := range homes {
			if (imp == lib || strings.HasPrefix(imp, lib+"/")) && !slices.Contains(at, from) {
				say("%s imports %s; only %s may", p.name(), imp, strings.Join(at, ", "))
			}
		}
		if imp == "testing" && !support(p.name()) {
			say("%s imports testing; only packages whose name ends with test may", p.name())
		}
		name, ours := strings.CutPrefix(imp, module)
		if ours && support(name) && !support(p.name()) {
			say("%s imports %s, which is for tests only", p.name(), name)
			continue
		}
		if !ours {
			continue
		}
		to := family(name)
		switch {
		case to == "":
			say("%s imports %s, which has no place in the table of layers", p.name(), name)
		case to == from:
		case layers[to] > layers[from]:
			say("%s (layer %d) imports %s (layer %d); imports go down only", p.name(), layers[from], name, layers[to])
		case layers[to] == layers[from] && !slices.Contains(beside[to], from):
			say("%s imports %s; packages of one layer do not import each other", p.name(), name)
		}
		for _, n := range never {
			if n.from == from && n.to == to {
				say("%s imports %s; %s", p.name(), name, n.why)
			}
		}
	}
	return out
}

// A rule about a name that is not there guards nothing: it was renamed, or it has gone.
func TestNamesExist(t *testing.T) {
	all := packages(t)
	there, used := map[string]bool{}, map[string]bool{}
	for _, p := range all {
		there[family(p.name())] = true
		for _, imp := range p.Imports {
			for lib := range homes {
				if imp == lib || strings.HasPrefix(imp, lib+"/") {
					used[lib] = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(layers)) {
		if !there[name] && !slices.Contains(announced, name) {
			t.Errorf("the table of layers names %s, which is not there", name)
		}
	}
	for _, lib := range slices.Sorted(maps.Keys(homes)) {
		if !used[lib] {
			t.Errorf("the table of homes names %s, which nobody imports", lib)
		}
		for _, h := range homes[lib] {
			if _, ok := layers[h]; !ok {
				t.Errorf("the home %s of %s has no place in the table of layers", h, lib)
			}
		}
	}
	for to, froms := range beside {
		for _, from := range froms {
			if l, ok := layers[from]; !ok || l != layers[to] {
				t.Errorf("%s beside %s: not in one layer", from, to)
			}
		}
	}
	for _, n := range never {
		for _, name := range []string{n.from, n.to} {
			if _, ok := layers[name]; !ok {
				t.Errorf("a forbidden import names %s, which has no place", name)
			}
		}
	}
}

// The test itself finds what it is there to find, and names the import.
func TestBreaksAreFound(t *testing.T) {
	for _, tt := range []struct{ from, imp, want string }{
		{"internal/fault", "agentd/internal/tool", "internal/fault (layer 0) imports internal/tool (layer 1)"},
		{"internal/agent", "agentd/internal/httpapi", "imports go down only"},
		{"internal/retry", "agentd/internal/policy", "packages of one layer"},
		{"internal/httpapi", "agentd/cmd/agentd", "imports go down only"},
		{"internal/agent", "agentd/internal/llm", "internal/agent imports internal/llm; it declares"},
		{"internal/agent", "agentd/internal/llm/offline", "internal/agent imports internal/llm/offline; it declares"},
		{"internal/agent", "github.com/labstack/echo/v4", "only internal/httpapi may"},
		{"cmd/agentd", "database/sql", "only internal/eventlog, internal/durable, internal/mocksuperset may"},
		{"internal/llm/offline", "agentd/internal/tool", "packages of one layer"},
		{"internal/eventlog", "agentd/internal/eventlog/eventlogtest", "for tests only"},
		{"internal/eventlog", "agentd/internal/pgtest", "for tests only"},
		{"internal/eventlog", "testing", "only packages whose name ends with test"},
		{"internal/util", "fmt", "internal/util has no place"},
		{"internal/agent", "agentd/internal/util", "no place"},
	} {
		got := breaks(pkg{ImportPath: module + tt.from, Imports: []string{tt.imp}})
		if len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%s imports %s: %q, want %q", tt.from, tt.imp, got, tt.want)
		}
	}
	for _, fine := range [][2]string{
		{"internal/toolfilter", "agentd/internal/tool"}, {"internal/chat", "agentd/internal/context"}, {"cmd/agentd", "agentd/web"},
		{"internal/llm", "agentd/internal/llm/offline"}, {"internal/eventlog/eventlogtest", "agentd/internal/eventlog"}, {"internal/agent", "fmt"},
		{"internal/httpapi", "github.com/labstack/echo/v4/middleware"}, {"internal/eventlog/eventlogtest", "testing"},
		{"internal/eventlog/eventlogtest", "agentd/internal/pgtest"},
	} {
		if got := breaks(pkg{ImportPath: module + fine[0], Imports: []string{fine[1]}}); len(got) != 0 {
			t.Errorf("%v: %q", fine, got)
		}
	}
}
