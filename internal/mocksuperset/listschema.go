package mocksuperset

import "slices"

var listKeys = []any{"list_columns", "order_columns", "label_columns", "description_columns", "list_title", "none"}

// listFault checks the argument of a list and says the first thing that is
// wrong with it in the words of the schema checker, empty when nothing is.
func listFault(q obj) string {
	for _, name := range []string{"page", "page_size"} {
		if v, there := q[name]; there {
			if _, ok := v.(int); !ok {
				return pyRepr(v) + " is not of type 'integer'"
			}
		}
	}
	if v, there := q["order_column"]; there {
		if _, ok := v.(string); !ok {
			return pyRepr(v) + " is not of type 'string'"
		}
	}
	if v, there := q["order_direction"]; there && v != "asc" && v != "desc" {
		return pyRepr(v) + " is not one of ['asc', 'desc']"
	}
	for _, name := range []string{"keys", "columns", "select_columns", "filters"} {
		v, there := q[name]
		if !there {
			continue
		}
		list, ok := v.([]any)
		if !ok {
			return pyRepr(v) + " is not of type 'array'"
		}
		for _, e := range list {
			if fault := elementFault(name, e); fault != "" {
				return fault
			}
		}
	}
	return ""
}

func elementFault(name string, e any) string {
	switch name {
	case "keys":
		if !slices.Contains(listKeys, e) {
			return pyRepr(e) + " is not one of " + pyRepr(listKeys)
		}
	case "columns", "select_columns":
		if _, ok := e.(string); !ok {
			return pyRepr(e) + " is not of type 'string'"
		}
	case "filters":
		f, ok := e.(obj)
		if !ok {
			return pyRepr(e) + " is not of type 'object'"
		}
		for _, part := range []string{"col", "opr", "value"} {
			v, there := f[part]
			if !there {
				return "'" + part + "' is a required property"
			}
			if _, text := v.(string); part != "value" && !text {
				return pyRepr(v) + " is not of type 'string'"
			}
		}
	}
	return ""
}
