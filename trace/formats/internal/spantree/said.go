package spantree

import (
	"bytes"
	"strings"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// spanSaid is what the span of a model response says was said before, and the
// response.
type spanSaid struct {
	input, output         []build.Item
	inputForm, outputForm message.Form
	answered              bool // a response was recorded
}

// inputAttributes and outputAttributes hold messages. Those that end with a dot are
// spread over attributes with numbers in their names.
var (
	inputAttributes = []string{
		"gen_ai.input.messages", "llm.input_messages.", "events", "gen_ai.prompt.", "gcp.vertex.agent.llm_request", "ai.prompt.messages",
		"pydantic_ai.input_messages", "gen_ai.prompt", "mlflow.chat.messages", "ai.prompt", "llm.prompts", "input.value", "mlflow.spanInputs", "langfuse.observation.input", "input",
	}
	outputAttributes = []string{
		"gen_ai.output.messages", "llm.output_messages.", "events", "gen_ai.completion.", "gcp.vertex.agent.llm_response", "ai.response.toolCalls", "ai.response.text", "ai.response.object",
		"gen_ai.completion", "output.value", "mlflow.spanOutputs", "langfuse.observation.output", "output",
	}
)

// read reads what a span of a model response says was said, once. Of two spans of
// one response each side is taken from the one that has it in a form that keeps
// more apart.
func (s *Span) read(m *message.Reader) *spanSaid {
	if s.said != nil {
		return s.said
	}
	said := s.readOwn(m)
	for _, d := range s.doubles {
		other := d.readOwn(m)
		if len(other.input) > 0 && (len(said.input) == 0 || other.inputForm > said.inputForm) {
			said.input, said.inputForm = other.input, other.inputForm
		}
		if other.answered && (!said.answered || len(said.output) == 0 || other.outputForm > said.outputForm) {
			said.output, said.outputForm, said.answered = other.output, other.outputForm, true
		}
	}
	s.said = &said
	return s.said
}

func (s *Span) readOwn(m *message.Reader) (said spanSaid) {
	before := len(m.Tools)
	eventsIn, eventsOut := s.eventItems(m)
	for _, name := range inputAttributes {
		if name == "events" {
			said.input, said.inputForm = eventsIn, message.FormMessages
		} else {
			said.input, said.inputForm = s.messages(m, name, false)
		}
		if len(said.input) > 0 {
			break
		}
	}
	if len(said.input) == 0 {
		said.input, said.inputForm = m.Read(s.Input, false)
	}
	for _, name := range outputAttributes {
		if name == "events" {
			said.output, said.outputForm = eventsOut, message.FormMessages
		} else {
			said.output, said.outputForm = s.messages(m, name, true)
			switch name {
			case "gen_ai.output.messages", "llm.output_messages.":
				said.output = firstChoice(said.output, name)
			case "ai.response.toolCalls":
				said.output = s.beside(said.output)
			}
		}
		if len(said.output) > 0 {
			break
		}
	}
	if len(said.output) == 0 {
		said.output, said.outputForm = m.Read(s.Output, true)
	}
	said.answered = len(said.output) > 0
	said.output = modelOnly(said.output)
	if system := s.systemItems(m); len(system) > 0 {
		said.input = append(system, said.input...)
	}
	if text := instructionsOf(s.Output); !text.IsEmpty() {
		said.input = append([]build.Item{{Kind: build.ItemSystem, Value: text}}, said.input...)
	}
	if len(m.Tools) > before && s.Tools == nil {
		s.Tools = m.Tools[before:len(m.Tools):len(m.Tools)]
	}
	m.Tools = m.Tools[:before]
	return said
}

// beside returns calls behind the text and the thought that stand in attributes of their own.
func (s *Span) beside(calls []build.Item) []build.Item {
	if len(calls) == 0 {
		return nil
	}
	out := []build.Item{{Kind: build.ItemText, Value: trace.TextOf(s.Text("ai.response.text")), Opens: true}}
	if thought := s.Text("ai.response.reasoning"); thought != "" {
		out = append(out, build.Item{Kind: build.ItemThought, Value: trace.TextOf(thought)})
	}
	for _, it := range calls {
		if it.Kind == build.ItemCall {
			it.Opens = false
			out = append(out, it)
		}
	}
	return out
}

// messages reads the messages of an attribute, or of attributes that it begins.
func (s *Span) messages(m *message.Reader, name string, answer bool) ([]build.Item, message.Form) {
	if prefix, ok := strings.CutSuffix(name, "."); ok {
		list := s.list(prefix)
		if list == nil {
			return nil, message.FormNone
		}
		return readList(m, list, answer)
	}
	v, ok := s.find(name)
	if !ok || v.Kind == trace.String && v.Text == "" {
		return nil, message.FormNone
	}
	if strings.HasPrefix(name, "gcp.") && len(v.Text) <= len("{}") {
		return nil, message.FormNone
	}
	return m.Read(build.RawOf(v), answer)
}

// readList reads a list of messages that were spread over attributes, which leave
// out what is empty: a call without arguments had none.
func readList(m *message.Reader, list []byte, answer bool) ([]build.Item, message.Form) {
	items, form := m.Read(trace.JSONOf(list), answer)
	items = joinPieces(items)
	for i := range items {
		if it := &items[i]; it.Kind == build.ItemCall && it.Value.IsZero() {
			it.Value, it.Hashed = trace.JSONOf([]byte("{}")), false
		}
	}
	return items, form
}

// joinPieces joins the texts of a response that was recorded piece by piece, a
// message each.
func joinPieces(items []build.Item) []build.Item {
	size := 0
	for i := range items {
		if items[i].Kind != build.ItemText {
			return items
		}
		size += items[i].Value.TextLen()
	}
	if len(items) < 4 || size > 24*len(items) {
		return items
	}
	var text []byte
	for i := range items {
		text = items[i].Value.AppendText(text)
	}
	return []build.Item{{Kind: build.ItemText, Value: trace.TextOf(string(text)), Opens: true}}
}

// systemItems reads the instructions that stand in an attribute of their own.
func (s *Span) systemItems(m *message.Reader) (items []build.Item) {
	for _, name := range []string{"gen_ai.system_instructions", "ai.prompt.system"} {
		v, ok := s.find(name)
		if !ok || v.Kind == trace.String && v.Text == "" {
			continue
		}
		if raw := build.RawOf(v); build.InnerJSON(raw) == nil {
			return []build.Item{{Kind: build.ItemSystem, Value: raw}}
		}
		all, _ := m.Read(build.RawOf(v), false)
		for _, it := range all {
			if it.Kind == build.ItemUser || it.Kind == build.ItemSystem {
				items = append(items, build.Item{Kind: build.ItemSystem, Value: it.Value})
			}
		}
		return items
	}
	return nil
}

// firstChoice returns the items of the first answer where there are several. Some
// write each call of one answer as a message of its own, so only a message behind
// one that has ended counts as another.
func firstChoice(items []build.Item, name string) []build.Item {
	if name != "gen_ai.output.messages" {
		return items
	}
	for i := 1; i < len(items); i++ {
		if items[i].Opens && !callsOnly(items[i:]) {
			return items[:i]
		}
	}
	return items
}

// callsOnly reports whether a message says nothing but what it calls.
func callsOnly(items []build.Item) bool {
	calls := false
	for i := range items {
		if i > 0 && items[i].Opens {
			break
		}
		if items[i].Kind == build.ItemText && !items[i].Value.IsEmpty() {
			return false
		}
		calls = calls || items[i].Kind == build.ItemCall
	}
	return calls
}

// modelOnly returns what a response can hold; a text without a role in a
// response is the model's.
func modelOnly(items []build.Item) []build.Item {
	kept := items[:0:0]
	for _, it := range items {
		switch it.Kind {
		case build.ItemUser:
			it.Kind, it.Hashed = build.ItemText, false
		case build.ItemSystem:
			continue
		}
		kept = append(kept, it)
	}
	return kept
}

// instructionsOf returns the system prompt that an answer of the Responses
// interface repeats.
func instructionsOf(output trace.Raw) trace.Raw {
	text := build.InnerJSON(output)
	if len(text) == 0 || text[0] != '{' || !bytes.Contains(text, []byte(`"instructions"`)) {
		return trace.Raw{}
	}
	return message.System(text)
}

// eventItems reads the messages that events of a span hold, one each: those of
// the conventions before version 1.37.
func (s *Span) eventItems(m *message.Reader) (input, output []build.Item) {
	chosen := false
	for _, e := range s.allEvents() {
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
		switch role {
		case "user.message", "system.message", "assistant.message", "tool.message":
			role, _, _ = strings.Cut(role, ".")
			items, _ := m.Read(withRole(body, role), false)
			input = append(input, items...)
		case "choice":
			if index := body.Member("index").Text; chosen && index != "0" {
				continue
			}
			chosen = true
			if message := body.Member("message"); message.Kind == trace.String {
				body, _ = build.JSONIn(message)
			} else if message.Kind == trace.Object {
				body = message
			}
			items, _ := m.Read(withRole(body, "assistant"), true)
			output = append(output, items...)
		}
	}
	return input, output
}

// allEvents returns the events of a span, or those that stand in an attribute as
// pydantic-ai and Logfire write them: [{"event.name": "gen_ai.user.message", ...}].
func (s *Span) allEvents() []Event {
	v, ok := s.Attribute("events")
	if !ok {
		return s.Events
	}
	list, _ := build.JSONIn(v)
	var out []Event
	for _, e := range list.Elems {
		if name := e.Member("event.name", "event_name"); name.Text != "" {
			out = append(out, Event{Name: name.Text, Body: e})
		}
	}
	if out == nil {
		return s.Events
	}
	return out
}

// withRole returns a message as JSON, with a role if it has none.
func withRole(body trace.Value, role string) trace.Raw {
	if body.Kind == trace.String {
		body = trace.NewObject(trace.Member{Name: "content", Value: body}, trace.Member{Name: "role", Value: trace.NewString(role)})
	}
	if body.Kind != trace.Object {
		return trace.Raw{}
	}
	if found := body.Member("role"); found.Kind != trace.String || found.Text == "" {
		body = trace.NewObject(append(body.Members[:len(body.Members):len(body.Members)], trace.Member{Name: "role", Value: trace.NewString(role)})...)
	}
	return trace.JSONOf(appendUndotted(nil, body, 0))
}
