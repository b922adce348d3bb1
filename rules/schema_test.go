package rules

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// compileSchema compiles the embedded schema, after checking it against that of
// its draft.
func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("rules.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("rules.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON reads a rule file as an editor does that looks at its JSON values.
func asJSON(t testing.TB, name string, src []byte) any {
	t.Helper()
	doc, problems := yamlsrc.Parse(name, src, yamlsrc.Options{})
	if doc.Root == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	return readValue((&parser{}).appendJSON(nil, doc.Root))
}

func TestSchemaAccepts(t *testing.T) {
	schema := compileSchema(t)
	for _, folder := range []string{"valid", "problems"} {
		options := Options{Load: fromFS(os.DirFS("testdata/" + folder))}
		for name, src := range sources(t, folder) {
			if _, problems := options.Check(name, src); len(problems) > 0 {
				continue
			}
			if err := schema.Validate(asJSON(t, name, src)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, b := range Builtins() {
		if err := schema.Validate(asJSON(t, b.File(), b.Source)); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
	}
}

func TestSchemaRejects(t *testing.T) {
	schema := compileSchema(t)
	for _, name := range []string{"fields.yaml", "types.yaml", "examples.yaml", "ids.yaml", "list.yaml", "version.yaml", "no_version.yaml", "numbers.json", "broken.yaml"} {
		src := sources(t, "problems")[name]
		if err := schema.Validate(asJSON(t, name, src)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// semantic are the codes of mistakes that a schema cannot see.
var semantic = []string{"rule-bad-pattern", "rule-bad-path", "rule-bad-glob", "rule-bad-template", "rule-group-missing", "rule-duplicate-id", "rule-include", "rule-bad-value"}

// TestSchemaProperty changes a good file somewhere and compares what the schema
// and the parser say: what the parser takes the schema takes too, and what the
// schema takes has mistakes in the meaning of its texts only.
func TestSchemaProperty(t *testing.T) {
	schema := compileSchema(t)
	src := sources(t, "valid")["every_kind.yaml"]
	base := canonical(asJSON(t, "every_kind.yaml", src))
	rejected := 0
	rapid.Check(t, func(t *rapid.T) {
		doc := readValue([]byte(base))
		mutate(t, doc)
		text := canonical(doc)
		_, problems := Options{}.Check("f", []byte(text))
		verdict := schema.Validate(doc)
		if problems.Err() == nil && verdict != nil {
			t.Fatalf("the parser takes %s, the schema says %v", text, verdict)
		}
		if verdict != nil {
			rejected++
			return
		}
		for _, e := range problems.Errors() {
			if !slices.Contains(semantic, e.Code) {
				t.Fatalf("the schema takes %s, the parser says %v", text, e)
			}
		}
	})
	if rejected == 0 {
		t.Error("the schema rejects nothing")
	}
}

// mutate changes one value, name or member somewhere below v.
func mutate(t *rapid.T, v any) {
	for {
		var children []any
		switch v := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				children = append(children, k)
			}
		case []any:
			for i := range v {
				children = append(children, i)
			}
		}
		if len(children) == 0 {
			return
		}
		at := rapid.SampledFrom(children).Draw(t, "at")
		var child any
		var set func(any)
		switch v := v.(type) {
		case map[string]any:
			child, set = v[at.(string)], func(n any) { v[at.(string)] = n }
			switch rapid.IntRange(0, 9).Draw(t, "change") {
			case 0:
				delete(v, at.(string))
				return
			case 1:
				delete(v, at.(string))
				v[rapid.SampledFrom([]string{"tool", "args", "arg", "with", "values", "keys", "x"}).Draw(t, "name")] = child
				return
			}
		case []any:
			child, set = v[at.(int)], func(n any) { v[at.(int)] = n }
		}
		_, isMap := child.(map[string]any)
		_, isList := child.([]any)
		if !isMap && !isList || rapid.IntRange(0, 5).Draw(t, "stop") == 0 {
			set(rapid.SampledFrom([]any{nil, json.Number("7"), "x", "", " x", "(", []any{}, []any{"x"}, map[string]any{}, map[string]any{"tool": "x"}, true}).Draw(t, "value"))
			return
		}
		v = child
	}
}

// TestSchemaKinds: the schema has every kind with its fields.
func TestSchemaKinds(t *testing.T) {
	var schema struct {
		Defs struct {
			Rule struct {
				Properties struct {
					Kind struct{ Enum []string }
				}
				AllOf []struct {
					If struct {
						Properties struct{ Kind struct{ Const string } }
					}
					Then struct {
						Description string
						Properties  map[string]any
						Required    []string
					}
				} `json:"allOf"`
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	rule := schema.Defs.Rule
	if !slices.Equal(rule.Properties.Kind.Enum, kindNames()) {
		t.Errorf("kinds %v, want %v", rule.Properties.Kind.Enum, kindNames())
	}
	if len(rule.AllOf) != len(kinds) {
		t.Fatalf("%d kinds have fields, want %d", len(rule.AllOf), len(kinds))
	}
	for i, k := range kinds {
		got := rule.AllOf[i]
		want := slices.Sorted(slices.Values(slices.Concat(ruleHead, k.Fields, ruleTail)))
		if got.If.Properties.Kind.Const != string(k.Kind) || !slices.Equal(slices.Sorted(maps.Keys(got.Then.Properties)), want) {
			t.Errorf("%s: %s has fields %v, want %v", k.Kind, got.If.Properties.Kind.Const, slices.Sorted(maps.Keys(got.Then.Properties)), want)
		}
		for _, field := range k.required {
			if !slices.Contains(got.Then.Required, field) {
				t.Errorf("%s: %s is not required", k.Kind, field)
			}
		}
		if got.Then.Description == "" || k.Doc == "" || strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s is not described", k.Kind)
		}
	}
}
