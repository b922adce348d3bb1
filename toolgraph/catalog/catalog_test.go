package catalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// find is one tool in every dialect that Parse knows.
var find = map[string]string{
	"mcp":         `{"tools": [{"name": "find", "description": "Find it.", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}, "annotations": {"readOnlyHint": true}}]}`,
	"json-rpc":    `{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "find", "description": "Find it.", "inputSchema": {"properties": {"q": {"type": ["null", "string"]}}, "required": ["q"]}}]}}`,
	"openai chat": `[{"type": "function", "function": {"name": "find", "description": "Find it.", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}}}]`,
	"responses":   `{"model": "m", "tools": [{"type": "function", "name": "find", "description": "Find it.", "parameters": {"properties": {"q": {"type": "string"}}, "required": ["q"]}}]}`,
	"anthropic":   `[{"name": "find", "description": "Find it.", "input_schema": {"properties": {"q": {"$ref": "#/$defs/text"}}, "required": ["q"], "$defs": {"text": {"type": "string"}}}}]`,
	"gemini":      `{"tools": [{"functionDeclarations": [{"name": "find", "description": "Find it.", "parameters": {"type": "OBJECT", "properties": {"q": {"type": "STRING"}}, "required": ["q"]}}]}]}`,
	"lines":       `{"name": "other", "description": "Other."}` + "\n" + `{"name": "find", "description": "Find it.", "parameters": {"type": "dict", "properties": {"q": {"type": "string"}}, "required": ["q"]}}` + "\n",
	"openapi": `{"openapi": "3.1.0", "info": {"title": "Shop"}, "paths": {"/find": {"get": {"operationId": "find", "description": "Find it.",
		"parameters": [{"$ref": "#/components/parameters/q"}]}}}, "components": {"parameters": {"q": {"name": "q", "in": "query", "required": true, "schema": {"type": "string"}}}}}`,
	"openapi yaml": "openapi: 3.0.3\ninfo: {title: Shop}\npaths:\n  /find:\n    get:\n      operationId: find\n      description: Find it.\n      parameters:\n        - {name: q, in: query, required: true, schema: {type: string}}\n",
}

func TestDialects(t *testing.T) {
	for name, text := range find {
		tools, problems := Parse(name, []byte(text))
		if len(problems) > 0 {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		at := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == "find" })
		if at < 0 {
			t.Errorf("%s: find is not among %d tools", name, len(tools))
			continue
		}
		got := &tools[at]
		if got.Description != "Find it." || len(got.Inputs) != 1 || got.Inputs[0].Path != "$.q" || got.Inputs[0].Type != "string" || !got.Inputs[0].Required {
			t.Errorf("%s: %q, %+v", name, got.Description, got.Inputs)
		}
	}
}

