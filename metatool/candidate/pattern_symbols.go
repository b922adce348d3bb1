package candidate

import (
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// Symbols is what patterns need to know of the steps of one trajectory.
type Symbols struct {
	trajectory int
	steps      []symbol
	worth      []int64 // by calling turn, if a gain is given
}

// symbol is one step, before it is known which pattern it is part of.
type symbol struct {
	place merge.Place
	tool  int32 // noSymbol if no pattern contains it
	many  bool  // it stands for several calls, whose argument args[each] walks a list
	each  int
	again uint8        // how many steps before it the same call was made, 0 if in none that a pattern could hold
	args  []patternArg // by name
}

// patternArg is one top-level argument of a step.
type patternArg struct {
	param   uint64 // hash of the tool and the name
	known   uint8  // how many steps before this one a pattern may begin for the value to be known then
	sources []patternSource
}

// patternSource is an earlier step that held the value of an argument.
type patternSource struct {
	link   int32
	before uint8 // how many steps
	copied bool  // an argument, or a result that repeats one
}

// farAway is patternSource.before of lists that no pattern reaches.
const farAway = math.MaxUint8

// always is patternArg.known of a value that is known before any pattern.
const always = MaxPatternSteps

// Symbols returns what patterns need of the trajectory t, the i-th of the walks,
// whose sources are f. It is pure.
func (p *Patterns) Symbols(i int, t *trace.Trajectory, f *dataflow.Flow) *Symbols {
	s := &symbols{p: p, t: t, f: f, out: &Symbols{trajectory: i}}
	first, last := p.merged.Walks.Of(i)
	s.readCalls(first, last)
	s.fold()
	for n := range s.out.steps {
		s.readArgs(n)
	}
	s.findRepeats()
	if p.options.Gain != nil {
		s.readWorth(first, last)
	}
	return s.out
}

// symbols is the state of reading one trajectory.
type symbols struct {
	p   *Patterns
	t   *trace.Trajectory
	f   *dataflow.Flow
	out *Symbols

	steps  []callStep // of the walk
	folds  []fold     // by step of out
	stepOf []int32    // call -> step of out, or -1
}

// callStep is a step of the walk.
type callStep struct {
	place  merge.Place
	tool   int32
	call   int // the first, also where the step has no tool
	joined bool
	args   []topArg
}

// topArg is a top-level argument of a call: the use of its value, and those of
// the leaves inside if it is an object or array.
type topArg struct {
	name string
	use  *dataflow.Use
	uses []dataflow.Use
}

// fold is the steps of the walk that are one step.
type fold struct {
	first, n int
	each     int      // argument that walks a list, if n > 1
	common   []origin // where the list may be
}

// origin is one list: of one link in the result of one call.
type origin struct {
	link int32
	call int
}

func (s *symbols) readCalls(first, last merge.Place) {
	w, m := s.p.merged.Walks, s.p.merged
	s.steps = make([]callStep, 0, last-first)
	use := 0
	repeats := s.repeats(first, last)
	for place := first; place < last; place++ {
		call, _, n := w.Calls(place)
		step := callStep{place: place, tool: noSymbol, call: call, joined: w.Flags(place).Joined()}
		if n == 1 && call < len(s.t.Calls) && s.t.Calls[call].Status != trace.StatusFailed && repeats[call] < 0 {
			step.tool = s.p.toolOf[m.Graph.Label(w.Edge(place))]
		}
		if step.tool != noSymbol {
			for use < len(s.f.Uses) && s.f.Uses[use].Call < call {
				use++
			}
			end := use
			for end < len(s.f.Uses) && s.f.Uses[end].Call == call {
				end++
			}
			step.args = topArgs(s.f, s.f.Uses[use:end])
		}
		s.steps = append(s.steps, step)
	}
}

// repeats returns which calls repeat earlier ones: what a call changes is what is
// known or assumed of its tool.
func (s *symbols) repeats(first, last merge.Place) []int {
	w, m := s.p.merged.Walks, s.p.merged
	reads := make([]bool, len(s.t.Calls))
	for i := range s.t.Calls {
		reads[i] = s.p.options.Reads != nil && s.p.options.Reads(s.t.Calls[i].Tool)
	}
	for place := first; place < last; place++ {
		if w.Inserted(place) {
			continue
		}
		call, to, _ := w.Calls(place)
		for ; call <= to && call < len(reads); call++ {
			reads[call] = reads[call] || m.Labels.ReadOnly(m.Graph.Label(w.Edge(place)))
		}
	}
	return s.t.Repeats(func(i int) bool { return !reads[i] })
}

// topArgs groups the uses of a call by the argument that they are in.
func topArgs(f *dataflow.Flow, uses []dataflow.Use) []topArg {
	var args []topArg
	for i := 0; i < len(uses); {
		name := topName(f.Slots[uses[i].Param].Path)
		j := i + 1
		for j < len(uses) && topName(f.Slots[uses[j].Param].Path) == name {
			j++
		}
		a := topArg{name: name, uses: uses[i:j]}
		for k := i; k < j; k++ {
			if len(f.Slots[uses[k].Param].Path) == len("$")+len(name) {
				a.use = &uses[k]
			}
		}
		args = append(args, a)
		i = j
	}
	return args
}

// topName returns the first step of a path as it is written: ".name", "['name']".
func topName(path string) string {
	path = strings.TrimPrefix(path, "$")
	if strings.HasPrefix(path, "['") {
		for i := len("['"); i < len(path); i++ {
			switch path[i] {
			case '\\':
				i++
			case '\'':
				return path[:min(i+len("']"), len(path))]
			}
		}
		return path
	}
	for i := 1; i < len(path); i++ {
		if path[i] == '.' || path[i] == '[' {
			return path[:i]
		}
	}
	return path
}

// readArgs fills in the arguments of a step.
func (s *symbols) readArgs(n int) {
	fold, step := &s.folds[n], &s.out.steps[n]
	if step.tool == noSymbol {
		return
	}
	first := &s.steps[fold.first]
	step.args = make([]patternArg, len(first.args))
	for i := range first.args {
		a := &first.args[i]
		arg := patternArg{param: hashParam(step.tool, a.name), known: s.knownBefore(n, a.uses)}
		if a.use != nil {
			if s.p.constant[s.f.Slots[a.use.Param]] && !s.isTold(a.use) {
				arg.known = always
			}
			arg.sources = s.sources(n, a.use)
		}
		if fold.n > 1 && i == fold.each {
			for k := 1; k < fold.n; k++ {
				arg.known = min(arg.known, s.knownBefore(n, s.steps[fold.first+k].args[i].uses))
			}
			arg.sources = s.originsOf(n, fold.common)
		}
		step.args[i] = arg
	}
}

// isTold reports whether a message or a result held a value before its call: it
// may then depend on that, however often it is the same.
func (s *symbols) isTold(u *dataflow.Use) bool {
	told := func(from dataflow.Source) bool { return s.f.Slots[from.Slot].Side != dataflow.Input && !from.Echo }
	return u.Seen.Turn >= 0 && u.Seen.Side != dataflow.Input || slices.ContainsFunc(u.Sources, told)
}

// findRepeats notes where a call is made again with the same arguments.
func (s *symbols) findRepeats() {
	last := map[uint64]int{}
	for n := range s.out.steps {
		step := &s.out.steps[n]
		if step.tool == noSymbol {
			continue
		}
		h := uint64(step.tool)
		for k := range s.folds[n].n {
			for i := range s.steps[s.folds[n].first+k].args {
				a := &s.steps[s.folds[n].first+k].args[i]
				for u := range a.uses {
					h = (h ^ hashParam(step.tool, s.f.Slots[a.uses[u].Param].Path)) * fnvPrime
					h = (h ^ a.uses[u].Value) * fnvPrime
				}
			}
		}
		if before, ok := last[h]; ok && n-before < MaxPatternSteps {
			step.again = uint8(n - before)
		}
		last[h] = n
	}
}

// sources returns the steps before the n-th that could have given a use, best
// first.
func (s *symbols) sources(n int, u *dataflow.Use) []patternSource {
	var list []patternSource
	for i := range u.Sources {
		from := &u.Sources[i]
		side := s.f.Slots[from.Slot].Side
		if side != dataflow.Output && side != dataflow.Input || from.Call >= len(s.stepOf) {
			continue
		}
		before := n - int(s.stepOf[from.Call])
		if s.stepOf[from.Call] < 0 || before < 1 || before >= MaxPatternSteps {
			continue
		}
		if link, ok := s.link(u, from); ok {
			list = append(list, patternSource{link, uint8(before), side == dataflow.Input || from.Echo})
		}
	}
	return list
}

// link returns the link of a source if it may be bound. A link of a template
// with several parts gives only a part of the argument.
func (s *symbols) link(u *dataflow.Use, from *dataflow.Source) (int32, bool) {
	k := s.p.set.Link(s.f, u, from)
	if k == nil || strings.Count(k.Template, jsonpath.Hole) > 1 {
		return 0, false
	}
	id := s.p.linkOf[k]
	return id, s.p.usable[id]
}

func (s *symbols) originsOf(n int, common []origin) []patternSource {
	var list []patternSource
	for _, o := range common {
		before := farAway
		if step := int(s.stepOf[o.call]); step >= 0 {
			before = min(n-step, farAway)
		}
		list = append(list, patternSource{o.link, uint8(before), false})
	}
	return list
}

// knownBefore returns how many steps before the n-th a pattern may begin for
// all leaves to be known then.
func (s *symbols) knownBefore(n int, uses []dataflow.Use) uint8 {
	known := uint8(always)
	for i := range uses {
		if u := &uses[i]; !u.Whole {
			known = min(known, s.leafKnownBefore(n, u))
		}
	}
	return known
}

func (s *symbols) leafKnownBefore(n int, u *dataflow.Use) uint8 {
	ok := func(before int) bool {
		return s.f.KnownBefore(u, s.steps[s.folds[n-before].first].call, dataflow.Enums{})
	}
	if n == 0 || ok(min(n, MaxPatternSteps-1)) {
		return always
	}
	if s.isEnum(s.f.Slots[u.Param], u.Value) {
		return always
	}
	before := 0
	for before+1 < min(n, MaxPatternSteps-1) && ok(before+1) {
		before++
	}
	return uint8(before)
}

// isEnum reports whether a value needs no source: the tool's schema lists it,
// and no results are known to decide which of those it is.
func (s *symbols) isEnum(param dataflow.Slot, value uint64) bool {
	return s.p.schemas.EnumsOf(s.t).Has(param, value) &&
		!slices.ContainsFunc(s.p.set.Accepted(param), func(k *dataflow.Link) bool { return k.From.Side == dataflow.Output })
}

// The constants of FNV-1a.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// hashParam returns a hash of a parameter's name.
func hashParam(tool int32, name string) uint64 {
	h := uint64(fnvBasis)
	for shift := 0; shift < 32; shift += 8 {
		h = (h ^ uint64(byte(tool>>shift))) * fnvPrime
	}
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * fnvPrime
	}
	return h
}

// gainUnit is what gains are counted in, so that sums do not depend on their
// order.
const gainUnit = 1e-9

// readWorth asks what each calling turn is worth.
func (s *symbols) readWorth(first, last merge.Place) {
	w := s.p.merged.Walks
	for place := first; place < last; place++ {
		from, to, n := w.Calls(place)
		turn, end := w.Turns(place)
		if end >= len(s.out.worth) {
			s.out.worth = append(s.out.worth, make([]int64, end+1-len(s.out.worth))...)
		}
		if n == 0 || to >= len(s.t.Calls) {
			continue
		}
		for call := from; call <= to && turn <= end; call++ {
			s.out.worth[turn] = worthOf(s.p.options.Gain(s.t, s.t.Calls[call].Turn))
			if call < to && s.t.Calls[call+1].Turn != s.t.Calls[call].Turn {
				turn++
			}
		}
	}
}

// worthOf turns a gain into units; what is no gain is none.
func worthOf(gain float64) int64 {
	if !(gain > 0) {
		return 0
	}
	return int64(math.Round(min(gain/gainUnit, 1<<40)))
}
