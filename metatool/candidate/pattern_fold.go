package candidate

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
)

// maxFold bounds the calls of one fan-out step.
const maxFold = 1000

// fold makes one step of consecutive calls of one tool whose argument walks one
// list of an earlier result: different elements, and the other arguments the
// same. It stands for a call for each element even where fewer were made: agents
// stop early or take their own order. A tool that writes is folded only if
// every element was taken.
func (s *symbols) fold() {
	s.stepOf = make([]int32, len(s.t.Calls))
	for i := range s.stepOf {
		s.stepOf[i] = -1
	}
	for first := 0; first < len(s.steps); {
		f := s.foldFrom(first)
		n := int32(len(s.folds))
		for k := range f.n {
			if step := &s.steps[first+k]; step.tool != noSymbol {
				s.stepOf[step.call] = n
			}
		}
		s.folds = append(s.folds, f)
		s.out.steps = append(s.out.steps, symbol{place: s.steps[first].place, tool: s.steps[first].tool, many: f.n > 1, each: f.each})
		first += f.n
	}
}

// foldFrom returns the fold that begins with a step.
func (s *symbols) foldFrom(first int) fold {
	f := fold{first: first, n: 1}
	step := &s.steps[first]
	if step.tool == noSymbol {
		return f
	}
	taken := map[uint64]bool{}
	for f.n < maxFold && first+f.n < len(s.steps) {
		next := &s.steps[first+f.n]
		if next.tool != step.tool || !next.joined {
			break
		}
		each, ok := varies(step, next)
		if !ok || f.n > 1 && each != f.each {
			break
		}
		u := next.args[each].use
		if f.n == 1 {
			f.common = s.lists(step.args[each].use)
			taken[step.args[each].use.Value] = true
		}
		common := shared(f.common, s.lists(u))
		if len(common) == 0 || taken[u.Value] {
			break
		}
		taken[u.Value] = true
		f.each, f.common = each, common
		f.n++
	}
	if f.n > 1 && !s.p.tools[step.tool].readOnly && !s.isWhole(&f) {
		return fold{first: first, n: 1}
	}
	return f
}

// varies returns the only argument in which two calls differ.
func varies(a, b *callStep) (int, bool) {
	if len(a.args) != len(b.args) {
		return 0, false
	}
	each := -1
	for i := range a.args {
		x, y := &a.args[i], &b.args[i]
		switch {
		case x.name != y.name || x.use == nil || y.use == nil:
			return 0, false
		case x.use.Value == y.use.Value && x.use.Kind == y.use.Kind:
		case each >= 0:
			return 0, false
		default:
			each = i
		}
	}
	return each, each >= 0
}

// lists returns the lists in results that hold a use as an element.
func (s *symbols) lists(u *dataflow.Use) []origin {
	var list []origin
	for i := range u.Sources {
		from := &u.Sources[i]
		if len(from.Positions) == 0 || from.Echo || s.f.Slots[from.Slot].Side != dataflow.Output {
			continue
		}
		if link, ok := s.link(u, from); ok {
			if o := (origin{link, s.firstOf(from.Call)}); !slices.Contains(list, o) {
				list = append(list, o)
			}
		}
	}
	return list
}

// firstOf returns the first call of the step that a call is in: lists in the results of
// all calls of a walk are one list.
func (s *symbols) firstOf(call int) int {
	if call < len(s.stepOf) && s.stepOf[call] >= 0 {
		return s.steps[s.folds[s.stepOf[call]].first].call
	}
	return call
}

// shared returns the elements of a that are in b.
func shared(a, b []origin) []origin {
	var both []origin
	for _, o := range a {
		if slices.Contains(b, o) {
			both = append(both, o)
		}
	}
	return both
}

// isWhole keeps of the lists of a fold those of which every element was taken,
// and reports whether there is one.
func (s *symbols) isWhole(f *fold) bool {
	f.common = slices.DeleteFunc(f.common, func(o origin) bool {
		if step := s.stepOf[o.call]; step >= 0 && s.folds[step].n > 1 {
			return true
		}
		path, err := jsonpath.Parse(s.p.set.Links[o.link].From.Path)
		result, ok := s.t.Calls[o.call].ResultValue()
		return err != nil || !ok || len(path.Eval(result)) != f.n
	})
	return len(f.common) > 0
}
