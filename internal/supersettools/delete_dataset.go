package supersettools

import (
	"context"
	"fmt"
	"strconv"
	"time"

	pack "agentd/internal/bundle"
	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
	"agentd/internal/tool"
)

type deleteDatasetArgs struct {
	EnvID   string `json:"env_id,omitempty" jsonschema:"description=Environment; default: the current one"`
	Dataset string `json:"dataset" jsonschema:"minLength=1,maxLength=2000,description=Id\\, uuid or address"`
}

func deleteDataset(d Deps) tool.Tool {
	t := define(d, "delete_dataset", tool.Dangerous, []string{"can_read on Dataset", "can_write on Dataset"}, []string{"dataset"},
		func(o op, in deleteDatasetArgs) (tool.Bound, error) {
			ref, err := o.ref("/dataset", datasetKind, in.Dataset)
			if err != nil {
				return tool.Bound{}, err
			}
			return o.writing(&datasetDeletion{deletion: deletion{o: o, to: d.Backups}, ref: ref}, "Open the list of datasets in Superset and look whether the dataset is still there."), nil
		})
	t.Timeout = 2 * time.Minute
	return t
}

// A datasetDeletion is one call of delete_dataset.
type datasetDeletion struct {
	deletion
	ref superset.Ref
}

// A doomedDataset is a dataset with all that breaks without it.
type doomedDataset struct {
	d        superset.Dataset
	use      usageView
	warnings []string
	backup
}

func (x *datasetDeletion) look(ctx context.Context, s *superset.Session) (doomedDataset, error) {
	var v doomedDataset
	var err error
	if v.d, err = s.Dataset(ctx, x.ref); err != nil {
		return v, err
	}
	me, err := s.Me(ctx)
	if err != nil {
		return v, err
	}
	if err := mustOwn(me, "dataset", v.d.Name, v.d.Owners); err != nil {
		return v, err
	}
	if v.use, v.warnings, err = usage(ctx, s, v.d.ID); err != nil {
		return v, err
	}
	if n := len(v.use.Charts) + len(v.use.Dashboards); n > 0 && x.o.env.Class != "dev" && x.o.env.Class != "staging" {
		return v, &fault.Error{Kind: fault.Conflict, Code: "in_use",
			Msg: fmt.Sprintf("The dataset “%s” is used by %s and %s. In production a dataset that is used is not deleted; move or delete its charts first.",
				v.d.Name, count(len(v.use.Charts), "chart"), count(len(v.use.Dashboards), "dashboard"))}
	}
	body, err := s.ExportDatasets(ctx, v.d.ID)
	v.backup, err = takeBackup(ctx, pack.Dataset, body, err)
	return v, err
}

func (x *datasetDeletion) preview(ctx context.Context, s *superset.Session) (tool.Preview, error) {
	v, err := x.look(ctx, s)
	if err != nil {
		return tool.Preview{}, err
	}
	defer v.close()
	p := tool.Preview{ConfirmPreview: chat.ConfirmPreview{
		Object: v.d.Name, URL: s.PublicURL(superset.DatasetPath(v.d.ID)), ChangedOn: v.d.ChangedOn.String(), Owners: peopleNames(v.d.Owners),
		Diff: []chat.Change{{Field: "dataset", Before: object(v.d.Name)}}, BlastRadius: []chat.Dependent{},
		Notes: append([]string{"This is permanent: Superset has no bin, and it does not ask what uses the dataset."}, v.warnings...),
	}}
	for _, c := range v.use.Charts {
		p.BlastRadius = append(p.BlastRadius, chat.Dependent{Kind: "chart", ID: strconv.Itoa(c.ID), Title: c.Title, URL: s.PublicURL(superset.ChartPath(c.ID)), Note: "breaks"})
	}
	for _, d := range v.use.Dashboards {
		note := "shows charts that break"
		if d.Via != "chart" {
			note = "its " + d.Via + " breaks"
		}
		p.BlastRadius = append(p.BlastRadius, chat.Dependent{Kind: "dashboard", ID: strconv.Itoa(d.ID), Title: d.Title, URL: s.PublicURL(superset.DashboardPath(d.ID, "")), Note: note})
	}
	p.Notes = append(p.Notes, x.promise(v.backup, "Row-level rules and owners are not in it."))
	p.Fingerprint = fingerprint([]any{v.d, v.use, v.without})
	return p, nil
}

func (x *datasetDeletion) run(ctx context.Context, s *superset.Session) (tool.Result, error) {
	v, err := x.look(ctx, s)
	if err != nil {
		return tool.Result{}, err
	}
	defer v.close()
	r, err := x.secure(ctx, v.d.Name, v.backup)
	if err != nil {
		return tool.Result{}, err
	}
	if err := s.DeleteDataset(ctx, v.d.ID); err != nil {
		return tool.Result{}, err
	}
	_, err = s.Dataset(ctx, superset.Ref{ID: v.d.ID})
	if err := gone("dataset", err); err != nil {
		return tool.Result{}, err
	}
	out := struct {
		Deleted int       `json:"deleted_dataset"`
		Broken  usageView `json:"broken"`
		Backup  string    `json:"backup_artifact,omitempty"`
		Note    string    `json:"note"`
	}{v.d.ID, v.use, "", "permanent: this Superset has no bin"}
	if r.Artifact != nil {
		out.Backup = r.Artifact.ID
	}
	r.Data = object(out)
	r.Summary = fmt.Sprintf("Deleted the dataset “%s”. Broken by it: %s.", v.d.Name, count(len(v.use.Charts), "chart"))
	return r, nil
}

func (x *datasetDeletion) readBack(ctx context.Context, s *superset.Session, _ tool.Preview) (tool.Outcome, error) {
	_, err := s.Dataset(ctx, x.ref)
	return vanished("dataset", err)
}
