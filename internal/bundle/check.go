package bundle

import (
	"fmt"
	"slices"
)

// A Fault is one reason why a bundle is not whole, or would not be taken as it is.
type Fault struct {
	Kind  Kind
	UUID  string
	Title string
	Code  string
	Text  string // a sentence
}

// The codes of faults.
const (
	NoDataset   = "no_dataset"   // a chart without a dataset, which no import takes
	NoChart     = "no_chart"     // the layout names a chart that is nowhere; rewriting drops it
	NoTarget    = "no_target"    // a filter without its dataset
	NoDatabase  = "no_database"  // a dataset without its connection
	DataAddress = "data_address" // an address that the importing server would fetch
	TwiceUUID   = "twice_uuid"   // two entries with one uuid
	TwiceSlug   = "twice_slug"   // two dashboards with one slug
)

// Check lists what is wrong with the bundle by itself, in the order of its objects. None means that it is complete.
func (b *Bundle) Check() []Fault {
	var out []Fault
	seen := map[string]bool{}
	slugs := map[string]bool{}
	for _, o := range b.objects {
		add := func(f Fault) {
			f.Kind, f.UUID, f.Title = o.Kind, o.UUID, o.Title
			out = append(out, f)
		}
		for _, f := range o.faults {
			add(f)
		}
		if seen[o.UUID] {
			add(Fault{Code: TwiceUUID, Text: "Two files of the export have the uuid " + o.UUID + "."})
		}
		seen[o.UUID] = true
		if o.Slug != "" && slugs[o.Slug] {
			add(Fault{Code: TwiceSlug, Text: fmt.Sprintf("Two dashboards have the slug %q.", o.Slug)})
		}
		slugs[o.Slug] = true
		for _, need := range o.Needs {
			if f, lost := b.lost(o, need); lost {
				add(f)
			}
		}
	}
	return out
}

// lost tells whether what o needs is not in the bundle. Exports bring everything, unless two file names collide.
func (b *Bundle) lost(o Object, need string) (Fault, bool) {
	if slices.ContainsFunc(b.objects, func(v Object) bool { return v.UUID == need }) {
		return Fault{}, false
	}
	switch {
	case o.Kind == Dataset:
		return Fault{Code: NoDatabase, Text: "The connection of the dataset is not in the export: two connections may share a file name."}, true
	case o.Kind == Chart:
		return Fault{Code: NoDataset, Text: "The dataset of the chart is not in the export."}, true
	case slices.Contains(o.Charts, need):
		return Fault{Code: NoChart, Text: "The layout names the chart " + need + ", which is not in the export."}, true
	}
	return Fault{Code: NoTarget, Text: "A filter names the dataset " + need + ", which is not in the export."}, true
}
