package spantree

import (
	"strings"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// addDefinitions adds the definitions that are new.
func addDefinitions(b *build.Builder, tools []trace.ToolDef) {
	if len(tools) == 0 {
		return
	}
	known := make(map[trace.Name]bool, len(b.Trajectory.Tools))
	for _, tool := range b.Trajectory.Tools {
		known[tool.Name] = true
	}
	for _, tool := range tools {
		if !known[tool.Name] {
			known[tool.Name] = true
			b.Trajectory.Tools = append(b.Trajectory.Tools, tool)
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
			tools = append(tools, message.DefinitionsIn(b, list)...)
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
			tools = message.DefinitionsIn(b, list)
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
