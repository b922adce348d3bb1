package spantree

import (
	"strings"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// define adds the definitions that are new.
func (r *reader) define(tools []trace.ToolDef) {
	t := r.b.Trajectory
	if r.defined == nil && len(tools) > 0 {
		r.defined = make(map[trace.Name]bool, len(t.Tools)+len(tools))
		for _, tool := range t.Tools {
			r.defined[tool.Name] = true
		}
	}
	for _, tool := range tools {
		if !r.defined[tool.Name] {
			r.defined[tool.Name] = true
			t.Tools = append(t.Tools, tool)
		}
	}
}

// definitionAttributes are the attributes of spans that hold definitions, as a list
// or, by the names of members on the way, inside of something else.
var definitionAttributes = []struct {
	name string
	path []string
}{
	{"gen_ai.tool.definitions", nil},
	{"ai.prompt.tools", nil},
	{"gen_ai.request.tools", nil},
	{"gcp.vertex.agent.llm_request", []string{"config", "tools"}},
	{"model_request_parameters", []string{"function_tools"}},
	{"model_request_parameters", []string{"output_tools"}},
	{"model_request_parameters", []string{"builtin_tools"}},
	{"llm.invocation_parameters", []string{"tools"}},
	{"tools", nil},
}

// definitions returns the tools that a span says were offered.
func (s *Span) definitions(b *build.Builder) (tools []trace.ToolDef) {
	if s.Tools != nil {
		return s.Tools
	}
	for _, d := range definitionAttributes {
		v, ok := s.Attribute(d.name)
		if !ok {
			continue
		}
		list := build.InnerJSON(build.RawOf(v))
		for _, name := range d.path {
			list = build.MemberRaw(list, name)
		}
		if len(list) > 0 && list[0] == '[' {
			tools = append(tools, b.Definitions(list)...)
		}
		if len(tools) > 0 && len(d.path) == 0 {
			break
		}
	}
	for _, name := range []string{"llm.tools", "llm.request.functions"} {
		if len(tools) > 0 {
			break
		}
		if list := s.list(name); list != nil {
			tools = b.Definitions(list)
		}
	}
	return tools
}

// toolNameOfHandoff returns the tool that an agent hands over with, by the name of
// the span of the handoff, "" if it is none.
func toolNameOfHandoff(span string) string {
	agent, ok := strings.CutPrefix(span, "handoff to ")
	if !ok {
		if agent, ok = strings.CutPrefix(span, "Handoff: "); !ok {
			return ""
		}
		_, agent, ok = strings.Cut(agent, "-> ")
		if !ok {
			return ""
		}
	}
	return "transfer_to_" + strings.ToLower(strings.ReplaceAll(strings.TrimSpace(agent), " ", "_"))
}
