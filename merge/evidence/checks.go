package evidence

import (
	"slices"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/trace"
)

// maxHistories is how many different histories of one read are compared with
// those that come.
const maxHistories = 4

// readGroup is the executions that make one read from one state.
type readGroup struct {
	state           uint32
	called          hash128.Hash
	entries         []entry
	sameTask, other bool // there were checks within a task, between tasks
}

// entry is the first execution with its history that made the read.
type entry struct {
	history, result hash128.Hash
	run, call       int32
	keys            []uint32 // by unit
}

// lastRead is where a read was last made in the trajectory.
type lastRead struct {
	at     int
	point  merge.Point
	result hash128.Hash
}

// baseline is how often a call returned another thing after an identical
// history, in trials of one task and between tasks.
type baseline struct{ sameTask, other Share }

func (b *baseline) add(sameTask, differs bool) {
	s := &b.other
	if sameTask {
		s = &b.sameTask
	}
	s.Of++
	if differs {
		s.Count++
	}
}

// tallyKey is what checks are counted by.
type tallyKey struct {
	called   hash128.Hash
	needs    int32 // which units are needed
	kind     CheckKind
	sameTask bool
}

type tally struct {
	tallyKey
	tool           trace.Name
	checks, differ int
	example        CounterExample
	charged        bool
}

// needSets numbers sets of units.
type needSets struct {
	numbers map[string]int32
	sets    [][]int
	key     []byte
}

func (n *needSets) number(set []int) int32 {
	n.key = n.key[:0]
	for _, u := range set {
		n.key = append(n.key, byte(u), byte(u>>8), byte(u>>16))
	}
	if id, known := n.numbers[string(n.key)]; known {
		return id
	}
	if n.numbers == nil {
		n.numbers = map[string]int32{}
	}
	id := int32(len(n.sets))
	n.numbers[string(n.key)] = id
	n.sets = append(n.sets, slices.Clone(set))
	return id
}

// check compares what call i returned with what the same call returned before.
func (e *Examiner) check(call *trace.Call, i int, state uint32, called, history hash128.Hash) {
	result := e.result(call)
	at := e.points[i]
	run := int32(len(e.runs) - 1)
	before, again := e.last[called]
	e.last[called] = lastRead{i, at, result}
	key := hash128.Mix(at.State, called)
	all := e.group(key, state, called)
	trials := e.group(hash128.Mix(key, hash128.Hash{Lo: uint64(e.runs[run].task)}), state, called)
	if all == nil || trials == nil {
		e.unstored++
		return
	}
	if again && before.point.Writes == at.Writes {
		kind := CheckUnchanged
		if before.at == i-1 {
			kind = CheckRepeated
		}
		var needed []int
		for u := range e.units {
			if e.now.writes[u][before.at] != e.now.writes[u][i] {
				needed = append(needed, u)
			}
		}
		all.sameTask = true
		e.tally(call.Tool, tallyKey{called: called, needs: e.narrow(needed), kind: kind, sameTask: true}, before.result != result,
			CounterExample{kind, Knowledge{int(run), before.at}, Knowledge{int(run), i}})
	}
	if again && before.point.State == at.State {
		return // the execution has been compared with others here
	}
	e.compare(all, false, call.Tool, i, run, history, result)
	e.compare(trials, true, call.Tool, i, run, history, result)
}

// group returns the executions that make a read from a state, of all tasks or of
// one; nil if there is no room.
func (e *Examiner) group(key hash128.Hash, state uint32, called hash128.Hash) *readGroup {
	g := e.groups[key]
	if g == nil && len(e.groups) < e.options.MaxReads {
		g = &readGroup{state: state, called: called}
		e.groups[key] = g
		e.inOrder = append(e.inOrder, g)
	}
	return g
}

// compare compares the execution with others that made the read from the state:
// with trials of its own task, or with those of others. The two are apart because
// the first executions of a read leave no room for later tasks.
func (e *Examiner) compare(g *readGroup, trials bool, tool trace.Name, i int, run int32, history, result hash128.Hash) {
	known := false
	for j := range g.entries {
		other := &g.entries[j]
		if other.run == run {
			continue
		}
		sameTask := e.runs[other.run].task == e.runs[run].task
		known = known || other.history == history
		if sameTask != trials {
			continue
		}
		if other.history == history {
			e.noteBaseline(g.called, tool, sameTask, other.result != result)
			continue
		}
		var needed []int
		for u := range e.units {
			if other.keys[u] != e.now.keys[u][i] {
				needed = append(needed, u)
			}
		}
		if sameTask {
			g.sameTask = true
		} else {
			g.other = true
		}
		e.tally(tool, tallyKey{called: g.called, needs: e.narrow(needed), kind: CheckHistories, sameTask: sameTask}, other.result != result,
			CounterExample{CheckHistories, Knowledge{int(other.run), int(other.call)}, Knowledge{int(run), i}})
	}
	if known || len(g.entries) >= maxHistories {
		return
	}
	keys := make([]uint32, len(e.units))
	for u := range keys {
		keys[u] = e.now.keys[u][i]
	}
	g.entries = append(g.entries, entry{history, result, run, int32(i), keys})
}

// narrow numbers the set of the rules that are needed; where none is, because
// others stand in for each, that of the kinds.
func (e *Examiner) narrow(needed []int) int32 {
	single := 0
	for single < len(needed) && len(e.units[needed[single]].rules) == 1 {
		single++
	}
	if single > 0 {
		needed = needed[:single]
	}
	return e.needs.number(needed)
}

func (e *Examiner) noteBaseline(called hash128.Hash, tool trace.Name, sameTask, differs bool) {
	b := e.baseline[called]
	if b == nil {
		b = &baseline{}
		e.baseline[called] = b
	}
	b.add(sameTask, differs)
	if e.byTool[tool] == nil {
		e.byTool[tool] = &baseline{}
	}
	e.byTool[tool].add(sameTask, differs)
}

func (e *Examiner) tally(tool trace.Name, key tallyKey, differs bool, example CounterExample) {
	t := e.tallies[key]
	if t == nil {
		t = &tally{tallyKey: key, tool: tool}
		e.tallies[key] = t
		e.tallied = append(e.tallied, t)
	}
	t.checks++
	if differs {
		if t.differ == 0 {
			t.example = example
		}
		t.differ++
	}
}

// result hashes what a call returned, as a value.
func (e *Examiner) result(call *trace.Call) hash128.Hash {
	if v, ok := call.ResultValue(); ok {
		return e.seeds.Raw(trace.Raw{Data: v.AppendCanonical(nil)})
	}
	return e.seeds.Raw(call.Result)
}

// counts reports whether checks of a call count, between trials of one task or
// not: they do not if the call returned different things after identical
// histories.
func (e *Examiner) counts(called hash128.Hash, sameTask bool) bool {
	b := e.baseline[called]
	if b == nil {
		return true
	}
	return b.sameTask.Count == 0 && (sameTask || b.other.Count == 0)
}

// expected returns the share of contradictions that the tool of a tally lets
// expect: nothing where the call itself was seen to be stable.
func (e *Examiner) expected(t *tally) float64 {
	if t.kind != CheckHistories {
		return 0
	}
	s := func(b *baseline) Share {
		switch {
		case b == nil:
			return Share{}
		case t.sameTask:
			return b.sameTask
		}
		return b.other
	}
	if s(e.baseline[t.called]).Of > 0 {
		return 0
	}
	share := s(e.byTool[t.tool])
	if share.Of == 0 {
		return 0
	}
	return float64(share.Count) / float64(share.Of)
}
