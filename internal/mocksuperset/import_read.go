package mocksuperset

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// importKind is one endpoint that takes bundles.
type importKind struct {
	name   string // in messages
	title  string // "Dashboard already exists"
	class  string // type in metadata.yaml
	folder string // of its own objects
	table  string
	field  string // of the form
	kinds  []string
	run    func(*importer) error
}

var importKinds = map[string]importKind{
	"dashboard": {name: "dashboard", title: "Dashboard", class: "Dashboard", folder: "dashboards", table: "dashboards", field: "formData",
		kinds: []string{"charts", "dashboards", "datasets", "databases", "themes"}, run: (*importer).dashboards},
	"chart": {name: "chart", title: "Chart", class: "Slice", folder: "charts", table: "slices", field: "formData",
		kinds: []string{"charts", "datasets", "databases"}, run: (*importer).charts},
	"dataset": {name: "dataset", title: "Dataset", class: "SqlaTable", folder: "datasets", table: "tables", field: "formData",
		kinds: []string{"datasets", "databases"}, run: (*importer).datasets},
	"database": {name: "database", title: "Database", class: "Database", folder: "databases", table: "dbs", field: "formData",
		kinds: []string{"datasets", "databases"}, run: (*importer).databases},
	"assets": {name: "assets", class: "assets", field: "bundle",
		kinds: []string{"charts", "dashboards", "datasets", "databases", "queries"}, run: (*importer).assets},
}

// bundleFile is one file of a bundle that came in; its name is without the root folder.
type bundleFile struct {
	name string
	text string
	kind string
	body obj
}

// fileFault is what is wrong with one file.
type fileFault struct {
	name  string
	fault any
}

func commandError(status int, text, level string, extra obj) answer {
	return problems(status, problem{message: text, kind: "GENERIC_COMMAND_ERROR", level: level, extra: extra, codes: []int{1010}})
}

// importBundle takes a bundle: everything of it is written, or nothing.
func (c *call) importBundle(kind importKind) answer {
	if c.mediaType() != "multipart/form-data" {
		return problems(400, problem{message: "Request MIME type is not 'multipart/form-data'", kind: "INVALID_PAYLOAD_FORMAT_ERROR", codes: []int{1019}})
	}
	form := c.readForm()
	data, there := form.files[kind.field]
	if !there {
		return notCorrect
	}
	passwords := map[string]string{}
	if text := form.texts["passwords"]; text != "" {
		if json.Unmarshal([]byte(text), &passwords) != nil {
			return c.refusal(backend(500, "Expecting value: line 1 column 1 (char 0)"))
		}
	}
	return c.refused(c.importZip(kind, data, form, passwords))
}

// refused shows a refusal as a page to clients that admit HTML.
func (c *call) refused(a answer) answer {
	if a.status >= 400 {
		page := c.refusal(a)
		page.keep = a.keep
		return page
	}
	return a
}

func (c *call) importZip(kind importKind, data []byte, form form, passwords map[string]string) answer {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		switch kind.name {
		case "dashboard":
			return backend(500, "Expecting value: line 1 column 1 (char 0)")
		case "dataset":
			return commandError(422, "Could not find a valid command to import file", "warning", nil)
		}
		return commandError(422, "Not a ZIP file", "warning", nil)
	}
	if len(r.File) == 0 {
		return backend(500, "division by zero")
	}
	files, err := readFiles(r)
	if err != nil {
		return backend(500, err.Error())
	}
	if len(files) == 0 {
		return commandError(400, "No valid import files were found", "warning", nil)
	}
	m := &importer{c: c, kind: kind, files: files, overwrite: form.texts["overwrite"] == "true", sparse: form.texts["sparse"] == "true", passwords: passwords}
	faults, a, good := m.check()
	if !good {
		return a
	}
	if len(faults) > 0 {
		return m.faulty(faults)
	}
	c.write()
	if err := kind.run(m); err != nil {
		return m.failed(err)
	}
	return okMessage()
}

// readFiles reads the YAML files of a bundle in their order.
func readFiles(r *zip.Reader) ([]*bundleFile, error) {
	var out []*bundleFile
	for _, f := range r.File {
		base := path.Base(f.Name)
		ext := strings.ToLower(path.Ext(base))
		if strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || (ext != ".yaml" && ext != ".yml") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		_ = in.Close()
		if err != nil {
			return nil, err
		}
		_, name, found := strings.Cut(f.Name, "/")
		if !found {
			name = "."
		}
		kind, _, _ := strings.Cut(name, "/")
		out = append(out, &bundleFile{name: name, text: string(text), kind: kind})
	}
	return out, nil
}

// errScanner is YAML that cannot even be cut into words: the real one does not catch that.
type errScanner struct{ text string }

func (e *errScanner) Error() string { return e.text }

func readYAML(text string) (any, error) {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		if strings.Contains(err.Error(), "cannot start any token") {
			return nil, &errScanner{"while scanning for the next token\nfound character '\\t' that cannot start any token"}
		}
		return nil, err
	}
	return yamlValue(v), nil
}

func yamlValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = yamlValue(v[k])
		}
		return v
	case map[any]any:
		out := obj{}
		for k, e := range v {
			out[fmt.Sprint(k)] = yamlValue(e)
		}
		return out
	case []any:
		for i := range v {
			v[i] = yamlValue(v[i])
		}
		return v
	case time.Time:
		return v.Format(time.RFC3339)
	case int64:
		return int(v)
	case uint64:
		return float64(v)
	}
	return v
}

