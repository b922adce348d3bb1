package message

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// message adds a message.
func (m *Reader) message(a *anyMessage, answer bool) {
	who := speakerUser
	if answer {
		who = speakerModel
	}
	if len(a.role) > 0 {
		who = speakerOf(a.role)
	}
	if who == speakerUnknown {
		if !m.called[string(a.role)] { // some give a result the name of its tool as role
			m.b.Unread(build.CodeMessageRole, "role", a.role)
			return
		}
		who = speakerTool
		if len(a.name) == 0 {
			a.name = a.role
		}
	}
	content := a.read()
	if content.unknown > 0 && who != speakerTool { // a result may be any value
		m.b.Anomaly(build.CodeContentUnknown, content.unknown-len(content.strangers))
		for _, kind := range content.strangers {
			m.b.Unread(build.CodeContentUnknown, "content", kind)
		}
	}
	if !content.system.IsEmpty() {
		m.add(FormMessages, build.Item{Kind: build.ItemSystem, Value: content.system})
	}
	switch who {
	case speakerUser:
		m.user(&content)
	case speakerModel:
		m.model(a, &content)
	case speakerSystem:
		m.add(FormMessages, build.Item{Kind: build.ItemSystem, Value: content.text, Also: content.also})
	case speakerTool:
		if len(a.results) > 0 { // Datadog's
			for _, raw := range a.results {
				var p messagePart
				p.read(raw)
				m.add(FormMessages, p.resultItem())
			}
			return
		}
		m.tool(a, &content)
	case speakerCall:
		m.callMessage(a, &content)
	case speakerDefinition:
		m.definition(content.text.Content())
	}
}

// read reads the content of a message.
func (a *anyMessage) read() (r contentRead) {
	content := a.content
	if a.parts != nil {
		content = trace.Raw{Data: a.parts, Form: trace.FormParts}
	}
	if content.Form == trace.FormString { // the JSON text, or what Python prints, of a list of parts
		if inner := build.InnerJSON(content); inner != nil && isContentList(inner) {
			content = trace.Raw{Data: inner, Form: trace.FormParts}
		} else if inner == nil && MayBePython(content.Content()) {
			if value, ok := PythonJSON(content.Content()); ok && isContentList(value) {
				content = trace.Raw{Data: value, Form: trace.FormParts}
			}
		}
	}
	switch {
	case content.Form == trace.FormParts:
		r = readContent(content.Data)
	case content.Form == trace.FormJSON && content.Data[0] == '{':
		r = readContent(append(append([]byte{'['}, content.Data...), ']'))
	default:
		r.text = content
		r.texts = 1
	}
	if r.unknown > 0 && r.text.IsEmpty() && len(r.items) == 0 {
		r.text = trace.JSONOf(r.also)
		if c := jsonscan.New(r.also); c.End() != nil { // several
			r.text = trace.JSONOf(content.Data)
		}
	}
	return r
}

// user adds what the user said, and the results that stand with it.
func (m *Reader) user(r *contentRead) {
	m.add(FormMessages, r.items...)
	if len(r.items) > 0 && r.text.IsEmpty() && r.also == nil || r.texts == 0 && r.also == nil && !r.system.IsEmpty() {
		return
	}
	if r.text.Form == trace.FormParts && len(m.called) > 0 {
		if results := m.partResults(r.text.Data); results != nil {
			m.add(FormMessages, results...)
			return
		}
	}
	if results := m.textResults(plainText(r.text)); results != nil {
		m.add(FormMessages, results...)
		return
	}
	m.add(FormMessages, build.Item{Kind: build.ItemUser, Value: r.text, Also: r.also, Copied: bytes.HasPrefix(r.text.Content(), copiedMark)})
}

// copiedMark begins what Google's agent kit tells an agent of what another one said and
// called, in the user's name.
var copiedMark = []byte("For context:")

// model adds what the model said, thought and called.
func (m *Reader) model(a *anyMessage, r *contentRead) {
	start := len(m.out)
	calls := r.items
	if len(a.calls) > 0 { // LangChain has its own beside Anthropic's blocks
		calls = nil
		for _, raw := range a.calls {
			var p messagePart
			p.read(raw)
			it := p.call()
			calls = append(calls, it)
		}
	}
	if len(calls) == 0 {
		if said, ok := m.textCalls(plainText(r.text)); ok {
			m.add(FormMessages, said...)
			m.out[start].Opens = !bytes.HasPrefix(plainText(r.text).Content(), callingTools)
			return
		}
	}
	if len(calls) == 0 {
		m.b.Anomaly(build.CodeCallsUnread, a.unread)
	}
	text := r.text
	if isEmptyText(text.Content()) && text.Form != trace.FormParts {
		text = trace.Raw{}
	}
	m.add(FormMessages, build.Item{Kind: build.ItemText, Value: text, Also: r.also, Opens: true})
	thought := a.thought
	if thought.IsEmpty() {
		thought = r.thought
	}
	if !thought.IsEmpty() {
		m.add(FormMessages, build.Item{Kind: build.ItemThought, Value: thought})
	}
	m.add(FormMessages, calls...)
}

