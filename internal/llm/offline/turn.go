package offline

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"

	"agentd/internal/chat"
)

// A turn is what the user asked last and what was done about it since.
type turn struct {
	scene
	ask     ask
	w       words
	first   bool // the first message of the conversation
	calls   []chat.ToolCall
	results []chat.ToolResult
}

// next is the next step: at most one search for the object, then the call itself, then the answer.
func (t turn) next() step {
	if len(t.results) == 0 {
		return t.begin()
	}
	last := t.results[len(t.results)-1]
	r := read(last.Content)
	if r.status != "" {
		return step{text: t.w.refused(r)}
	}
	if t.ask.name != "" && last.Tool == "search_"+t.ask.kind+"s" && t.ask.verb != search {
		return t.found(r)
	}
	if last.Tool == "search_dashboards" || last.Tool == "search_datasets" {
		return step{text: t.w.list(r, strings.TrimPrefix(last.Tool, "search_"), t.ask.text)}
	}
	if t.ask.verb == capabilities {
		return step{text: t.w.introduction + "\n\n" + t.w.can(t.tools) + "\n\n" + r.summary}
	}
	return step{text: cmp.Or(t.w.outcome(last.Tool, r), t.w.empty)}
}

// begin is the first step of the turn.
func (t turn) begin() step {
	a := t.ask
	switch a.verb {
	case nothing:
		return step{text: t.w.unclear + "\n\n" + t.w.can(t.tools)}
	case greet:
		return step{text: t.w.introduction + "\n\n" + t.w.can(t.tools)}
	case capabilities:
		if t.offers("show_capabilities") {
			return t.call("show_capabilities", nil)
		}
		return step{text: t.w.introduction + "\n\n" + t.w.can(t.tools)}
	case search:
		args := []arg{{"query", a.text}}
		if a.mine {
			args = append(args, arg{"mine", true})
		}
		if a.published != nil && a.kind == "dashboard" {
			args = append(args, arg{"published", *a.published})
		}
		if a.untouched > 0 && a.kind == "dashboard" {
			args = append(args, arg{"changed_before_days", a.untouched})
		}
		return t.call("search_"+a.kind+"s", args)
	case sql:
		if a.database == "" {
			return step{text: t.w.whichDatabase}
		}
		return t.call("run_sql", []arg{{"database_id", id(a.database)}, {"sql", a.text}})
	case status:
		return t.call("environment_status", nil)
	case applyMigration:
		return t.call("apply_migration", []arg{{"plan_id", a.ref}})
	case rollback:
		return t.call("rollback_migration", []arg{{"migration_id", a.ref}})
	case readArtifact:
		return t.readArtifact()
	}
	if name, _ := t.target(); !t.offers(name) {
		return step{text: t.w.notOffered(name)}
	}
	switch {
	case a.ref != "":
		return t.act(a.ref)
	case a.name == "":
		return step{text: t.w.which(a.kind)}
	}
	finder := "search_" + a.kind + "s"
	if !t.offers(finder) {
		return step{text: t.w.which(a.kind)}
	}
	return t.call(finder, []arg{{"query", a.name}})
}

// found goes on with the one object of the title that was searched for, or says why it does not.
func (t turn) found(r result) step {
	var exact []item
	for _, i := range r.items {
		if strings.EqualFold(strings.TrimSpace(i.title), strings.TrimSpace(t.ask.name)) {
			exact = append(exact, i)
		}
	}
	if len(exact) == 0 && r.total == 1 {
		exact = r.items
	}
	if len(exact) == 1 && exact[0].id != "" {
		return t.act(exact[0].id)
	}
	if len(r.items) == 0 {
		return step{text: t.w.list(r, t.ask.kind+"s", t.ask.name)}
	}
	return step{text: t.w.list(r, t.ask.kind+"s", t.ask.name) + "\n\n" + t.w.which(t.ask.kind)}
}

