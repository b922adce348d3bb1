package sse

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Chat is a chat completion that is put together from its chunks. What it
// writes as a chunk can be added to another again.
type Chat struct {
	head    object // id, model, created and usage
	Finish  []byte
	some    bool // there was a choice
	choice  int64
	Ignored int64  // further choices
	said    object // content, refusal and reasoning_content
	calls   []streamCall
}

// streamCall is a call of a chat completion.
type streamCall struct {
	index  int64
	call   object // its id, name and arguments
	custom bool
}

// add adds a chunk.
func (s *Chat) add(o object) {
	for _, name := range []string{"id", "model"} {
		if token := o.token(name); len(token) > 2 {
			s.head.set(name, token)
		}
	}
	if created := o.get("created"); len(created) > 0 && created[0] <= '9' && created[0] >= '-' {
		s.head.set("created", created)
	}
	if usage := o.get("usage"); build.IsKind(usage, '{') {
		s.head.set("usage", usage)
	}
	s.Ignored = max(s.Ignored, o.number("ignored"))
	for one := range build.Elements(o.get("choices")) {
		s.addChoice(one)
	}
}

func (s *Chat) addChoice(text []byte) {
	var outer, inner room
	choice := object(outer[:0]).read(text)
	index := choice.number("index")
	if !s.some {
		s.some, s.choice = true, index
	}
	if index != s.choice {
		// Choices are numbered, so the largest number tells how many there are.
		s.Ignored = max(s.Ignored, max(index, -index)%(1<<20), 1)
		return
	}
	if finish := choice.token("finish_reason"); finish != nil {
		s.Finish = finish
	}
	delta := object(inner[:0]).read(choice.get("delta"))
	if len(delta) == 0 {
		delta = delta.read(choice.get("message"))
	}
	s.said.join("content", delta.token("content"))
	s.said.join("refusal", delta.token("refusal"))
	s.said.join("reasoning_content", delta.token("reasoning_content"))
	s.said.join("reasoning_content", delta.token("reasoning"))
	for call := range build.Elements(delta.get("tool_calls")) {
		s.addCall(readObject(call))
	}
	if function := delta.get("function_call"); function != nil {
		s.addCall(object{{[]byte("index"), []byte{'0'}}, {[]byte("function"), function}})
	}
}

// addCall adds a piece of a call. The first piece has the id and the name; some
// servers repeat them, some leave the index out or give every call the same.
func (s *Chat) addCall(piece object) {
	next := streamCall{index: -1}
	if piece.get("index") != nil {
		next.index = piece.number("index")
	}
	next.call.set("id", piece.token("id"))
	inside := readObject(piece.get("function"))
	if custom := piece.get("custom"); custom != nil {
		next.custom, inside = true, readObject(custom)
	}
	next.call.set("name", inside.token("name"))
	next.call.set("arguments", []byte(`""`))
	for _, name := range []string{"arguments", "input"} {
		if args := inside.get(name); build.IsKind(args, '{') {
			next.call.join("arguments", jsonscan.AppendQuoted(nil, args))
		} else {
			next.call.join("arguments", inside.token(name))
		}
	}
	call := s.callOf(&next)
	if call == nil {
		s.calls = append(s.calls, next)
		return
	}
	for _, name := range []string{"id", "name"} {
		if len(call.call.token(name)) <= 2 {
			call.call.set(name, next.call.token(name))
		}
	}
	call.custom = call.custom || next.custom
	call.call.join("arguments", next.call.token("arguments"))
}

// callOf returns the call that a piece goes on with, nil if it begins one.
func (s *Chat) callOf(piece *streamCall) *streamCall {
	id := piece.call.token("id")
	for i := len(s.calls) - 1; i >= 0; i-- {
		call := &s.calls[i]
		if piece.index >= 0 && call.index != piece.index {
			continue
		}
		if known := call.call.token("id"); len(id) > 2 && len(known) > 2 && !bytes.Equal(id, known) {
			return nil
		}
		return call
	}
	return nil
}

// Cut reports whether the stream broke off.
func (s *Chat) Cut() bool { return s.Finish == nil }

// DropBroken forgets the calls of a stream that broke off whose arguments are not
// complete, and returns how many: nobody has run them.
func (s *Chat) DropBroken() int {
	if !s.Cut() {
		return 0
	}
	n, last := len(s.calls), len(s.calls)-1
	custom := last >= 0 && s.calls[last].custom
	s.calls = slices.DeleteFunc(s.calls, func(c streamCall) bool { return !c.custom && c.call.value("arguments") == nil })
	if custom {
		s.calls = s.calls[:len(s.calls)-1]
	}
	return n - len(s.calls)
}

// Text returns the completion as a chunk, or as the whole that the interface gives
// without streaming.
func (s *Chat) Text(whole bool) []byte {
	kind, said := `"chat.completion.chunk"`, "delta"
	if whole {
		kind, said = `"chat.completion"`, "message"
	}
	out := slices.Clone(s.head)
	out.set("object", []byte(kind))
	out.set("ignored", strconv.AppendInt(nil, s.Ignored, 10))
	var choices []object
	if s.some {
		message := slices.Clone(s.said)
		message.set("role", []byte(`"assistant"`))
		var calls []object
		for i := range s.calls {
			c := &s.calls[i]
			kind, args := "function", "arguments"
			if c.custom {
				kind, args = "custom", "input"
			}
			var call, inside object
			call.set("index", strconv.AppendInt(nil, c.index, 10))
			call.set("id", c.call.get("id"))
			inside.set("name", c.call.get("name"))
			inside.set(args, c.call.get("arguments"))
			call.set(kind, inside.text())
			calls = append(calls, call)
		}
		if calls != nil {
			message.set("tool_calls", list(calls))
		}
		var choice object
		choice.set("index", strconv.AppendInt(nil, s.choice, 10))
		choice.set(said, message.text())
		choice.set("finish_reason", s.Finish)
		choices = append(choices, choice)
	}
	out.set("choices", list(choices))
	return out.text()
}

// AddChunk adds a chunk, which has to be JSON, to the completion with its id, or begins
// one.
func AddChunk(all []*Chat, chunk []byte) []*Chat {
	var outer room
	o := object(outer[:0]).read(chunk)
	id, some := o.token("id"), build.FirstElement(o.get("choices")) != nil
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		if known := s.head.get("id"); known != nil && len(id) > 2 && !bytes.Equal(known, id) {
			continue
		}
		if s.Finish != nil && some { // an id that is used again
			break
		}
		s.add(o)
		return all
	}
	if !some && !build.IsKind(o.get("usage"), '{') { // such as notes about filters
		return all
	}
	next := &Chat{}
	next.add(o)
	return append(all, next)
}
