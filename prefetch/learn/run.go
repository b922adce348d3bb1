package learn

import (
	"math"
	"slices"

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

// offersOf returns what a run offers by each candidate, and what of it is used, and how many
// answers or messages there are that could offer something.
func (s *Survey) offersOf(r *run) (out [][]offer, answers []int) {
	out, answers = make([][]offer, len(s.candidates)), make([]int, len(s.candidates))
	for i, c := range s.candidates {
		offered := map[string]bool{}
		// add adds an offer after call at, which the agent may use from a turn on.
		add := func(o *prefetch.Offer, at, turn int, one offer) {
			key := o.Key()
			use, asked := r.first[key]
			if asked && (use <= at || r.calls[use].turn < turn) || offered[key] {
				return
			}
			offered[key] = true
			one.element = int16(min(o.Element, math.MaxInt16))
			if asked && r.calls[use].model && r.calls[use].answered {
				one.stale = r.changed(at, use)
				one.used = !one.stale
			}
			out[i] = append(out[i], one)
		}
		source := &c.rule.Source
		if source.Kind == prefetch.KindUser {
			answers[i] = r.said(&c.rule, c.matcher, add)
			continue
		}
		if source.Kind == prefetch.KindNone && source.Tool == "" {
			answers[i] = 1
			for _, o := range c.rule.Offers(trace.Value{}, trace.Value{}) {
				add(&o, -1, 0, offer{})
			}
			continue
		}
		for at := range r.calls {
			a := &r.calls[at]
			if !a.model || a.failed || a.Tool != source.Tool || source.Kind != prefetch.KindNone && !a.answered {
				continue
			}
			answers[i]++
			result := trace.Value{}
			if source.Kind != prefetch.KindNone {
				result = *r.answer(at)
			}
			for _, o := range c.rule.Offers(a.Arguments, result) {
				add(&o, at, a.turn+1, offer{again: a.again, failed: a.before})
			}
		}
	}
	return out, answers
}

// said adds what the messages of a run offer by a rule, from the moment on at which it is
// trusted, and returns how many messages there are.
func (r *run) said(rule *prefetch.Rule, matcher *prefetch.Matcher, add func(o *prefetch.Offer, at, turn int, one offer)) int {
	trusted, since := rule.Source.Trust == nil, -1
	for at := range r.calls {
		if a := &r.calls[at]; !trusted && a.model && !a.failed && slices.Contains(rule.Source.Trust, a.Tool) {
			trusted, since = true, at
		}
	}
	messages := 0
	for m := range r.t.UserMessages() {
		messages++
		if !trusted {
			continue
		}
		at, turn := m.Call-1, m.Turn
		if since > at {
			at, turn = since, r.calls[since].turn+1
		}
		for _, o := range matcher.Said(m.Text.Text()) {
			add(&o, at, turn, offer{message: int32(messages)})
		}
	}
	return messages
}