// tool adds the result of a call, or of several.
func (m *Reader) tool(a *anyMessage, r *contentRead) {
	if a.isDefinition() {
		m.definition(a.content.Content())
		return
	}
	if standsAlone(r.items, len(a.callID) > 0) {
		m.add(FormMessages, r.items...)
		if r.items[0].Kind == build.ItemCall && len(m.out) > 0 { // a call with a result's role
			m.out[len(m.out)-len(r.items)].Opens = true
		}
		return
	}
	value := a.content
	if a.parts != nil || value.Form == trace.FormString && r.text.Form != trace.FormString {
		value = r.text
	}
	list := r.text
	if list.IsEmpty() {
		list = a.content
	}
	if several := severalResults(list); several != nil && len(a.callID) == 0 {
		m.add(FormMessages, several...)
		return
	}
	if len(a.callID) == 0 && bytes.HasPrefix(bytes.TrimSpace(r.text.Content()), []byte("<tool_response>")) {
		if results := m.textResults(plainText(r.text)); len(results) > 1 {
			m.add(FormMessages, results...)
			return
		}
	}
	it := build.Item{Kind: build.ItemResult, ID: a.callID, Tool: a.name, Value: AsResult(value)}
	if id, text, ok := smolResult(r.text.Content()); ok && len(it.ID) == 0 {
		it.ID, it.Value = id, text
	}
	switch string(a.status) {
	case "success":
		it.Status = trace.StatusOK
	case "error":
		it.Status = trace.StatusFailed
	}
	if a.ended != trace.StatusUnknown && it.Status != trace.StatusFailed {
		it.Status = a.ended
	}
	m.add(FormMessages, it)
}

// standsAlone reports whether what stands in the content of a result is results, or
// calls, and not a value that looks like some. Calls have ids, and results too
// unless the message has one.
func standsAlone(items []build.Item, answers bool) bool {
	for i := range items {
		if items[i].Kind != build.ItemResult && (answers || len(items[i].ID) == 0) || answers && len(items[i].ID) == 0 {
			return false
		}
	}
	return len(items) > 0
}

// callMessage adds the calls of a message that is nothing else.
func (m *Reader) callMessage(a *anyMessage, r *contentRead) {
	calls := r.items
	if len(calls) == 0 {
		text := r.text.Content()
		value := trimmedJSON(text)
		if value == nil {
			if i := bytes.IndexAny(text, "[{"); i >= 0 {
				value, _ = PythonJSON(text[i:])
			}
		}
		if value != nil {
			var read contentRead
			read.calls(value)
			calls = read.items
		}
	}
	if len(calls) == 0 {
		m.b.Anomaly(build.CodeMessageShape, 1)
		return
	}
	if n := len(m.out); (n == 0 || m.out[n-1].Kind != build.ItemText && m.out[n-1].Kind != build.ItemThought) && !bytes.HasPrefix(r.text.Content(), callingTools) {
		calls[0].Opens = true
	}
	m.add(FormMessages, calls...)
}

// isDefinition reports whether the message is a tool definition, which some put
// among the messages.
func (a *anyMessage) isDefinition() bool {
	text := build.InnerJSON(a.content)
	if len(a.callID) > 0 || text == nil || text[0] != '{' || !build.HasMember(text, "function") {
		return false
	}
	return string(build.MemberText(text, "type")) == "function" && build.HasMember(build.MemberRaw(text, "function"), "name") && !build.HasMember(build.MemberRaw(text, "function"), "arguments")
}

// definition notes a tool that stands among the messages.
func (m *Reader) definition(text []byte) {
	value := build.InnerJSON(trace.TextOf(string(text)))
	if value == nil {
		value, _ = PythonJSON(text)
	}
	if value == nil {
		return
	}
	if value[0] == '{' {
		value = append(append([]byte{'['}, value...), ']')
	}
	m.define(value)
}

// severalResults returns the results that stand in one message as a list, nil if
// it has none: [{"tool_call_id", "name", "content"}, ...].
func severalResults(text trace.Raw) (out []build.Item) {
	list := build.InnerJSON(text)
	if list == nil || list[0] != '[' {
		return nil
	}
	for raw := range build.Elements(list) {
		if len(raw) == 0 || raw[0] != '{' || !build.HasMember(raw, "tool_call_id") && !build.HasMember(raw, "call_id") {
			return nil
		}
		var p messagePart
		p.read(raw)
		out = append(out, p.resultItem())
	}
	return out
}
