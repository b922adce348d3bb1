package trace

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// spanMessages reads messages. Every request of a conversation repeats those
// before it byte for byte, so what was read is kept by how it was written.
type spanMessages struct {
	known map[writtenMessage][]item
}

// writtenMessage is a message as it stood in a list, and the role that it has if
// it names none.
type writtenMessage struct{ text, role string }

// items reads a list of messages in any of the ways in which spans have them: with
// parts (OpenTelemetry), with content and tool_calls (the interfaces themselves),
// or each under "message" (OpenInference). Text is a message of the role given.
func (m *spanMessages) items(v Value, role string) []item {
	if v.Kind == String {
		if items, ok := m.list([]byte(v.Text), role); ok {
			return items
		}
	}
	v, ok := jsonIn(v)
	if !ok {
		if v.Text == "" {
			return nil
		}
		return appendText(nil, role, v)
	}
	if messages, ok := v.Lookup("messages"); ok && messages.Kind == Array {
		v = messages
	}
	if prompt := v.member("prompt"); prompt.Kind == String {
		return appendText(nil, role, prompt)
	}
	if v.Kind == Object {
		return appendSpanMessage(nil, v, role)
	}
	var items []item
	for _, e := range v.Elems {
		items = appendSpanMessages(items, e, role)
	}
	return items
}

// list reads the JSON text of an array of messages. It returns false if the text
// is none.
func (m *spanMessages) list(text []byte, role string) (items []item, ok bool) {
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
			v, err := ParseValue(raw)
			if err != nil {
				return nil, false
			}
			known = appendSpanMessages(nil, v, role)
			for i := range known {
				known[i].alone, known[i].compared = known[i].next(itemHash{})
				known[i].hashed = true
			}
			if m.known == nil {
				m.known = map[writtenMessage][]item{}
			}
			m.known[writtenMessage{string(raw), role}] = known
		}
		items = append(items, known...)
	}
	return items, c.End() == nil
}

// appendSpanMessages appends the items of a message, or of a batch of messages.
func appendSpanMessages(items []item, v Value, role string) []item {
	if v.Kind != Array {
		return appendSpanMessage(items, v, role)
	}
	for _, inner := range v.Elems {
		items = appendSpanMessage(items, inner, role)
	}
	return items
}

