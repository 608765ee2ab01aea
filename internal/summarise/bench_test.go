package summarise_test

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"agentd/internal/summarise"
)

// BenchmarkArray90MB reports how many times faster a preview is than decoding into any, and than JSON.parse in
// Node on the same file. Each is the best of three, since what else the machine does only ever adds.
func BenchmarkArray90MB(b *testing.B) {
	in, err := io.ReadAll(newRows(90e6))
	if err != nil {
		b.Fatal(err)
	}
	node := parseInNode(b, in)
	mine, std := never, never
	for b.Loop() {
		for range 3 {
			mine = mine.least(taken(func() {
				if out := summarise.Bytes(in, summarise.Options{}); out.Count == 0 {
					b.Fatal("nothing was counted")
				}
			}))
			std = std.least(taken(func() {
				var v any
				if err := json.Unmarshal(in, &v); err != nil {
					b.Fatal(err)
				}
			}))
		}
	}
	b.ReportMetric(0, "ns/op") // of both together, which says nothing
	b.ReportMetric(float64(len(in))/1e6/mine.Wall.Seconds(), "MB/s")
	b.ReportMetric(float64(std.Wall)/float64(mine.Wall), "times-any")
	b.ReportMetric(float64(std.CPU)/float64(mine.CPU), "times-any-cpu")
	if node != never {
		b.ReportMetric(float64(node.Wall)/float64(mine.Wall), "times-node")
		b.ReportMetric(float64(node.CPU)/float64(mine.CPU), "times-node-cpu")
	}
}

// cost is what something took: on the clock, and of processors, which other work on the machine distorts less.
type cost struct{ Wall, CPU time.Duration }

var never = cost{time.Hour, time.Hour}

func (c cost) least(d cost) cost { return cost{min(c.Wall, d.Wall), min(c.CPU, d.CPU)} }

// taken measures f alone: what ran before has been cleaned up.
func taken(f func()) cost {
	cpu := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			panic(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	runtime.GC()
	start, used := time.Now(), cpu()
	f()
	return cost{time.Since(start), cpu() - used}
}

// parse measures JSON.parse alone, without the start of Node and the reading of the file.
const parse = `const text = require('fs').readFileSync(process.argv[1], 'utf8');
const best = { Wall: Infinity, CPU: Infinity };
for (let i = 0; i < 3; i++) {
  const used = process.cpuUsage();
  const start = process.hrtime.bigint();
  if (!Array.isArray(JSON.parse(text))) throw new Error('no array');
  best.Wall = Math.min(best.Wall, Number(process.hrtime.bigint() - start));
  const cpu = process.cpuUsage(used);
  best.CPU = Math.min(best.CPU, 1000 * (cpu.user + cpu.system));
}
console.log(JSON.stringify(best));`

// parseInNode is never where there is no Node.
func parseInNode(b *testing.B, in []byte) cost {
	b.Helper()
	exe, err := exec.LookPath("node")
	if err != nil {
		b.Log("there is no node here: JSON.parse is not measured")
		return never
	}
	file := filepath.Join(b.TempDir(), "array.json")
	if err := os.WriteFile(file, in, 0o600); err != nil {
		b.Fatal(err)
	}
	out, err := exec.CommandContext(b.Context(), exe, "--max-old-space-size=4096", "-e", parse, file).Output()
	if err != nil {
		b.Fatal(err)
	}
	var c cost
	if err := json.Unmarshal(out, &c); err != nil {
		b.Fatal(err)
	}
	return c
}
