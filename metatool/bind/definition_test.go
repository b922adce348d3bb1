package bind_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// office are five trajectories that do the same, with recorded definitions.
func office(t testing.TB, ruleFile string, tools string, calls ...string) (*merge.Merged, []*bind.Definition) {
	t.Helper()
	var set *rules.Set
	if ruleFile != "" {
		var err error
		if set, err = rules.Parse("rules.json", []byte(ruleFile)); err != nil {
			t.Fatal(err)
		}
	}
	var defs []struct {
		Name                     string
		Description              string
		InputSchema, Annotations json.RawMessage
	}
	if err := json.Unmarshal([]byte(tools), &defs); err != nil {
		t.Fatal(err)
	}
	var list []*trace.Trajectory
	for i := range 5 {
		tr := &trace.Trajectory{Task: fmt.Sprint(i)}
		for _, d := range defs {
			def := trace.ToolDef{Name: trace.Intern(d.Name), Description: trace.TextOf(d.Description)}
			if d.InputSchema != nil {
				def.Input = trace.JSONOf(d.InputSchema)
			}
			if d.Annotations != nil {
				def.Annotations = trace.JSONOf(d.Annotations)
			}
			tr.Tools = append(tr.Tools, def)
		}
		// All is known before the first call but the application, a habit.
		said := strings.NewReplacer("#", fmt.Sprint(i), "mail", "").Replace(strings.Join(calls, " "))
		tr.Messages = []trace.Message{{Role: trace.RoleUser, Text: trace.TextOf(said)}}
		for j, text := range calls {
			name, args, found := strings.Cut(text, "{")
			call := trace.Call{Tool: trace.Intern(name), Turn: j}
			if found {
				call.Args = trace.JSONOf([]byte("{" + strings.ReplaceAll(args, "#", fmt.Sprint(i))))
			}
			tr.Turns = append(tr.Turns, trace.Turn{})
			tr.Calls = append(tr.Calls, call)
		}
		list = append(list, tr)
	}
	c := compiled(t, list, set, compile.Options{})
	return c.Merged, c.Definitions
}

// compiled compiles trajectories that are in memory.
func compiled(t testing.TB, list []*trace.Trajectory, set *rules.Set, o compile.Options) *compile.Compilation {
	t.Helper()
	c := compile.Run(corpus.Filled(list, corpus.Options{Rules: set}), set, o)
	return c
}

const officeTools = `[
	{"name": "login", "description": "Log in to an application. Returns a token.\nMore.",
	 "inputSchema": {"type": "object", "required": ["app"], "$defs": {"app": {"enum": ["mail", "disk"], "description": "Which one"}},
		"properties": {"app": {"$ref": "#/$defs/app", "title": "App"}, "user": {"type": "string", "description": "User name."}}},
	 "annotations": {"openWorldHint": false, "destructiveHint": false}},
	{"name": "search", "description": "",
	 "inputSchema": {"properties": {"user": {"$ref": "#/properties/self"}, "self": {"items": {"$ref": "#/properties/self"}}}}, "annotations": {"openWorldHint": false}}
]`

