package mocksuperset_test

import (
	"fmt"
	"strings"
	"testing"

	"agentd/internal/mocksuperset"
)

const ownContent = `
roles:
  - name: Product readers
    like: Gamma
    datasets: [products]
users:
  - username: kim
    roles: [Product readers]
  - username: gamma
    first_name: Gabi
databases:
  - database_name: Scratchpad
    sqlalchemy_uri: sqlite://
    allow_dml: true
datasets:
  - table_name: one_row
    database: Scratchpad
    sql: SELECT 1 AS a, 'x' AS b
    owners: [alpha]
charts:
  - slice_name: The one
    dataset: one_row
    viz_type: table
    query_context: {queries: [{columns: [a, b]}]}
dashboards:
  - dashboard_title: One
    slug: one
    published: true
    charts: [The one]
    owners: [alpha]
    tags: [finance]
  - slug: sales-overview
    css: "a {}"
tags:
  - name: fresh
    description: New
reports:
  - name: One a week
    dashboard: one
`

func TestOwnContent(t *testing.T) {
	_, base := serve(t, mocksuperset.Options{Fixture: []byte(ownContent)})
	admin, kim := login(t, base, "admin"), login(t, base, "kim")
	_, body := admin.must("GET", "/api/v1/dashboard/one?q=(columns:!(charts,published,tags,owners))", nil)
	if got := fmt.Sprint(body["result"]); !strings.Contains(got, "charts:[The one]") || !strings.Contains(got, "Alan") {
		t.Errorf("dashboard: %s", got)
	}
	_, body = admin.must("GET", "/api/v1/dashboard/sales-overview?q=(columns:!(css,dashboard_title))", nil)
	if got := fmt.Sprint(body["result"]); got != "map[css:a {} dashboard_title:Sales Overview]" {
		t.Errorf("changed dashboard: %s", got)
	}
	_, body = admin.must("GET", "/api/v1/chart/?q=(filters:!((col:slice_name,opr:eq,value:'The%20one')))", nil)
	id := body["ids"].([]any)[0]
	_, body = admin.must("GET", fmt.Sprintf("/api/v1/chart/%v/data/?type=results", id), nil)
	if got := fmt.Sprint(body); !strings.Contains(got, "data:[map[a:1 b:x]]") {
		t.Errorf("data: %s", got)
	}
	if status, _ := kim.must("GET", "/api/v1/dataset/3", nil); status != 200 {
		t.Errorf("kim may not read products: %d", status)
	}
	if status, _ := kim.must("GET", "/api/v1/dataset/1", nil); status != 404 {
		t.Errorf("kim sees sales_orders: %d", status)
	}
	if status, body := admin.must("DELETE", "/api/v1/dashboard/?q=!(152)", nil); status != 422 {
		t.Errorf("a report hangs on it: %d %v", status, body)
	}
	_, body = login(t, base, "gamma").must("GET", "/api/v1/me/", nil)
	if got := body["result"].(map[string]any)["first_name"]; got != "Gabi" {
		t.Errorf("gamma is called %v", got)
	}
}

func TestWrongContentNamesTheLine(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"section", "users: []\nnonsense: []\n", "line 2: there is no section nonsense"},
		{"field", "users:\n  - username: kim\n    colour: red\n", "line 3: users: there is no field colour"},
		{"kind", "users:\n  - username: kim\n    active: maybe\n", "line 3: users: active:"},
		{"missing", "users:\n  - username: a\n  - password: b\n", "line 3: users: username is missing"},
		{"reference", "dashboards:\n  - slug: a\n    charts: [nowhere]\n", "line 3: dashboards: there is no chart nowhere"},
		{"address", "databases:\n  - database_name: a\n    sqlalchemy_uri: nothing\n", "line 3: databases: sqlalchemy_uri"},
		{"list", "tags: {name: a}\n", "line 1: tags is a list"},
		{"yaml", "tags: [", "fixture: yaml: line 1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := mocksuperset.Load(mocksuperset.Options{Fixture: []byte(row.text)})
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q in it", err, row.want)
			}
		})
	}
	if _, err := mocksuperset.Load(mocksuperset.Options{Name: "moon"}); err == nil {
		t.Error("an unknown name was taken")
	}
}
