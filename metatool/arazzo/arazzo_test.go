package arazzo_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/trace"
)

// hostile are texts that some language takes for something else.
var hostile = []string{
	"", " ", "~", "null", "yes", "no", "on", "0x10", "007", "1e3", "1_000", "2026-01-01", "-", "?", ":", "a: b", "a #b", "#", "&a", "*a", "!t", "|", ">", "%",
	"@", "`", "{", "}", "[", "]", ",", "'", "\"", "\\", "\n", "a\nb\n", "\n\na", " a", "a ", "\t", "\r\n", "\u2028", "\u0000", "\u202e", "\U0001F600", "<<", "---",
	"...", "$inputs.x", "{$inputs.x}", "$steps.a.outputs.result", "../../etc/passwd", "</script>", "${x}", "`rm -rf /`", strings.Repeat("long ", 80),
}

func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(), rapid.StringMatching(`[a-z_]{1,12}`))
}

func insteads(t *rapid.T) []string {
	if list := rapid.SliceOfN(texts().Filter(func(s string) bool { return s != "" }), 0, 2).Draw(t, "instead"); len(list) > 0 {
		return list
	}
	return nil
}

func values(depth int) *rapid.Generator[trace.Value] {
	return rapid.Custom(func(t *rapid.T) trace.Value {
		switch n := rapid.IntRange(0, 5).Draw(t, "kind"); {
		case n == 0:
			return trace.Value{}
		case n == 1:
			return trace.Value{Kind: trace.Bool, Bool: rapid.Bool().Draw(t, "bool")}
		case n == 2:
			v, err := trace.ParseValue([]byte(rapid.SampledFrom([]string{"0", "-1", "1.5", "1e300", "12345678901234567890", "1e-7"}).Draw(t, "number")))
			if err != nil {
				t.Fatal(err)
			}
			return v
		case n == 3 || depth == 0:
			return trace.NewString(texts().Draw(t, "text"))
		case n == 4:
			return trace.Value{Kind: trace.Array, Elems: rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "elems")}
		}
		var members []trace.Member
		for _, name := range rapid.SliceOfNDistinct(texts(), 0, 3, rapid.ID).Draw(t, "names") {
			members = append(members, trace.Member{Name: name, Value: values(depth-1).Draw(t, "member")})
		}
		return trace.NewObject(members...)
	})
}

func paths(open bool) *rapid.Generator[jsonpath.Path] {
	return rapid.Custom(func(t *rapid.T) jsonpath.Path {
		path := jsonpath.Path{}
		for range rapid.IntRange(0, 3).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				path = append(path, jsonpath.Step{Kind: jsonpath.Member, Name: texts().Draw(t, "name")})
			case 1:
				path = append(path, jsonpath.Step{Kind: jsonpath.Index, Index: rapid.IntRange(0, 9).Draw(t, "index")})
			default:
				path = append(path, jsonpath.Step{Kind: jsonpath.Each})
			}
		}
		filter := jsonpath.Step{Kind: jsonpath.Filter, Name: texts().Draw(t, "key"), Open: open}
		if !open {
			filter.Value = trace.NewString(texts().Draw(t, "value"))
		}
		if open || rapid.Bool().Draw(t, "filter") {
			path = append(path, filter)
		}
		return path
	})
}

func bindings(tool *metatool.Tool, step, depth int) *rapid.Generator[metatool.Binding] {
	return rapid.Custom(func(t *rapid.T) metatool.Binding {
		b := metatool.Binding{Coerce: metatool.Coercion(rapid.IntRange(0, 2).Draw(t, "coerce"))}
		switch n := rapid.IntRange(0, 4).Draw(t, "binding"); {
		case n == 1 && len(tool.Inputs) > 0:
			b.Kind, b.Input = metatool.BindInput, tool.Inputs[rapid.IntRange(0, len(tool.Inputs)-1).Draw(t, "input")].Name
		case n == 2 && step > 0:
			b.Kind, b.Step = metatool.BindStep, rapid.IntRange(0, step-1).Draw(t, "from")
			keyed := depth > 0 && rapid.Bool().Draw(t, "keyed")
			b.Path = paths(keyed).Draw(t, "path")
			if keyed {
				key := bindings(tool, step, depth-1).Draw(t, "key")
				b.Key = &key
			}
		case n == 3:
			b.Kind, b.Path = metatool.BindElement, paths(false).Draw(t, "path")
		case n == 4 && depth > 0:
			b.Kind = metatool.BindTemplate
			b.Parts = rapid.SliceOfN(bindings(tool, step, depth-1), 1, 3).Draw(t, "parts")
			pieces := rapid.SliceOfN(texts(), len(b.Parts)+1, len(b.Parts)+1).Draw(t, "pieces")
			for i := range pieces {
				pieces[i] = strings.ReplaceAll(pieces[i], jsonpath.Hole, "")
			}
			b.Template = strings.Join(pieces, jsonpath.Hole)
		default:
			b.Const = values(2).Draw(t, "const")
		}
		return b
	})
}