// appendSpanMessage appends the items of a message.
func appendSpanMessage(items []item, m Value, role string) []item {
	if inner := m.member("message"); inner.Kind == Object {
		m = inner
	}
	if m.Kind == String {
		return appendText(items, role, m)
	}
	if r := m.member("role").Text; r != "" {
		role = r
	}
	start := len(items)
	parts := m.member("parts", "contents")
	if parts.Kind == Null {
		if content := m.member("content", "text"); content.Kind == Array {
			parts = content
		} else {
			parts, _ = jsonIn(content)
			if parts.Kind != Array || !typedParts(parts) {
				parts = Value{Kind: Array, Elems: []Value{content}}
			}
		}
	}
	id := m.member("tool_call_id", "id")
	if r := strings.ToLower(role); r == "tool" || r == "function" {
		before := len(items)
		for _, p := range numbered(parts) {
			if isResponse(p) {
				items = appendPart(items, role, p)
			}
		}
		if len(items) == before {
			it := item{kind: itemResult, id: []byte(id.Text), tool: []byte(m.member("name").Text), value: rawOf(m.member("content"))}
			if it.value.IsZero() {
				it.value = partsText(parts)
			}
			items = append(items, it)
		}
		return items
	}
	if thought := m.member("reasoning_content", "reasoning", "thinking"); thought.Kind == String && isModel(role) {
		items = append(items, item{kind: itemThought, value: TextOf(thought.Text)})
	}
	for _, p := range numbered(parts) {
		items = appendPart(items, role, p)
	}
	for _, call := range numbered(m.member("tool_calls")) {
		items = appendCall(items, call)
	}
	if name := m.member("function_call_name").Text; name != "" {
		items = append(items, item{kind: itemCall, tool: []byte(name), value: rawOf(m.member("function_call_arguments_json"))})
	} else if call := m.member("function_call"); call.Kind == Object {
		items = appendCall(items, call)
	}
	if len(items) == start && isModel(role) { // a response that says nothing is one
		items = append(items, item{kind: itemText})
	}
	if len(items) > start {
		items[start].opens = isModel(role)
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
func typedParts(list Value) bool {
	for _, p := range list.Elems {
		if p.member("type").Kind != String {
			return false
		}
	}
	return len(list.Elems) > 0
}

func isResponse(part Value) bool {
	switch part.member("type").Text {
	case "tool_call_response", "tool_result":
		return true
	}
	return false
}

// partsText returns the texts of content parts, one a line.
func partsText(parts Value) Raw {
	var texts []string
	for _, p := range numbered(parts) {
		if p.Kind == String {
			texts = append(texts, p.Text)
			continue
		}
		if inner := p.member("message_content"); inner.Kind == Object {
			p = inner
		}
		if text := p.member("content", "text"); text.Kind == String {
			texts = append(texts, text.Text)
		}
	}
	if texts == nil {
		return Raw{}
	}
	return TextOf(strings.Join(texts, "\n"))
}

// appendPart appends the item of a content part.
func appendPart(items []item, role string, p Value) []item {
	if inner := p.member("message_content"); inner.Kind == Object {
		p = inner
	}
	if p.Kind == String {
		return appendText(items, role, p)
	}
	switch p.member("type").Text {
	case "tool_call", "tool_use", "server_tool_call":
		return appendCall(items, p)
	case "tool_call_response", "tool_result":
		it := item{kind: itemResult, id: []byte(p.member("id", "tool_use_id").Text), tool: []byte(p.member("name").Text)}
		it.value = rawOf(p.member("response", "result", "content"))
		if failed := p.member("is_error"); failed.Kind == Bool && failed.Bool {
			it.status = StatusFailed
		}
		return append(items, it)
	case "reasoning", "thinking":
		if isModel(role) {
			return append(items, item{kind: itemThought, value: rawOf(p.member("content", "text", "thinking"))})
		}
		return items
	}
	return appendText(items, role, p.member("content", "text"))
}

// appendText appends what a role has said.
func appendText(items []item, role string, text Value) []item {
	if text.Kind != String || text.Text == "" {
		return items
	}
	it := item{kind: itemUser, value: TextOf(text.Text)}
	switch strings.ToLower(role) {
	case "assistant", "model", "ai":
		it.kind = itemText
	case "system", "developer":
		it.kind = itemSystem
	}
	return append(items, it)
}

// appendCall appends a call that a message has.
func appendCall(items []item, call Value) []item {
	if inner := call.member("tool_call"); inner.Kind == Object {
		call = inner
	}
	it := item{kind: itemCall, id: []byte(call.member("id", "tool_call_id").Text)}
	if function := call.member("function", "custom"); function.Kind == Object {
		call = function
	}
	it.tool = []byte(call.member("name").Text)
	it.value = rawOf(call.member("arguments", "input", "args"))
	return append(items, it)
}

// conversationOf returns what a span of a model response says was said before,
// and the response. The latter is nil if it was not recorded.
func (s *span) conversationOf(m *spanMessages) (input, output []item) {
	if v, ok := s.attr("gen_ai.system_instructions"); ok {
		v, _ = jsonIn(v)
		if v.Kind == Array {
			v = Value{Kind: Object, Members: []Member{{"parts", v}, {"role", Value{Kind: String, Text: "system"}}}}
		}
		input = append(input, m.items(v, "system")...)
	}
	in, out := s.eventItems()
	find := func(names ...string) (Value, bool) {
		for _, name := range names {
			if v, ok := s.attr(name); ok {
				return v, true
			}
			for _, e := range s.events {
				if v, ok := attribute(e.attrs, name, 0); ok {
					return v, true
				}
			}
		}
		return Value{}, false
	}
	listed := func(name string) (items []item) {
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
		v, _ = jsonIn(v)
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
func choice(items []item, v Value) []item {
	if len(v.Elems) < 2 {
		return items
	}
	for i := 1; i < len(items); i++ {
		if items[i].opens {
			return items[:i]
		}
	}
	return items
}

// openAIChoice returns the message of the first choice of a response.
func openAIChoice(v Value) Value {
	inner, ok := jsonIn(v)
	if !ok {
		return v
	}
	if choices := inner.member("choices"); len(choices.Elems) > 0 {
		return choices.Elems[0]
	}
	return inner
}

// modelOnly returns what a response can hold; a text without a role in a
// response is the model's.
func modelOnly(items []item) []item {
	kept := items[:0]
	for _, it := range items {
		switch it.kind {
		case itemUser:
			it.kind, it.hashed = itemText, false
		case itemResult, itemSystem:
			continue
		}
		kept = append(kept, it)
	}
	return kept
}

// eventItems reads the messages that events of a span hold, one each: those of
// the conventions before version 1.37.
func (s *span) eventItems() (input, output []item) {
	chosen := false
	for _, e := range s.events {
		role, ok := strings.CutPrefix(e.name, "gen_ai.")
		if !ok {
			continue
		}
		body, _ := jsonIn(e.body)
		if body.Kind == Null {
			body = e.attrs
			if inner, ok := attribute(e.attrs, "gen_ai.event.content", 0); ok {
				body, _ = jsonIn(inner)
			}
		}
		body = unwrapped(body)
		switch role {
		case "user.message", "system.message", "assistant.message", "tool.message":
			role, _, _ = strings.Cut(role, ".")
			input = appendSpanMessage(input, body, role)
		case "choice":
			if index := body.member("index").Text; chosen && index != "0" {
				continue
			}
			chosen = true
			if message := body.member("message"); message.Kind == String {
				body, _ = jsonIn(message)
			}
			output = appendSpanMessage(output, body, "assistant")
		}
	}
	return input, output
}

// unwrapped returns an object whose list of calls, where it is JSON text, is
// read.
func unwrapped(body Value) Value {
	calls, ok := body.Lookup("tool_calls")
	if !ok || calls.Kind != String {
		return body
	}
	inner, ok := jsonIn(calls)
	if !ok {
		return body
	}
	out := Value{Kind: Object}
	for _, m := range body.Members {
		if m.Name == "tool_calls" {
			m.Value = inner
		}
		out.Members = append(out.Members, m)
	}
	return out
}
