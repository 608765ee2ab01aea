package offload_test

import (
	"encoding/json"
	"strings"
	"testing"

	"agentd/internal/artifact"
	"agentd/internal/fault"
	"agentd/internal/offload"
	"agentd/internal/tool"
)

// FuzzResolve: whatever a model sends, the arguments come back as they are, or valid with the references gone,
// or refused with a kind that a model can act upon.
func FuzzResolve(f *testing.F) {
	dir, err := artifact.OpenDir(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { dir.Close() })
	store := artifact.New(newIndex(), dir, artifact.Options{})
	gate := offload.New(store, offload.Options{MaxChars: 100})
	id := gate.Bound(f.Context(), call("t"), tool.Result{Data: objects(20)}).Artifact.ID
	refs, err := offload.NewReferences(store, []tool.Tool{plot}, offload.ReferenceOptions{})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		`{"data_uri":"ID"}`, `{"data_uri":["ID","ID"],"data":[1]}`, `{"deep":{"data_uri":"ID#/0/id"}}`, `{"list":[{"data_uri":"ID"},3]}`,
		`{"data":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]}`, `{"data_uri":"agentd+artifact://x/y#z"}`, `{"spec_uri":"ID","spec_uri":"ID"}`, `[`, ``, `{"a":"\ud800"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		c := call("plot")
		c.Args = json.RawMessage(strings.ReplaceAll(args, "ID", offload.URI(id)))
		before := string(c.Args)
		got, err := refs.Resolve(t.Context(), c)
		if string(c.Args) != before {
			t.Error("the call that was given was changed")
		}
		if err != nil {
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%q: %v", before, err)
			}
			return
		}
		if string(got.Args) != before && !json.Valid(got.Args) {
			t.Errorf("%q became %q", before, got.Args)
		}
	})
}
