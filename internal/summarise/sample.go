package summarise

import (
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// lenient lets pass what a preview can show anyway; the checks would halve the speed.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

const (
	leastBudget = 16 // below it a container is only counted
	keepFactor  = 4  // a container keeps up to this many times its budget, so that the largest can shrink first
	keptLate    = 32 // members with a kept key that are taken although the budget is spent
)

// sampler reads values and keeps a bounded part of each.
type sampler struct {
	d        *jsontext.Decoder
	clip     *clipper // what d reads, where that may be long
	reserved []string
	all      bool // keep everything: the input is known to be small
	within   bool // a value that is kept although the budget is spent
	renamed  int
}

// value keeps about budget characters of the next value and reads over the rest of it.
func (s *sampler) value(budget int) (*node, error) {
	switch k := s.d.PeekKind(); k {
	case '{', '[':
		return s.container(byte(k), budget)
	case '}', ']', 0:
		_, err := s.d.ReadToken()
		if err == nil {
			err = errors.New("a value was expected")
		}
		return nil, err
	}
	v, err := s.d.ReadValue()
	if err != nil {
		return nil, err
	}
	n := &node{kind: byte(v.Kind())}
	if n.kind == '"' {
		n.text = s.unquote(v)
		n.full = int64(utf8.RuneCountInString(n.text))
		if s.clip != nil {
			end := s.d.InputOffset()
			n.full += s.clip.dropped(end-int64(len(v)), end)
		}
		if !s.all && n.full > int64(budget) {
			n.text, n.cut = strings.Clone(firstGraphemes(n.text, budget)), true // a slice would hold the whole
		}
	} else {
		n.text = string(v)
	}
	n.measure()
	return n, nil
}

func (s *sampler) unquote(v jsontext.Value) string {
	b, _ := jsontext.AppendUnquote(nil, v) // its only error here is UTF-8, which valid mends
	return valid(string(b))
}

func (s *sampler) container(kind byte, budget int) (*node, error) {
	if _, err := s.d.ReadToken(); err != nil {
		return nil, err
	}
	n := &node{kind: kind}
	end, held, late := jsontext.Kind(kind+2), 0, 0
	for s.d.PeekKind() != end {
		name, known := "", true
		if kind == '{' {
			var err error
			if name, known, err = s.name(); err != nil {
				return nil, err
			}
		}
		n.count++
		room := s.all || budget >= leastBudget && held < keepFactor*budget
		var k *node
		var err error
		switch {
		case known && room:
			k, err = s.value(max(budget/2, leastBudget-1))
		case known && kept[name] && late < keptLate:
			late++
			k, err = s.small()
		default:
			err = s.skip()
		}
		if err != nil {
			return nil, err
		}
		if k == nil {
			continue
		}
		if kind == '{' {
			n.names = append(n.names, name)
		}
		n.kids = append(n.kids, k)
		held += k.size + len(name) + 1
	}
	_, err := s.d.ReadToken()
	n.measure()
	return n, err
}

// small keeps a little of a value whose key is always kept, although the budget around it is spent. Within it
// nothing else is kept that way, or a nest of such keys would never end.
func (s *sampler) small() (*node, error) {
	if k := s.d.PeekKind(); s.within && (k == '{' || k == '[') {
		return nil, s.skip()
	}
	was := s.within
	s.within = true
	n, err := s.value(keptSize)
	s.within = was
	return n, err
}

// skip reads over the next value: at once where it is not large, since that takes half the time, otherwise
// token by token, so that it is never held.
func (s *sampler) skip() error {
	if s.clip == nil {
		return s.d.SkipValue()
	}
	s.clip.brief = briefMost
	_, err := s.d.ReadValue()
	s.clip.brief = -1
	if errors.Is(err, errLong) {
		return s.d.SkipValue()
	}
	return err
}

// name reads a member's key. known is false for one that is too long to be shown.
func (s *sampler) name() (name string, known bool, err error) {
	v, err := s.d.ReadValue()
	if err != nil {
		return "", false, err
	}
	name = s.unquote(v)
	if slices.Contains(s.reserved, name) {
		name = RenamedPrefix + name
		s.renamed++
	}
	return name, s.all || utf8.RuneCountInString(name) <= longestKey, nil
}

// list reads an array of which the first items are kept, each with a budget of its own, and more of them as
// long as all together take less than more characters.
func (s *sampler) list(items, budget, more int, n *node) error {
	if _, err := s.d.ReadToken(); err != nil {
		return err
	}
	held := 0
	for s.d.PeekKind() != ']' {
		if len(n.kids) < items || held < more {
			k, err := s.value(budget)
			if err != nil {
				return err
			}
			n.kids = append(n.kids, k)
			held += k.size + 1
		} else if err := s.skip(); err != nil {
			return err
		}
		n.count++
	}
	_, err := s.d.ReadToken()
	return err
}

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
