package emit_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/trace"
)

// provider emits a tool and checks it: name, description, and a rule for every
// schema within its inputs.
type provider struct {
	emitter emit.Emitter
	tool    func(t testing.TB, data []byte) (name, description string, schema map[string]any, strict bool)
	name    *regexp.Regexp
	words   []string // keywords that may stand in a schema
	member  *regexp.Regexp
}

var common = []string{"type", "description", "enum", "properties", "required", "items", "anyOf", "additionalProperties"}

var anthropic = provider{
	emitter: emit.Anthropic,
	tool: func(t testing.TB, data []byte) (string, string, map[string]any, bool) {
		var out struct {
			Tools []struct {
				Name, Description string
				Schema            map[string]any `json:"input_schema"`
			}
		}
		unmarshal(t, data, &out)
		one := out.Tools[0]
		return one.Name, one.Description, one.Schema, false
	},
	name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	words: append([]string{
		"const", "default", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
		"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "oneOf",
	}, common...),
	member: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`),
}

var gemini = provider{
	emitter: emit.Gemini,
	tool: func(t testing.TB, data []byte) (string, string, map[string]any, bool) {
		var out struct {
			Tools []struct {
				FunctionDeclarations []struct {
					Name, Description    string
					ParametersJSONSchema map[string]any `json:"parametersJsonSchema"`
				}
			}
		}
		unmarshal(t, data, &out)
		one := out.Tools[0].FunctionDeclarations[0]
		return one.Name, one.Description, one.ParametersJSONSchema, false
	},
	name:   regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$`),
	words:  append([]string{"minimum", "maximum", "minItems", "maxItems"}, common...),
	member: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`),
}

var openAI = provider{
	emitter: emit.OpenAI,
	tool: func(t testing.TB, data []byte) (string, string, map[string]any, bool) {
		type function struct {
			Type, Name, Description string
			Parameters              map[string]any
			Strict                  *bool
		}
		var out struct {
			Chat []struct {
				Type     string
				Function function
			}
			Responses []function
			NotStrict []struct{ Name, Reason string } `json:"not_strict"`
		}
		unmarshal(t, data, &out)
		one, again := out.Chat[0].Function, out.Responses[0]
		if out.Chat[0].Type != "function" || again.Type != "function" || one.Type != "" {
			t.Errorf("the types are wrong: %s", data)
		}
		if one.Strict == nil || again.Strict == nil || *one.Strict != *again.Strict || again.Name != one.Name {
			t.Fatalf("strict is not said, or not the same: %s", data)
		}
		if *one.Strict == (len(out.NotStrict) > 0) {
			t.Errorf("strict %v with reasons %v", *one.Strict, out.NotStrict)
		}
		if utf8.RuneCountInString(one.Description) > 1024 {
			t.Errorf("a description of %d characters", utf8.RuneCountInString(one.Description))
		}
		return one.Name, one.Description, one.Parameters, *one.Strict
	},
	name:  regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`),
	words: anthropic.words,
}

func unmarshal(t testing.TB, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
}

// strictWords are the keywords of strict schemas; see the guide to structured
// outputs.
var strictWords = []string{"type", "description", "enum", "properties", "required", "items", "anyOf", "additionalProperties"}

// check holds the schema to the rules and returns it.
func (p *provider) check(t testing.TB, d *bind.Definition) (schema map[string]any, strict bool) {
	t.Helper()
	files, err := p.emitter.Emit(emit.Results{Tools: []*bind.Definition{d}})
	if err != nil {
		t.Fatal(err)
	}
	name, description, schema, strict := p.tool(t, files[0].Data)
	if !p.name.MatchString(name) || description == "" || schema["type"] != "object" {
		t.Errorf("%s: no tool: %s", p.emitter.Name, files[0].Data)
	}
	readSchema(t, schema)
	words := p.words
	if strict {
		words = strictWords
	}
	objects := 0
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		s, ok := v.(map[string]any)
		if !ok {
			if _, ok := v.(bool); ok && !strict {
				return
			}
			t.Fatalf("%s: no schema: %v\n%s", p.emitter.Name, v, files[0].Data)
		}
		for word := range s {
			if !slices.Contains(words, word) {
				t.Errorf("%s: the keyword %s\n%s", p.emitter.Name, word, files[0].Data)
			}
		}
		properties, _ := s["properties"].(map[string]any)
		for member, one := range properties {
			if p.member != nil && !p.member.MatchString(member) {
				t.Errorf("%s: a member %q\n%s", p.emitter.Name, member, files[0].Data)
			}
			objects++
			walk(one, depth+1)
		}
		if strict {
			checkStrict(t, s, properties, depth)
		}
		if items, ok := s["items"]; ok {
			walk(items, depth+1)
		} else if hasType(s, "array") {
			t.Errorf("%s: a list without items\n%s", p.emitter.Name, files[0].Data)
		}
		for _, of := range []string{"anyOf", "oneOf"} {
			branches, _ := s[of].([]any)
			for _, one := range branches {
				walk(one, depth)
			}
		}
	}
	walk(schema, 1)
	if strict && objects > 100 {
		t.Errorf("%d properties in a strict schema", objects)
	}
	return schema, strict
}

