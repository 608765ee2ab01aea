package summarise

import (
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// top is what is kept of a whole input.
type top struct {
	root    *node  // an object without its main array, or any other value; nil where the input is a list
	main    *node  // the list, or the main array of root
	name    string // key of main in root
	partial bool
	renamed int
}

// sampleTop reads one JSON value and nothing behind it.
func sampleTop(r *clipper, o Options) (*top, error) {
	s := &sampler{d: jsontext.NewDecoder(r, lenient...), clip: r, reserved: o.Reserved}
	t := &top{}
	var err error
	switch s.d.PeekKind() {
	case '[':
		t.main = &node{kind: '['}
		err = s.list(o.Items, o.room(), 0, t.main)
		t.main.measure()
	case '{':
		err = t.object(s, o)
	default:
		t.root, err = s.value(o.room())
	}
	t.renamed = s.renamed
	if err != nil {
		return t, err
	}
	if _, err := s.d.ReadToken(); !errors.Is(err, io.EOF) {
		return &top{}, errors.New("there is more than one value")
	}
	return t, nil
}

// object samples the members of the outermost object and finds its main array: of all its arrays the one
// with the most bytes.
func (t *top) object(s *sampler, o Options) error {
	if _, err := s.d.ReadToken(); err != nil {
		return err
	}
	t.root = &node{kind: '{'}
	held, late := 0, 0
	var largest int64 // bytes of t.main
	for s.d.PeekKind() != '}' {
		name, known, err := s.name()
		if err != nil {
			return err
		}
		t.root.count++
		room := held < 2*keepFactor*o.room()
		switch {
		case known && s.d.PeekKind() == '[':
			n, at := &node{kind: '['}, s.d.InputOffset()
			err = s.list(o.Items, o.room(), o.room()/2, n) // it may turn out to be a small one beside the main one
			n.measure()
			size := s.d.InputOffset() - at
			if err != nil && (t.main == nil || size > largest) {
				t.main, t.name = n, name // the body broke off in it
				return err
			}
			if n.count > 0 && size > largest {
				t.demote(&held, room, o.room()/4)
				t.main, t.name, largest = n, name, size
				t.root.names, t.root.kids = append(t.root.names, name), append(t.root.kids, n)
				break
			}
			switch {
			case room:
				n.trim(o.room() / 2)
				t.root.add(name, n, &held)
			case kept[name] && late < keptLate:
				late++
				n.trim(keptSize)
				t.root.add(name, n, &held)
			}
		case known && room:
			var k *node
			if k, err = s.value(o.room() / 2); err == nil {
				t.root.add(name, k, &held)
			}
		case known && kept[name] && late < keptLate:
			late++
			var k *node
			if k, err = s.small(); err == nil {
				t.root.add(name, k, &held)
			}
		default:
			err = s.skip()
		}
		if err != nil {
			return err
		}
	}
	if _, err := s.d.ReadToken(); err != nil {
		return err
	}
	t.root.measure()
	if t.main == nil {
		return nil
	}
	if !isMain(t.name, largest, s.d.InputOffset()) {
		t.main.trim(o.room() / 2)
		t.main, t.name = nil, ""
		t.root.measure()
		return nil
	}
	t.root = t.root.without(slices.Index(t.root.kids, t.main))
	return nil
}

func (n *node) add(name string, k *node, held *int) {
	n.names, n.kids = append(n.names, name), append(n.kids, k)
	*held += k.size + len(name) + 1
}

// demote makes the largest array so far an ordinary member, with little in it where too much is held already.
func (t *top) demote(held *int, room bool, budget int) {
	if t.main == nil {
		return
	}
	switch {
	case room:
	case kept[t.name]:
		budget = keptSize
	default:
		budget = 0
	}
	t.main.trim(budget)
	*held += t.main.size
}

// trim drops items from the end until at most budget characters are left.
func (n *node) trim(budget int) {
	for n.size > budget && len(n.kids) > 0 {
		n.kids = n.kids[:len(n.kids)-1]
		n.measure()
	}
}

// topOf makes a top of a value that is held whole.
func topOf(n *node) *top {
	switch n.kind {
	case '[':
		return &top{main: n}
	case '{':
		if i := n.mainArray(); i >= 0 {
			return &top{root: n.without(i), main: n.kids[i], name: n.names[i]}
		}
	}
	return &top{root: n}
}