// tools are meta-tools as they could be, with names and values as they should
// not.
func tools() *rapid.Generator[*metatool.Tool] {
	return rapid.Custom(func(t *rapid.T) *metatool.Tool {
		tool := &metatool.Tool{
			Name: rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_-]{0,63}`).Draw(t, "name"), Description: texts().Draw(t, "description"),
			Annotations: metatool.Annotations{ReadOnly: rapid.Bool().Draw(t, "reads"), OpenWorld: rapid.Bool().Draw(t, "open")},
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,63}`), 0, 4, rapid.ID).Draw(t, "inputs") {
			tool.Inputs = append(tool.Inputs, metatool.Input{
				Name: name, Argument: texts().Draw(t, "argument"), Required: rapid.Bool().Draw(t, "required"),
				Schema: trace.NewObject(trace.Member{Name: "description", Value: trace.NewString(texts().Draw(t, "words"))}),
			})
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "steps") {
			name := texts().Draw(t, "tool")
			step := metatool.Step{Tool: name, Name: name, ReadOnly: rapid.Bool().Draw(t, "reads"), Idempotent: rapid.Bool().Draw(t, "idempotent"), Instead: insteads(t)}
			if rapid.Bool().Draw(t, "renamed") {
				step.Name = "renamed"
			}
			if i > 0 && rapid.Bool().Draw(t, "each") {
				step.Each = &metatool.Binding{Kind: metatool.BindStep, Path: paths(false).Draw(t, "each")}
			}
			for _, arg := range rapid.SliceOfNDistinct(texts(), 0, 4, rapid.ID).Draw(t, "args") {
				step.Args = append(step.Args, metatool.Argument{
					Name: arg, Binding: bindings(tool, i, 2).Draw(t, "binding"), Optional: rapid.Bool().Draw(t, "optional"),
					Schema: types().Draw(t, "types"),
				})
			}
			slices.SortFunc(step.Args, func(a, b metatool.Argument) int { return strings.Compare(a.Name, b.Name) })
			for _, path := range rapid.SliceOfNDistinct(paths(false), 0, 2, jsonpath.Path.String).Draw(t, "expect") {
				step.Expect = append(step.Expect, metatool.Expectation{Path: path})
			}
			tool.Steps = append(tool.Steps, step)
		}
		for i := range tool.Inputs {
			tool.Inputs[i].Step = rapid.IntRange(0, len(tool.Steps)-1).Draw(t, "taken")
		}
		for i := range tool.Steps {
			if rapid.Bool().Draw(t, "returned") {
				tool.Output.Steps = append(tool.Output.Steps, i)
			}
		}
		if rapid.Bool().Draw(t, "schema") {
			tool.Output.Schema = trace.NewObject(trace.Member{Name: "x", Value: values(1).Draw(t, "schema")})
		}
		return tool
	})
}

// types are what an argument may be, mostly anything.
func types() *rapid.Generator[trace.Value] {
	return rapid.Custom(func(t *rapid.T) trace.Value {
		one := trace.NewString("string")
		switch rapid.IntRange(0, 3).Draw(t, "types") {
		case 0:
			one = trace.Value{Kind: trace.Array, Elems: []trace.Value{one, trace.NewString("null")}}
		case 1:
		default:
			return trace.Value{}
		}
		return trace.NewObject(trace.Member{Name: "type", Value: one})
	})
}

// equal compares meta-tools by what they mean: an absent list is an empty one.
func equal(a, b any) string {
	return cmp.Diff(a, b, cmp.Comparer(func(a, b trace.Value) bool { return a.Equal(b) }), cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().Type() != nil && p.Last().Type().Kind() == reflect.Slice
	}, cmp.FilterValues(func(a, b any) bool {
		return reflect.ValueOf(a).Len() == 0 && reflect.ValueOf(b).Len() == 0
	}, cmp.Ignore())))
}

// TestRoundTrip writes meta-tools and reads the same ones back; what is written
// keeps to the schema of the Arazzo Initiative where that is at hand.
func TestRoundTrip(t *testing.T) {
	schema := arazzoSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfNDistinct(tools(), 0, 3, func(t *metatool.Tool) string { return t.Name }).Draw(t, "tools")
		src := arazzo.Append(nil, want)
		got, err := arazzo.Parse("metatools.arazzo.yaml", src)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if diff := equal(want, got); diff != "" {
			t.Fatalf("%s\n%s", diff, src)
		}
		if again := arazzo.Append(nil, got); string(again) != string(src) {
			t.Fatalf("written again it differs:\n%s\n%s", src, again)
		}
		if schema == nil || len(want) == 0 { // Arazzo has no description without a workflow
			return
		}
		if err := schema.Validate(jsonOf(t, src)); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
	})
}

