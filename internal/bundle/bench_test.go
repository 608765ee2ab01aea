package bundle_test

import (
	"archive/zip"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentd/internal/bundle"
)

// large writes a zip of about size bytes with charts of 1 MB each that do not pack well.
func large(b *testing.B, size int) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "large.zip")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	put := func(name, text string) {
		w, err := z.Create("export/" + name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	m := whole()
	for _, n := range []string{"metadata.yaml", "datasets/Db/sales_3.yaml", "databases/Db.yaml"} {
		put(n, m[n])
	}
	r := rand.NewChaCha8([32]byte{})
	raw := make([]byte, 500)
	for n := 0; n < size>>19; n++ { // hex packs to a half
		var s strings.Builder
		fmt.Fprintf(&s, "slice_name: C\nuuid: c0000000-0000-4000-8000-%012x\nversion: 1.0.0\ndataset_uuid: %s\nparams:\n", n, set)
		for i := 0; s.Len() < 1<<20; i++ {
			_, _ = r.Read(raw) // never fails
			fmt.Fprintf(&s, "  p%d: %s\n", i, hex.EncodeToString(raw))
		}
		put(fmt.Sprintf("charts/C_%d.yaml", n), s.String())
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	return name
}

// peak watches the heap while f runs.
func peak(f func()) uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	base := m.HeapInuse
	var most atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(5 * time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-stop:
				return
			case <-t.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				if m.HeapInuse > base && m.HeapInuse-base > most.Load() {
					most.Store(m.HeapInuse - base)
				}
			}
		}
	}()
	f()
	close(stop)
	<-done
	return most.Load()
}

// BenchmarkBundle reads a bundle and writes it anew. Its heap must not grow with the bundle: the metric peak-MB is about
// the same for 10 MB and for 90 MB.
func BenchmarkBundle(b *testing.B) {
	for _, size := range []int{10 << 20, 90 << 20} {
		b.Run(fmt.Sprintf("%dMB", size>>20), func(b *testing.B) {
			name := large(b, size)
			info, err := os.Stat(name)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			var most uint64
			for b.Loop() {
				most = max(most, peak(func() {
					f, err := os.Open(name)
					if err != nil {
						b.Fatal(err)
					}
					defer f.Close()
					v, err := bundle.Read(b.Context(), f, b.TempDir(), bundle.Limits{})
					if err != nil {
						b.Fatal(err)
					}
					defer v.Close()
					if err := v.Write(b.Context(), io.Discard, bundle.Rewrite{Type: "assets", UUIDs: map[string]string{set: dash}}); err != nil {
						b.Fatal(err)
					}
				}))
			}
			b.ReportMetric(float64(most)/(1<<20), "peak-MB")
			b.ReportMetric(float64(info.Size())/(1<<20), "zip-MB")
		})
	}
}
