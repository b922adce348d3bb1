package emit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
)

// object is a JSON object whose members are looked at by name.
type object = map[string]any

// only fails for members that are not among those named.
func only(t testing.TB, at string, o object, names ...string) {
	t.Helper()
	for name := range o {
		if !slices.Contains(names, name) && !strings.HasPrefix(name, "x-") {
			t.Errorf("%s: there is no member %q", at, name)
		}
	}
}

// compiles fails for what is no JSON Schema of the 2020-12 draft, the dialect of
// OpenAPI 3.1 and of the Model Context Protocol.
func compiles(t testing.TB, at string, schema any) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("schema.json", schema); err != nil {
		t.Errorf("%s: %v", at, err)
		return
	}
	if _, err := c.Compile("schema.json"); err != nil {
		t.Errorf("%s is no JSON Schema: %v", at, err)
	}
}

func decoded(t testing.TB, data []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkOperations holds a companion of an Arazzo description to the rules of
// OpenAPI 3.1: which members are required and allowed where, paths that begin
// with a slash and hold no parameter that is not declared, operations with
// different ids, responses by status, schemas that are schemas. Every tool that a
// step calls is an operation.
func checkOperations(t testing.TB, data []byte, tools []*metatool.Tool) {
	t.Helper()
	doc, _ := decoded(t, data).(object)
	only(t, "the document", doc, "openapi", "info", "paths")
	if version, _ := doc["openapi"].(string); !regexp.MustCompile(`^3\.1\.\d+$`).MatchString(version) {
		t.Errorf("openapi is %q", version)
	}
	info, _ := doc["info"].(object)
	only(t, "info", info, "title", "version", "description")
	if title, _ := info["title"].(string); title == "" {
		t.Error("info has no title")
	}
	if version, _ := info["version"].(string); version == "" {
		t.Error("info has no version")
	}
	ids := map[string]bool{}
	paths, _ := doc["paths"].(object)
	for path, item := range paths {
		name, ok := strings.CutPrefix(path, "/tools/")
		if raw, err := url.PathUnescape(name); !ok || err != nil || strings.ContainsAny(name, "/{}?# \n") {
			t.Errorf("%q is no path of one tool (%q)", path, raw)
		}
		only(t, path, item.(object), "post")
		post, _ := item.(object)["post"].(object)
		only(t, path, post, "operationId", "description", "requestBody", "responses")
		id, ok := post["operationId"].(string)
		if !ok || ids[id] {
			t.Errorf("%q: the operationId %q is not its own", path, id)
		}
		ids[id] = true
		body, _ := post["requestBody"].(object)
		only(t, path, body, "required", "content", "description")
		content(t, path+" body", body)
		responses, _ := post["responses"].(object)
		if len(responses) == 0 {
			t.Errorf("%q has no responses", path)
		}
		for status, r := range responses {
			if !regexp.MustCompile(`^([1-5](\d\d|XX)|default)$`).MatchString(status) {
				t.Errorf("%q: %q is no status", path, status)
			}
			response := r.(object)
			only(t, path, response, "description", "content", "headers", "links")
			if words, _ := response["description"].(string); words == "" {
				t.Errorf("%q: the response %s has no description", path, status)
			}
			if response["content"] != nil {
				content(t, path+" "+status, response)
			}
		}
	}
	for _, tool := range tools {
		for i := range tool.Steps {
			if id := strings.ToValidUTF8(tool.Steps[i].Tool, "\ufffd"); !ids[id] {
				t.Errorf("no operation is called %q", id)
			}
		}
	}
}

// content checks a map of media types to schemas.
func content(t testing.TB, at string, o object) {
	t.Helper()
	types, ok := o["content"].(object)
	if !ok || len(types) == 0 {
		t.Errorf("%s has no content", at)
	}
	for name, v := range types {
		media := v.(object)
		only(t, at, media, "schema", "example", "examples", "encoding")
		if !strings.Contains(name, "/") {
			t.Errorf("%s: %q is no media type", at, name)
		}
		compiles(t, at, media["schema"])
	}
}

// checkMCP holds definitions to the rules of the Model Context Protocol: names
// that every client takes, told apart; an input schema that is one and describes
// an object; hints that are booleans; keys of _meta with a prefix.
func checkMCP(t testing.TB, data []byte, tools []*metatool.Tool) {
	t.Helper()
	doc, _ := decoded(t, data).(object)
	only(t, "the document", doc, "tools", "nextCursor")
	list, _ := doc["tools"].([]any)
	if len(list) != len(tools) {
		t.Fatalf("%d definitions for %d meta-tools", len(list), len(tools))
	}
	seen := map[string]bool{}
	for i, v := range list {
		tool, _ := v.(object)
		only(t, "tool", tool, "name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta")
		name, _ := tool["name"].(string)
		if seen[name] || name != tools[i].Name || !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`).MatchString(name) {
			t.Errorf("%q is no name of its own", name)
		}
		seen[name] = true
		if words, ok := tool["description"].(string); !ok || words == "" {
			t.Errorf("%s has no description", name)
		}
		schema, _ := tool["inputSchema"].(object)
		if schema["type"] != "object" {
			t.Errorf("%s: the input schema is of type %v", name, schema["type"])
		}
		compiles(t, name, schema)
		properties, _ := schema["properties"].(object)
		required, _ := schema["required"].([]any)
		for _, in := range tools[i].Inputs {
			if properties[in.Name] == nil || slices.Contains(required, any(in.Name)) != in.Required {
				t.Errorf("%s: the input %s is not in the schema as it is in the meta-tool", name, in.Name)
			}
		}
		if len(properties) != len(tools[i].Inputs) {
			t.Errorf("%s: %d properties for %d inputs", name, len(properties), len(tools[i].Inputs))
		}
		hints, _ := tool["annotations"].(object)
		only(t, name, hints, "title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
		for hint, v := range hints {
			if _, ok := v.(bool); !ok && hint != "title" {
				t.Errorf("%s: %s is %v", name, hint, v)
			}
		}
		meta, _ := tool["_meta"].(object)
		for key := range meta {
			if prefix, _, ok := strings.Cut(key, "/"); !ok || strings.HasSuffix(prefix, "mcp") || strings.HasSuffix(prefix, "modelcontextprotocol") {
				t.Errorf("%s: %q is no key of a vendor", name, key)
			}
		}
		if out := tool["outputSchema"]; out != nil {
			compiles(t, fmt.Sprintf("%s: output", name), out)
		}
	}
	if !json.Valid(data) {
		t.Error("the definitions are no JSON")
	}
}

// TestProtocols holds what is made of real traces to OpenAPI and the Model
// Context Protocol.
func TestProtocols(t *testing.T) {
	for _, in := range []struct{ traces, rules string }{
		{"../../testdata/office/trajectories.jsonl.gz", "../../testdata/office/rules.yaml"},
		{"../../../shared/data/tau2/airline_azure-gpt-4o.json", "../../../shared/oracle/airline.rules.json"},
		{"../../../shared/data/taubench/gpt-4o-airline.json", "../../../shared/oracle/airline.rules.json"},
		{"../../../shared/data/tau2/retail_gpt-4.1.json", ""},
		{"../../../shared/data/tau2/retail_toolorchestra-gpt-5.json", ""},
	} {
		t.Run(filepath.Base(in.traces), func(t *testing.T) {
			if _, err := os.Stat(in.traces); os.IsNotExist(err) {
				t.Skipf("the traces are not there: %v", err)
			}
			var set *rules.Set
			if in.rules != "" {
				set = recordings.Rules(t, in.rules)
			}
			list := recordings.Read(t, in.traces)
			offered, files := emitted(t, compiledRuns(t, list, set, compile.Patterns), nil)
			if len(offered) == 0 {
				t.Fatal("nothing is offered")
			}
			tools := make([]*metatool.Tool, len(offered))
			for i, d := range offered {
				tools[i] = &d.Tool
			}
			slices.SortFunc(tools, func(a, b *metatool.Tool) int { return strings.Compare(a.Name, b.Name) })
			checkOperations(t, files[arazzo.OpenAPIFile], tools)
			checkMCP(t, files["metatools.mcp.json"], tools)
		})
	}
}
