package supersettools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"agentd/internal/fault"
)

// A metadata is a dashboard's json_metadata. It is written back whole: what is left out is lost, filters too.
type metadata map[string]json.RawMessage

func parseMetadata(text string) (metadata, error) {
	if text == "" || text == "null" {
		return metadata{}, nil
	}
	var m metadata
	if err := json.Unmarshal([]byte(text), &m); err != nil || m == nil {
		return nil, fault.Wrap(fault.Invalid, "The metadata of this dashboard is damaged, so it cannot be changed.", err)
	}
	return m, nil
}

// A nativeFilter is one of the dashboard's own filters.
type nativeFilter struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Type    string `json:"filterType"`
	Targets []struct {
		DatasetID int `json:"datasetId"`
		Column    struct {
			Name string `json:"name"`
		} `json:"column"`
	} `json:"targets"`
}

// filters lists the native filters; a configuration that cannot be read has none.
func (m metadata) filters() []nativeFilter {
	var out []nativeFilter
	if json.Unmarshal(m["native_filter_configuration"], &out) != nil {
		return nil
	}
	return out
}

func (m metadata) refresh() int {
	var n int
	_ = json.Unmarshal(m["refresh_frequency"], &n) // what is no number refreshes never
	return n
}

// forget drops a chart from the members that name charts: an export with a leftover cannot be imported again.
func (m metadata) forget(chart int) {
	key := strconv.Itoa(chart)
	for _, k := range []string{"expanded_slices", "chart_configuration"} {
		var by map[string]json.RawMessage
		if json.Unmarshal(m[k], &by) == nil && by[key] != nil {
			delete(by, key)
			m[k] = object(by)
		}
	}
	var immune []json.RawMessage
	if json.Unmarshal(m["timed_refresh_immune_slices"], &immune) == nil {
		rest := slices.DeleteFunc(immune, func(v json.RawMessage) bool { return string(bytes.TrimSpace(v)) == key })
		if len(rest) < len(immune) {
			m["timed_refresh_immune_slices"] = object(rest)
		}
	}
}
