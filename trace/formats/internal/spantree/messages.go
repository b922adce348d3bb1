package spantree

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// spanMessages reads messages. Every request of a conversation repeats those
// before it byte for byte, so what was read is kept by how it was written.
type spanMessages struct {
	known map[writtenMessage][]build.Item
}

// writtenMessage is a message as it stood in a list, and the role that it has if
// it names none.
type writtenMessage struct{ text, role string }

// items reads a list of messages in any of the ways in which spans have them: with
// parts (OpenTelemetry), with content and tool_calls (the interfaces themselves),
// or each under "message" (OpenInference). Text is a message of the role given.
func (m *spanMessages) items(v trace.Value, role string) []build.Item {
	if v.Kind == trace.String {
		if items, ok := m.list([]byte(v.Text), role); ok {
			return items
		}
	}
	v, ok := build.JSONIn(v)
	if !ok {
		if v.Text == "" {
			return nil
		}
		return appendText(nil, role, v)
	}
	if messages, ok := v.Lookup("messages"); ok && messages.Kind == trace.Array {
		v = messages
	}
	if prompt := v.Member("prompt"); prompt.Kind == trace.String {
		return appendText(nil, role, prompt)
	}
	if v.Kind == trace.Object {
		return appendSpanMessage(nil, v, role)
	}
	var items []build.Item
	for _, e := range v.Elems {
		items = appendSpanMessages(items, e, role)
	}
	return items
}

// list reads the JSON text of an array of messages. It returns false if the text
// is none.
func (m *spanMessages) list(text []byte, role string) (items []build.Item, ok bool) {
	c := jsonscan.New(text)
	if !c.Array() {
		return nil, false
	}
	for c.Element() {
		raw := c.Raw()
		if raw == nil {
			break
		}
		known, ok := m.known[writtenMessage{string(raw), role}]
		if !ok {
			v, err := trace.ParseValue(raw)
			if err != nil {
				return nil, false
			}
			known = appendSpanMessages(nil, v, role)
			for i := range known {
				known[i].Alone, known[i].Compared = known[i].Next(build.ItemHash{})
				known[i].Hashed = true
			}
			if m.known == nil {
				m.known = map[writtenMessage][]build.Item{}
			}
			m.known[writtenMessage{string(raw), role}] = known
		}
		items = append(items, known...)
	}
	return items, c.End() == nil
}

// appendSpanMessages appends the items of a message, or of a batch of messages.
func appendSpanMessages(items []build.Item, v trace.Value, role string) []build.Item {
	if v.Kind != trace.Array {
		return appendSpanMessage(items, v, role)
	}
	for _, inner := range v.Elems {
		items = appendSpanMessage(items, inner, role)
	}
	return items
}

// appendSpanMessage appends the items of a message.
func appendSpanMessage(items []build.Item, m trace.Value, role string) []build.Item {
	if inner := m.Member("message"); inner.Kind == trace.Object {
		m = inner
	}
	if m.Kind == trace.String {
		return appendText(items, role, m)
	}
	if r := m.Member("role").Text; r != "" {
		role = r
	}
	start := len(items)
	parts := m.Member("parts", "contents")
	if parts.Kind == trace.Null {
		if content := m.Member("content", "text"); content.Kind == trace.Array {
			parts = content
		} else {
			parts, _ = build.JSONIn(content)
			if parts.Kind != trace.Array || !typedParts(parts) {
				parts = trace.Value{Kind: trace.Array, Elems: []trace.Value{content}}
			}
		}
	}
	id := m.Member("tool_call_id", "id")
	if r := strings.ToLower(role); r == "tool" || r == "function" {
		before := len(items)
		for _, p := range numbered(parts) {
			if isResponse(p) {
				items = appendPart(items, role, p)
			}
		}
		if len(items) == before {
			it := build.Item{Kind: build.ItemResult, ID: []byte(id.Text), Tool: []byte(m.Member("name").Text), Value: build.RawOf(m.Member("content"))}
			if it.Value.IsZero() {
				it.Value = partsText(parts)
			}
			items = append(items, it)
		}
		return items
	}
	if thought := m.Member("reasoning_content", "reasoning", "thinking"); thought.Kind == trace.String && isModel(role) {
		items = append(items, build.Item{Kind: build.ItemThought, Value: trace.TextOf(thought.Text)})
	}
	for _, p := range numbered(parts) {
		items = appendPart(items, role, p)
	}
	for _, call := range numbered(m.Member("tool_calls")) {
		items = appendCall(items, call)
	}
	if name := m.Member("function_call_name").Text; name != "" {
		items = append(items, build.Item{Kind: build.ItemCall, Tool: []byte(name), Value: build.RawOf(m.Member("function_call_arguments_json"))})
	} else if call := m.Member("function_call"); call.Kind == trace.Object {
		items = appendCall(items, call)
	}
	if len(items) == start && isModel(role) { // a response that says nothing is one
		items = append(items, build.Item{Kind: build.ItemText})
	}
	if len(items) > start {
		items[start].Opens = isModel(role)
	}
	return items
}

