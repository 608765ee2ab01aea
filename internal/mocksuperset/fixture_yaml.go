package mocksuperset

import (
	"fmt"
	"net/http"

	"gopkg.in/yaml.v3"
)

// item is one object of a fixture file with the lines of its fields.
type item struct {
	section string
	line    int
	fields  obj
	lines   map[string]int
}

func (i item) fail(field, text string) error {
	line := i.line
	if n, known := i.lines[field]; known {
		line = n
	}
	return fmt.Errorf("fixture: line %d: %s: %s", line, i.section, text)
}

func (i item) text(name string) string { return textOr(i.fields[name], "") }

// texts are the names in a list.
func (i item) texts(name string) []string {
	var out []string
	for _, e := range asList(i.fields[name]) {
		out = append(out, textOr(e, fmt.Sprint(e)))
	}
	return out
}

// own picks the fields that are columns of the table.
func (i item) own(names ...string) row {
	out := row{}
	for _, n := range names {
		if v, there := i.fields[n]; there {
			out[n] = v
		}
	}
	return out
}

var (
	aText, aFlag, aNumber = field{kind: kindText, null: true}, field{kind: kindBool}, field{kind: kindInt, null: true}
	someTexts, anObject   = listOf(field{kind: kindText}), field{kind: kindDict}
	someObjects           = listOf(field{kind: kindDict})
	needed                = field{kind: kindText, required: true, min: 1}
)

// fixtureSections are the sections with their fields; FIXTURE.md says what they mean.
var fixtureSections = []struct {
	name   string
	fields schema
}{
	{"databases", schema{"database_name": needed, "sqlalchemy_uri": {kind: kindText, check: validURI}, "uuid": {kind: kindUUID}, "allow_dml": aFlag, "allow_ctas": aFlag, "allow_cvas": aFlag,
		"allow_run_async": aFlag, "allow_file_upload": aFlag, "expose_in_sqllab": aFlag, "extra": anObject}},
	{"roles", schema{"name": needed, "like": aText, "permissions": listOf(listOf(field{kind: kindText})), "databases": someTexts, "datasets": someTexts}},
	{"users", schema{"username": needed, "password": aText, "first_name": aText, "last_name": aText, "email": aText, "active": aFlag, "roles": someTexts}},
	{"tags", schema{"name": needed, "description": aText}},
	{"datasets", schema{"table_name": needed, "database": needed, "schema": aText, "sql": aText, "uuid": {kind: kindUUID}, "description": aText, "main_dttm_col": aText,
		"cache_timeout": aNumber, "owners": someTexts, "columns": someObjects, "metrics": someObjects}},
	{"charts", schema{"slice_name": needed, "dataset": aText, "viz_type": aText, "uuid": {kind: kindUUID}, "description": aText, "params": anObject, "query_context": anObject,
		"cache_timeout": aNumber, "owners": someTexts, "certified_by": aText}},
	{"dashboards", schema{"dashboard_title": aText, "uuid": {kind: kindUUID}, "slug": aText, "published": aFlag, "css": aText, "description": aText, "charts": someTexts,
		"position": anObject, "metadata": anObject, "owners": someTexts, "tags": someTexts, "certified_by": aText, "certification_details": aText}},
	{"reports", schema{"name": needed, "type": {kind: kindText, oneOf: []string{"Report", "Alert"}}, "crontab": aText, "active": aFlag, "description": aText, "dashboard": aText,
		"chart": aText, "owners": someTexts}},
}

// applyFixture adds the content of a YAML file to a state. The error names the line.
func (s *Server) applyFixture(content *state, text []byte) (*state, error) {
	items, err := readFixtureFile(text)
	if err != nil {
		return nil, err
	}
	admin := content.find("ab_user", "username", "admin")
	c := &call{s: s, r: &http.Request{}, st: content.fork(), forked: true, user: admin}
	for _, section := range []struct {
		name  string
		apply func(*call, item) error
	}{
		{"databases", (*call).fixtureDatabase}, {"tags", (*call).fixtureTag}, {"users", (*call).fixtureUser}, {"datasets", (*call).fixtureDataset},
		{"roles", (*call).fixtureRole}, {"users", (*call).fixtureUserRoles}, {"charts", (*call).fixtureChart}, {"dashboards", (*call).fixtureDashboard},
		{"reports", (*call).fixtureReport},
	} {
		for _, i := range items[section.name] {
			if err := section.apply(c, i); err != nil {
				return nil, err
			}
		}
	}
	return c.st, nil
}

// readFixtureFile checks the form: sections, fields and their kinds.
func readFixtureFile(text []byte) (map[string][]item, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("fixture: %w", err)
	}
	out := map[string][]item{}
	if len(doc.Content) == 0 {
		return out, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("fixture: line %d: the file is an object of sections", root.Line)
	}
	for n := 0; n+1 < len(root.Content); n += 2 {
		name, list := root.Content[n], root.Content[n+1]
		fields := sectionFields(name.Value)
		if fields == nil {
			return nil, fmt.Errorf("fixture: line %d: there is no section %s", name.Line, name.Value)
		}
		if list.Kind != yaml.SequenceNode {
			return nil, fmt.Errorf("fixture: line %d: %s is a list", list.Line, name.Value)
		}
		for _, node := range list.Content {
			i, err := readItem(name.Value, node, fields)
			if err != nil {
				return nil, err
			}
			out[name.Value] = append(out[name.Value], i)
		}
	}
	return out, nil
}

func sectionFields(name string) schema {
	for _, s := range fixtureSections {
		if s.name == name {
			return s.fields
		}
	}
	return nil
}

func readItem(section string, node *yaml.Node, fields schema) (item, error) {
	i := item{section: section, line: node.Line, fields: obj{}, lines: map[string]int{}}
	if node.Kind != yaml.MappingNode {
		return i, i.fail("", "an entry is an object")
	}
	for n := 0; n+1 < len(node.Content); n += 2 {
		key, value := node.Content[n].Value, node.Content[n+1]
		i.lines[key] = node.Content[n].Line
		f, known := fields[key]
		if !known {
			return i, i.fail(key, "there is no field "+key)
		}
		var v any
		if err := value.Decode(&v); err != nil {
			return i, i.fail(key, err.Error())
		}
		got, fault := f.load(yamlValue(v))
		if fault != nil {
			return i, i.fail(key, key+": "+pyRepr(fault))
		}
		i.fields[key] = got
	}
	for name, f := range fields {
		if _, there := i.fields[name]; f.required && !there {
			return i, i.fail("", name+" is missing")
		}
	}
	return i, nil
}
