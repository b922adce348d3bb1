package spantree

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/trace"
)

// dropDoubled makes links of spans that tell again of a response or call that
// another tells of, and gives that one what it lacks.
func (j *joiner) dropDoubled() (n int) {
	inside := map[*Span]int{} // responses right inside of a response
	for _, s := range j.spans {
		if up := s.above; s.Kind == SpanModel && up != nil && up.Kind == SpanModel {
			inside[up]++
		}
	}
	for s, n := range inside {
		if n > 1 {
			s.Kind, s.holds = SpanAgent, true
		}
	}
	j.passDown()
	tools := map[string][]*Span{} // by trace and name: those whose time may overlap
	for _, s := range j.spans {
		up := s.above
		if s.Kind == SpanModel && up != nil && up.doubled != nil {
			up = up.doubled // a third span of one response
		}
		var same *Span
		switch {
		case s.Kind == SpanModel && up != nil && up.Kind == SpanModel:
			same = up
		case s.Kind == SpanTool || s.Kind == SpanMCP:
			key := s.Trace + " " + s.toolName()
			if up != nil && (up.Kind == SpanTool || up.Kind == SpanMCP) && sameCall(up, s) {
				same = up
			} else {
				list := tools[key]
				for len(list) > 0 && !list[0].End.After(s.Start) && !list[0].Start.Equal(s.Start) {
					list = list[1:]
				}
				tools[key] = list
				for _, other := range list[:min(len(list), deepest)] {
					if (s.Kind == SpanMCP || other.Kind == SpanMCP) && sameCall(other, s) && other.above != s {
						same = other
						break
					}
				}
			}
			if same == nil {
				tools[key] = append(tools[key], s)
			}
		}
		if same == nil {
			continue
		}
		n++
		if s.Kind == SpanModel {
			for range bounds.Levels { // to the outermost, of which circles have none
				next := same.above
				if next == nil || next.Kind != SpanModel || next == s {
					break
				}
				same = next
			}
			s.doubled = same
			if len(same.doubles) < bounds.Doubles {
				same.doubles = append(same.doubles, s)
			} else {
				j.told++
			}
		} else {
			// A call's own span is better than that of the protocol below or above it.
			if same.Kind == SpanMCP && s.Kind == SpanTool {
				same.Kind = SpanTool
			}
			if same.taken++; same.taken <= bounds.Doubles {
				same.Take(s)
			} else {
				j.told++
			}
		}
		s.Kind = SpanLink
	}
	for _, s := range j.spans {
		up := s.above
		for range deepest { // circles end here too
			if up == nil || up.Kind != SpanLink {
				break
			}
			up = up.above
		}
		if up != nil && (up.Kind == SpanLink || up == s) {
			up = nil
		}
		s.above = up
	}
	return n
}

// passDown gives what only a response with several inside says to those: what was
// asked to the first, the tokens of all to the last.
func (j *joiner) passDown() {
	first, last, counted := map[*Span]*Span{}, map[*Span]*Span{}, map[*Span]bool{}
	for _, s := range j.spans {
		up := s.above
		if s.Kind != SpanModel || up == nil || !up.holds {
			continue
		}
		if first[up] == nil {
			first[up] = s
		}
		last[up] = s
		usage, _ := s.usage()
		counted[up] = counted[up] || usage.Known
	}
	for up, s := range first {
		if len(s.readOwn(j.messages).input) == 0 {
			s.Input = up.Input
		}
		if !counted[up] {
			last[up].Tokens, _ = up.usage()
		}
		last[up].ModelName = cmp.Or(last[up].model(), up.model())
		s.ModelName = cmp.Or(s.model(), up.model())
	}
}

// sameCall reports whether two spans can be of the same tool call.
func sameCall(a, b *Span) bool {
	if x, y := a.callID(), b.callID(); x != "" && y != "" {
		return x == y
	}
	return a.toolName() == b.toolName()
}

// take gives a span the attributes of another that it lacks, and its failure.
func (s *Span) Take(other *Span) {
	members := slices.Clone(s.Attrs.Members)
	for _, m := range other.Attrs.Members {
		if _, ok := s.Attrs.Lookup(m.Name); !ok && m.Name != "gen_ai.operation.name" {
			members = append(members, m)
		}
	}
	s.SetAttrs(trace.Value{Kind: trace.Object, Members: trace.SortedMembers(members)})
	s.Events = append(s.Events[:len(s.Events):len(s.Events)], other.Events...)
	s.Input, s.Output = orRaw(s.Input, other.Input), orRaw(s.Output, other.Output)
	if other.Failed && !s.Failed {
		s.Failed, s.Failure = true, other.Failure
	}
	if !s.Tokens.Known {
		s.Tokens = other.Tokens
	}
}