func isModel(role string) bool {
	switch strings.ToLower(role) {
	case "assistant", "model", "ai":
		return true
	}
	return false
}

// typedParts reports whether a list is one of content parts.
func typedParts(list trace.Value) bool {
	for _, p := range list.Elems {
		if p.Member("type").Kind != trace.String {
			return false
		}
	}
	return len(list.Elems) > 0
}

func isResponse(part trace.Value) bool {
	switch part.Member("type").Text {
	case "tool_call_response", "tool_result":
		return true
	}
	return false
}

// partsText returns the texts of content parts, one a line.
func partsText(parts trace.Value) trace.Raw {
	var texts []string
	for _, p := range numbered(parts) {
		if p.Kind == trace.String {
			texts = append(texts, p.Text)
			continue
		}
		if inner := p.Member("message_content"); inner.Kind == trace.Object {
			p = inner
		}
		if text := p.Member("content", "text"); text.Kind == trace.String {
			texts = append(texts, text.Text)
		}
	}
	if texts == nil {
		return trace.Raw{}
	}
	return trace.TextOf(strings.Join(texts, "\n"))
}

// appendPart appends the item of a content part.
func appendPart(items []build.Item, role string, p trace.Value) []build.Item {
	if inner := p.Member("message_content"); inner.Kind == trace.Object {
		p = inner
	}
	if p.Kind == trace.String {
		return appendText(items, role, p)
	}
	switch p.Member("type").Text {
	case "tool_call", "tool_use", "server_tool_call":
		return appendCall(items, p)
	case "tool_call_response", "tool_result":
		it := build.Item{Kind: build.ItemResult, ID: []byte(p.Member("id", "tool_use_id").Text), Tool: []byte(p.Member("name").Text)}
		it.Value = build.RawOf(p.Member("response", "result", "content"))
		if failed := p.Member("is_error"); failed.Kind == trace.Bool && failed.Bool {
			it.Status = trace.StatusFailed
		}
		return append(items, it)
	case "reasoning", "thinking":
		if isModel(role) {
			return append(items, build.Item{Kind: build.ItemThought, Value: build.RawOf(p.Member("content", "text", "thinking"))})
		}
		return items
	}
	return appendText(items, role, p.Member("content", "text"))
}

// appendText appends what a role has said.
func appendText(items []build.Item, role string, text trace.Value) []build.Item {
	if text.Kind != trace.String || text.Text == "" {
		return items
	}
	it := build.Item{Kind: build.ItemUser, Value: trace.TextOf(text.Text)}
	switch strings.ToLower(role) {
	case "assistant", "model", "ai":
		it.Kind = build.ItemText
	case "system", "developer":
		it.Kind = build.ItemSystem
	}
	return append(items, it)
}

// appendCall appends a call that a message has.
func appendCall(items []build.Item, call trace.Value) []build.Item {
	if inner := call.Member("tool_call"); inner.Kind == trace.Object {
		call = inner
	}
	it := build.Item{Kind: build.ItemCall, ID: []byte(call.Member("id", "tool_call_id").Text)}
	if function := call.Member("function", "custom"); function.Kind == trace.Object {
		call = function
	}
	it.Tool = []byte(call.Member("name").Text)
	it.Value = build.RawOf(call.Member("arguments", "input", "args"))
	return append(items, it)
}

