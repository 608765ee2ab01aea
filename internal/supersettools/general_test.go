package supersettools_test

import (
	"slices"
	"testing"

	"agentd/internal/fault"
	"agentd/internal/mocksuperset"
)

func TestGeneralReal(t *testing.T) { general(t, real(t)) }

func TestGeneral(t *testing.T) {
	_, base := mock(t)
	general(t, base)
}

// general is the suite that a real Superset and the mock both pass.
func general(t *testing.T, base string) {
	t.Run("status", func(t *testing.T) { environmentStatus(t, base) })
	t.Run("export", func(t *testing.T) { exportAssets(t, base) })
}

type status struct {
	Up      bool            `json:"up"`
	Version string          `json:"version"`
	User    string          `json:"superset_user"`
	Counts  map[string]*int `json:"counts"`
	DBs     []any           `json:"databases"`
	Drafts  int             `json:"old_drafts_total"`
}

func environmentStatus(t *testing.T, base string) {
	got := data[status](t, newBench(t, base, "admin").mustRun("environment_status", `{}`))
	if !got.Up || got.Version != "6.1.0" || got.User != "admin" || len(got.DBs) != 3 || *got.Counts["dashboards"] != 151 || *got.Counts["charts"] != 89 || *got.Counts["datasets"] != 18 {
		t.Errorf("%+v", got)
	}
	r := newBench(t, base, "noroles")
	if _, err := r.run("environment_status", `{}`); fault.KindOf(err) != fault.Denied {
		t.Errorf("noroles: %v", err)
	}
}

func TestStatusOfADeadEnvironment(t *testing.T) {
	m, base := mock(t)
	m.Fail(mocksuperset.Fault{Path: "*", Times: -1, HTML: true})
	got := data[status](t, newBench(t, base, "admin").mustRun("environment_status", `{}`))
	if got.Up {
		t.Errorf("%+v", got)
	}
}

type exported struct {
	Complete  bool     `json:"complete"`
	SHA256    string   `json:"sha256"`
	Reasons   []string `json:"reasons"`
	Databases []string `json:"databases"`
	Objects   []struct {
		Kind  string `json:"kind"`
		Title string `json:"title"`
	} `json:"objects"`
}

func exportAssets(t *testing.T, base string) {
	b := newBench(t, base, "admin")
	r := b.mustRun("export_assets", `{"type":"dashboard","ids":[1]}`)
	got := data[exported](t, r)
	if !got.Complete || got.SHA256 == "" || len(got.Objects) != 14 || !slices.Equal(got.Databases, []string{"Examples DB"}) || len(b.backups.kept) != 1 || r.Artifact == nil {
		t.Errorf("%s", r.Data)
	}
	if got := data[exported](t, b.mustRun("export_assets", `{"type":"chart","ids":[62]}`)); got.Complete || len(got.Reasons) == 0 {
		t.Errorf("a chart whose dataset is gone: %+v", got)
	}
	if got := data[exported](t, b.mustRun("export_assets", `{"type":"dataset","ids":[1,2]}`)); !got.Complete || len(got.Objects) != 2 {
		t.Errorf("datasets: %+v", got)
	}
	tests := []struct {
		name, user, args string
		kind             fault.Kind
	}{
		{"twice", "admin", `{"type":"chart","ids":[1,1]}`, fault.Invalid},
		{"none", "admin", `{"type":"chart","ids":[]}`, fault.Invalid},
		{"unknown", "admin", `{"type":"dashboard","ids":[1,999999]}`, fault.Missing},
		{"hidden", "gamma", `{"type":"dashboard","ids":[150]}`, fault.Missing},
		{"not allowed", "gamma", `{"type":"dataset","ids":[1]}`, fault.Denied},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, base, tt.user)
			w, err := b.bind("export_assets", tt.args)
			if err == nil {
				_, err = w.Run(t.Context())
			}
			if fault.KindOf(err) != tt.kind {
				t.Errorf("got %v, want %s", err, tt.kind)
			}
		})
	}
}