func TestDefinition(t *testing.T) {
	_, defs := office(t, `{"version": 1, "rules": [
		{"id": "search", "kind": "effect", "match": {"tool": "search"}, "effect": "accessor"},
		{"id": "login", "kind": "effect", "match": {"tool": "login"}, "effect": "mutator", "idempotent": true},
		{"id": "users", "kind": "rewrite", "match": {"tool": "*", "arg": "user"}, "pattern": ".+", "with": "{USER}"},
		{"id": "tokens", "kind": "drop_arg", "match": {"tool": "*", "arg": "token"}}]}`,
		officeTools,
		`login{"app":"mail","user":"user#"}`, `search{"query":{"from":"xavier","n":[100,2.55,"abc"]},"token":"token#","user":"user#"}`)
	if len(defs) != 1 {
		t.Fatalf("%d definitions", len(defs))
	}
	d := defs[0]
	if d.Name != "login_then_search" || d.Refusals != nil {
		t.Errorf("name %s, refused for %v", d.Name, d.Refusals)
	}
	wantText := "Makes these calls in one go, in this order:\n" +
		"1. login: Log in to an application. Takes app \"mail\".\n2. search\n" +
		"Returns the results of login and search, in this order. Use it when you would make these calls one after the other and already know its inputs. " +
		"It replaces separate calls of login, search."
	if d.Description != wantText {
		t.Errorf("description\n%s\nwant\n%s", d.Description, wantText)
	}
	if want := (metatool.Annotations{Idempotent: true}); d.Annotations != want {
		t.Errorf("annotations %+v, want %+v", d.Annotations, want)
	}
	var inputs []string
	for _, in := range d.Inputs {
		inputs = append(inputs, fmt.Sprintf("%s=%d.%s %t", in.Name, in.Step, in.Argument, in.Required))
	}
	if want := []string{"user=0.user false", "query=1.query true", "token=1.token true", "user_2=1.user false"}; !slices.Equal(inputs, want) {
		t.Errorf("inputs %q, want %q", inputs, want)
	}
	got := string(d.InputSchema().AppendCanonical(nil))
	want := `{"additionalProperties":false,"properties":{` +
		`"query":{"properties":{"from":{"type":"string"},"n":{"items":{"type":["number","string"]},"type":"array"}},"required":["from","n"],"type":"object"},` +
		`"token":{"type":"string"},` +
		`"user":{"description":"User name. For call 1, login.","type":"string"},` +
		`"user_2":{"description":"For call 2, search.","type":"string"}` +
		`},"required":["query","token"],"type":"object"}`
	if got != want {
		t.Errorf("schema\n%s\nwant\n%s", got, want)
	}
}

