package catalog

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonschema"
	"github.com/awo-dev/awo/trace"
)

// methods are the operations of a path, in the order of the specification, and what
// HTTP says of each (RFC 9110, section 9.2).
var methods = []struct {
	name     string
	readOnly Hint
	destroys Hint
}{
	{"get", Yes, No},
	{"put", No, Unsaid},
	{"post", No, Unsaid},
	{"delete", No, Yes},
	{"options", Yes, No},
	{"head", Yes, No},
	{"patch", No, Unsaid},
	{"trace", Yes, No},
}

// openAPI reads the operations of an OpenAPI 3 document as tools: parameters and the
// members of the body are arguments, the answer with the lowest code from 200 to 299 is
// the result. An operation is called by its operationId, or by method and path.
func (r *reader) openAPI(doc trace.Value) {
	info, _ := doc.Lookup("info")
	title, _ := info.Lookup("title")
	paths, _ := doc.Lookup("paths")
	r.places = placesEach(operations(doc, paths))
	for _, path := range paths.Members {
		item := jsonschema.Resolve(doc, path.Value)
		shared, _ := item.Lookup("parameters")
		for _, method := range methods {
			operation, ok := item.Lookup(method.name)
			if !ok {
				continue
			}
			if len(r.tools) >= MaxTools {
				r.problems = append(r.problems, diag.New(diag.Pos{File: r.file}, CodeTooLarge, "there are more than %d operations; the rest is left out", MaxTools))
				return
			}
			t := Tool{
				Name: strings.ToUpper(method.name) + " " + path.Name, Group: cutText(title.Text), Defined: true,
				ReadOnly: method.readOnly, Destructive: method.destroys,
			}
			if id, _ := operation.Lookup("operationId"); id.Kind == trace.String && id.Text != "" {
				t.Name = id.Text
			}
			t.SetDescription(operationText(operation))
			own, _ := operation.Lookup("parameters")
			t.Input, t.root = operationInput(doc, operation, slices.Concat(first(shared.Elems), first(own.Elems))), doc
			t.Output = operationOutput(doc, operation)
			at := len(r.tools)
			r.finish(t, doc, doc)
			r.tools[at].Output = trace.Value{} // it refers into the document, and nothing asks for it
		}
	}
	if len(r.tools) == 0 {
		r.problems = append(r.problems, diag.New(diag.Pos{File: r.file, Line: 1, Col: 1}, CodeShape, "the OpenAPI document has no operations"))
	}
}

// operations returns how many operations there are.
func operations(doc, paths trace.Value) int {
	n := 0
	for _, path := range paths.Members {
		item := jsonschema.Resolve(doc, path.Value)
		for _, method := range methods {
			if _, ok := item.Lookup(method.name); ok {
				n++
			}
		}
	}
	return n
}

// first returns the beginning of a list of parameters, or of members of a body: many
// operations may refer to one long list.
func first[T any](list []T) []T { return list[:min(len(list), jsonschema.MaxInlined)] }

func operationText(operation trace.Value) string {
	summary, _ := operation.Lookup("summary")
	text, _ := operation.Lookup("description")
	switch {
	case summary.Text == "" || strings.HasPrefix(text.Text, summary.Text):
		return text.Text
	case text.Text == "":
		return summary.Text
	}
	return strings.TrimRight(summary.Text, ". ") + ". " + text.Text
}

// operationInput returns the schema of an operation's arguments: its parameters and,
// if the body is an object, its members; a body of another type is the member
// "body". Of two parameters of a name the later counts.
func operationInput(doc, operation trace.Value, parameters []trace.Value) trace.Value {
	var properties []trace.Member
	required := trace.Value{Kind: trace.Array}
	for _, p := range parameters {
		p = jsonschema.Resolve(doc, p)
		name, _ := p.Lookup("name")
		if name.Text == "" {
			continue
		}
		schema, _ := p.Lookup("schema")
		if schema.Kind != trace.Object {
			schema = trace.Value{Kind: trace.Object}
		}
		if text, _ := p.Lookup("description"); text.Text != "" {
			if _, has := schema.Lookup("description"); !has {
				schema = trace.NewObject(append(slices.Clone(schema.Members), trace.Member{Name: "description", Value: text})...)
			}
		}
		properties = append(properties, trace.Member{Name: name.Text, Value: schema})
		if must, _ := p.Lookup("required"); must.Bool {
			required.Elems = append(required.Elems, name)
		}
	}
	body, _ := operation.Lookup("requestBody")
	body = jsonschema.Resolve(doc, body)
	must, _ := body.Lookup("required")
	if schema, ok := content(doc, body); ok {
		schema = jsonschema.Resolve(doc, schema)
		if members, _ := schema.Lookup("properties"); len(members.Members) > 0 {
			properties = append(properties, first(members.Members)...)
			if names, _ := schema.Lookup("required"); must.Bool {
				required.Elems = append(required.Elems, first(names.Elems)...)
			}
		} else {
			properties = append(properties, trace.Member{Name: "body", Value: schema})
			if must.Bool {
				required.Elems = append(required.Elems, trace.NewString("body"))
			}
		}
	}
	out := []trace.Member{{Name: "type", Value: trace.NewString("object")}, {Name: "properties", Value: trace.NewObject(properties...)}}
	if len(required.Elems) > 0 {
		out = append(out, trace.Member{Name: "required", Value: required})
	}
	return trace.NewObject(out...)
}

// content returns the schema of a body: of JSON, else of the first type that has
// one.
func content(doc, body trace.Value) (trace.Value, bool) {
	types, _ := body.Lookup("content")
	best := trace.Value{}
	for _, m := range types.Members {
		schema, ok := jsonschema.Resolve(doc, m.Value).Lookup("schema")
		if !ok {
			continue
		}
		if strings.Contains(m.Name, "json") {
			return schema, true
		}
		if best.Kind == trace.Null {
			best = schema
		}
	}
	return best, best.Kind != trace.Null
}

func operationOutput(doc, operation trace.Value) trace.Value {
	responses, _ := operation.Lookup("responses")
	for _, m := range responses.Members { // in the order of their names
		if strings.HasPrefix(m.Name, "2") {
			if schema, ok := content(doc, jsonschema.Resolve(doc, m.Value)); ok {
				return schema
			}
		}
	}
	return trace.Value{}
}
