package cmd

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/awo-dev/awo/internal/golden"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/prefetch/stored"
)

// results are the JSON results of commands, with a command that makes each of
// them from the bundled traces. $TOOLS and $SNAPSHOT are made of them once,
// $WORK is a folder of the command's own.
var results = []struct {
	schema string
	value  any
	args   string
}{}

// TestSchemas holds the JSON of every command to its JSON Schema, and the
// schemas in docs/schemas to the Go types that they are made from. AWO_UPDATE=1
// rewrites them.
func TestSchemas(t *testing.T) {
	names := artefacts(t)
	for _, r := range results {
		t.Run(r.schema, func(t *testing.T) {
			schema := schemaOf(t, r.schema, r.value)
			file := filepath.Join("..", "docs", "schemas", strings.ReplaceAll(r.schema, "/", ".")+".schema.json")
			recorded, err := os.ReadFile(file)
			switch {
			case golden.Update() && !bytes.Equal(recorded, schema):
				if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, schema, 0o666); err != nil {
					t.Fatal(err)
				}
			case err != nil:
				t.Fatalf("%v; AWO_UPDATE=1 makes it", err)
			case !bytes.Equal(recorded, schema):
				t.Errorf("%s is not what the Go type gives; AWO_UPDATE=1 accepts the change", file)
			}
			validate(t, schema, runJSON(t, names.Replace(r.args)))
		})
	}
}

// artefacts makes what commands read besides traces, and returns what puts it in place of its
// name.
func artefacts(t *testing.T) *strings.Replacer {
	t.Helper()
	made := t.TempDir()
	names := []string{"$TOOLS", filepath.Join(made, "tools"), "$SNAPSHOT", filepath.Join(made, "inertia.awo"), "$SERVERS", filepath.Join(made, "mcp.json")}
	runLine(t, "extract office/trajectories.jsonl.gz --sample 60 --threshold 5 --rules office/rules.yaml --out "+names[1])
	runLine(t, "snapshot build office/trajectories.jsonl.gz --sample 60 --rules office/rules.yaml --out "+names[3])
	stubServers(t, names[5])
	return strings.NewReplacer(names...)
}

