package changes

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// Define returns what is compared of a tool's definition. annotations and input are null
// where they are not known; arguments is input with its references put in place, or null.
func Define(name, description string, annotations, input, arguments trace.Value) Tool {
	t := Tool{Name: name, SHA256: canonicalSum(trace.NewObject(
		trace.Member{Name: "name", Value: trace.NewString(name)}, trace.Member{Name: "description", Value: trace.NewString(description)},
		trace.Member{Name: "annotations", Value: annotations}, trace.Member{Name: "input_schema", Value: input},
	))}
	if input.Kind != trace.Null {
		t.SchemaSHA256 = canonicalSum(input)
	}
	properties, _ := arguments.Lookup("properties")
	required, _ := arguments.Lookup("required")
	for _, m := range properties.Members {
		a := ToolArgument{Name: m.Name, Type: typeText(m.Value)}
		a.Required = slices.ContainsFunc(required.Elems, func(v trace.Value) bool { return v.Kind == trace.String && v.Text == m.Name })
		t.Arguments = append(t.Arguments, a)
	}
	return t
}

func canonicalSum(v trace.Value) string {
	sum := sha256.Sum256(v.AppendCanonical(nil))
	return hex.EncodeToString(sum[:])
}

// typeText returns the types that a schema names, several joined by |.
func typeText(schema trace.Value) string {
	t, _ := schema.Lookup("type")
	if t.Kind == trace.String {
		return t.Text
	}
	var all []string
	for _, e := range t.Elems {
		if e.Kind == trace.String {
			all = append(all, e.Text)
		}
	}
	return strings.Join(all, "|")
}

// Tool returns a tool of the set, nil if it is not there.
func (s *Set) Tool(name string) *Tool { return s.tools[name] }

// Drift returns what changed of tools since they were recorded: live are the tools as
// they are now, under the names that the set has for them. A tool that is not in live
// is not looked at.
func (s *Set) Drift(live []Tool) []Change {
	now := &Set{tools: map[string]*Tool{}}
	before := &Set{MetaTools: s.MetaTools, Tools: []Tool{}}
	for i := range live {
		now.tools[live[i].Name] = &live[i]
		if t := s.tools[live[i].Name]; t != nil {
			before.Tools = append(before.Tools, *t)
		}
	}
	now.Tools = live
	if live == nil {
		now.Tools = []Tool{}
	}
	before.tools = s.tools
	c := &comparison{before: before, after: now}
	c.tools()
	return c.list
}
