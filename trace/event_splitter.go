package trace

import (
	"bytes"
	"iter"
)

// eventSplitter finds the text of each response.
type eventSplitter struct {
	*scanner
	n      int // bytes of the response so far
	head   eventHead
	some   bool // there are events
	key    string
	keys   map[string]string // of responses by id, see responsesKey
	behind bool              // what follows belongs to a response that is too large
}

func splitEventStream(in *Input) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s := &eventSplitter{scanner: newScanner(in, yield), keys: map[string]string{}}
		s.skipMark()
		for s.lines() {
		}
	}
}

// lines looks at the next line; false at the end.
func (s *eventSplitter) lines() bool {
	from := s.n
	for {
		i := bytes.IndexByte(s.rest()[from:], '\n')
		if i >= 0 {
			return s.line(from + i + 1)
		}
		from = len(s.rest())
		if from > s.limit {
			return s.tooLong(from)
		}
		if !s.more() {
			break
		}
	}
	if s.failure() == nil && len(s.rest()) > s.n && !s.line(len(s.rest())) {
		return false
	}
	if s.flush() {
		s.finish()
	}
	return false
}

// tooLong skips the next n bytes, which are of a response that is too large.
func (s *eventSplitter) tooLong(n int) bool {
	first := !s.behind
	problem := s.tooLarge(s.at(), int64(n))
	s.advance(n)
	s.n, s.some, s.behind = 0, false, true
	return !first || s.problem(problem)
}

// line adds the line that ends at an index to the response, or ends that.
func (s *eventSplitter) line(end int) bool {
	payload, _ := eventPayload(s.rest()[s.n:end])
	h, known := eventHead{}, false
	if payload != nil {
		h, known = readEventHead(payload)
	}
	if known && s.some && s.begins(h) {
		before := s.n
		if !s.flush() {
			return false
		}
		end -= before
	}
	if known && (h.begins || h.family == eventsChat) {
		s.behind = false
	}
	if known && h.response != nil {
		s.key = responsesKey(append(append([]byte(`{"response":`), h.response...), '}'), s.keys)
	}
	if known && h.family != eventsUnknown {
		s.head.family = h.family
		if len(h.id) > 0 {
			s.head.id = bytes.Clone(h.id)
		}
	}
	s.n = end
	s.some = s.some || payload != nil
	if s.n > s.limit {
		return s.tooLong(s.n)
	}
	if known && h.ends || !s.some {
		return s.flush()
	}
	return true
}

// begins reports whether an event is of another response than those before it.
func (s *eventSplitter) begins(h eventHead) bool {
	switch {
	case s.head.family == eventsUnknown || h.family == eventsUnknown:
		return false
	case h.begins, h.family != s.head.family:
		return true
	}
	return len(h.id) > 0 && len(s.head.id) > 0 && !bytes.Equal(h.id, s.head.id)
}

// flush gives the response, if there is one.
func (s *eventSplitter) flush() bool {
	n, some := s.n, s.some && !s.behind
	s.n, s.some, s.head = 0, false, eventHead{}
	if !some {
		s.advance(n)
		return true
	}
	record := s.record(n)
	if s.key != "" {
		record.Shared = s.key
	}
	s.key = ""
	s.advance(n)
	return s.yield(record)
}
