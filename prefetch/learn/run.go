package learn

import (
	"math"

	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

// run is a trajectory as rules see it.
type run struct {
	t      *trace.Trajectory
	values trace.ValueReader
	calls  []call
	first  map[string]int // key of a call -> the first one
}

// call is a call of the model, or one that changes something.
type call struct {
	prefetch.Call
	key      string
	answer   *trace.Value // once it was asked for
	turn     int
	answered bool // and did not fail
	failed   bool
	model    bool
	reads    bool
	again    bool // the tool was called before
	before   bool // the call before failed
}

// read reads a trajectory. It is pure.
func read(t *trace.Trajectory, reads func(string) bool) *run {
	r := &run{t: t, calls: make([]call, len(t.Calls)), first: map[string]int{}}
	called := map[trace.Name]bool{}
	failed := false
	for i := range t.Calls {
		from, to := &t.Calls[i], &r.calls[i]
		to.turn = from.Turn
		if from.Turn < 0 {
			to.turn = i
		}
		to.model = from.Origin == trace.OriginModel
		if from.Tool == (trace.Name{}) {
			continue // nobody knows what it did
		}
		to.Tool, to.reads = from.Tool.Value(), reads(from.Tool.Value())
		to.failed = from.Status == trace.StatusFailed
		to.again, to.before = called[from.Tool], failed
		called[from.Tool], failed = true, to.failed
		if !to.reads || from.ArgsMissing() {
			continue
		}
		args, ok := r.values.Args(from)
		if !ok || args.Kind != trace.Object {
			continue
		}
		to.Arguments, to.key = args, prefetch.Call{Tool: to.Tool, Arguments: args}.Key()
		if _, known := r.first[to.key]; !known {
			r.first[to.key] = i
		}
		to.answered = from.HasResult && !to.failed
	}
	return r
}

// answer returns what an answered call returned; most are not asked about.
func (r *run) answer(at int) *trace.Value {
	a := &r.calls[at]
	if a.answer == nil {
		from := &r.t.Calls[at]
		result, ok := r.values.Result(from)
		if !ok {
			result = trace.NewString(from.Result.Text())
		}
		a.answer = &result
	}
	return a.answer
}

// changed reports whether something between two calls may have changed what they read.
func (r *run) changed(from, to int) bool {
	for i := from + 1; i < to; i++ {
		if !r.calls[i].reads {
			return true
		}
	}
	return false
}

// offersOf returns what the answers of a run offer by each candidate, and what of it is
// used, and how many answers there are.
func (s *Survey) offersOf(r *run) (out [][]offer, answers []int) {
	out, answers = make([][]offer, len(s.candidates)), make([]int, len(s.candidates))
	for i, c := range s.candidates {
		var offered map[string]bool
		for at := range r.calls {
			a := &r.calls[at]
			if !a.answered || !a.model || a.Tool != c.rule.Source.Tool {
				continue
			}
			answers[i]++
			for _, o := range c.rule.Offers(a.Arguments, *r.answer(at)) {
				key := o.Key()
				use, asked := r.first[key]
				if asked && r.calls[use].turn <= a.turn || offered[key] {
					continue
				}
				if offered == nil {
					offered = map[string]bool{}
				}
				offered[key] = true
				one := offer{element: int16(min(o.Element, math.MaxInt16)), again: a.again, failed: a.before}
				if asked && r.calls[use].model && r.calls[use].answered {
					one.stale = r.changed(at, use)
					one.used = !one.stale
				}
				out[i] = append(out[i], one)
			}
		}
	}
	return out, answers
}