// conversationOf returns what a span of a model response says was said before,
// and the response. The latter is nil if it was not recorded.
func (s *Span) conversationOf(m *spanMessages) (input, output []build.Item) {
	if v, ok := s.Attr("gen_ai.system_instructions"); ok {
		v, _ = build.JSONIn(v)
		if v.Kind == trace.Array {
			v = trace.Value{Kind: trace.Object, Members: []trace.Member{{Name: "parts", Value: v}, {Name: "role", Value: trace.NewString("system")}}}
		}
		input = append(input, m.items(v, "system")...)
	}
	in, out := s.eventItems()
	find := func(names ...string) (trace.Value, bool) {
		for _, name := range names {
			if v, ok := s.Attr(name); ok {
				return v, true
			}
			for _, e := range s.Events {
				if v, ok := attribute(e.Attrs, name, 0); ok {
					return v, true
				}
			}
		}
		return trace.Value{}, false
	}
	listed := func(name string) (items []build.Item) {
		for _, m := range s.list(name) {
			items = appendSpanMessage(items, m, "")
		}
		return items
	}
	v, ok := find("gen_ai.input.messages")
	switch flat := listed("llm.input_messages"); {
	case ok:
		input = append(input, m.items(v, "user")...)
	case len(flat) > 0:
		input = append(input, flat...)
	case len(in) > 0:
		input = append(input, in...)
	default:
		if flat := listed("gen_ai.prompt"); len(flat) > 0 {
			input = append(input, flat...)
		} else if v, ok := find("gen_ai.prompt", "input.value", "input"); ok {
			input = append(input, m.items(v, "user")...)
		}
	}
	v, ok = find("gen_ai.output.messages")
	switch flat := listed("llm.output_messages"); {
	case ok:
		v, _ = build.JSONIn(v)
		output = choice(m.items(v, "assistant"), v)
	case len(flat) > 0:
		output = flat
	case len(out) > 0:
		output = out
	default:
		if flat := listed("gen_ai.completion"); len(flat) > 0 {
			output = flat
		} else if v, ok := find("gen_ai.completion", "output.value", "output"); ok {
			output = m.items(openAIChoice(v), "assistant")
		}
	}
	return input, modelOnly(output)
}

// choice returns the items of the first answer where there are several.
func choice(items []build.Item, v trace.Value) []build.Item {
	if len(v.Elems) < 2 {
		return items
	}
	for i := 1; i < len(items); i++ {
		if items[i].Opens {
			return items[:i]
		}
	}
	return items
}

// openAIChoice returns the message of the first choice of a response.
func openAIChoice(v trace.Value) trace.Value {
	inner, ok := build.JSONIn(v)
	if !ok {
		return v
	}
	if choices := inner.Member("choices"); len(choices.Elems) > 0 {
		return choices.Elems[0]
	}
	return inner
}

// modelOnly returns what a response can hold; a text without a role in a
// response is the model's.
func modelOnly(items []build.Item) []build.Item {
	kept := items[:0]
	for _, it := range items {
		switch it.Kind {
		case build.ItemUser:
			it.Kind, it.Hashed = build.ItemText, false
		case build.ItemResult, build.ItemSystem:
			continue
		}
		kept = append(kept, it)
	}
	return kept
}

// eventItems reads the messages that events of a span hold, one each: those of
// the conventions before version 1.37.
func (s *Span) eventItems() (input, output []build.Item) {
	chosen := false
	for _, e := range s.Events {
		role, ok := strings.CutPrefix(e.Name, "gen_ai.")
		if !ok {
			continue
		}
		body, _ := build.JSONIn(e.Body)
		if body.Kind == trace.Null {
			body = e.Attrs
			if inner, ok := attribute(e.Attrs, "gen_ai.event.content", 0); ok {
				body, _ = build.JSONIn(inner)
			}
		}
		body = unwrapped(body)
		switch role {
		case "user.message", "system.message", "assistant.message", "tool.message":
			role, _, _ = strings.Cut(role, ".")
			input = appendSpanMessage(input, body, role)
		case "choice":
			if index := body.Member("index").Text; chosen && index != "0" {
				continue
			}
			chosen = true
			if message := body.Member("message"); message.Kind == trace.String {
				body, _ = build.JSONIn(message)
			}
			output = appendSpanMessage(output, body, "assistant")
		}
	}
	return input, output
}

// unwrapped returns an object whose list of calls, where it is JSON text, is
// read.
func unwrapped(body trace.Value) trace.Value {
	calls, ok := body.Lookup("tool_calls")
	if !ok || calls.Kind != trace.String {
		return body
	}
	inner, ok := build.JSONIn(calls)
	if !ok {
		return body
	}
	out := trace.Value{Kind: trace.Object}
	for _, m := range body.Members {
		if m.Name == "tool_calls" {
			m.Value = inner
		}
		out.Members = append(out.Members, m)
	}
	return out
}
