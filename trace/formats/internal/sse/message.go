package sse

import (
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// Message is a message of Anthropic's that is put together from its events.
type Message struct {
	Message []byte // as it was when it began
	reason  []byte // why it ended
	ended   bool
	usage   map[string]int64
	Blocks  []*streamBlock
	broken  int64 // calls that were not complete when the stream broke off
}

// streamBlock is a block of a message.
type streamBlock struct {
	index         int64
	block         []byte // as it was when it began
	text, thought streamText
	input         streamText
	stopped       bool
}

// messageCounts are the token counts, in the order in which they are written.
var messageCounts = []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"}

// Add adds an event, which has to be JSON.
func (s *Message) Add(event []byte) {
	var kind, delta, block []byte
	var index int64
	c := jsonscan.New(event)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "type":
			kind, _ = c.Text()
		case "index":
			index, _ = c.Int()
		case "message":
			if c.Kind() == jsonscan.Object {
				s.Message = c.Raw()
				s.addUsage(s.Message)
			}
		case "content_block":
			if c.Kind() == jsonscan.Object {
				block = c.Raw()
			}
		case "delta":
			delta = c.Raw()
		case "usage":
			s.addCounts(c.Raw())
		}
	}
	switch string(kind) {
	case "content_block_start":
		s.Blocks = append(s.Blocks, &streamBlock{index: index, block: block})
	case "content_block_delta":
		if b := s.block(index); b != nil {
			b.add(delta)
		}
	case "content_block_stop":
		if b := s.block(index); b != nil {
			b.stopped = true
		}
	case "message_delta":
		c := jsonscan.New(delta)
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "stop_reason" {
				if token := c.Token(); token != nil {
					s.reason = token
				}
			}
		}
	case "message_stop":
		s.ended = true
	}
}

// block returns the block with an index, nil if there is none.
func (s *Message) block(index int64) *streamBlock {
	for i := len(s.Blocks) - 1; i >= 0; i-- {
		if s.Blocks[i].index == index {
			return s.Blocks[i]
		}
	}
	return nil
}

func (b *streamBlock) add(delta []byte) {
	c := jsonscan.New(delta)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "text":
			b.text.add(c.Token())
		case "thinking":
			b.thought.add(c.Token())
		case "partial_json":
			b.input.add(c.Token())
		}
	}
}

func (s *Message) addUsage(message []byte) {
	c := jsonscan.New(message)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "usage" {
			s.addCounts(c.Raw())
		}
	}
}

// addCounts takes token counts over those of before: the end of a message has the
// sums.
func (s *Message) addCounts(usage []byte) {
	c := jsonscan.New(usage)
	for ok := c.Object(); ok && c.Member(); {
		name := string(c.Key())
		if n, ok := c.Int(); ok && n >= 0 {
			if s.usage == nil {
				s.usage = map[string]int64{}
			}
			s.usage[name] = n
		}
	}
}

// cut reports whether the stream broke off.
func (s *Message) cut() bool { return s.reason == nil && !s.ended }

// Append appends the message as the interface gives it without streaming. A call
// that was not complete when the stream broke off is left out, and its number a
// member of its own.
func (s *Message) Append(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendRawMembers(dst, s.Message, "type", "role", "content", "usage", "stop_reason", "cut", "broken")
	dst = appendRaw(dst, "type", []byte(`"message"`))
	dst = appendRaw(dst, "role", []byte(`"assistant"`))
	dst = append(dst, `,"content":[`...)
	first := true
	for _, b := range s.Blocks {
		if b.block == nil {
			continue
		}
		if s.cut() && !b.stopped && len(b.input) > 0 && b.input.value() == nil {
			s.broken++
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = b.append(dst)
	}
	dst = append(dst, ']')
	dst = appendRaw(dst, "stop_reason", s.reason)
	if s.cut() {
		dst = appendRaw(dst, "cut", []byte("true"))
		dst = appendRaw(dst, "broken", strconv.AppendInt(nil, s.broken, 10))
	}
	if s.usage != nil {
		dst = append(dst, `,"usage":{`...)
		for _, name := range messageCounts {
			if n, ok := s.usage[name]; ok {
				dst = appendRaw(dst, name, strconv.AppendInt(nil, n, 10))
			}
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func (b *streamBlock) append(dst []byte) []byte {
	var but []string
	text, thought := streamText{}, streamText{}
	c := jsonscan.New(b.block)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "text":
			text.add(c.Token())
		case "thinking":
			thought.add(c.Token())
		}
	}
	text, thought = append(text, b.text...), append(thought, b.thought...)
	if len(b.text) > 0 {
		but = append(but, "text")
	}
	if len(b.thought) > 0 {
		but = append(but, "thinking")
	}
	if len(b.input) > 0 {
		but = append(but, "input")
	}
	dst = appendRawMembers(append(dst, '{'), b.block, but...)
	if len(b.text) > 0 {
		dst = appendRaw(dst, "text", text.appendTo(nil))
	}
	if len(b.thought) > 0 {
		dst = appendRaw(dst, "thinking", thought.appendTo(nil))
	}
	if len(b.input) > 0 {
		input := b.input.value()
		if input == nil {
			input = b.input.appendTo(nil)
		}
		dst = appendRaw(dst, "input", input)
	}
	return append(dst, '}')
}