func TestAnnotationsAreThoseOfTheWorstStep(t *testing.T) {
	for _, test := range []struct {
		name, rules, tools string
		want               metatool.Annotations
	}{
		{"nothing is known", "", "[]", metatool.Annotations{Destructive: true, OpenWorld: true}},
		{"hints alone do not make a read", "", `[{"name":"a","annotations":{"readOnlyHint":true,"idempotentHint":true}}]`, metatool.Annotations{Destructive: true, OpenWorld: true}},
		{"one writes", `{"version":1,"rules":[{"id":"r","kind":"effect","match":{"tool":"a"},"effect":"accessor"}]}`, "[]", metatool.Annotations{Destructive: true, OpenWorld: true}},
		{
			"both read", `{"version":1,"rules":[{"id":"r","kind":"effect","match":{"tool":["a","b"]},"effect":"accessor"}]}`,
			`[{"name":"a","annotations":{"openWorldHint":false}},{"name":"b","annotations":{"openWorldHint":false}}]`,
			metatool.Annotations{ReadOnly: true, Idempotent: true},
		},
		{
			"one is in the open", `{"version":1,"rules":[{"id":"r","kind":"effect","match":{"tool":["a","b"]},"effect":"accessor"}]}`,
			`[{"name":"a","annotations":{"openWorldHint":false}}]`,
			metatool.Annotations{ReadOnly: true, Idempotent: true, OpenWorld: true},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, defs := office(t, test.rules, test.tools, `a{}`, `b{}`)
			if defs[0].Annotations != test.want {
				t.Errorf("got %+v, want %+v", defs[0].Annotations, test.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	const insert = `{"version":1,"rules":[{"id":"i","kind":"insert","match":{"tool":"a"},"after":{"tool":"z"}}]}`
	const rename = `{"version":1,"rules":[{"id":"r","kind":"rename","match":{"tool":["b","c"]},"to":"bc"}]}`
	for _, test := range []struct {
		rules string
		calls []string
		want  string
	}{
		{"", []string{"a{}", "b{}"}, "[]"},
		{"", []string{"a{}", "b"}, "[{arguments-not-recorded 1 }]"},
		{"", []string{`a{"x`, "b{}"}, "[{arguments-no-object 0 }]"},
		{insert, []string{"a{}", "b{}"}, "[{step-inserted 1 }]"},
		{rename, []string{"a{}", "b{}", "c{}"}, "[{tool-ambiguous 1 } {tool-ambiguous 2 }]"},
	} {
		_, defs := office(t, test.rules, "[]", test.calls...)
		if got := fmt.Sprint(defs[0].Refusals); got != test.want {
			t.Errorf("%v: refused for %s, want %s", test.calls, got, test.want)
		}
	}
}

func TestNamesGivenByRules(t *testing.T) {
	_, defs := office(t, `{"version":1,"rules":[],"meta_tools":[{"tools":["a","*"],"name":"b","description":"Does both."}]}`, "[]", "a{}", "b{}")
	if d := defs[0]; !strings.HasPrefix(d.Name, "b_") || d.Description != "Does both." {
		t.Errorf("name %s, description %s", d.Name, d.Description)
	}
}

// TestSchemasAcceptWhatWasCalled validates the recorded arguments of random
// calls, and that the schema is one.
func TestSchemasAcceptWhatWasCalled(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) string { return drawJSON(t, 3) })
	rapid.Check(t, func(rt *rapid.T) {
		var list []*trace.Trajectory
		var recorded []map[string]json.RawMessage
		name := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "user id", "$ref"}), rapid.StringN(1, 5, 80))
		shared := map[string]json.RawMessage{}
		for range rapid.IntRange(0, 3).Draw(rt, "arguments") {
			shared[name.Draw(rt, "name")] = json.RawMessage(value.Draw(rt, "value"))
		}
		for range 5 {
			args, err := json.Marshal(shared)
			if err != nil {
				rt.Fatal(err)
			}
			list = append(list, &trace.Trajectory{Turns: make([]trace.Turn, 2), Calls: []trace.Call{
				{Tool: trace.Intern("one"), Args: trace.JSONOf(args)}, {Tool: trace.Intern("two"), Args: trace.JSONOf(args), Turn: 1},
			}})
			recorded = append(recorded, shared)
		}
		d := compiled(t, list, nil, compile.Options{}).Definitions[0]
		text := string(d.InputSchema().AppendCanonical(nil))
		parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			rt.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("inputs.json", parsed); err != nil {
			rt.Fatal(err)
		}
		schema, err := compiler.Compile("inputs.json")
		if err != nil {
			rt.Fatalf("%s is no schema: %v", text, err)
		}
		valid := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)
		for _, args := range recorded {
			given := map[string]any{}
			for _, in := range d.Inputs {
				if !valid.MatchString(in.Name) {
					rt.Fatalf("input %q", in.Name)
				}
				v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(args[in.Argument])))
				if err != nil {
					rt.Fatalf("argument %q is not recorded: %v", in.Argument, err)
				}
				given[in.Name] = v
			}
			if len(given) != 2*len(args) {
				rt.Fatalf("%d inputs for %d arguments", len(given), 2*len(args))
			}
			if err := schema.Validate(given); err != nil {
				rt.Fatalf("%s does not accept %v: %v", text, given, err)
			}
		}
	})
}

func drawJSON(t *rapid.T, depth int) string {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "0", "-3", "1.5", "1e300", "12345678901234567890"}).Draw(t, "scalar")
	case 4:
		var parts []string
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			parts = append(parts, drawJSON(t, depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case 5:
		var parts []string
		for i := range rapid.IntRange(0, 3).Draw(t, "members") {
			parts = append(parts, fmt.Sprintf(`"m%d":%s`, i, drawJSON(t, depth-1)))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	text, err := json.Marshal(rapid.StringN(0, 5, -1).Draw(t, "text"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
