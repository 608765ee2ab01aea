package supersettools

import (
	"context"
	"slices"
	"strings"

	"agentd/internal/fault"
	"agentd/internal/superset"
)

// A drift is how a dataset differs from what its database has.
type drift struct {
	Added   []string     `json:"added"`
	Removed []string     `json:"removed"`
	Types   []typeChange `json:"type_changed"`
	// NewUnknown says that columns may have come that nobody can name before a refresh.
	NewUnknown bool `json:"added_unknown,omitempty"`
	// Unknown says why the database could not be compared; then the lists are empty and mean nothing.
	Unknown string `json:"unknown,omitempty"`
}

type typeChange struct {
	Column string `json:"column"`
	Before string `json:"dataset"`
	After  string `json:"table"`
}

func (d drift) none() bool { return len(d.Added)+len(d.Removed)+len(d.Types) == 0 }

// driftOf compares the plain columns of a dataset with its table, or with the columns that its SQL gives. Superset
// tells types of tables only.
func driftOf(ctx context.Context, s *superset.Session, d superset.Dataset) (drift, error) {
	out := drift{Added: []string{}, Removed: []string{}, Types: []typeChange{}}
	var real []superset.TableColumn
	if d.Kind == "physical" {
		table, err := s.Table(ctx, d.Database.ID, d.Catalog, d.Schema, d.Name)
		if err != nil {
			return out.because(err, "The table "+d.Name+" does not exist or is hidden from the user.")
		}
		real = table
	} else {
		// The columns of its SQL come with a sample; it asks for all of them, calculated ones too.
		sample, err := s.Samples(ctx, d.ID, 1)
		if fault.KindOf(err) == fault.Invalid {
			return out.oneByOne(ctx, s, d, err)
		}
		if err != nil {
			return out.because(err, "")
		}
		for _, name := range sample.Columns {
			real = append(real, superset.TableColumn{Name: name})
		}
	}
	for _, c := range d.Columns {
		at := slices.IndexFunc(real, func(r superset.TableColumn) bool { return strings.EqualFold(r.Name, c.Name) })
		switch {
		case c.Expression != "":
		case at < 0:
			out.Removed = append(out.Removed, c.Name)
		case real[at].LongType != "" && !sameType(c.Type, real[at]):
			out.Types = append(out.Types, typeChange{c.Name, c.Type, real[at].LongType})
		}
	}
	for _, r := range real {
		if !slices.ContainsFunc(d.Columns, func(c superset.Column) bool { return strings.EqualFold(c.Name, r.Name) }) {
			out.Added = append(out.Added, r.Name)
		}
	}
	return out, nil
}

// oneByOne finds the columns that the SQL of a virtual dataset no longer gives, when asking for all of them failed.
func (d drift) oneByOne(ctx context.Context, s *superset.Session, set superset.Dataset, all error) (drift, error) {
	var names []string
	for _, c := range set.Columns {
		if c.Expression == "" {
			names = append(names, c.Name)
		}
	}
	if len(names) > superset.PageCap {
		return d.because(all, "")
	}
	gone := make([]bool, len(names))
	err := each(ctx, 3, names, func(ctx context.Context, i int, name string) error {
		_, err := s.Try(ctx, set.ID, []string{name}, nil)
		gone[i] = fault.KindOf(err) == fault.Invalid
		if gone[i] {
			return nil
		}
		return err
	})
	if err != nil {
		return d.because(err, "")
	}
	for i, name := range names {
		if gone[i] {
			d.Removed = append(d.Removed, name)
		}
	}
	if len(d.Removed) == len(names) {
		d.Removed = []string{} // it is the SQL that fails
		return d.because(all, "")
	}
	d.NewUnknown = true
	return d, nil
}

// because keeps a reason why there is nothing to compare; only what is no answer at all stays an error.
func (d drift) because(err error, missing string) (drift, error) {
	switch fault.KindOf(err) {
	case fault.Missing:
		d.Unknown = missing
		if missing == "" {
			d.Unknown = fault.Message(err)
		}
	case fault.Invalid, fault.Denied:
		d.Unknown = fault.Message(err)
	case fault.Internal:
		d.Unknown = "Superset failed while it asked the database, which may be out of reach."
	default:
		return d, err
	}
	return d, nil
}

// sameType compares a column's type as the dataset keeps it with the table's, which comes in a short and a long form.
func sameType(have string, c superset.TableColumn) bool {
	have = plainType(have)
	return have == "" || have == plainType(c.LongType) || have == plainType(c.Type)
}

func plainType(t string) string { return strings.ToUpper(strings.ReplaceAll(t, " ", "")) }