// jsonOf reads YAML as a JSON Schema validator wants it.
func jsonOf(t interface{ Fatal(...any) }, src []byte) any {
	doc, problems := yamlsrc.Parse("f", src, yamlsrc.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var walk func(n *yamlsrc.Node) any
	walk = func(n *yamlsrc.Node) any {
		switch {
		case n.Kind == yamlsrc.Sequence:
			out := []any{}
			for _, e := range n.Entries {
				out = append(out, walk(e.Value))
			}
			return out
		case n.Kind == yamlsrc.Mapping:
			out := map[string]any{}
			for _, e := range n.Entries {
				out[e.Key.Text] = walk(e.Value)
			}
			return out
		case n.Type() == yamlsrc.Null:
			return nil
		case n.Type() == yamlsrc.String:
			return n.Text
		}
		if b, ok := n.Bool(); ok {
			return b
		}
		return json.Number(n.Text)
	}
	return walk(doc.Root)
}

// arazzoSchema returns the schema of Arazzo 1.1, nil where it is not at hand.
func arazzoSchema(t *testing.T) *jsonschema.Schema {
	file, err := os.Open(filepath.Join("..", "..", "shared", "data", "arazzo-1.1.schema.json"))
	if err != nil {
		t.Log("the schema of Arazzo 1.1 is not here: what is written is not held against it")
		return nil
	}
	defer file.Close()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) { // it has a look-ahead
		re, err := regexp2.Compile(s, regexp2.ECMAScript)
		return &ecmaRegexp{re, s}, err
	})
	const name = "https://spec.openapis.org/arazzo/1.1/schema/test"
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// ecmaRegexp is a regular expression as JSON Schema means it.
type ecmaRegexp struct {
	re  *regexp2.Regexp
	src string
}

// MatchString reports whether s matches.
func (r *ecmaRegexp) MatchString(s string) bool {
	ok, err := r.re.MatchString(s)
	return err == nil && ok
}

// String returns the source.
func (r *ecmaRegexp) String() string { return r.src }

func TestProblems(t *testing.T) {
	const head = "arazzo: 1.1.0\nworkflows:\n  - workflowId: a\n"
	for _, test := range []struct{ src, want string }{
		{"", ""},
		{"a: 1", "f:1:1: not-arazzo"},
		{"arazzo: 2.0.0", "f:1:1: not-arazzo"},
		{"arazzo: 1.1.0", "f:1:1: missing-field: `workflows`"},
		{head, "f:3:5: missing-field: `steps`"},
		{head + "    steps: [{stepId: s}]", "missing-field: `operationId`"},
		{head + "    steps: [{stepId: s, operationId: t}, {stepId: s, operationId: t}]", "f:4:42: repeated-id"},
		{head + "    steps: [{stepId: s, operationId: t, requestBody: {payload: {a: $inputs.b}}}]", "unknown-input"},
		{head + "    steps: [{stepId: s, operationId: t, requestBody: {payload: {a: $steps.s.outputs.result}}}]", "not-runnable"},
		{head + "    steps: [{stepId: s, operationId: t, x-awo-each: {step: s, path: $}}]", "unknown-step"},
		{head + "    steps: [{stepId: s, operationId: t, x-awo-arguments: {a: {element: 'x'}}}]", "no path that can be followed"},
		{head + "    steps: [{stepId: s, operationId: t, parameters: []}]", "not-runnable"},
		{head + "    steps: [{stepId: s, operationId: t}]\n  - workflowId: a\n    steps: [{stepId: s, operationId: t}]", "f:5:5: repeated-id"},
	} {
		_, err := arazzo.Parse("f", []byte(test.src))
		if err == nil && test.want != "" || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s\ngives %v, want %s", test.src, err, test.want)
		}
	}
}

// TestOpenAPI gives tools whose names are no path segments operations of their
// own.
func TestOpenAPI(t *testing.T) {
	var tools []arazzo.Operation
	names := append([]string{".", "..", "/"}, hostile...)
	for _, name := range names {
		tools = append(tools, arazzo.Operation{Name: name, Description: name})
	}
	v := arazzo.OpenAPI(tools)
	paths, _ := v.Lookup("paths")
	if len(paths.Members) != len(names) {
		t.Errorf("%d paths for %d tools", len(paths.Members), len(names))
	}
	for _, p := range paths.Members {
		if path.Clean(p.Name) != p.Name && p.Name != "/tools/" || !strings.HasPrefix(p.Name, "/tools/") || strings.Count(p.Name, "/") != 2 {
			t.Errorf("%q is no path of one tool", p.Name)
		}
	}
	if !json.Valid(v.AppendCanonical(nil)) {
		t.Error("not valid JSON")
	}
}

func FuzzParse(f *testing.F) {
	for i := range 20 {
		f.Add(arazzo.Append(nil, []*metatool.Tool{tools().Example(i)}))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		tools, err := arazzo.Parse("f", src)
		if err != nil || len(tools) == 0 {
			return
		}
		out := arazzo.Append(nil, tools)
		again, err := arazzo.Parse("f", out)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", src, out, err)
		}
		if diff := equal(tools, again); diff != "" {
			t.Fatalf("%q: %s\n%s", src, diff, out)
		}
	})
}
