package message

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// ToolArguments returns the arguments of a tool out of what its Span was given, and
// the id of the call if it stands with them. Libraries give tools the text of the
// arguments, the whole call, or an object that has them as its only member.
func ToolArguments(input trace.Raw) (args trace.Raw, id []byte) {
	text := build.InnerJSON(input)
	if text == nil {
		if content := input.Content(); MayBePython(content) {
			if value, ok := PythonJSON(content); ok && value[0] == '{' {
				return trace.JSONOf(value), nil
			}
		}
		return input, nil
	}
	if text[0] != '{' {
		return input, nil
	}
	var kind, name []byte
	var inner, list, kwargs trace.Raw
	members := 0
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		members++
		switch string(c.Key()) {
		case "type":
			kind, _ = c.Text()
		case "id", "tool_call_id":
			id, _ = c.Text()
		case "name", "method":
			name, _ = c.Text()
		case "args":
			list = build.ReadArgs(&c)
		case "kwargs":
			kwargs = build.ReadArgs(&c)
		case "arguments", "params", "input", "inputs", "parameters":
			inner = build.ReadArgs(&c)
		}
	}
	positional := list.Form == trace.FormJSON && list.Data[0] == '[' && len(bytes.TrimSpace(list.Data[1:])) > 1
	switch {
	case string(kind) == "tool_call" && !list.IsZero():
		return list, id
	case isObject(kwargs) && !positional && (members <= 2 || !list.IsZero()):
		return kwargs, nil
	case isObject(inner) && (members == 1 || len(name) > 0 || build.HasMember(text, "tags") || build.HasMember(text, "jsonrpc")):
		deeper, _ := ToolArguments(inner)
		return deeper, nil
	}
	return input, nil
}

// isObject reports whether a piece is an object or the text of one.
func isObject(r trace.Raw) bool {
	if text := build.InnerJSON(r); text != nil {
		return text[0] == '{'
	}
	if content := r.Content(); r.Form != trace.FormNone && MayBePython(content) {
		value, ok := PythonJSON(content)
		return ok && value[0] == '{'
	}
	return false
}

// ToolOutput is what a tool gave back, taken out of what libraries wrap it in.
type ToolOutput struct {
	Content trace.Raw
	CallID  []byte
	Failed  bool
	IsTool  bool // it was in a message
}

// Read takes out of out what a tool gave back.
func (m *ToolOutput) Read(out trace.Raw) {
	if inner, ok := build.OnlyMember(build.InnerJSON(out), "output"); ok {
		out = inner
	}
	m.Content = out
	text := build.InnerJSON(out)
	if text == nil {
		if content := out.Content(); MayBePython(content) && bytes.Contains(content, []byte("tool_call_id=")) {
			text, _ = PythonJSON(content)
		}
	}
	if text == nil || text[0] != '{' {
		return
	}
	said := readAnyMessage(text)
	if said.kwargs != nil && string(said.class) == "tool" {
		said = readAnyMessage(said.kwargs)
		said.role = []byte("tool")
	}
	if string(said.role) == "tool" && len(said.callID) > 0 {
		m.Content, m.CallID, m.Failed, m.IsTool = said.content, said.callID, said.ended == trace.StatusFailed || string(said.status) == "error", true
		m.Content = AsResult(m.Content)
		return
	}
	if result, id := build.MemberRaw(text, "result"), build.MemberText(text, "tool_call_id"); result != nil && len(id) > 0 {
		m.Content, m.CallID = AsResult(build.Raw(result)), id
		return
	}
	if content := build.MemberRaw(text, "message"); content != nil && build.HasMember(text, "id") { // Strands'
		if list := build.InnerJSON(build.Raw(content)); build.IsKind(list, '[') && isContentList(list) {
			m.Content, m.CallID = AsResult(trace.Raw{Data: list, Form: trace.FormParts}), build.MemberText(text, "id")
			return
		}
	}
	if response := build.MemberRaw(text, "response"); response != nil && build.HasMember(text, "name") && build.HasMember(text, "id") { // Google's
		m.Content = trace.JSONOf(response)
	}
}

// GeminiResult returns what a function returned, how it ended and with which
// error: the documented members are "output" and "error"; a lone "result" is
// what libraries write for a value that is no object.
func GeminiResult(whole trace.Raw) (result trace.Raw, status trace.Status, failure trace.Raw) {
	result = whole
	if whole.Form != trace.FormJSON {
		return result, trace.StatusUnknown, trace.Raw{}
	}
	var output, lone trace.Raw
	members := 0
	c := jsonscan.New(whole.Data)
	for ok := c.Object(); ok && c.Member(); {
		members++
		switch string(c.Key()) {
		case "output":
			output = build.ReadRaw(&c)
		case "result":
			lone = build.ReadRaw(&c)
		case "error":
			failure = build.ReadRaw(&c)
		}
	}
	switch {
	case !failure.IsEmpty():
		return result, trace.StatusFailed, failure
	case !output.IsZero() && members == 1:
		return output, trace.StatusOK, trace.Raw{}
	case !output.IsZero():
		return result, trace.StatusOK, trace.Raw{}
	case !lone.IsZero() && members == 1:
		return lone, trace.StatusUnknown, trace.Raw{}
	}
	return result, trace.StatusUnknown, trace.Raw{}
}
