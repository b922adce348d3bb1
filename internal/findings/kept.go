package findings

import "github.com/awo-dev/awo/trace"

// Kept is a Seen in a form that can be written down. It names tools by their numbers.
type Kept struct {
	Hits   []KeptHit `json:"h,omitempty"`
	Tools  [][2]int  `json:"t,omitempty"` // numbers, and their calls
	Turns  int       `json:"n"`
	Silent int       `json:"s"`
	Called int       `json:"c"`
	Coding bool      `json:"g,omitempty"`
}

// KeptHit is the calls of one kind and tool in a trajectory.
type KeptHit struct {
	Code  Code     `json:"k"`
	Tool  int      `json:"o"` // -1 for all tools
	Count int      `json:"n"`
	Good  int      `json:"g,omitempty"`
	Codes []int    `json:"c,omitempty"`
	Words []string `json:"w,omitempty"` // names of patterns, not of a trace
	Turns []int    `json:"t,omitempty"`
	By    [][2]int `json:"b,omitempty"`
}

// Keep returns s with the numbers that number gives to tools.
func (s *Seen) Keep(number func(trace.Name) int) Kept {
	counts := func(list []toolCount) (out [][2]int) {
		for _, c := range list {
			out = append(out, [2]int{number(c.tool), c.calls})
		}
		return out
	}
	k := Kept{Tools: counts(s.tools), Turns: s.turns, Silent: s.silent, Called: s.called, Coding: s.coding}
	for i := range s.hits {
		h := &s.hits[i]
		tool := -1
		if h.tool != (trace.Name{}) {
			tool = number(h.tool)
		}
		k.Hits = append(k.Hits, KeptHit{h.code, tool, h.count, h.good, h.codes, h.words, h.turns, counts(h.by)})
	}
	return k
}

// Seen returns what was kept; false if numbers have no tool in names.
func (k *Kept) Seen(names []trace.Name) (*Seen, bool) {
	ok := true
	name := func(n int) trace.Name {
		if n < 0 || n >= len(names) {
			ok = false
			return trace.Name{}
		}
		return names[n]
	}
	counts := func(list [][2]int) (out []toolCount) {
		for _, c := range list {
			out = append(out, toolCount{name(c[0]), c[1]})
		}
		return out
	}
	s := &Seen{tools: counts(k.Tools), turns: k.Turns, silent: k.Silent, called: k.Called, coding: k.Coding}
	for i := range k.Hits {
		h := &k.Hits[i]
		one := hit{code: h.Code, count: h.Count, good: h.Good, codes: h.Codes, words: h.Words, turns: h.Turns, by: counts(h.By)}
		if h.Tool >= 0 {
			one.tool = name(h.Tool)
		}
		for _, turn := range h.Turns {
			ok = ok && turn >= 0 && turn < k.Turns
		}
		s.hits = append(s.hits, one)
	}
	return s, ok
}
