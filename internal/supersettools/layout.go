package supersettools

import (
	"encoding/json"
	"slices"
	"strconv"

	"agentd/internal/fault"
)

// A layout is a dashboard's position_json: components by id, each kept as it came but for what is changed.
type layout map[string]json.RawMessage

// A component is the part of a layout's entry that is understood.
type component struct {
	Type     string   `json:"type"`
	Children []string `json:"children"`
	Parents  []string `json:"parents"`
	Meta     struct {
		ChartID     int    `json:"chartId"`
		Name        string `json:"sliceName"`
		Text        string `json:"text"`
		DefaultText string `json:"defaultText"`
	} `json:"meta"`
}

// parseLayout reads position_json; none is an empty layout. What is no object is refused: written back, it would make
// the dashboard unwritable.
func parseLayout(text string) (layout, error) {
	if text == "" || text == "null" {
		return layout{}, nil
	}
	var l layout
	if err := json.Unmarshal([]byte(text), &l); err != nil || l == nil {
		return nil, fault.Wrap(fault.Invalid, "The layout of this dashboard is damaged, so its charts cannot be moved.", err)
	}
	return l, nil
}

// at returns a component; what is none (the version, say) is the zero one.
func (l layout) at(id string) component {
	var c component
	if json.Unmarshal(l[id], &c) != nil {
		return component{}
	}
	return c
}

// A placed chart is one in the layout, with the tab it stands in; "" is none.
type placed struct {
	ID   int
	Name string
	Tab  string
}

// charts lists the charts in the order of the page, each once. Those that hang on nothing are not shown and not listed.
func (l layout) charts() []placed {
	var out []placed
	l.walk(func(_ string, c component, tab string) {
		if c.Type == "CHART" && c.Meta.ChartID > 0 && !slices.ContainsFunc(out, func(p placed) bool { return p.ID == c.Meta.ChartID }) {
			out = append(out, placed{c.Meta.ChartID, c.Meta.Name, tab})
		}
	})
	return out
}

// walk visits each reachable component once, in the order of the page.
func (l layout) walk(visit func(id string, c component, tab string)) {
	seen := map[string]bool{}
	var down func(id, tab string)
	down = func(id, tab string) {
		if seen[id] || l[id] == nil {
			return
		}
		seen[id] = true
		c := l.at(id)
		if c.Type == "TAB" {
			tab = c.Meta.Text
			if tab == "" {
				tab = c.Meta.DefaultText
			}
		}
		visit(id, c, tab)
		for _, child := range c.Children {
			down(child, tab)
		}
	}
	down("ROOT_ID", "")
}

// remove takes a chart out, and the rows and columns that are empty without it.
func (l layout) remove(chart int) error {
	for id := range l {
		if c := l.at(id); c.Type == "CHART" && c.Meta.ChartID == chart {
			if err := l.drop(id); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l layout) drop(id string) error {
	delete(l, id)
	for parent := range l {
		c := l.at(parent)
		i := slices.Index(c.Children, id)
		if i < 0 {
			continue
		}
		rest := slices.Delete(c.Children, i, i+1)
		if len(rest) == 0 && (c.Type == "ROW" || c.Type == "COLUMN") {
			if err := l.drop(parent); err != nil {
				return err
			}
			continue
		}
		if err := l.set(parent, "children", rest); err != nil {
			return err
		}
	}
	return nil
}

// set changes one field of a component and keeps the others.
func (l layout) set(id, field string, v any) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(l[id], &all); err != nil {
		return fault.Wrap(fault.Invalid, "The layout of this dashboard is damaged, so its charts cannot be moved.", err)
	}
	all[field] = object(v)
	l[id] = object(all)
	return nil
}

// add puts a chart into a new row at the end of the page, of its first tab where it has tabs.
func (l layout) add(chart int, uuid, name string) error {
	if l["ROOT_ID"] == nil {
		l["DASHBOARD_VERSION_KEY"] = object("v2")
		l["ROOT_ID"] = object(part{Type: "ROOT", ID: "ROOT_ID", Children: []string{"GRID_ID"}})
		l["GRID_ID"] = object(part{Type: "GRID", ID: "GRID_ID", Children: []string{}, Parents: []string{"ROOT_ID"}})
	}
	home := ""
	l.walk(func(id string, c component, _ string) {
		if home == "" && c.Type == "TAB" {
			home = id
		}
	})
	if home == "" {
		home = "GRID_ID"
	}
	to := l.at(home)
	if to.Type == "" {
		return fault.New(fault.Invalid, "The layout of this dashboard has no place for a chart.")
	}
	row, id := l.free("ROW-agentd-"+strconv.Itoa(chart)), l.free("CHART-agentd-"+strconv.Itoa(chart))
	above := append(slices.Clone(to.Parents), home)
	l[row] = object(part{Type: "ROW", ID: row, Children: []string{id}, Parents: above, Meta: &partMeta{Background: "BACKGROUND_TRANSPARENT"}})
	l[id] = object(part{Type: "CHART", ID: id, Children: []string{}, Parents: append(slices.Clone(above), row),
		Meta: &partMeta{ChartID: chart, UUID: uuid, Name: name, Width: 12, Height: 50}})
	return l.set(home, "children", append(to.Children, row))
}

// free is an id that no component has yet.
func (l layout) free(id string) string {
	for l[id] != nil {
		id += "x"
	}
	return id
}

// A part is a component as it is written.
type part struct {
	Type     string    `json:"type"`
	ID       string    `json:"id"`
	Children []string  `json:"children"`
	Parents  []string  `json:"parents,omitempty"`
	Meta     *partMeta `json:"meta,omitempty"`
}

type partMeta struct {
	ChartID    int    `json:"chartId,omitempty"`
	UUID       string `json:"uuid,omitempty"`
	Name       string `json:"sliceName,omitempty"`
	Width      int    `json:"width,omitempty"`
	Height     int    `json:"height,omitempty"`
	Background string `json:"background,omitempty"`
}
