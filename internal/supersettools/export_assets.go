package supersettools

import (
	"context"
	"io"
	"time"

	pack "agentd/internal/bundle"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

// migrationTime is how long an operation on whole bundles may take.
const migrationTime = 5 * time.Minute

type exportArgs struct {
	EnvID string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Type  string `json:"type" jsonschema:"enum=dashboard,enum=chart,enum=dataset,description=Kind of the objects"`
	IDs   []int  `json:"ids" jsonschema:"minItems=1,maxItems=20,uniqueItems=true,description=Numbers of the objects"`
}

func exportAssets(d Deps) tool.Tool {
	t := define(d, "export_assets", tool.Read, []string{"can_export on Dashboard"}, nil, func(o op, in exportArgs) (tool.Bound, error) {
		return o.reading(func(ctx context.Context, s *superset.Session) (tool.Result, error) {
			return in.run(ctx, o, s, d.Backups)
		})
	})
	t.Timeout = migrationTime
	return t
}

type exportView struct {
	Type      string        `json:"type"`
	Complete  bool          `json:"complete"`
	Reasons   []string      `json:"reasons,omitempty"` // why it is not complete
	Databases []string      `json:"databases"`         // connections that the objects need, by name
	Objects   []exportedRow `json:"objects"`
	SHA256    string        `json:"sha256"`
	Artifact  string        `json:"artifact_id"`
}

type exportedRow struct {
	Kind  pack.Kind `json:"kind"`
	UUID  string    `json:"uuid"`
	Title string    `json:"title"`
}

func (in exportArgs) run(ctx context.Context, o op, s *superset.Session, to Backups) (tool.Result, error) {
	b, err := export(ctx, s, pack.Kind(in.Type), in.IDs)
	if err != nil {
		return tool.Result{}, err
	}
	defer b.Close()
	v := exportView{Type: in.Type, Complete: true, Databases: []string{}, Objects: []exportedRow{}}
	var r tool.Result
	n := 0
	for _, x := range b.Objects() {
		if x.Kind == pack.Database {
			v.Databases = append(v.Databases, x.Title)
			continue
		}
		if string(x.Kind) == in.Type {
			n++
		}
		v.Objects = append(v.Objects, exportedRow{x.Kind, x.UUID, x.Title})
	}
	for _, f := range b.Check() {
		text := title(f.Title, kind(f.Kind), f.UUID) + ": " + f.Text
		if f.Code == pack.NoChart {
			r.Warnings = append(r.Warnings, text)
			continue
		}
		v.Complete = false
		v.Reasons = append(v.Reasons, text)
	}
	if n != len(in.IDs) {
		v.Complete = false
		v.Reasons = append(v.Reasons, "Superset exported "+count(n, in.Type)+" instead of "+count(len(in.IDs), in.Type)+".")
	}
	what := count(n, in.Type)
	r.Artifact, v.SHA256, err = o.keepBundle(ctx, to, "Export of "+what+" from "+o.env.ID, func(w io.Writer) error {
		return b.Write(ctx, w, pack.Rewrite{Type: b.Type(), Stubs: connections(b)})
	})
	if err != nil {
		return tool.Result{}, err
	}
	v.Artifact = r.Artifact.ID
	r.Summary = "Exported " + what + " with " + count(len(v.Objects)-n, "other object") + "."
	if !v.Complete {
		r.Summary += " The export is not complete."
	}
	r.Warnings = append(r.Warnings, "The file names connections without their addresses: where one does not exist, it must be made by hand before an import.")
	r.Data = object(v)
	return r, nil
}
