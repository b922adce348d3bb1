package arazzo

import (
	"net/url"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// Operation is a tool that meta-tools call.
type Operation struct {
	Name        string
	Description string
	Input       trace.Value // JSON Schema of its arguments; null if it is not known
	Output      trace.Value // JSON Schema of its result; null if it is not known
	ReadOnly    bool
	Idempotent  bool
}

// OpenAPI returns an OpenAPI 3.1 description of tools, each an operation POST
// /tools/NAME whose operationId is the name. It describes, for readers of an
// Arazzo description, what a step calls; there need be no such server.
func OpenAPI(tools []Operation) trace.Value {
	var paths []trace.Member
	for i := range tools {
		paths = append(paths, member("/tools/"+segment(tools[i].Name), trace.NewObject(member("post", operation(&tools[i])))))
	}
	return trace.NewObject(
		member("openapi", trace.NewString("3.1.0")),
		member("info", trace.NewObject(member("title", trace.NewString("Tools")), member("version", trace.NewString("1.0.0")))),
		member("paths", trace.NewObject(paths...)),
	)
}

// segment returns a name as one segment of a path: never one that leads out of
// the folder, and no other name's.
func segment(name string) string {
	if name == "." || name == ".." {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return url.PathEscape(name)
}

func operation(t *Operation) trace.Value {
	input := t.Input
	if input.Kind != trace.Object {
		input = trace.NewObject(member("type", trace.NewString("object")))
	}
	output := t.Output
	if output.Kind != trace.Object {
		output = trace.NewObject()
	}
	yes := trace.Value{Kind: trace.Bool, Bool: true}
	members := []trace.Member{
		member("operationId", trace.NewString(t.Name)),
		member("requestBody", trace.NewObject(member("required", yes), member("content", jsonContent(input)))),
		member("responses", trace.NewObject(
			member("200", trace.NewObject(member("description", trace.NewString("What the tool returned.")), member("content", jsonContent(output)))),
			member("500", trace.NewObject(member("description", trace.NewString("The tool answered with an error.")))),
		)),
	}
	if t.Description != "" {
		members = append(members, member("description", trace.NewString(t.Description)))
	}
	if t.ReadOnly {
		members = append(members, member("x-awo-read-only", yes))
	}
	if t.Idempotent {
		members = append(members, member("x-awo-idempotent", yes))
	}
	return trace.NewObject(members...)
}

func jsonContent(schema trace.Value) trace.Value {
	return trace.NewObject(member("application/json", trace.NewObject(member("schema", schema))))
}

func member(name string, v trace.Value) trace.Member { return trace.Member{Name: name, Value: v} }
