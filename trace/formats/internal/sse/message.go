package sse

import (
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Message is a message of Anthropic's that is put together from its events.
type Message struct {
	Begun  bool   // there is anything of it
	about  object // id and model
	reason []byte // why it ended
	ended  bool
	usage  object
	blocks []streamBlock
}

// streamBlock is a block of a message.
type streamBlock struct {
	index   int64
	block   object
	input   object // pieces, which are the JSON text of the input
	stopped bool
}

// Add adds an event, which has to be JSON.
func (s *Message) Add(event []byte) {
	e := readObject(event)
	if message := e.get("message"); build.IsKind(message, '{') {
		m := readObject(message)
		s.Begun, s.about = true, nil
		s.about.set("id", m.get("id"))
		s.about.set("model", m.get("model"))
		s.count(m.get("usage"))
	}
	s.count(e.get("usage"))
	delta := readObject(e.get("delta"))
	switch index := e.number("index"); {
	case e.is("type", "content_block_start"):
		s.Begun = true
		s.blocks = append(s.blocks, streamBlock{index: index, block: readObject(e.get("content_block"))})
	case e.is("type", "content_block_delta"):
		if b := s.block(index); b != nil {
			b.block.join("text", delta.token("text"))
			b.block.join("thinking", delta.token("thinking"))
			b.input.join("", delta.token("partial_json"))
		}
	case e.is("type", "content_block_stop"):
		if b := s.block(index); b != nil {
			b.stopped = true
		}
	case e.is("type", "message_delta"):
		if reason := delta.token("stop_reason"); reason != nil {
			s.reason = reason
		}
	case e.is("type", "message_stop"):
		s.ended = true
	}
}

// block returns the block with an index, nil if there is none.
func (s *Message) block(index int64) *streamBlock {
	for i := len(s.blocks) - 1; i >= 0; i-- {
		if s.blocks[i].index == index {
			return &s.blocks[i]
		}
	}
	return nil
}

// count takes token counts over those of before: the end of a message has the sums.
func (s *Message) count(usage []byte) {
	for _, name := range []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"} {
		c := jsonscan.New(build.MemberRaw(usage, name))
		if n, ok := c.Int(); ok && n >= 0 {
			s.usage.set(name, strconv.AppendInt(nil, n, 10))
		}
	}
}

// Text returns the message as the interface gives it without streaming. A call that was
// not complete when the stream broke off is left out, and their number a member of its own.
func (s *Message) Text() []byte {
	cut, broken := s.reason == nil && !s.ended, int64(0)
	var content []object
	for i := range s.blocks {
		b := &s.blocks[i]
		input := b.input.value("")
		switch whole := len(b.input.token("")) <= 2 || input != nil; {
		case b.block == nil:
			continue
		case cut && !b.stopped && !whole:
			broken++
			continue
		case !whole:
			input = b.input.token("")
		}
		b.block.set("input", input)
		content = append(content, b.block)
	}
	out := s.about
	if cut {
		out.set("broken", strconv.AppendInt(nil, broken, 10))
	}
	out.set("role", []byte(`"assistant"`))
	out.set("content", list(content))
	if s.usage != nil {
		out.set("usage", s.usage.text())
	}
	return out.text()
}

// CountCut counts that a message broke off.
func CountCut(b *build.Builder, message []byte) {
	if o := readObject(message); o.get("broken") != nil {
		b.Anomaly(build.CodeResponseCut, 1)
		b.Anomaly(build.CodeCallBroken, int(o.number("broken")))
	}
}