func hasType(s map[string]any, kind string) bool {
	list, _ := s["type"].([]any)
	return s["type"] == kind || slices.Contains(list, any(kind))
}

// checkStrict holds one schema to the rules of strict mode.
func checkStrict(t testing.TB, s, properties map[string]any, depth int) {
	t.Helper()
	_, alternatives := s["anyOf"]
	if _, typed := s["type"]; typed == alternatives {
		t.Errorf("a strict schema has either a type or alternatives: %v", s)
	}
	if depth == 1 && alternatives {
		t.Errorf("the root has alternatives: %v", s)
	}
	if !hasType(s, "object") {
		return
	}
	if depth > 5 {
		t.Errorf("an object %d levels deep", depth)
	}
	required, _ := s["required"].([]any)
	if s["additionalProperties"] != false || len(required) != len(properties) {
		t.Errorf("an object that is not closed, or does not require all: %v", s)
	}
	for _, name := range required {
		if _, ok := properties[name.(string)]; !ok {
			t.Errorf("required, but no property: %v", name)
		}
	}
}

// readSchema reads a schema as JSON Schema 2020-12.
func readSchema(t testing.TB, schema any) *jsonschema.Schema {
	t.Helper()
	text, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("test:schema", doc); err != nil {
		t.Fatal(err)
	}
	out, err := c.Compile("test:schema")
	if err != nil {
		t.Fatalf("no JSON Schema: %v\n%s", err, text)
	}
	return out
}

// TestProviders emits meta-tools whose inputs have any schemas: each provider gets
// what it takes.
func TestProviders(t *testing.T) {
	strict, loose := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		d := schemaTool(rapid.SliceOfN(anySchema(3), 0, 3).Draw(rt, "schemas")...)
		for _, p := range []*provider{&anthropic, &gemini, &openAI} {
			if _, ok := p.check(tb{t, rt}, d); p == &openAI && ok && len(d.Inputs) > 0 {
				strict++
			} else if p == &openAI {
				loose++
			}
		}
	})
	if strict == 0 || loose == 0 {
		t.Errorf("%d strict and %d others", strict, loose)
	}
}

// tb reports to rapid, which then looks for a smaller example.
type tb struct {
	testing.TB
	rt *rapid.T
}

func (t tb) Errorf(format string, args ...any) { t.rt.Errorf(format, args...) }
func (t tb) Fatalf(format string, args ...any) { t.rt.Fatalf(format, args...) }
func (t tb) Fatal(args ...any)                 { t.rt.Fatal(args...) }
func (t tb) Error(args ...any)                 { t.rt.Error(args...) }

