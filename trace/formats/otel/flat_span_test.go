package otel

import (
	"testing"
	"time"
)

// TestFlatDuration: a span that records how long it took and not when it ended has an end.
func TestFlatDuration(t *testing.T) {
	s := readFlat([]byte(`{"span_id":"a","start_ns":1700000000000000000,"duration_ns":2500000000,"name":"x"}`), "t", "llm")
	if s.Start.IsZero() || s.End.Sub(s.Start) != 2500*time.Millisecond {
		t.Errorf("from %v to %v", s.Start, s.End)
	}
	s = readFlat([]byte(`{"span_id":"a","start_ns":1700000000000000000,"end_ns":1700000001000000000,"duration_ns":2500000000}`), "t", "llm")
	if s.End.Sub(s.Start) != time.Second {
		t.Errorf("an end that is recorded does not count: from %v to %v", s.Start, s.End)
	}
}
