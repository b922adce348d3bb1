package catalog

import (
	"encoding/json"
	"regexp"
	"slices"

	"github.com/awo-dev/awo/internal/jsonschema"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// Definition returns a tool as a trajectory would record it, for what counts tokens.
func (t *Tool) Definition() trace.ToolDef {
	d := trace.ToolDef{Name: trace.Intern(t.Name), Description: trace.TextOf(t.whole), Input: trace.JSONOf(t.inputSchema())}
	if t.Output.Kind == trace.Object {
		d.Output = trace.JSONOf(t.Output.AppendCanonical(nil))
	}
	return d
}

// inputSchema returns the schema of the arguments, that of an object without
// members if none is known.
func (t *Tool) inputSchema() []byte {
	if t.Input.Kind != trace.Object {
		return []byte(`{"type":"object"}`)
	}
	if t.root.Kind != trace.Object {
		return t.Input.AppendCanonical(nil)
	}
	// A definition has to stand on its own.
	whole, _ := jsonschema.Inline(t.root, t.Input)
	return whole.AppendCanonical(nil)
}

// searchTool is the tool by which Anthropic's models find tools that are not loaded.
const searchTool = `{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}`

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Defer       bool            `json:"defer_loading,omitempty"`
}

// Anthropic returns the member "tools" of a request to the Messages interface with
// all tools of the catalogue: those that are chosen are loaded, the others are
// deferred and found by the interface's own tool search, which is there if any is.
func (c *Catalog) Anthropic(chosen []string) ([]byte, error) {
	out := struct {
		Tools []any `json:"tools"`
	}{Tools: []any{}}
	for _, name := range chosen {
		if t := c.Lookup(name); t != nil {
			out.Tools = append(out.Tools, anthropicTool{Name: t.Name, Description: t.whole, InputSchema: t.inputSchema()})
		}
	}
	if len(chosen) < len(c.Tools) {
		out.Tools = append(out.Tools, json.RawMessage(searchTool))
	}
	for i := range c.Tools {
		if t := &c.Tools[i]; !slices.Contains(chosen, t.Name) {
			out.Tools = append(out.Tools, anthropicTool{Name: t.Name, Description: t.whole, InputSchema: t.inputSchema(), Defer: true})
		}
	}
	return report.MarshalJSON(out)
}

type openAIFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// OpenAI returns the member "tools" of a request to the Chat Completions interface
// with the chosen tools.
func (c *Catalog) OpenAI(chosen []string) ([]byte, error) {
	type tool struct {
		Type     string         `json:"type"`
		Function openAIFunction `json:"function"`
	}
	out := struct {
		Tools []tool `json:"tools"`
	}{Tools: []tool{}}
	for _, name := range chosen {
		if t := c.Lookup(name); t != nil {
			out.Tools = append(out.Tools, tool{"function", openAIFunction{t.Name, t.whole, t.inputSchema()}})
		}
	}
	return report.MarshalJSON(out)
}

// AllowSchema names the version of an allow-list.
const AllowSchema = "awo.tool-allow-list/v1"

// AllowList returns the names of the chosen tools as gateways of the Model Context
// Protocol filter by them, all together and by server.
func (c *Catalog) AllowList(chosen []string) ([]byte, error) {
	type server struct {
		Server string   `json:"server"`
		Tools  []string `json:"allowed_tools"`
	}
	out := struct {
		Schema  string   `json:"schema"`
		Tools   []string `json:"allowed_tools"`
		Servers []server `json:"servers"`
	}{AllowSchema, []string{}, []server{}}
	names := slices.Sorted(slices.Values(chosen))
	by := map[string][]string{}
	var groups []string
	for _, name := range names {
		t := c.Lookup(name)
		if t == nil {
			continue
		}
		out.Tools = append(out.Tools, name)
		if by[t.Group] == nil {
			groups = append(groups, t.Group)
		}
		by[t.Group] = append(by[t.Group], name)
	}
	slices.Sort(groups)
	for _, g := range groups {
		out.Servers = append(out.Servers, server{g, by[g]})
	}
	return report.MarshalJSON(out)
}

// functionName is what both interfaces take for the name of a tool: 64 characters at
// OpenAI, twice that at Anthropic.
var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Refused returns the names that the interfaces of OpenAI and Anthropic refuse. They
// are written as they are, because a name that was changed would be another tool.
func Refused(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return functionName.MatchString(n) })
}
