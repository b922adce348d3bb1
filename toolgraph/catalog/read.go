package catalog

import (
	"bytes"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
	"github.com/awo-dev/awo/internal/yamlvalue"
	"github.com/awo-dev/awo/trace"
)

// Parse reads the definitions of a file. It knows by their members which of these
// it holds: the result of tools/list (MCP), a tool array of OpenAI (Chat Completions or
// Responses), Anthropic or Gemini, bare or in a request's member "tools", an OpenAPI 3
// document in JSON or YAML, or one definition a line. The list holds every problem;
// tools without one are returned all the same.
func Parse(file string, data []byte) ([]Tool, diag.List) {
	if len(data) > MaxBytes {
		return nil, diag.List{diag.New(diag.Pos{File: file}, CodeTooLarge, "the file has %d bytes; at most %d are read", len(data), MaxBytes)}
	}
	values, problems := valuesOf(file, data)
	if len(problems.Errors()) > 0 {
		return nil, problems
	}
	r := reader{file: file, problems: problems, places: placesEach(len(values))}
	for _, v := range values {
		r.document(v)
	}
	if len(r.tools) == 0 && len(r.problems.Errors()) == 0 {
		r.problems = append(r.problems, diag.New(diag.Pos{File: file}, CodeShape, "there are no tool definitions in this file").
			Note(diag.Pos{}, "known are the result of MCP's tools/list, the tool arrays of OpenAI, Anthropic and Gemini, OpenAPI 3, and one definition a line"))
	}
	return r.tools, r.problems
}

// valuesOf returns the documents of a file: one of JSON or YAML, or one a line.
func valuesOf(file string, data []byte) ([]trace.Value, diag.List) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	start := bytes.TrimLeft(data, " \t\r\n")
	if len(start) == 0 {
		return nil, diag.List{diag.New(diag.Pos{File: file}, CodeShape, "the file is empty")}
	}
	if start[0] != '{' && start[0] != '[' {
		document, problems := yamlsrc.Parse(file, data, yamlsrc.Options{MaxBytes: MaxBytes, MaxNodes: 1_000_000})
		if len(problems.Errors()) > 0 || document == nil || document.Root == nil {
			return nil, problems.Errors()
		}
		v, _ := yamlvalue.Of(document.Root) // a number that JSON has not is in no schema
		return []trace.Value{v}, nil
	}
	whole, err := trace.ParseValue(data)
	if err == nil {
		return []trace.Value{whole}, nil
	}
	if lines, ok := jsonLines(data); ok {
		return lines, nil
	}
	return nil, diag.List{placed(err, file)}
}

// jsonLines parses one value a line, at least two.
func jsonLines(data []byte) ([]trace.Value, bool) {
	var out []trace.Value
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		v, err := trace.ParseValue(line)
		if err != nil {
			return nil, false
		}
		out = append(out, v)
	}
	return out, len(out) > 1
}

// placed returns a problem with a JSON text as one of a file.
func placed(err error, file string) *diag.Error {
	if e, ok := err.(*diag.Error); ok {
		e.Pos.File = file
		return e
	}
	return diag.New(diag.Pos{File: file}, CodeShape, "the file is no JSON")
}

// A reader collects the tools of one file.
type reader struct {
	file     string
	places   int // of the arguments, and of the results, of a tool
	tools    []Tool
	problems diag.List
}

// document reads the tools of one value.
func (r *reader) document(v trace.Value) {
	if v.Kind == trace.Object {
		if version, _ := v.Lookup("openapi"); version.Kind == trace.String {
			r.openAPI(v)
			return
		}
		if result, ok := v.Lookup("result"); ok && !isTool(v) {
			v = result // an answer of JSON-RPC
		}
		for _, key := range [...]string{"tools", "functions"} {
			if list, _ := v.Lookup(key); list.Kind == trace.Array && !isTool(v) {
				r.list(list)
				return
			}
		}
		if isTool(v) || hasDeclarations(v) {
			r.tool(v, 1)
		}
		return
	}
	if v.Kind == trace.Array {
		r.list(v)
	}
}

func (r *reader) list(v trace.Value) {
	r.places = min(r.places, placesEach(len(v.Elems)))
	for i, e := range v.Elems {
		if len(r.tools) >= MaxTools {
			r.problems = append(r.problems, diag.New(diag.Pos{File: r.file}, CodeTooLarge, "there are more than %d tools; the rest is left out", MaxTools))
			return
		}
		r.tool(e, i+1)
	}
}

