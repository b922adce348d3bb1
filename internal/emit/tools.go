package emit

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/changes"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/trace"
)

// ToolDefinition is a tool of the traces as it was last offered to a model, so
// that a later set of artefacts can be compared with it.
type ToolDefinition struct {
	Name string `json:"name"`
	// SHA256 is that of the canonical JSON of the definition: name, description,
	// schema of the arguments, annotations. SchemaSHA256 is that of the schema
	// alone. Empty if no definition was recorded.
	SHA256       string `json:"sha256,omitempty"`
	SchemaSHA256 string `json:"schema_sha256,omitempty"`
	// Versions is how many different definitions followed each other.
	Versions  int            `json:"versions,omitzero"`
	Arguments []ToolArgument `json:"arguments,omitempty"` // top-level ones, by name
}

// ToolArgument is a top-level argument of a tool's definition.
type ToolArgument struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"` // of JSON Schema, several joined by |
	Required bool   `json:"required,omitempty"`
}

// Definition sets what was recorded of the tool's definition. annotations and
// input are null where they are not known; arguments is input with its references
// put in place, or null.
func (t *ToolDefinition) Definition(description string, annotations, input, arguments trace.Value) {
	d := changes.Define(t.Name, description, annotations, input, arguments)
	t.SHA256, t.SchemaSHA256, t.Arguments = d.SHA256, d.SchemaSHA256, nil
	for _, a := range d.Arguments {
		t.Arguments = append(t.Arguments, ToolArgument(a))
	}
}

// toolsOf returns the definitions that were given, and of tools that meta-tools
// call but nothing is known of the names, in order of names.
func toolsOf(in Results) []ToolDefinition {
	tools := append([]ToolDefinition{}, in.Definitions...)
	known := map[string]bool{}
	for i := range tools {
		known[tools[i].Name] = true
	}
	for _, name := range calledBy(in.Tools) {
		if !known[name] {
			tools = append(tools, ToolDefinition{Name: name})
			known[name] = true
		}
	}
	slices.SortFunc(tools, func(a, b ToolDefinition) int { return cmp.Compare(a.Name, b.Name) })
	return tools
}

// calledBy returns the names of the tools that steps call.
func calledBy(tools []*bind.Definition) []string {
	var names []string
	for _, d := range tools {
		for i := range d.Steps {
			names = append(names, d.Steps[i].Tool)
		}
	}
	return names
}
