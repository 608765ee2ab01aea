package mocksuperset

import (
	"archive/zip"
	"bytes"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"
)

// bundle is a zip of YAML files on its way out: names without the root folder,
// in the order in which they were added. A name that comes again is dropped.
type bundle struct {
	names []string
	texts map[string]string
}

func (b *bundle) add(name string, v any) {
	if b.texts == nil {
		b.texts = map[string]string{}
	}
	if _, there := b.texts[name]; there {
		return
	}
	text, err := yaml.Marshal(v)
	if err != nil {
		panic("mocksuperset: bundle entry is not YAML: " + err.Error())
	}
	b.names = append(b.names, name)
	b.texts[name] = string(text)
}

// pairs is an object whose keys keep their order in YAML.
type pairs []pair

type pair struct {
	key   string
	value any
}

// MarshalYAML writes the keys in order.
func (p pairs) MarshalYAML() (any, error) {
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, e := range p {
		var key, value yaml.Node
		if err := key.Encode(e.key); err != nil {
			return nil, err
		}
		if err := value.Encode(e.value); err != nil {
			return nil, err
		}
		node.Content = append(node.Content, &key, &value)
	}
	return node, nil
}

// pairsOf gives the named columns of a row in that order.
func pairsOf(r row, names ...string) pairs {
	out := pairs{}
	for _, n := range names {
		out = append(out, pair{n, r[n]})
	}
	return out
}

// zipped packs the bundle under a root folder that carries the time.
func (b *bundle) zipped(kind string, now time.Time) (string, []byte) {
	root := kind + "_export_" + now.Format("20060102T150405")
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range b.names {
		f, err := w.CreateHeader(&zip.FileHeader{Name: root + "/" + name, Method: zip.Deflate, Modified: now})
		if err == nil {
			_, err = f.Write([]byte(b.texts[name]))
		}
		if err != nil {
			panic("mocksuperset: write zip: " + err.Error())
		}
	}
	if err := w.Close(); err != nil {
		panic("mocksuperset: close zip: " + err.Error())
	}
	return root + ".zip", out.Bytes()
}

// fileName makes a name for a file out of a title: letters outside ASCII and
// signs go, blanks become _. With nothing left it is the id.
func fileName(title string, id int, withID bool) string {
	var ascii strings.Builder
	for _, r := range norm.NFKD.String(title) {
		if r < unicode.MaxASCII {
			ascii.WriteRune(r)
		}
	}
	text := strings.ReplaceAll(ascii.String(), "/", " ")
	text = strings.Join(strings.Fields(text), "_")
	text = strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
	text = strings.Trim(text, "._")
	if text == "" {
		return itoa(id)
	}
	if withID {
		return text + "_" + itoa(id)
	}
	return text
}
