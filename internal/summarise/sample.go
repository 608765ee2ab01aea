package summarise

import (
	"errors"
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