// TestStrict says which schemas are strict, and how.
func TestStrict(t *testing.T) {
	for _, test := range []struct{ schema, required, optional string }{
		{`{"type":"string"}`, `{"type":"string"}`, `{"type":["string","null"]}`},
		{`{"type":["string","null"]}`, `{"type":["string","null"]}`, `{"type":["string","null"]}`},
		{`{"type":"string","enum":["a","b"]}`, `{"enum":["a","b"],"type":"string"}`, `{"enum":["a","b",null],"type":["string","null"]}`},
		{`{"const":5,"type":"integer"}`, `{"enum":[5],"type":"integer"}`, `{"enum":[5,null],"type":["integer","null"]}`},
		{`{"type":"integer","minimum":3,"format":"x"}`, `{"type":"integer"}`, `{"type":["integer","null"]}`},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`},
		{`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`},
		{`{"type":"array","items":{"type":"string"},"minItems":2}`, `{"items":{"type":"string"},"type":"array"}`, `{"items":{"type":"string"},"type":["array","null"]}`},
		{
			`{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]}`,
			`{"additionalProperties":false,"properties":{"b":{"type":"string"}},"required":["b"],"type":"object"}`,
			`{"additionalProperties":false,"properties":{"b":{"type":"string"}},"required":["b"],"type":["object","null"]}`,
		},
		{`{"type":"object","properties":{"b":{"type":"string"}}}`, "may be left out", "may be left out"},
		{`{"type":"object"}`, "members of any name", "members of any name"},
		{`{"type":"object","properties":{"b":{"type":"string"}},"required":["b"],"additionalProperties":{"type":"string"}}`, "any name", "any name"},
		{`{"type":"array"}`, "list of anything", "list of anything"},
		{`{}`, "any type", "any type"},
		{`true`, "says nothing", "says nothing"},
		{`{"type":"string","not":{"const":"a"}}`, "with not", "with not"},
		{`{"allOf":[{"type":"string"}]}`, "with allOf", "with allOf"},
		{`{"enum":[[1],"a"]}`, "no scalars", "no scalars"},
	} {
		for i, want := range []string{test.required, test.optional} {
			d := schemaTool(parsed(test.schema))
			d.Inputs[0].Required = i == 0
			schema, strict := openAI.check(t, d)
			if !strict {
				files, _ := emit.OpenAI.Emit(emit.Results{Tools: []*bind.Definition{d}})
				if !strings.Contains(string(files[0].Data), want) {
					t.Errorf("%s is not strict: %s", test.schema, files[0].Data)
				}
				continue
			}
			got, err := json.Marshal(schema["properties"].(map[string]any)["in_0"])
			if err != nil || string(got) != want {
				t.Errorf("%s becomes %s, want %s", test.schema, got, want)
			}
		}
	}
}

// TestDialectsTakeWhatTheToolTakes cleans schemas: a value that fits the tool's own
// schema fits what the provider is told.
func TestDialectsTakeWhatTheToolTakes(t *testing.T) {
	fits := 0
	rapid.Check(t, func(rt *rapid.T) {
		schema := anySchema(2).Draw(rt, "schema")
		own, ok := compiled(schema)
		if !ok {
			return
		}
		d := schemaTool(schema)
		for range 20 {
			v := anyValue(2).Draw(rt, "value")
			if own.Validate(jsonValue(v)) != nil {
				continue
			}
			fits++
			for _, p := range []*provider{&anthropic, &gemini} {
				whole, _ := p.check(tb{t, rt}, d)
				if err := readSchema(tb{t, rt}, whole).Validate(jsonValue(trace.NewObject(trace.Member{Name: "in_0", Value: v}))); err != nil {
					rt.Fatalf("%s: %s fits %s but not %v: %v", p.emitter.Name, v.AppendCanonical(nil), schema.AppendCanonical(nil), whole, err)
				}
			}
		}
	})
	if fits < 50 {
		t.Errorf("only %d values were tried", fits)
	}
}

// compiled reads a schema that may be none.
func compiled(v trace.Value) (*jsonschema.Schema, bool) {
	c := jsonschema.NewCompiler()
	if err := c.AddResource("test:schema", jsonValue(v)); err != nil {
		return nil, false
	}
	out, err := c.Compile("test:schema")
	return out, err == nil
}

func jsonValue(v trace.Value) any {
	out, err := jsonschema.UnmarshalJSON(strings.NewReader(string(v.AppendCanonical(nil))))
	if err != nil {
		panic(err)
	}
	return out
}

// TestOutputSchemas announces what meta-tools return where that is an object, in
// JSON Schema.
func TestOutputSchemas(t *testing.T) {
	known := 0
	rapid.Check(t, func(rt *rapid.T) {
		d := schemaTool()
		d.Output.Schema = anySchema(3).Draw(rt, "schema")
		files, err := emit.MCP.Emit(emit.Results{Tools: []*bind.Definition{d}})
		if err != nil {
			rt.Fatal(err)
		}
		var out struct {
			Tools []struct{ OutputSchema map[string]any }
		}
		unmarshal(tb{t, rt}, files[0].Data, &out)
		kind, _ := d.Output.Schema.Lookup("type")
		if got := out.Tools[0].OutputSchema; (got != nil) != (kind.Text == "object") {
			rt.Fatalf("announces %v of %s", got, d.Output.Schema.AppendCanonical(nil))
		} else if got != nil {
			known++
			readSchema(tb{t, rt}, got)
		}
	})
	if known == 0 {
		t.Error("nothing is announced")
	}
}
