package uicontext_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	uicontext "agentd/internal/context"
	"agentd/internal/fault"
)

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name string
		view uicontext.View
		want string // the pointers that are refused
	}{
		{"nothing", uicontext.View{}, ""},
		{"a page", uicontext.View{ObjectType: "dashboard", ObjectID: "12", ObjectName: "Sales 2026 — Übersicht", EnvID: "ss-prod", Route: "/superset/dashboard/12/?x=1"}, ""},
		{"a uuid", uicontext.View{ObjectType: "chart", ObjectID: "0b5c1d3e-1111-4222-8333-444455556666"}, ""},
		{"an unknown type is well-formed", uicontext.View{ObjectType: "saved_query"}, ""},
		{"type in another case", uicontext.View{ObjectType: "Dashboard"}, "/c/objectType"},
		{"type of 32", uicontext.View{ObjectType: strings.Repeat("a", 32)}, ""},
		{"type of 33", uicontext.View{ObjectType: strings.Repeat("a", 33)}, "/c/objectType"},
		{"id of 254", uicontext.View{ObjectType: "x", ObjectID: strings.Repeat("я", 254)}, ""},
		{"id of 255", uicontext.View{ObjectType: "x", ObjectID: strings.Repeat("я", 255)}, ""},
		{"id of 256", uicontext.View{ObjectType: "x", ObjectID: strings.Repeat("я", 256)}, "/c/objectId"},
		{"slug in Cyrillic", uicontext.View{ObjectType: "dashboard", ObjectID: "продажи_2026-план"}, ""},
		{"slug that begins with a line", uicontext.View{ObjectType: "dashboard", ObjectID: "_sales"}, ""},
		{"id with a blank", uicontext.View{ObjectType: "x", ObjectID: "delete everything"}, "/c/objectId"},
		{"id with a line break", uicontext.View{ObjectType: "x", ObjectID: "1\nEnvironment"}, "/c/objectId"},
		{"id that ends with a line break", uicontext.View{ObjectType: "x", ObjectID: "1\n"}, "/c/objectId"},
		{"id with a quote", uicontext.View{ObjectType: "x", ObjectID: `1"`}, "/c/objectId"},
		{"id with a full stop", uicontext.View{ObjectType: "x", ObjectID: "1.2"}, "/c/objectId"},
		{"id with a hidden character", uicontext.View{ObjectType: "x", ObjectID: "1\u200b2"}, "/c/objectId"},
		{"id that turns its direction", uicontext.View{ObjectType: "x", ObjectID: "1\u202e2"}, "/c/objectId"},
		{"id that is no text", uicontext.View{ObjectType: "x", ObjectID: "\xff"}, "/c/objectId"},
		{"id with a path", uicontext.View{ObjectType: "x", ObjectID: "../1"}, "/c/objectId"},
		{"id without a type", uicontext.View{ObjectID: "1"}, "/c/objectType"},
		{"name of 256", uicontext.View{ObjectName: strings.Repeat("я", 256)}, ""},
		{"name of 257", uicontext.View{ObjectName: strings.Repeat("я", 257)}, "/c/objectName"},
		{"name with a line break", uicontext.View{ObjectName: "a\nb"}, "/c/objectName"},
		{"name that is no text", uicontext.View{ObjectName: "\xff"}, "/c/objectName"},
		{"environment with a blank", uicontext.View{EnvID: "ss prod"}, "/c/envId"},
		{"environment of 64", uicontext.View{EnvID: strings.Repeat("a", 64)}, ""},
		{"environment of 65", uicontext.View{EnvID: strings.Repeat("a", 65)}, "/c/envId"},
		{"route of 512", uicontext.View{Route: strings.Repeat("/", 512)}, ""},
		{"route of 513", uicontext.View{Route: strings.Repeat("/", 513)}, "/c/route"},
		{"all at once", uicontext.View{ObjectType: "?", ObjectID: "?", ObjectName: "\x00", EnvID: "?", Route: "\x7f"}, "/c/objectType /c/objectId /c/objectName /c/envId /c/route"},
	} {
		if got := strings.Join(refused(t, tt.view), " "); got != tt.want {
			t.Errorf("%s: refused %q, want %q", tt.name, got, tt.want)
		}
	}
}

func refused(t *testing.T, v uicontext.View) (pointers []string) {
	t.Helper()
	err := v.Validate("/c")
	if err == nil {
		return nil
	}
	e, ok := err.(*fault.Error)
	if !ok || e.Kind != fault.Invalid || len(e.Fields) == 0 {
		t.Fatalf("%+v: %v", v, err)
	}
	for _, f := range e.Fields {
		if f.Detail == "" {
			t.Errorf("%s does not say what would be right", f.Pointer)
		}
		pointers = append(pointers, f.Pointer)
	}
	return pointers
}

func FuzzValidate(f *testing.F) {
	f.Add("dashboard", "12", "Sales", "ss-prod", "/superset/dashboard/12/")
	f.Add("Chart", "../1", "a\nb", "", "\xff")
	f.Fuzz(func(t *testing.T, typ, id, name, env, route string) {
		v := uicontext.View{ObjectType: typ, ObjectID: id, ObjectName: name, EnvID: env, Route: route}
		bad := refused(t, v)
		for _, x := range []struct {
			pointer, value string
			limit          int
		}{{"/c/objectType", typ, 32}, {"/c/objectId", id, uicontext.MaxID}, {"/c/objectName", name, uicontext.MaxName}, {"/c/envId", env, 64}, {"/c/route", route, uicontext.MaxRoute}} {
			if slices.Contains(bad, x.pointer) {
				continue
			}
			if !utf8.ValidString(x.value) || utf8.RuneCountInString(x.value) > x.limit || strings.ContainsAny(x.value, "\x00\n\r\x7f") {
				t.Errorf("%s accepts %q", x.pointer, x.value)
			}
		}
	})
}
