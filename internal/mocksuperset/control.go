package mocksuperset

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// serveControl answers /_mock/, which no real Superset has.
func (s *Server) serveControl(w http.ResponseWriter, r *http.Request) {
	rest := strings.TrimPrefix(r.URL.Path, "/_mock/")
	head, tail, _ := strings.Cut(rest, "/")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var a answer
	switch r.Method + " " + head {
	case "GET calls", "GET count":
		a = s.controlCalls(r, head == "count")
	case "POST faults":
		a = s.controlFault(body)
	case "GET faults", "DELETE faults":
		a = s.controlFaults(r.Method, tail)
	case "POST reset":
		s.Reset()
		a = ok(obj{})
	case "PUT objects":
		a = s.controlObject(tail, body)
	case "POST clock":
		a = s.controlClock(body)
	default:
		a = message(404, "The mock has no such control: calls, count, faults, reset, objects, clock.")
	}
	send(w, a)
}

func (s *Server) controlCalls(r *http.Request, onlyCount bool) answer {
	q := r.URL.Query()
	since, err := strconv.Atoi(q.Get("since"))
	if err != nil && q.Get("since") != "" {
		return message(400, "since is a sequence number")
	}
	if onlyCount {
		return ok(obj{"count": count(s.calls.all(), q.Get("method"), q.Get("path"), since, q.Get("committed") == "true")})
	}
	return ok(obj{"calls": chosen(s.calls.all(), q.Get("method"), q.Get("path"), since)})
}

func (s *Server) controlFault(body []byte) answer {
	var f Fault
	if err := json.Unmarshal(body, &f); err != nil {
		return message(400, err.Error())
	}
	id, err := s.faults.add(f)
	if err != nil {
		return message(400, err.Error())
	}
	return reply(201, obj{"id": id})
}

func (s *Server) controlFaults(method, tail string) answer {
	id, err := strconv.Atoi(tail)
	one := tail != ""
	if one && err != nil {
		return message(400, "a fault's id is a number")
	}
	if method == "DELETE" {
		if !one {
			s.faults.clear()
		} else if !s.faults.drop(id) {
			return message(404, "No such fault is left.")
		}
		return ok(obj{})
	}
	left := s.faults.left()
	if !one {
		return ok(obj{"faults": left})
	}
	for _, f := range left {
		if f.ID == id {
			return ok(f)
		}
	}
	return message(404, "No such fault is left.")
}

// objectTables are the types that can be changed behind a client's back, with their tables.
var objectTables = map[string]string{
	"dashboard": "dashboards", "chart": "slices", "dataset": "tables", "database": "dbs", "user": "ab_user", "role": "ab_role",
	"report": "report_schedule", "tag": "tag", "saved_query": "saved_query", "rls": "row_level_security_filters",
	"column": "table_columns", "metric": "sql_metrics", "theme": "themes",
}

// controlObject changes columns of a row as somebody else would have.
func (s *Server) controlObject(tail string, body []byte) answer {
	kind, number, _ := strings.Cut(tail, "/")
	table, known := objectTables[kind]
	if !known {
		return message(404, "Types are: "+strings.Join(slices.Sorted(maps.Keys(objectTables)), ", ")+".")
	}
	id, err := strconv.Atoi(number)
	if err != nil {
		return message(400, "an object's id is a number")
	}
	v, err := parseJSON(body)
	fields, isObject := v.(obj)
	if err != nil || !isObject {
		return message(400, "the body is a JSON object of columns")
	}
	changed, found := s.Change(kind, id, fields)
	if !found {
		return message(404, "There is no "+kind+" "+number+" in "+table+".")
	}
	return ok(obj{"result": changed})
}

// Change changes columns of an object behind everybody's back, as another user
// would: changed_on moves. The columns are those of Superset's metadata tables
// (dashboard_title, position_json, slug …); texts that hold JSON are texts. False
// when there is no such object.
func (s *Server) Change(kind string, id int, columns map[string]any) (map[string]any, bool) {
	s.writing.Lock()
	defer s.writing.Unlock()
	table := objectTables[kind]
	st := s.current.Load().fork()
	if st.get(table, id) == nil {
		return nil, false
	}
	s.clock.tick()
	changes := row{}
	for k, v := range columns {
		changes[k] = v
	}
	if st.get(table, id)["changed_on"] != nil {
		changes["changed_on"] = stored(s.clock.now())
	}
	changes["id"] = id
	out := st.update(table, id, changes)
	s.current.Store(st)
	return out, true
}

func (s *Server) controlClock(body []byte) answer {
	var move struct {
		Seconds float64 `json:"advance_s"`
	}
	if err := json.Unmarshal(body, &move); err != nil {
		return message(400, "advance_s is a number of seconds")
	}
	s.Advance(time.Duration(move.Seconds * float64(time.Second)))
	return ok(obj{"now": s.clock.now().Format(time.RFC3339Nano)})
}