// target is the tool that does what is asked, and the name of its argument for the object.
func (t turn) target() (tool, object string) {
	kind := cmp.Or(t.ask.kind, "dashboard")
	switch t.ask.verb {
	case get:
		return "get_" + kind, kind
	case check:
		return "check_" + kind, kind
	case refresh:
		return "refresh_" + kind, kind
	case remove:
		return "delete_" + kind, kind
	case inspect:
		return "inspect_chart", "chart"
	case rename, publish, unpublish:
		return "update_" + kind, kind
	case planMigration:
		return "plan_migration", "ids"
	case export:
		return "export_assets", "ids"
	}
	return "", ""
}

// act calls the tool that does what is asked to one object.
func (t turn) act(ref string) step {
	tool, object := t.target()
	a := t.ask
	switch a.verb {
	case rename:
		if a.text == "" {
			return step{text: t.w.whichTitle}
		}
		name := "title"
		if a.kind == "chart" {
			name = "name"
		}
		return t.call(tool, []arg{{object, id(ref)}, {"patch." + name, a.text}})
	case publish, unpublish:
		return t.call(tool, []arg{{object, id(ref)}, {"patch.published", a.verb == publish}})
	case planMigration:
		from := cmp.Or(a.from, t.scene.env)
		if from == "" || a.to == "" {
			return step{text: t.w.whichMigration}
		}
		return t.call(tool, []arg{{"source_env", from}, {"target_env", a.to}, {"type", a.kind}, {"ids", []id{id(ref)}}})
	case export:
		return t.call(tool, []arg{{"type", a.kind}, {"ids", []id{id(ref)}}})
	}
	return t.call(tool, []arg{{object, id(ref)}})
}

func (t turn) offers(tool string) bool {
	_, ok := t.tools[tool]
	return ok
}

// An arg is an argument. A name with a dot stands within an object, where the tool's schema has that object,
// else alone.
type arg struct {
	name  string
	value any
}

// id is an object's number, uuid or slug, which schemas want as a number or as a text.
type id string

// call calls a tool with those of the arguments that say something.
func (t turn) call(tool string, args []arg) step {
	sc, ok := t.tools[tool]
	if !ok {
		return step{text: t.w.notOffered(tool)}
	}
	if _, ok := sc.Properties["env_id"]; ok && t.ask.env != "" {
		args = append(args, arg{"env_id", t.ask.env})
	}
	out := map[string]any{}
	for _, a := range args {
		into, props, name := out, sc.Properties, a.name
		if outer, inner, dotted := strings.Cut(a.name, "."); dotted {
			name = inner
			if p, ok := props[outer]; ok {
				nested := map[string]any{}
				out[outer], into, props = nested, nested, p.Properties
			}
		}
		if a.value == "" {
			continue
		}
		into[name] = props[name].fit(a.value)
	}
	b, err := json.Marshal(out)
	if err != nil { // texts, numbers and truths only
		b = []byte("{}")
	}
	return step{tool: tool, args: b}
}

var number = regexp.MustCompile(`^(?:0|[1-9]\d*)$`)

// fit gives an id the type that the schema wants; other values stay.
func (s schema) fit(v any) any {
	switch v := v.(type) {
	case id:
		wantsText := strings.Contains(string(s.Type), `"string"`)
		if number.MatchString(string(v)) && !wantsText {
			return json.Number(v)
		}
		return string(v)
	case []id:
		var out []any
		for _, x := range v {
			out = append(out, schema{}.fit(x))
		}
		return out
	}
	return v
}

var artifactID = regexp.MustCompile(artifactShape)
var nextCursor = regexp.MustCompile(`"?next_cursor"?\s*[:=]\s*"?([A-Za-z0-9_.=-]+)`)

// readArtifact reads the named artifact, or goes on with the last one that was spoken of.
func (t turn) readArtifact() step {
	args := []arg{{"artifact_id", t.ask.ref}}
	if t.ask.ref == "" {
		if t.lastArtifact == "" {
			return step{text: t.w.noMore}
		}
		args = []arg{{"artifact_id", t.lastArtifact}, {"cursor", t.lastCursor}}
	}
	return t.call("read_artifact", args)
}