// check reads and validates every file that counts. All faults of all files come together.
func (m *importer) check() ([]fileFault, answer, bool) {
	var faults []fileFault
	var metadata *bundleFile
	for _, f := range m.files {
		if f.name == "metadata.yaml" {
			metadata = f
		}
	}
	if metadata == nil {
		return nil, m.otherVersion(), false
	}
	v, err := readYAML(metadata.text)
	if err != nil {
		return []fileFault{{"metadata.yaml", obj{"metadata.yaml": "Not a valid YAML file"}}}, answer{}, true
	}
	head, _ := v.(obj)
	if head["version"] != exportVersion {
		return nil, m.otherVersion(), false
	}
	if _, bad := metadataFile.load(head); bad != nil {
		faults = append(faults, fileFault{"metadata.yaml", bad})
	} else if t, named := head["type"]; named && t != m.kind.class {
		faults = append(faults, fileFault{"metadata.yaml", obj{"type": []any{"Must be equal to " + m.kind.class + "."}}})
	}
	for _, f := range m.files {
		if f.text == "" || !contains(m.kind.kinds, f.kind) || !strings.Contains(f.name, "/") {
			f.kind = ""
			continue
		}
		fault, a, good := m.checkFile(f)
		if !good {
			return nil, a, false
		}
		if fault != nil {
			faults = append(faults, fileFault{f.name, fault})
		}
	}
	return append(faults, m.existing()...), answer{}, true
}

// existing objects of the endpoint's own kind need overwrite. Only uuids are compared, as they are written.
func (m *importer) existing() []fileFault {
	var out []fileFault
	if m.overwrite || m.kind.table == "" {
		return nil
	}
	for _, f := range m.files {
		if f.kind == m.kind.folder && f.body != nil && m.c.st.find(m.kind.table, "uuid", f.body["uuid"]) != nil {
			out = append(out, fileFault{f.name, m.kind.title + " already exists and `overwrite=true` was not passed"})
		}
	}
	return out
}

func (m *importer) checkFile(f *bundleFile) (any, answer, bool) {
	v, err := readYAML(f.text)
	if scanner, isScanner := errors.AsType[*errScanner](err); isScanner {
		return nil, backend(500, scanner.text), false
	}
	if err != nil {
		return obj{f.name: "Not a valid YAML file"}, answer{}, true
	}
	body, isObject := v.(obj)
	if f.kind == "databases" && isObject {
		id, named := body["uuid"]
		if !named {
			return nil, backend(500, "'uuid'"), false
		}
		if tunnel := body["ssh_tunnel"]; tunnel != nil {
			return nil, commandError(400, "SSH Tunneling is not enabled", "warning", nil), false
		}
		if p, given := m.passwords[f.name]; given {
			body["password"] = p
		} else if db := m.c.st.find("dbs", "uuid", id); db != nil {
			body["password"] = storedPassword(db)
		}
		if uri, isText := body["sqlalchemy_uri"].(string); isText && !strings.Contains(uri, "://") {
			return nil, commandError(422, "Database parameters are invalid.", "warning", nil), false
		}
	}
	if !isObject {
		return obj{"_schema": []any{"Invalid input type."}}, answer{}, true
	}
	if _, bad := importSchemas[f.kind].load(body); bad != nil {
		return bad, answer{}, true
	}
	known := f.kind == "databases" && m.c.st.find("dbs", "uuid", body["uuid"]) != nil // keeps what it has, a password or none
	if f.kind == "databases" && !known && strings.Contains(textOr(body["sqlalchemy_uri"], ""), ":"+masked+"@") && body["password"] == nil {
		return obj{"_schema": []any{"Must provide a password for the database"}}, answer{}, true
	}
	f.body = body
	return nil, answer{}, true
}

func (m *importer) otherVersion() answer {
	switch m.kind.name {
	case "dashboard":
		if _, err := parseJSON([]byte(m.files[0].text)); err == nil {
			return backend(500, "'datasources'")
		}
		return backend(500, "Expecting value: line 1 column 1 (char 0)")
	case "assets":
		return commandError(500, "Import failed for an unknown reason", "error", nil)
	}
	return commandError(422, "Could not find a valid command to import file", "warning", nil)
}

func (m *importer) faulty(faults []fileFault) answer {
	if m.kind.name == "assets" {
		return commandError(500, "Import failed for an unknown reason", "error", nil)
	}
	extra, texts := obj{}, []string{}
	for _, f := range faults {
		extra[f.name] = f.fault
		text, isText := f.fault.(string)
		if !isText {
			text = pyRepr(f.fault)
		}
		texts = append(texts, f.name+": "+text)
	}
	return commandError(422, "Error importing "+m.kind.name+": "+strings.Join(texts, "; "), "warning", extra)
}

// failed tells why nothing was written: mostly it is not told.
func (m *importer) failed(err error) answer {
	text := "Import " + m.kind.name + " failed for an unknown reason"
	if refusal, isRefusal := errors.AsType[*errImport](err); isRefusal {
		text = refusal.text
	}
	if m.kind.name == "assets" {
		text = "Import failed for an unknown reason"
	}
	a := commandError(500, text, "error", nil)
	if m.kept != nil {
		m.c.st, a.keep = m.kept, true
	}
	return a
}