func TestOpenAPI(t *testing.T) {
	tools, problems := Parse("api.json", []byte(`{"openapi": "3.0.0", "info": {"title": "Films"}, "paths": {"/movie/{id}": {
		"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
		"get": {"summary": "Get a film", "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/film"}}}}}},
		"put": {"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/film"}}}}},
		"delete": {}}},
		"components": {"schemas": {"film": {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}, "cast": {"type": "array", "items": {"$ref": "#/components/schemas/person"}}}},
			"person": {"properties": {"id": {"type": "integer"}, "known_for": {"type": "array", "items": {"$ref": "#/components/schemas/film"}}}}}}}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	c, _ := New(tools)
	if got := c.Names(); !slices.Equal(got, []string{"DELETE /movie/{id}", "GET /movie/{id}", "PUT /movie/{id}"}) {
		t.Fatalf("%q", got)
	}
	get, put := c.Lookup("GET /movie/{id}"), c.Lookup("PUT /movie/{id}")
	var paths []string
	for _, p := range get.Outputs {
		paths = append(paths, p.Path)
	}
	// The film in a person in a film is where it ends.
	if want := []string{"$.cast[*].id", "$.cast[*].known_for[*]", "$.title"}; !slices.Equal(paths, want) {
		t.Errorf("the film has %q, want %q", paths, want)
	}
	if get.ReadOnly != Yes || put.ReadOnly != No || c.Lookup("DELETE /movie/{id}").Destructive != Yes || get.Group != "Films" {
		t.Errorf("%+v", get)
	}
	required := map[string]bool{}
	for _, p := range put.Inputs {
		required[p.Path] = p.Required
	}
	if !required["$.id"] || !required["$.title"] || required["$.cast[*].id"] {
		t.Errorf("PUT takes %v", required)
	}
	d := put.Definition()
	if text := d.Input.Text(); strings.Contains(text, "$ref") || !strings.Contains(text, "known_for") {
		t.Errorf("a definition refers to what is not in it: %s", text)
	}
}

func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		``:                               "x: catalog-shape",
		`{"a": 1}`:                       "x: catalog-shape",
		`{"tools": [1]}`:                 "x: tool-shape",
		`{"tools": [{"type": "x"}]}`:     "x: tool-unnamed",
		`{"tools": [}`:                   "x:1:12: json-syntax",
		`{"openapi": "3.0.0"}`:           "x:1:1: catalog-shape",
		"openapi: 3.0.0\npaths: [a, b\n": "x:2:8: ",
	} {
		_, problems := Parse("x", []byte(text))
		if len(problems) == 0 || !strings.HasPrefix(problems[0].Error(), want) {
			t.Errorf("%q: %v, want %s", text, problems, want)
		}
	}
	_, problems := New([]Tool{{Name: "a"}, {Name: "a"}})
	if len(problems) != 1 || problems[0].Code != CodeTwice {
		t.Errorf("a tool that is there twice: %v", problems)
	}
}

// Schemas that refer to themselves, fan out without end, or are deep, end.
func TestHostileSchemas(t *testing.T) {
	wide := `{"$defs": {"a": {"properties": {`
	for i := range 300 {
		wide += fmt.Sprintf(`"p%d": {"$ref": "#/$defs/b"},`, i)
	}
	wide += `"z": {"type": "string"}}}, "b": {"properties": {"x": {"$ref": "#/$defs/a"}, "y": {"type": "string"}}}}, "$ref": "#/$defs/a"}`
	deep := strings.Repeat(`{"properties": {"d": `, 300) + `{}` + strings.Repeat(`}}`, 300)
	for name, schema := range map[string]string{
		"itself": `{"$ref": "#"}`, "loop": `{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}`,
		"nowhere": `{"properties": {"x": {"$ref": "#/nowhere"}}}`, "wide": wide, "deep": deep,
		"one of itself": `{"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}}, "properties": {"x": {"$ref": "#/$defs/a"}}}`,
	} {
		tools, problems := Parse(name, []byte(`[{"name": "t", "inputSchema": `+schema+`, "outputSchema": `+schema+`}]`))
		if len(problems.Errors()) > 0 || len(tools) != 1 || len(tools[0].Inputs) > maxPlaces || len(tools[0].Outputs) > maxPlaces {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// Of a large schema the places nearest to the root are kept, and many tools have
// fewer each.
func TestPlacesAreBounded(t *testing.T) {
	var doc strings.Builder
	doc.WriteString(`{"openapi": "3.0.0", "info": {"title": "big"}, "paths": {"/x": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/s0"}}}}}}}}, "components": {"schemas": {`)
	for i := range 50 {
		fmt.Fprintf(&doc, `"s%d": {"properties": {"near_%d": {"type": "string"}, "a": {"$ref": "#/components/schemas/s%d"}, "b": {"items": {"$ref": "#/components/schemas/s%d"}}}},`, i, i, (i*3+1)%50, (i*7+2)%50)
	}
	doc.WriteString(`"z": {}}}}`)
	tools, problems := Parse("big", []byte(doc.String()))
	if len(tools) != 1 || len(problems) != 1 || problems[0].Code != CodeSchemaLarge {
		t.Fatalf("%d tools, %v", len(tools), problems)
	}
	if n := len(tools[0].Outputs); n != maxPlaces {
		t.Errorf("%d places", n)
	}
	for _, path := range []string{"$.near_0", "$.a.near_1", "$.b[*].near_2"} {
		if !slices.ContainsFunc(tools[0].Outputs, func(p Place) bool { return p.Path == path }) {
			t.Errorf("%s is not among the places that are kept", path)
		}
	}
	for _, n := range []int{1, 1000, 8000, MaxTools} {
		if each := placesEach(n); each < leastPlaces || each > maxPlaces || each > leastPlaces && 2*n*each > placesOfMany {
			t.Errorf("%d tools have %d places each", n, each)
		}
	}
}

func TestLongDescription(t *testing.T) {
	text := strings.Repeat("é ", 600_000)
	tools, _ := Parse("x", []byte(`[{"name": "t", "description": "`+text+`"}]`))
	if len(tools[0].Description) > maxText || tools[0].FullDescription() != text {
		t.Errorf("%d bytes are compared, %d are kept", len(tools[0].Description), len(tools[0].FullDescription()))
	}
}

func TestLists(t *testing.T) {
	tools, _ := Parse("x", []byte(`[{"name": "a", "description": "A.", "inputSchema": {"type": "object"}, "_meta": {"group": "one"}}, {"name": "b</script>"}, {"name": "c", "_meta": {"group": "two"}}]`))
	c, _ := New(tools)
	anthropic, err := c.Anthropic([]string{"a", "c"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := trace.ParseValue(anthropic)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.Lookup("tools")
	if len(list.Elems) != 4 || strings.Count(string(anthropic), `"defer_loading": true`) != 1 || strings.Count(string(anthropic), "tool_search_tool") != 2 {
		t.Errorf("%s", anthropic)
	}
	if all, _ := c.Anthropic(c.Names()); strings.Contains(string(all), "tool_search_tool") {
		t.Error("with every tool loaded there is nothing to search")
	}
	openAI, err := c.OpenAI([]string{"c", "missing"})
	if err != nil || strings.Count(string(openAI), `"type": "function"`) != 1 {
		t.Errorf("%v %s", err, openAI)
	}
	allow, err := c.AllowList([]string{"c", "a"})
	if err != nil || !strings.Contains(string(allow), `"server": "one"`) {
		t.Errorf("%v %s", err, allow)
	}
	if got := Refused(c.Names()); !slices.Equal(got, []string{"b</script>"}) {
		t.Errorf("refused are %q", got)
	}
}

func TestGroups(t *testing.T) {
	for name, want := range map[string]string{
		"mail.send": "mail", "mcp__x__y": "mcp", "files/read": "files", "get_user": "", "GET /movie/{id}": "", "a.b__c": "a", ".x": "", "/movie/{id}": "",
	} {
		if got := groupOf(name); got != want {
			t.Errorf("groupOf(%q) = %q, want %q", name, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range find {
		f.Add([]byte(text))
	}
	f.Add([]byte(`[{"name": "t", "inputSchema": {"$ref": "#"}}]`))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tools, _ := Parse("x", data)
		c, _ := New(tools)
		for _, write := range []func([]string) ([]byte, error){c.Anthropic, c.OpenAI, c.AllowList} {
			out, err := write(c.Names())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := trace.ParseValue(out); err != nil {
				t.Fatalf("a list is no JSON: %v\n%s", err, out)
			}
		}
	})
}
