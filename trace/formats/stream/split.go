package stream

import (
	"bytes"
	"iter"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/sse"
	"github.com/awo-dev/awo/trace/formats/openai"
)

// eventSplitter finds the text of each response.
type eventSplitter struct {
	*trace.Scanner
	n      int // bytes of the response so far
	head   sse.Head
	some   bool // there are events
	key    string
	keys   map[string]string // of responses by id, see responsesKey
	behind bool              // what follows belongs to a response that is too large
}

func splitEventStream(in *trace.Input) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		s := &eventSplitter{Scanner: trace.NewScanner(in, yield), keys: map[string]string{}}
		s.SkipMark()
		for s.lines() {
		}
	}
}

// lines looks at the next line; false at the end.
func (s *eventSplitter) lines() bool {
	from := s.n
	for {
		i := bytes.IndexByte(s.Rest()[from:], '\n')
		if i >= 0 {
			return s.line(from + i + 1)
		}
		from = len(s.Rest())
		if from > s.Limit {
			return s.tooLong(from)
		}
		if !s.More() {
			break
		}
	}
	if s.Failure() == nil && len(s.Rest()) > s.n && !s.line(len(s.Rest())) {
		return false
	}
	if s.flush() {
		s.Finish()
	}
	return false
}

// tooLong skips the next n bytes, which are of a response that is too large.
func (s *eventSplitter) tooLong(n int) bool {
	first := !s.behind
	problem := s.TooLarge(s.At(), int64(n))
	s.Advance(n)
	s.n, s.some, s.behind = 0, false, true
	return !first || s.Problem(problem)
}

// line adds the line that ends at an index to the response, or ends that.
func (s *eventSplitter) line(end int) bool {
	payload, _ := sse.Payload(s.Rest()[s.n:end])
	h, known := sse.Head{}, false
	if payload != nil {
		h, known = sse.ReadHead(payload)
	}
	if known && s.some && s.begins(h) {
		before := s.n
		if !s.flush() {
			return false
		}
		end -= before
	}
	if known && (h.Begins || h.Family == sse.FamilyChat) {
		s.behind = false
	}
	if known && h.Response != nil {
		s.key = openai.ResponsesKey(append(append([]byte(`{"response":`), h.Response...), '}'), s.keys)
	}
	if known && h.Family != sse.FamilyUnknown {
		s.head.Family = h.Family
		if len(h.ID) > 0 {
			s.head.ID = bytes.Clone(h.ID)
		}
	}
	s.n = end
	s.some = s.some || payload != nil
	if s.n > s.Limit {
		return s.tooLong(s.n)
	}
	if known && h.Ends || !s.some {
		return s.flush()
	}
	return true
}

// begins reports whether an event is of another response than those before it.
func (s *eventSplitter) begins(h sse.Head) bool {
	switch {
	case s.head.Family == sse.FamilyUnknown || h.Family == sse.FamilyUnknown:
		return false
	case h.Begins, h.Family != s.head.Family:
		return true
	}
	return len(h.ID) > 0 && len(s.head.ID) > 0 && !bytes.Equal(h.ID, s.head.ID)
}

// flush gives the response, if there is one.
func (s *eventSplitter) flush() bool {
	n, some := s.n, s.some && !s.behind
	s.n, s.some, s.head = 0, false, sse.Head{}
	if !some {
		s.Advance(n)
		return true
	}
	record := s.Record(n)
	if s.key != "" {
		record.Shared = s.key
	}
	s.key = ""
	s.Advance(n)
	return s.Yield(record)
}
