package jsonschema

import (
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
)

func parse(t testing.TB, text string) trace.Value {
	t.Helper()
	v, err := trace.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPointer(t *testing.T) {
	root := parse(t, `{"a/b":{"~c":[1,{"d":true}]},"":5}`)
	for ref, want := range map[string]string{
		"#": string(root.AppendCanonical(nil)), "#/a~1b/~0c/1/d": "true", "#/": "5",
		"#/a~1b/~0c/2": "", "#/a~1b/~0c/-1": "", "#/nothing": "", "#anchor": "", "other.json#/a": "", "": "",
	} {
		v, ok := Pointer(root, ref)
		if got := string(v.AppendCanonical(nil)); ok != (want != "") || ok && got != want {
			t.Errorf("%q leads to %s, %v", ref, got, ok)
		}
	}
}

func TestResolve(t *testing.T) {
	root := parse(t, `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"string"},"loop":{"$ref":"#/$defs/pool"},"pool":{"$ref":"#/$defs/loop"}}}`)
	for ref, want := range map[string]string{"#/$defs/a": `{"type":"string"}`, "#/$defs/loop": "null", "#/$defs/none": "null"} {
		got := Resolve(root, parse(t, `{"$ref":"`+ref+`"}`))
		if string(got.AppendCanonical(nil)) != want {
			t.Errorf("%s is %s", ref, got.AppendCanonical(nil))
		}
	}
}

// What combines schemas is looked into, and a circle of them ends.
func TestMembers(t *testing.T) {
	root := parse(t, `{"anyOf":[{"$ref":"#"},{"properties":{"x":{"type":"integer"}}}],"allOf":[{"properties":{"x":{"type":"string"}}}],"required":["x",3]}`)
	found := Members(root, "x", root)
	if len(found) < 2 {
		t.Fatalf("the member has %d schemas", len(found))
	}
	if n := len(Alternatives(root, root)); n != MaxAlternatives {
		t.Errorf("a circle gives %d schemas", n)
	}
	if !Requires(root, "x") || Requires(root, "3") {
		t.Error("what is required is read wrongly")
	}
	list := parse(t, `{"oneOf":[{"type":"null"},{"type":"array","items":{"type":"string"}}]}`)
	if e := Elements(list, list); len(e) != 1 || e[0].Member("type").Text != "string" {
		t.Errorf("elements are %v", e)
	}
}

func TestInline(t *testing.T) {
	for _, c := range []struct {
		schema, want string
		whole        bool
	}{
		{
			`{"$defs":{"d":{"type":"string","description":"old"}},"properties":{"a":{"$ref":"#/$defs/d","description":"new"}}}`,
			`{"properties":{"a":{"description":"new","type":"string"}}}`, true,
		},
		// Names of members are the user's, and data is no schema.
		{
			`{"properties":{"definitions":{"type":"string"},"$id":{"type":"string"},"$ref":{"type":"string"}},"enum":[{"$ref":"#/x","definitions":1}]}`,
			`{"enum":[{"$ref":"#/x","definitions":1}],"properties":{"$id":{"type":"string"},"$ref":{"type":"string"},"definitions":{"type":"string"}}}`, true,
		},
		{
			`{"properties":{"self":{"$ref":"#"},"n":{"type":"number"}}}`,
			`{"properties":{"n":{"type":"number"},"self":{"properties":{"n":{"type":"number"},"self":{}}}}}`, false,
		},
		{`{"items":{"$ref":"other.json"}}`, `{"items":{}}`, false},
	} {
		v := parse(t, c.schema)
		got, whole := Inline(v, v)
		if string(got.AppendCanonical(nil)) != c.want || whole != c.whole {
			t.Errorf("%s becomes %s, whole: %v", c.schema, got.AppendCanonical(nil), whole)
		}
	}
}

// Neither width nor depth nor references make much of little.
func TestInlineBounds(t *testing.T) {
	wide := parse(t, `{"properties":{"a":{"enum":[`+strings.Repeat("1,", 50_000)+`1]},"b":{"type":"string"}}}`)
	deep := parse(t, strings.Repeat(`{"items":`, 40)+`{}`+strings.Repeat(`}`, 40))
	many := parse(t, `{"$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/b"},"y":{"$ref":"#/$defs/b"}}},"b":{"properties":{"x":{"$ref":"#/$defs/c"},"y":{"$ref":"#/$defs/c"}}},"c":{"properties":{`+
		strings.TrimSuffix(strings.Repeat(`"n":{"type":"string"},`, 1), ",")+`}}},"allOf":[`+strings.TrimSuffix(strings.Repeat(`{"$ref":"#/$defs/a"},`, 300), ",")+`]}`)
	for name, v := range map[string]trace.Value{"wide": wide, "deep": deep, "many": many} {
		got, whole := Inline(v, v)
		if whole || len(got.AppendCanonical(nil)) > 200_000 {
			t.Errorf("%s: %d bytes, whole: %v", name, len(got.AppendCanonical(nil)), whole)
		}
	}
}

// TestFollow: what a walk came from is not entered again, and a chain of references ends.
func TestFollow(t *testing.T) {
	root := parse(t, `{"a":{"$ref":"#/b"},"b":{"$ref":"#/c"},"c":{"type":"string"},"loop":{"$ref":"#/loop"}}`)
	ref := func(to string) trace.Value {
		return trace.NewObject(trace.Member{Name: "$ref", Value: trace.NewString(to)})
	}
	got, passed := Follow(root, ref("#/a"), nil)
	if kind, _ := got.Lookup("type"); kind.Text != "string" || !slices.Equal(passed, []string{"#/a", "#/b", "#/c"}) {
		t.Errorf("%v by %v", got, passed)
	}
	if again, _ := Follow(root, ref("#/b"), passed); again.Kind != trace.Null {
		t.Errorf("what was passed is entered again: %v", again)
	}
	for _, to := range []string{"#/loop", "#/nowhere", "elsewhere.json#/a"} {
		if got, _ := Follow(root, ref(to), nil); got.Kind != trace.Null {
			t.Errorf("%s: %v", to, got)
		}
	}
}
