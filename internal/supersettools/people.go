package supersettools

import (
	"sort"
	"strings"

	"agentd/internal/chat"
	"agentd/internal/fault"
	"agentd/internal/superset"
)

func peopleNames(people []superset.Person) []string {
	out := []string{}
	for _, p := range people {
		out = append(out, p.Name())
	}
	return out
}

func labelNames(labels []superset.Label) []string {
	out := []string{}
	for _, l := range labels {
		out = append(out, l.Name)
	}
	return out
}

func personIDs(people []superset.Person) []int {
	out := []int{}
	for _, p := range people {
		out = append(out, p.ID)
	}
	sort.Ints(out)
	return out
}

func labelIDs(labels []superset.Label) []int {
	out := []int{}
	for _, l := range labels {
		out = append(out, l.ID)
	}
	sort.Ints(out)
	return out
}

// mustOwn refuses early what Superset would refuse late: only an owner or an Admin may change an object.
func mustOwn(me superset.Me, what, title string, owners []superset.Person) error {
	if me.MayChange(owners) {
		return nil
	}
	whose := "It has no owner."
	if names := peopleNames(owners); len(names) > 0 {
		whose = "Its owners: " + strings.Join(names, ", ") + "."
	}
	return &fault.Error{Kind: fault.Denied, Code: "ownership",
		Msg: "Only an owner or an Admin may change the " + what + " “" + title + "”. " + whose}
}

// sameTime refuses a change of an object that has moved on since the caller looked at it.
func sameTime(what, expected string, now superset.Time) error {
	if expected == "" {
		return nil
	}
	want, ok := superset.ParseTime(expected)
	if !ok {
		return invalid("/expected_changed_on", "must be the date that changed_on had, as 2026-03-30T12:00:00Z")
	}
	if !want.Equal(now.Time) {
		return &fault.Error{Kind: fault.Conflict, Code: "changed",
			Msg: "The " + what + " was changed at " + now.String() + ", after it was looked at. Read it again before changing it."}
	}
	return nil
}

// removalsFirst puts what takes something away before what adds or replaces.
func removalsFirst(changes []chat.Change) []chat.Change {
	sort.SliceStable(changes, func(i, j int) bool { return takesAway(changes[i]) && !takesAway(changes[j]) })
	return changes
}

func takesAway(c chat.Change) bool {
	return len(c.Before) > 0 && (len(c.After) == 0 || string(c.After) == "null" || string(c.After) == `""`)
}

func isMissing(err error) bool { return fault.KindOf(err) == fault.Missing }

// title is how an object without a name is called.
func title(name string, k kind, ref string) string {
	if strings.TrimSpace(name) == "" {
		return string(k) + " " + ref
	}
	return name
}
