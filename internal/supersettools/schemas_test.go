package supersettools_test

import (
	"encoding/json"
	"testing"
)

type property struct {
	Type        any                 `json:"type"`
	Description string              `json:"description"`
	Properties  map[string]property `json:"properties"`
	Items       *property           `json:"items"`
	Additional  *bool               `json:"additionalProperties"`
	OneOf       []any               `json:"oneOf"`
	AnyOf       []any               `json:"anyOf"`
	Ref         string              `json:"$ref"`
}

// Schemas hold nothing that one of the providers refuses, and every argument is described.
func TestSchemas(t *testing.T) {
	b := newBench(t, "http://127.0.0.1:1", "admin")
	var walk func(t *testing.T, at string, p property)
	walk = func(t *testing.T, at string, p property) {
		if _, ok := p.Type.(string); !ok || len(p.OneOf)+len(p.AnyOf) > 0 || p.Ref != "" {
			t.Errorf("%s has no single type", at)
		}
		if p.Type == "object" && (p.Additional == nil || *p.Additional || len(p.Properties) == 0) {
			t.Errorf("%s takes anything", at)
		}
		for name, v := range p.Properties {
			if v.Description == "" {
				t.Errorf("%s/%s is not described", at, name)
			}
			walk(t, at+"/"+name, v)
		}
		if p.Items != nil {
			walk(t, at+"/items", *p.Items)
		}
	}
	for _, x := range b.set.All() {
		if x.Unbuilt {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			var p property
			if err := json.Unmarshal(x.Schema, &p); err != nil {
				t.Fatal(err)
			}
			walk(t, "", p)
		})
	}
}

// The dashboard set must stay small: its definitions go with every step of the model.
func TestDashboardSetIsSmall(t *testing.T) {
	b := newBench(t, "http://127.0.0.1:1", "admin")
	n := 0
	for _, x := range b.set.All()[:9] {
		n += len(x.Name) + len(x.Description) + len(x.Schema)
	}
	// 3,000 tokens are about 10,500 characters of such text.
	if n > 10_500 {
		t.Errorf("the nine tools take %d characters", n)
	}
	t.Logf("%d characters", n)
}
