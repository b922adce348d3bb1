package sse

import (
	"bytes"
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Chat is a chat completion that is put together from its chunks. What it
// writes as a chunk can be added to another again.
type Chat struct {
	id, model, created []byte // tokens
	usage, Finish      []byte
	some               bool // there was a choice
	choice             int64
	Ignored            int64 // further choices
	text, refusal      streamText
	thought            streamText
	said               bool // there was text, empty or not
	calls              []*streamCall
}

// streamCall is a call of a chat completion.
type streamCall struct {
	index    int64
	id, name []byte // tokens
	custom   bool
	args     streamText
}

// add adds a chunk, which has to be JSON.
func (s *Chat) add(chunk []byte) {
	c := jsonscan.New(chunk)
	set := func(to *[]byte) {
		if token := c.Token(); len(token) > 2 {
			*to = token
		}
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			set(&s.id)
		case "model":
			set(&s.model)
		case "created":
			if c.Kind() == jsonscan.Number {
				s.created = c.Raw()
			}
		case "usage":
			if c.Kind() == jsonscan.Object {
				s.usage = c.Raw()
			}
		case "ignored":
			n, _ := c.Int()
			s.Ignored = max(s.Ignored, n)
		case "choices":
			for ok := c.Array(); ok && c.Element(); {
				s.addChoice(c.Raw())
			}
		}
	}
}

func (s *Chat) addChoice(choice []byte) {
	var index int64
	var delta, finish []byte
	c := jsonscan.New(choice)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "index":
			index, _ = c.Int()
		case "delta", "message":
			delta = c.Raw()
		case "finish_reason":
			finish = c.Token()
		}
	}
	if !s.some {
		s.some, s.choice = true, index
	}
	if index != s.choice {
		// Choices are numbered, so the largest number tells how many there are.
		s.Ignored = max(s.Ignored, max(index, -index)%(1<<20), 1)
		return
	}
	if finish != nil {
		s.Finish = finish
	}
	c = jsonscan.New(delta)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "content":
			if token := c.Token(); token != nil {
				s.said = true
				s.text.add(token)
			}
		case "refusal":
			s.refusal.add(c.Token())
		case "reasoning_content", "reasoning":
			s.thought.add(c.Token())
		case "tool_calls":
			for ok := c.Array(); ok && c.Element(); {
				s.addCall(c.Raw())
			}
		case "function_call":
			s.addCall(append(append([]byte(`{"index":0,"function":`), c.Raw()...), '}'))
		}
	}
}

// addCall adds a piece of a call. The first piece has the id and the name; some
// servers repeat them, some leave the index out or give every call the same.
func (s *Chat) addCall(piece []byte) {
	next := streamCall{index: -1}
	c := jsonscan.New(piece)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "index":
			next.index, _ = c.Int()
		case "id":
			next.id = c.Token()
		case "function", "custom":
			next.custom = string(c.Key()) == "custom"
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "name":
					next.name = c.Token()
				case "arguments", "input":
					if token := c.Token(); token != nil {
						next.args.add(token)
					} else if c.Kind() == jsonscan.Object {
						next.args.add(jsonscan.AppendQuoted(nil, c.Raw()))
					}
				}
			}
		}
	}
	call := s.callOf(&next)
	if call == nil {
		s.calls = append(s.calls, &next)
		return
	}
	if len(call.id) <= 2 {
		call.id = next.id
	}
	if len(call.name) <= 2 {
		call.name = next.name
	}
	call.custom = call.custom || next.custom
	call.args = append(call.args, next.args...)
}

// callOf returns the call that a piece goes on with, nil if it begins one.
func (s *Chat) callOf(piece *streamCall) *streamCall {
	for i := len(s.calls) - 1; i >= 0; i-- {
		call := s.calls[i]
		if piece.index >= 0 && call.index != piece.index {
			continue
		}
		if len(piece.id) > 2 && len(call.id) > 2 && !bytes.Equal(piece.id, call.id) {
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
func (s *Chat) DropBroken() (n int) {
	if !s.Cut() {
		return 0
	}
	kept := s.calls[:0]
	for i, call := range s.calls {
		if last := i == len(s.calls)-1; last && call.custom || !call.custom && call.args.value() == nil {
			n++
			continue
		}
		kept = append(kept, call)
	}
	s.calls = kept
	return n
}

// Append appends the completion as a chunk, or as the whole that the interface
// gives without streaming.
func (s *Chat) Append(dst []byte, whole bool) []byte {
	object, said := `"chat.completion.chunk"`, "delta"
	if whole {
		object, said = `"chat.completion"`, "message"
	}
	dst = append(dst, '{')
	dst = appendRaw(dst, "object", []byte(object))
	dst = appendRaw(dst, "id", s.id)
	dst = appendRaw(dst, "created", s.created)
	dst = appendRaw(dst, "model", s.model)
	if s.Ignored > 0 {
		dst = appendRaw(dst, "ignored", strconv.AppendInt(nil, s.Ignored, 10))
	}
	dst = appendRaw(dst, "usage", s.usage)
	if !s.some {
		return append(dst, `,"choices":[]}`...)
	}
	dst = append(dst, `,"choices":[{"index":`...)
	dst = strconv.AppendInt(dst, s.choice, 10)
	dst = appendRaw(dst, "finish_reason", s.Finish)
	dst = append(dst, `,"`+said+`":{"role":"assistant"`...)
	if s.said {
		dst = appendRaw(dst, "content", s.text.appendTo(nil))
	}
	if len(s.refusal) > 0 {
		dst = appendRaw(dst, "refusal", s.refusal.appendTo(nil))
	}
	if len(s.thought) > 0 {
		dst = appendRaw(dst, "reasoning_content", s.thought.appendTo(nil))
	}
	for i, call := range s.calls {
		if i == 0 {
			dst = append(dst, `,"tool_calls":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = call.append(dst)
	}
	if len(s.calls) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, "}}]}"...)
}

func (c *streamCall) append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendRaw(dst, "index", strconv.AppendInt(nil, c.index, 10))
	dst = appendRaw(dst, "id", c.id)
	kind, args := "function", "arguments"
	if c.custom {
		kind, args = "custom", "input"
	}
	dst = append(dst, `,"`+kind+`":{`...)
	dst = appendRaw(dst, "name", c.name)
	dst = appendRaw(dst, args, c.args.appendTo(nil))
	return append(dst, "}}"...)
}

// AddChunk adds a chunk to the completion with its id, or begins one.
func AddChunk(all []*Chat, chunk []byte) []*Chat {
	next := &Chat{}
	next.add(chunk)
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		if len(s.id) > 0 && len(next.id) > 0 && !bytes.Equal(s.id, next.id) {
			continue
		}
		if s.Finish != nil && next.some { // an id that is used again
			break
		}
		s.add(chunk)
		return all
	}
	if !next.some && next.usage == nil { // such as notes about filters
		return all
	}
	return append(all, next)
}

// CountCut counts that a message broke off.
func CountCut(b *build.Builder, message []byte) {
	c := jsonscan.New(message)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "cut":
			b.Anomaly(build.CodeResponseCut, 1)
		case "broken":
			n, _ := c.Int()
			b.Anomaly(build.CodeCallBroken, int(n))
		}
	}
}