// TestPrefetchSchema holds the prefetch rules that `awo extract` writes to their
// JSON Schema, and that to the Go type.
func TestPrefetchSchema(t *testing.T) {
	dir := t.TempDir()
	runLine(t, "extract office/trajectories.jsonl.gz --sample 60 --rules office/rules.yaml --verdict never --out "+dir)
	written, err := os.ReadFile(filepath.Join(dir, stored.Name))
	if err != nil {
		t.Fatal(err)
	}
	schema, file := schemaOf(t, stored.Schema, stored.Document{}), filepath.Join("..", "docs", "schemas", "awo.prefetch.v2.schema.json")
	if golden.Update() {
		if err := os.WriteFile(file, schema, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if recorded, err := os.ReadFile(file); err != nil || !bytes.Equal(recorded, schema) {
		t.Errorf("%v: %s is not what the Go type gives; AWO_UPDATE=1 accepts the change", err, file)
	}
	validate(t, schema, written)
}

// TestFileSchemas holds the content of files that other programs read to JSON Schemas, and
// these to the Go types.
func TestFileSchemas(t *testing.T) {
	for _, x := range []struct {
		id, args, file string
		value          any
	}{
		{"awo.snapshot-data/v1", "snapshot build office/trajectories.jsonl.gz --sample 60 --rules office/rules.yaml --out $FILE", "inertia.awo", predict.SnapshotData{}},
		{"awo.summary-data/v1", "summarize office/trajectories.jsonl.gz --out $FILE", "all.awosum", summary.Content{}},
	} {
		path := filepath.Join(t.TempDir(), x.file)
		runLine(t, strings.ReplaceAll(x.args, "$FILE", path))
		var written struct{ Content json.RawMessage }
		if err := json.Unmarshal(recordings.Unpacked(t, path), &written); err != nil {
			t.Fatal(err)
		}
		schema := schemaOf(t, x.id, x.value)
		recorded := filepath.Join("..", "docs", "schemas", strings.ReplaceAll(x.id, "/", ".")+".schema.json")
		if golden.Update() {
			if err := os.WriteFile(recorded, schema, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if known, err := os.ReadFile(recorded); err != nil || !bytes.Equal(known, schema) {
			t.Errorf("%v: %s is not what the Go type gives; AWO_UPDATE=1 accepts the change", err, recorded)
		}
		validate(t, schema, written.Content)
	}
}

// schemaOf returns the JSON Schema of a result.
func schemaOf(t *testing.T, id string, value any) []byte {
	t.Helper()
	s := typeSchema(t, reflect.TypeOf(value), nil)
	s.Schema, s.ID, s.Title = "https://json-schema.org/draft/2020-12/schema", "https://awo.dev/schemas/"+id, id
	s.Properties["schema"] = &jsonschema.Schema{Const: jsonschema.Ptr[any](id)}
	s.Properties["notes"] = &jsonschema.Schema{
		Description: "why figures are null, and what concerns the whole",
		Type:        "array", Items: &jsonschema.Schema{
			Type: "object", Required: []string{"at", "note"},
			Properties: map[string]*jsonschema.Schema{"at": {Type: "string"}, "note": {Type: "string"}},
		},
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// typeSchema returns the JSON Schema of a type; known has those of types that stand elsewhere.
func typeSchema(t *testing.T, of reflect.Type, known map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	t.Helper()
	number := &jsonschema.Schema{Types: []string{"number", "null"}}
	types := map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[stat.Figure](): number,
		reflect.TypeFor[stat.Interval](): {
			Types: []string{"object", "null"}, Required: []string{"lo", "hi", "level", "method"},
			Properties: map[string]*jsonschema.Schema{"lo": number, "hi": number, "level": {Type: "number"}, "n": {Type: "integer"}, "method": {Type: "string"}},
		},
		reflect.TypeFor[stat.Estimate](): {
			Types: []string{"object", "null"}, Required: []string{"value", "lo", "hi", "n"},
			Properties: map[string]*jsonschema.Schema{"value": {Type: "number"}, "lo": number, "hi": number, "n": {Type: "integer"}},
		},
		reflect.TypeFor[json.RawMessage](): {},
	}
	maps.Copy(types, known)
	s, err := jsonschema.ForType(of, &jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// runJSON runs awo on the bundled traces, once for each command between &&, and
// returns what it prints last.
func runJSON(t *testing.T, lines string) (out []byte) {
	t.Helper()
	lines = strings.ReplaceAll(lines, "$WORK", t.TempDir())
	for line := range strings.SplitSeq(lines, "&&") {
		out = runLine(t, line)
	}
	return out
}

func runLine(t *testing.T, line string) []byte {
	t.Helper()
	line, fromInput := strings.CutSuffix(line, " <one.jsonl")
	c := exec.CommandContext(t.Context(), "awo", append(strings.Fields(line), "--format", "json", "--quiet")...)
	c.Dir = filepath.Join("..", "testdata")
	var complaint bytes.Buffer
	c.Stderr = &complaint
	if fromInput {
		c.Stdin = strings.NewReader(oneRequest)
	}
	out, err := c.Output()
	if err != nil {
		t.Fatalf("awo %s: %v\n%s", line, err, &complaint)
	}
	return out
}

func validate(t *testing.T, schema, document []byte) {
	t.Helper()
	parsed, err := validator.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := validator.NewCompiler()
	if err := compiler.AddResource("schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	value, err := validator.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("no JSON: %v\n%s", err, document)
	}
	if err := compiled.Validate(value); err != nil {
		t.Error(err)
	}
}

// members returns the figures of a result and the rows of its tables, by name.
func members(t *testing.T, document []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatal(err)
	}
	figures, ok := v["figures"].(map[string]any)
	if !ok || v["schema"] != report.Schema {
		return v
	}
	for name, table := range v["tables"].(map[string]any) {
		figures[name] = table.(map[string]any)["rows"]
	}
	return figures
}

// oneRequest is a request that a snapshot predicts the next call of.
const oneRequest = `{"messages":[{"role":"user","content":"What do I owe? I am ana.lima@office.example"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"supervisor_show_profile","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"{\"email\":\"ana.lima@office.example\"}"}]}`
