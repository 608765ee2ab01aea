package bundle

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"agentd/internal/fault"

	"gopkg.in/yaml.v3"
)

// A Connection is the target's, as a bundle must name it.
type Connection struct {
	UUID    string
	Name    string
	Backend string
}

// A Rewrite says how a bundle is written anew. Tags and themes are always left out: they are the target's own. So are
// the files of connections; where an endpoint asks for one, it gets a stub.
type Rewrite struct {
	Type string // of metadata.yaml

	// UUIDs maps uuids of the bundle → the target's, in all files. Nothing else can be taken over after that.
	UUIDs map[string]string

	Slugs   map[string]string // uuid of a dashboard in the bundle → its slug in the target; "" is none
	Schemas map[string]string // schema of the source → of the target; statements are not changed
	Gone    []string          // uuids of charts that are nowhere: the layout does without them

	Keep  func(Object) bool // nil: all objects
	Stubs []Connection      // connections that are named, by the target's uuids, without any address
}

// Write streams the bundle as w says to out. The names of its entries are made of kinds and the new uuids, so that
// an answer that names a file names an object. One entry at a time is in memory.
func (b *Bundle) Write(ctx context.Context, out io.Writer, w Rewrite) error {
	return Merge(ctx, out, w, b)
}

// Merge writes several bundles as one; of an object that several have, the first counts.
func Merge(ctx context.Context, out io.Writer, w Rewrite, bundles ...*Bundle) error {
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, quick())
	put := func(name string, raw []byte) error {
		f, err := z.CreateHeader(&zip.FileHeader{Name: "bundle/" + name, Method: zip.Deflate})
		if err == nil {
			_, err = f.Write(raw)
		}
		return err
	}
	err := put("metadata.yaml", fmt.Appendf(nil, "version: 1.0.0\ntype: %s\ntimestamp: '%s'\n", w.Type, time.Now().UTC().Format(time.RFC3339)))
	for _, c := range w.Stubs {
		if err == nil {
			err = put(Entry(Database, c.UUID), c.stub())
		}
	}
	swap := replacer(w.UUIDs)
	seen := map[string]bool{}
	for _, b := range bundles {
		for _, o := range b.objects {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if o.Kind == Database || seen[o.UUID] || w.Keep != nil && !w.Keep(o) {
				continue
			}
			seen[o.UUID] = true
			var raw []byte
			if raw, err = b.rewrite(o, w, swap); err == nil {
				err = put(Entry(o.Kind, mapped(w.UUIDs, o.UUID)), raw)
			}
		}
	}
	if err != nil {
		return err
	}
	return z.Close()
}

// quick packs fast rather than small, with one compressor for all entries: what is written is sent and forgotten.
func quick() zip.Compressor {
	var f *flate.Writer
	return func(w io.Writer) (io.WriteCloser, error) {
		if f != nil {
			f.Reset(w)
			return f, nil
		}
		var err error
		f, err = flate.NewWriter(w, flate.BestSpeed)
		return f, err
	}
}

// Entry is the name that Write gives to the entry of an object, without the folder of the bundle.
func Entry(k Kind, uuid string) string {
	if k == Dataset {
		return "datasets/of/" + uuid + ".yaml"
	}
	return string(k) + "s/" + uuid + ".yaml"
}

// ParseEntry is the opposite of Entry.
func ParseEntry(name string) (k Kind, uuid string, ok bool) {
	folder, rest, _ := strings.Cut(name, "/")
	uuid, ok = strings.CutSuffix(strings.TrimPrefix(rest, "of/"), ".yaml")
	k, known := folders[folder]
	return k, uuid, ok && known && isUUID(uuid)
}

func mapped(m map[string]string, uuid string) string {
	if v, ok := m[uuid]; ok {
		return v
	}
	return uuid
}

func replacer(uuids map[string]string) *strings.Replacer {
	var pairs []string
	for _, k := range slices.Sorted(maps.Keys(uuids)) {
		pairs = append(pairs, k, uuids[k])
	}
	return strings.NewReplacer(pairs...)
}

// stub names a connection and nothing of its address. Superset does not touch a connection whose uuid exists; if it
// does not, the masked password makes it refuse the bundle.
func (c Connection) stub() []byte {
	b, err := json.Marshal(map[string]any{
		"database_name": c.Name, "uuid": c.UUID, "version": "1.0.0", "extra": map[string]any{},
		"sqlalchemy_uri": c.Backend + "://agentd:XXXXXXXXXX@agentd.invalid/none",
	})
	if err != nil {
		panic("bundle: " + err.Error())
	}
	return b
}

// rewrite is one entry as it is sent.
func (b *Bundle) rewrite(o Object, w Rewrite, swap *strings.Replacer) ([]byte, error) {
	n, err := b.node(o.entry)
	if err != nil {
		return nil, err
	}
	remove(n, "tags")
	switch o.Kind {
	case Dashboard:
		remove(n, "theme_uuid", "theme_id")
		if slug, ok := w.Slugs[o.UUID]; ok {
			set(n, "slug", slug)
		}
		clean(n, w.Gone)
	case Dataset:
		if member(n, "data") != nil {
			remove(n, "data")
		}
		if to, ok := w.Schemas[o.Schema]; ok && o.Schema != "" {
			set(n, "schema", to)
		}
	}
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, fault.Wrap(fault.Internal, "", err)
	}
	return []byte(swap.Replace(text.String())), nil
}

func remove(n *yaml.Node, keys ...string) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); {
		if slices.Contains(keys, n.Content[i].Value) {
			n.Content = slices.Delete(n.Content, i, i+2)
			continue
		}
		i += 2
	}
}

// set gives a field a text; "" becomes null.
func set(n *yaml.Node, key, value string) {
	v := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Style: yaml.DoubleQuotedStyle}
	if value == "" {
		v = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	remove(n, key)
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, v)
}

// clean takes out what an import stumbles over: charts that are nowhere, and settings of charts that the layout does
// not name.
func clean(n *yaml.Node, gone []string) {
	position := member(n, "position")
	var lost []string
	numbers := map[string]bool{}
	each(position, func(key string, v *yaml.Node) {
		if word(member(v, "type")) != "CHART" {
			return
		}
		uuid := strings.ToLower(word(member(member(v, "meta"), "uuid")))
		if !isUUID(uuid) || slices.Contains(gone, uuid) {
			lost = append(lost, key)
			return
		}
		numbers[word(member(member(v, "meta"), "chartId"))] = true
	})
	if len(lost) > 0 {
		remove(position, lost...)
		each(position, func(_ string, v *yaml.Node) {
			drop(member(v, "children"), func(s string) bool { return slices.Contains(lost, s) })
		})
	}
	meta := member(n, "metadata")
	stale := func(s string) bool { return !numbers[s] }
	drop(member(meta, "timed_refresh_immune_slices"), stale)
	for _, k := range []string{"expanded_slices", "chart_configuration"} {
		var keys []string
		each(member(meta, k), func(key string, _ *yaml.Node) {
			if stale(key) {
				keys = append(keys, key)
			}
		})
		remove(member(meta, k), keys...)
	}
}

func drop(n *yaml.Node, bad func(string) bool) {
	if n != nil && n.Kind == yaml.SequenceNode {
		n.Content = slices.DeleteFunc(n.Content, func(c *yaml.Node) bool { return bad(follow(c).Value) })
	}
}
