package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/llm/offline"

	"github.com/google/go-cmp/cmp"
)

func schema(props string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"env_id":{"type":"string"}` + props + `},"additionalProperties":false}`)
}

// all are the tools of the conversation without a page.
var all = []chat.ToolSpec{
	{Name: "show_capabilities", Schema: schema(``)},
	{Name: "search_dashboards", Schema: schema(`,"query":{"type":"string"},"mine":{"type":"boolean"},"published":{"type":"boolean"}`)},
	{Name: "get_dashboard", Schema: schema(`,"dashboard":{"type":"string"}`)},
	{Name: "check_dashboard", Schema: schema(`,"dashboard":{"type":"string"}`)},
	{Name: "inspect_chart", Schema: schema(`,"chart":{"type":["integer","string"]}`)},
	{Name: "update_dashboard", Schema: schema(`,"dashboard":{"type":"string"},"patch":{"type":"object","properties":{"title":{"type":"string"},"published":{"type":"boolean"}}}`)},
	{Name: "refresh_dashboard", Schema: schema(`,"dashboard":{"type":"string"}`)},
	{Name: "delete_dashboard", Schema: schema(`,"dashboard":{"type":"string"}`)},
	{Name: "search_datasets", Schema: schema(`,"query":{"type":"string"}`)},
	{Name: "get_dataset", Schema: schema(`,"dataset":{"type":"integer"}`)},
	{Name: "check_dataset", Schema: schema(`,"dataset":{"type":"integer"}`)},
	{Name: "delete_dataset", Schema: schema(`,"dataset":{"type":"integer"}`)},
	{Name: "export_assets", Schema: schema(`,"type":{"type":"string"},"ids":{"type":"array","items":{"type":"integer"}}`)},
	{Name: "plan_migration", Schema: json.RawMessage(`{"type":"object","properties":{"source_env":{"type":"string"},"target_env":{"type":"string"},"type":{"type":"string"},"ids":{"type":"array"}}}`)},
	{Name: "apply_migration", Schema: schema(`,"plan_id":{"type":"string"}`)},
	{Name: "environment_status", Schema: schema(``)},
	{Name: "run_sql", Schema: schema(`,"database_id":{"type":"integer"},"sql":{"type":"string"}`)},
	{Name: "read_artifact", Schema: json.RawMessage(`{"type":"object","properties":{"artifact_id":{"type":"string"},"cursor":{"type":"string"}}}`)},
}

const system = "You are agentd.\n\nUser: \"dev\"\nEnvironments: ss-dev (dev), ss-staging (staging), ss-prod (prod)\nEnvironment: ss-dev"

func ask(text string) chat.Prompt {
	return chat.Prompt{System: system, Tools: all, Messages: []chat.Message{chat.UserMessage{ID: "m1", Text: text}}}
}

func generate(t *testing.T, p chat.Prompt) chat.Completion {
	t.Helper()
	var said string
	c, err := offline.Generate(t.Context(), p, func(d chat.Delta) error {
		if n := utf8.RuneCountInString(said); d.Offset != n {
			t.Errorf("delta at %d after %d code points", d.Offset, n)
		}
		said += d.Text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if said != c.Text {
		t.Errorf("deltas %q, text %q", said, c.Text)
	}
	return c
}

func TestOrders(t *testing.T) {
	page := "\nPage: objectType=dashboard objectId=\"7\" env=ss-dev"
	for _, tc := range []struct{ text, page, want string }{
		{"Find dashboards about sales", "", `search_dashboards {"query":"sales"}`},
		{"find sales dashboards", "", `search_dashboards {"query":"sales"}`},
		{"please list all dashboards", "", `search_dashboards {}`},
		{"How many dashboards are there?", "", `search_dashboards {}`},
		{"show my dashboards", "", `search_dashboards {"mine":true}`},
		{"List draft dashboards", "", `search_dashboards {"published":false}`},
		{"Find published dashboards about \"World Bank\" in prod", "", `search_dashboards {"env_id":"ss-prod","published":true,"query":"World Bank"}`},
		{"Search for datasets with orders in ss-staging", "", `search_datasets {"env_id":"ss-staging","query":"orders"}`},
		{"Which datasets are there on production?", "", `search_datasets {"env_id":"ss-prod"}`},
		{"Найди дашборды о продажах", "", `search_dashboards {"query":"продаж"}`},
		{"Найди дашборды про sales на проде", "", `search_dashboards {"env_id":"ss-prod","query":"sales"}`},
		{"Покажи все дашборды", "", `search_dashboards {}`},
		{"покажи мои дашборды", "", `search_dashboards {"mine":true}`},
		{"Сколько датасетов в ss-dev?", "", `search_datasets {"env_id":"ss-dev"}`},
		{"Open dashboard 5", "", `get_dashboard {"dashboard":"5"}`},
		{"show me dashboard #12 in ss-prod", "", `get_dashboard {"dashboard":"12","env_id":"ss-prod"}`},
		{"Describe this dashboard", page, `get_dashboard {"dashboard":"7"}`},
		{"What charts are on this dashboard?", page, `get_dashboard {"dashboard":"7"}`},
		{"open dashboard \"Sales\"", "", `search_dashboards {"query":"Sales"}`},
		{"Открой дашборд 5", "", `get_dashboard {"dashboard":"5"}`},
		{"покажи этот дашборд", page, `get_dashboard {"dashboard":"7"}`},
		{"Show dataset 3", "", `get_dataset {"dataset":3}`},
		{"открой датасет №3", "", `get_dataset {"dataset":3}`},
		{"get dashboard 0198d6a2-5a3b-7c11-9c7e-0a1b2c3d4e5f", "", `get_dashboard {"dashboard":"0198d6a2-5a3b-7c11-9c7e-0a1b2c3d4e5f"}`},
		{"Rename dashboard 4 to Sales 2026", "", `update_dashboard {"dashboard":"4","patch":{"title":"Sales 2026"}}`},
		{"rename this dashboard to \"Q1 to Q2\"", page, `update_dashboard {"dashboard":"7","patch":{"title":"Q1 to Q2"}}`},
		{"Rename \"Sales to go\" to \"Sales\"", "", `search_dashboards {"query":"Sales to go"}`},
		{"Переименуй дашборд 4 в «Продажи 2026»", "", `update_dashboard {"dashboard":"4","patch":{"title":"Продажи 2026"}}`},
		{"Переименуй дашборд 4 на проде в Продажи", "", `update_dashboard {"dashboard":"4","env_id":"ss-prod","patch":{"title":"Продажи"}}`},
		{"rename dashboard 4 in prod to Sales", "", `update_dashboard {"dashboard":"4","env_id":"ss-prod","patch":{"title":"Sales"}}`},
		{"how many charts are on dashboard 1?", "", `get_dashboard {"dashboard":"1"}`},
		{"Who owns this dashboard?", page, `get_dashboard {"dashboard":"7"}`},
		{"Кто владелец дашборда 1?", "", `get_dashboard {"dashboard":"1"}`},
		{"List dashboards not changed for a year", "", `search_dashboards {"changed_before_days":365}`},
		{"find sales dashboards that were not updated in the last 2 months", "", `search_dashboards {"changed_before_days":60,"query":"sales"}`},
		{"Покажи дашборды, которые не менялись 90 дней", "", `search_dashboards {"changed_before_days":90}`},
		{"which datasets does dashboard 3 use", "", `get_dashboard {"dashboard":"3"}`},
		{"Publish dashboard 4", "", `update_dashboard {"dashboard":"4","patch":{"published":true}}`},
		{"unpublish this dashboard", page, `update_dashboard {"dashboard":"7","patch":{"published":false}}`},
		{"Опубликуй дашборд 4", "", `update_dashboard {"dashboard":"4","patch":{"published":true}}`},
		{"сними с публикации дашборд 4", "", `update_dashboard {"dashboard":"4","patch":{"published":false}}`},
		{"Delete dashboard 9 on ss-prod", "", `delete_dashboard {"dashboard":"9","env_id":"ss-prod"}`},
		{"Удали дашборд 9", "", `delete_dashboard {"dashboard":"9"}`},
		{"delete dataset 2", "", `delete_dataset {"dataset":2}`},
		{"Check dashboard 1", "", `check_dashboard {"dashboard":"1"}`},
		{"is this dashboard broken?", page, `check_dashboard {"dashboard":"7"}`},
		{"проверь этот дашборд", page, `check_dashboard {"dashboard":"7"}`},
		{"Refresh dashboard 1", "", `refresh_dashboard {"dashboard":"1"}`},
		{"Inspect chart 77", "", `inspect_chart {"chart":"77"}`},
		{"Run SQL SELECT 1 in database 1", "", `run_sql {"database_id":1,"sql":"SELECT 1"}`},
		{"select count(*) from orders on database 2 in prod", "", `run_sql {"database_id":2,"env_id":"ss-prod","sql":"select count(*) from orders"}`},
		{"Выполни SQL SELECT 9007199254740993 в базе 1", "", `run_sql {"database_id":1,"sql":"SELECT 9007199254740993"}`},
		{"Plan migration of dashboard 1 from dev to prod", "", `plan_migration {"ids":[1],"source_env":"ss-dev","target_env":"ss-prod","type":"dashboard"}`},
		{"migrate this dashboard to staging", page, `plan_migration {"ids":[7],"source_env":"ss-dev","target_env":"ss-staging","type":"dashboard"}`},
		{"Спланируй миграцию дашборда 1 из dev в ss-prod", "", `plan_migration {"ids":[1],"source_env":"ss-dev","target_env":"ss-prod","type":"dashboard"}`},
		{"Перенеси датасет 3 из dev в staging", "", `plan_migration {"ids":[3],"source_env":"ss-dev","target_env":"ss-staging","type":"dataset"}`},
		{"apply plan plan_01ABC", "", `apply_migration {"plan_id":"plan_01ABC"}`},
		{"Export dashboard 1", "", `export_assets {"ids":[1],"type":"dashboard"}`},
		{"What can you do?", "", `show_capabilities {}`},
		{"Что ты умеешь?", "", `show_capabilities {}`},
		{"status", "", `environment_status {}`},
		{"Статус сред", "", `environment_status {}`},
		{"read art_01HZX", "", `read_artifact {"artifact_id":"art_01HZX"}`},
	} {
		t.Run(tc.text, func(t *testing.T) {
			p := ask(tc.text)
			p.System += tc.page
			c := generate(t, p)
			if len(c.Calls) != 1 {
				t.Fatalf("no call; it said %q", c.Text)
			}
			if diff := cmp.Diff(tc.want, c.Calls[0].Name+" "+string(c.Calls[0].Args)); diff != "" {
				t.Errorf("call (-want +got):\n%s", diff)
			}
			if c.Finish != chat.FinishCalls || c.Calls[0].ID == "" {
				t.Errorf("finish %q, id %q", c.Finish, c.Calls[0].ID)
			}
		})
	}
}

func TestWordsWithoutACall(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"Hello!", []string{"offline planner", "Find dashboards about sales"}},
		{"Привет", []string{"офлайн-планировщик", "Найди дашборды о продажах"}},
		{"Tell me a joke", []string{"did not understand", "offline planner", "Open dashboard 1"}},
		{"Расскажи анекдот", []string{"Не понимаю", "офлайн-планировщик", "Открой дашборд 1"}},
		{"Run SQL SELECT 1", []string{"Which database?"}},
		{"rename dashboard 4 ", []string{"new title"}},
		{"migrate dashboard 4", []string{"From which environment"}},
		{"delete dashboard", []string{"Which dashboard?"}},
		{"rollback migration m1", []string{"rollback_migration", "not offered"}},
		{"show more", []string{"no stored result"}},
	} {
		t.Run(tc.text, func(t *testing.T) {
			c := generate(t, ask(tc.text))
			if len(c.Calls) != 0 || c.Finish != chat.FinishStop {
				t.Fatalf("calls %v, finish %q", c.Calls, c.Finish)
			}
			for _, w := range tc.want {
				if !strings.Contains(c.Text, w) {
					t.Errorf("%q is not in %q", w, c.Text)
				}
			}
		})
	}
}

func TestOnlyOfferedToolsAreCalled(t *testing.T) {
	p := ask("Delete dashboard 9")
	p.Tools = all[:3]
	c := generate(t, p)
	if len(c.Calls) != 0 || !strings.Contains(c.Text, "delete_dashboard") || !strings.Contains(c.Text, "not offered") {
		t.Errorf("calls %v, text %q", c.Calls, c.Text)
	}
}

func after(text string, steps ...any) chat.Prompt {
	p := ask(text)
	for i := 0; i < len(steps); i += 2 {
		call := steps[i].(chat.ToolCall)
		p.Messages = append(p.Messages, chat.AssistantMessage{ID: "a", Calls: []chat.ToolCall{call}},
			chat.ToolResult{CallID: call.ID, Tool: call.Name, Content: steps[i+1].(string)})
	}
	return p
}

func call(id, name, args string) chat.ToolCall {
	return chat.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
}

const table = "Found 12 dashboards; these are 1 to 2.\nFound 12 items:\nColumns: [\"id\",\"title\",\"published\",\"url\"]\n" +
	"[1,\"Sales\",true,\"http://s/superset/dashboard/1/\"]\n[2,\"Sales [old]\",false,\"http://s/superset/dashboard/2/\"]\nand 10 more items."

func TestAnswerFromResults(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		call       chat.ToolCall
		content    string
		want       []string
		not        []string
	}{
		{"a table", "Find dashboards about sales", call("c", "search_dashboards", `{}`), table,
			[]string{"I found 12 dashboards for “sales”", "[Sales](http://s/superset/dashboard/1/) (id 1)", "Sales (old)", "draft", "and 10 more", "offline planner"}, nil},
		{"in Russian", "Найди дашборды о продажах", call("c", "search_dashboards", `{}`), table,
			[]string{"Нашлось: 12 дашбордов", "черновик", "ещё 10", "офлайн-планировщик"}, nil},
		{"nothing", "Find dashboards about sales", call("c", "search_dashboards", `{}`), "No dashboard was found.\nFound 0 items:", []string{"I found no dashboards for “sales”."}, nil},
		{"JSON items", "Find datasets", call("c", "search_datasets", `{}`), "Found 1 item:\n{\"id\":9007199254740993,\"table_name\":\"orders\"}", []string{"1 dataset", "orders (id 9007199254740993)"}, nil},
		{"an envelope", "Find datasets", call("c", "search_datasets", `{}`), "{\"ok\":true,\n \"total\":3,\n \"data\":[{\"id\":1,\"name\":\"a\"}]}", []string{"3 datasets", "a (id 1)", "and 2 more"}, nil},
		{"an object", "Open dashboard 1", call("c", "get_dashboard", `{}`), `{"id":1,"title":"Sales","published":true,"charts":[{"id":5,"name":"Trend"},{"id":6,"name":"Map"}]}`,
			[]string{"title: Sales", "published: yes", "2 — Trend (id 5), Map (id 6)"}, nil},
		{"denied", "Delete dashboard 1", call("c", "delete_dashboard", `{}`), `{"status":"denied","message":"The role Gamma may not. It was not executed."}`, []string{"denied and not executed", "The role Gamma may not"}, []string{"Done"}},
		{"rejected", "Delete dashboard 1", call("c", "delete_dashboard", `{}`), `{"status":"rejected","message":"A person decided."}`, []string{"a person said no"}, []string{"Done"}},
		{"unknown", "Rename dashboard 1 to X", call("c", "update_dashboard", `{}`), `{"status":"unknown_write_still_unknown","message":"No answer came."}`, []string{"not known whether", "not repeat"}, []string{"Done"}},
		{"found by reading back", "Rename dashboard 1 to X", call("c", "update_dashboard", `{}`), `{"status":"unknown_write_applied","message":"It is there."}`, []string{"Done. It is there."}, []string{"not known"}},
		{"not there by reading back", "Rename dashboard 1 to X", call("c", "update_dashboard", `{}`), `{"status":"unknown_write_not_applied","message":"It is not there."}`, []string{"It was not executed."}, []string{"Done"}},
		{"an error", "Open dashboard 99", call("c", "get_dashboard", `{}`), `{"error":"boom"}`, []string{"did not work", "boom"}, nil},
		{"a check", "Check dashboard 1", call("c", "check_dashboard", `{}`), "Checked 2 charts.\n" + `{"mode":"static","charts":[{"id":5,"name":"Trend","status":"ok"},{"id":6,"name":"Map","status":"broken","cause":"missing_column"}]}` + "\nWarning: it took long", []string{"Checked 2 charts.", "Map (id 6) — broken: missing\\_column", "it took long"}, []string{"Trend"}},
		{"rejected with a reason", "Delete dashboard 1", call("c", "delete_dashboard", `{}`), `{"status":"rejected","executed":false,"message":"A person decided.","reason":"not today"}`, []string{"a person said no", "not today"}, []string{"Done"}},
		{"what it can do", "What can you do?", call("c", "show_capabilities", `{}`), "dev can use 12 tools here.\n" + `{"user":"dev","tools":[]}`, []string{"offline planner", "Find dashboards about sales", "dev can use 12 tools here."}, nil},
		{"a change with a link", "Rename dashboard 1 to X", call("c", "update_dashboard", `{}`), "Updated.\n{\"changes\":[{\"field\":\"title\",\"before\":\"a\",\"after\":\"X\"},{\"field\":\"slug\",\"after\":null}]}\nLink: Sales board http://s/d/1", []string{"Done. Updated.", "2 — title → X, slug → –", "[Sales board](http://s/d/1)"}, nil},
		{"a change", "Rename dashboard 1 to X", call("c", "update_dashboard", `{}`), "Dashboard 1 is now called X.", []string{"Done. Dashboard 1 is now called X."}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := generate(t, after(tc.text, tc.call, tc.content))
			if len(c.Calls) != 0 {
				t.Fatalf("it called %v", c.Calls)
			}
			for _, w := range tc.want {
				if !strings.Contains(c.Text, w) {
					t.Errorf("%q is not in %q", w, c.Text)
				}
			}
			for _, w := range tc.not {
				if strings.Contains(c.Text, w) {
					t.Errorf("%q is in %q", w, c.Text)
				}
			}
		})
	}
}

func TestByTitle(t *testing.T) {
	const rename = `rename dashboard "Sales" to "Sales 2026"`
	search := call("c1", "search_dashboards", `{"query":"Sales"}`)
	t.Run("one match goes on", func(t *testing.T) {
		c := generate(t, after(rename, search, table))
		want := `update_dashboard {"dashboard":"1","patch":{"title":"Sales 2026"}}`
		if len(c.Calls) != 1 || c.Calls[0].Name+" "+string(c.Calls[0].Args) != want {
			t.Fatalf("got %v and %q, want %s", c.Calls, c.Text, want)
		}
		if c.Calls[0].ID != "offline_2" {
			t.Errorf("id %q is not the next one", c.Calls[0].ID)
		}
		done := generate(t, after(rename, search, table, c.Calls[0], "Renamed."))
		if len(done.Calls) != 0 || !strings.Contains(done.Text, "Done. Renamed.") {
			t.Errorf("after the change: %v %q", done.Calls, done.Text)
		}
	})
	t.Run("several ask", func(t *testing.T) {
		c := generate(t, after(rename, search, strings.ReplaceAll(table, "Sales [old]", "Sales")))
		if len(c.Calls) != 0 || !strings.Contains(c.Text, "Which dashboard?") {
			t.Errorf("got %v and %q", c.Calls, c.Text)
		}
	})
	t.Run("none says so", func(t *testing.T) {
		c := generate(t, after(rename, search, "Found 0 items:"))
		if len(c.Calls) != 0 || !strings.Contains(c.Text, "I found no dashboards") {
			t.Errorf("got %v and %q", c.Calls, c.Text)
		}
	})
}

func TestMoreGoesOnWithTheLastArtifact(t *testing.T) {
	p := after("Find dashboards", call("c", "search_dashboards", `{}`), "Found 900 items:\n_artifact_uri: agentd+artifact:///art_01HZX\nnext_cursor: abc.def")
	p.Messages = append(p.Messages, chat.AssistantMessage{ID: "b", Text: "…"}, chat.UserMessage{ID: "m2", Text: "show more"})
	c := generate(t, p)
	if want := `{"artifact_id":"art_01HZX","cursor":"abc.def"}`; len(c.Calls) != 1 || string(c.Calls[0].Args) != want {
		t.Errorf("got %v %q, want %s", c.Calls, c.Text, want)
	}
}

func TestSignatureIsSaidOnce(t *testing.T) {
	p := after("Find dashboards", call("c", "search_dashboards", `{}`), "Found 0 items:")
	if c := generate(t, p); !strings.Contains(c.Text, "offline planner") {
		t.Errorf("the first answer does not say what it is: %q", c.Text)
	}
	p.Messages = append([]chat.Message{chat.UserMessage{ID: "m0", Text: "Hello"}, chat.AssistantMessage{ID: "a0", Text: "Hi"}}, p.Messages...)
	if c := generate(t, p); strings.Contains(c.Text, "offline planner") {
		t.Errorf("a later answer says it again: %q", c.Text)
	}
}

func TestCanceledAndSinkErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	_, err := offline.Generate(ctx, ask("Hello"), func(chat.Delta) error {
		if n++; n == 2 {
			cancel()
		}
		return nil
	})
	if fault.KindOf(err) != fault.Canceled || !errors.Is(err, context.Canceled) || n != 2 {
		t.Errorf("after %d deltas: %v", n, err)
	}
	boom := errors.New("boom")
	if _, err := offline.Generate(t.Context(), ask("Hello"), func(chat.Delta) error { return boom }); err != boom {
		t.Errorf("got %v, want the sink's own error", err)
	}
}

func FuzzGenerate(f *testing.F) {
	f.Add("Find dashboards about sales", table)
	f.Add("Переименуй дашборд 4 на проде в «Продажи»", `{"status":"denied","message":"x"}`)
	f.Add("rename \"", "{\"data\":[{}],\"total\":1}")
	f.Add("Open dashboard 1", "x\nLink: \nLink: a b\nWarning: \n{\"charts\":[{\"name\":\"a\",\"status\":\"broken\"},[],1,null]}")
	f.Add("select", "Columns: [\"id\"]\n[")
	f.Fuzz(func(t *testing.T, text, content string) {
		for _, p := range []chat.Prompt{ask(text), after(text, call("c", "search_dashboards", `{}`), content), after(text, call("c", "get_dashboard", `{}`), content)} {
			c, err := offline.Generate(context.Background(), p, func(chat.Delta) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Calls) == 0 && c.Text == "" {
				t.Error("it neither says nor does anything")
			}
			for _, k := range c.Calls {
				if !json.Valid(k.Args) {
					t.Errorf("arguments %s", k.Args)
				}
			}
		}
	})
}