// schemaKeys are what the schema of arguments is called, and outputKeys that of
// results.
var (
	schemaKeys = []string{"inputSchema", "input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"}
	outputKeys = []string{"outputSchema", "output_schema", "response", "responseJsonSchema", "returns"}
)

// isTool reports whether an object is a definition: it has a name, and a schema, a
// description or a type beside it.
func isTool(v trace.Value) bool {
	if inner, ok := v.Lookup("function"); ok && inner.Kind == trace.Object {
		v = inner
	}
	if name, _ := v.Lookup("name"); name.Kind != trace.String {
		return false
	}
	return slices.ContainsFunc(append([]string{"description", "type"}, schemaKeys...), func(key string) bool {
		_, ok := v.Lookup(key)
		return ok
	})
}

// declarationKeys are what Gemini calls its list of functions.
var declarationKeys = []string{"functionDeclarations", "function_declarations"}

func hasDeclarations(v trace.Value) bool {
	return slices.ContainsFunc(declarationKeys, func(key string) bool { _, ok := v.Lookup(key); return ok })
}

// tool reads one definition, the n-th of its list.
func (r *reader) tool(v trace.Value, n int) {
	at := diag.Pos{File: r.file}
	if v.Kind != trace.Object {
		r.problems = append(r.problems, diag.New(at, CodeToolShape, "definition %d is no object", n))
		return
	}
	for _, key := range declarationKeys {
		if list, ok := v.Lookup(key); ok {
			r.list(list)
			return
		}
	}
	outer := v
	if inner, ok := v.Lookup("function"); ok && inner.Kind == trace.Object {
		v = inner
	}
	name, _ := v.Lookup("name")
	if name.Kind != trace.String || strings.TrimSpace(name.Text) == "" {
		r.problems = append(r.problems, diag.New(at, CodeUnnamed, "definition %d has no name", n))
		return
	}
	t := Tool{Name: name.Text, Defined: true}
	if text, _ := v.Lookup("description"); text.Kind == trace.String {
		t.SetDescription(text.Text)
	}
	t.Input = firstObject(v, schemaKeys)
	t.Output = firstObject(v, outputKeys)
	t.Annotated, _ = v.Lookup("annotations")
	t.Group = groupIn(v)
	if t.Group == "" {
		t.Group = groupIn(outer)
	}
	r.finish(t, t.Input, t.Output)
}

// groupIn returns what a definition says of its server.
func groupIn(v trace.Value) string {
	meta, _ := v.Lookup("_meta")
	for _, of := range []trace.Value{meta, v} {
		for _, key := range [...]string{"group", "server", "server_label", "serverName", "server_name"} {
			if group, _ := of.Lookup(key); group.Kind == trace.String && group.Text != "" {
				return cutText(group.Text)
			}
		}
	}
	return ""
}

func firstObject(v trace.Value, keys []string) trace.Value {
	for _, key := range keys {
		if found, _ := v.Lookup(key); found.Kind == trace.Object {
			return found
		}
	}
	return trace.Value{}
}

// finish completes a tool by what its schemas, annotations and name say. Schemas
// are its own, or lead into the given roots.
func (r *reader) finish(t Tool, inputRoot, outputRoot trace.Value) {
	t.complete(inputRoot, outputRoot, r.places)
	if t.Cut {
		r.problems = append(r.problems, diag.Warn(diag.Pos{File: r.file}, CodeSchemaLarge,
			"the schemas of %q have more places than are kept (%d), or lead too deep; the rest is left out", t.Name, r.places))
	}
	r.tools = append(r.tools, t)
}

// complete fills in what follows from the schemas, with at most that many places.
func (t *Tool) complete(inputRoot, outputRoot trace.Value, most int) {
	var cut bool
	t.Inputs, t.Cut = placesOf(t.Input, inputRoot, false, most)
	t.Outputs, cut = placesOf(t.Output, outputRoot, true, most)
	t.Cut = t.Cut || cut
	t.ReadOnly = hintIn(t.Annotated, "readOnlyHint", t.ReadOnly)
	t.Destructive = hintIn(t.Annotated, "destructiveHint", t.Destructive)
	if t.Group == "" {
		t.Group = groupOf(t.Name)
	}
}

func hintIn(annotations trace.Value, key string, otherwise Hint) Hint {
	switch v, _ := annotations.Lookup(key); {
	case v.Kind != trace.Bool:
		return otherwise
	case v.Bool:
		return Yes
	}
	return No
}
