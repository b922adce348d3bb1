package backtest

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// Failures say how often a chain of calls fails where agents make it call by call,
// against how often such calls fail elsewhere. What fails more often together than
// apart is an anti-meta-tool: to offer it is to offer failures.
//
// A chain is begun where its first call was made and did not fail, and the second
// followed. From there on it is followed as a meta-tool would be run, to the first
// call that fails, whether the agent then made the rest or gave up. A chain that was
// left after a success says nothing of its later calls (Kaplan and Meier's product
// of shares, step by step), so that it makes no chain look better or worse.
type Failures struct {
	Begun    int // times
	Failed   int // of them, in which a call after the first failed
	Ended    int // of these, in which the rest was not made then
	Compared int // steps after the first whose tool is also called elsewhere

	// Observed is the share of begun chains that end with a failure, and Expected
	// what it would be if calls failed as those elsewhere do. Both are over the
	// steps that can be compared, and mean nothing if there are none.
	Observed, Expected Estimated

	// Excess is the lower end of the 99.9 % interval of Observed less Expected, put
	// together from those of the shares (Newcombe 1998, method 10). The level is that
	// high because tens to hundreds of chains are looked at, most of which hold few
	// failures: at 95 % one failure in eleven calls is enough.
	Excess float64
}

// Estimated is a share with its 95 % interval, calls taken for independent.
type Estimated struct{ Share, Lo, Hi float64 }

// fewFailures are no evidence of a habit of failing, whatever the interval says: it
// is an approximation.
const fewFailures = 3

// More reports whether the chain fails more often than its parts do elsewhere:
// Excess is above zero, and three failures at least were seen.
func (f *Failures) More() bool { return f.Compared > 0 && f.Failed >= fewFailures && f.Excess > 1e-9 }

// Anti returns how many anti-meta-tools are left out.
func (c *Choice) Anti() int {
	n := 0
	for i := range c.Left {
		if c.Left[i].IsAnti() {
			n++
		}
	}
	return n
}

// risk is what a trajectory, or all of them, show of the chain of an item.
type risk struct {
	begun, failed, ended int
	steps                []stepRisk        // after the first
	inside               map[string][2]int // calls that are in the chain after its first, and the failed ones, by tool
}

// stepRisk counts the calls of a step in chains that had not failed before it.
type stepRisk struct{ runs, calls, failed int }

// seenBegun is where one trajectory began an item, and the calls inside.
type seenBegun struct {
	begun  []replay.Begun
	inside []insideCalls
}

// insideCalls are the calls of one tool in the chain of one item.
type insideCalls struct {
	item          int // number in the pool
	tool          trace.Name
	calls, failed int
}

// begunIn follows the items in a trajectory.
func begunIn(begun []replay.Begun, t *trace.Trajectory) seenBegun {
	out := seenBegun{begun: begun}
	// Item by item: which calls were seen is then one number for each call.
	order := make([]int32, len(out.begun))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return out.begun[a].Tool - out.begun[b].Tool })
	items := 0
	for n, i := range order {
		if n == 0 || out.begun[order[n-1]].Tool != out.begun[i].Tool {
			items++
		}
	}
	out.inside = make([]insideCalls, 0, 2*items)
	seen := make([]int32, len(t.Calls)) // the item after which it was seen last, from 1
	first := 0                          // of the item in out.inside
	for n, i := range order {
		b := &out.begun[i]
		if n > 0 && out.begun[order[n-1]].Tool != b.Tool {
			first = len(out.inside)
		}
		for _, c := range b.Later {
			if seen[c] == int32(b.Tool)+1 {
				continue
			}
			seen[c] = int32(b.Tool) + 1
			out.see(b.Tool, first, &t.Calls[c])
		}
	}
	return out
}

// see counts a call in the chain of an item, whose calls are in inside from first on.
func (s *seenBegun) see(item, first int, call *trace.Call) {
	at := slices.IndexFunc(s.inside[first:], func(in insideCalls) bool { return in.tool == call.Tool }) + first
	if at < first {
		at = len(s.inside)
		s.inside = append(s.inside, insideCalls{item: item, tool: call.Tool})
	}
	s.inside[at].calls++
	if call.Status == trace.StatusFailed {
		s.inside[at].failed++
	}
}

// addBegun adds what a trajectory shows.
func (c *chooser) addBegun(s *seenBegun) {
	for i := range s.begun {
		b := &s.begun[i]
		for _, n := range c.itemsOf(b.Tool) {
			c.items[n].risk.add(b)
		}
	}
	for _, in := range s.inside {
		for _, n := range c.itemsOf(in.item) {
			r := &c.items[n].risk
			if r.inside == nil {
				r.inside = map[string][2]int{}
			}
			name := in.tool.Value()
			sum := r.inside[name]
			r.inside[name] = [2]int{sum[0] + in.calls, sum[1] + in.failed}
		}
	}
}

// add adds a place where a chain was begun.
func (r *risk) add(b *replay.Begun) {
	r.begun++
	if b.Ended {
		r.ended++
	}
	for n, step := range b.Steps[1:] {
		for len(r.steps) <= n {
			r.steps = append(r.steps, stepRisk{})
		}
		r.steps[n].runs++
		r.steps[n].calls += int(step.Calls)
		r.steps[n].failed += int(step.Failed)
		if step.Failed > 0 {
			r.failed++
		}
	}
}

// failures compares a chain with its parts elsewhere.
func (c *chooser) failures(t *metatool.Tool, r *risk) Failures {
	out := Failures{Begun: r.begun, Failed: r.failed, Ended: r.ended}
	observed, expected := product{level: 0.95}, product{level: 0.95}
	surely, likely := product{level: 0.999}, product{level: 0.999} // the same, more cautiously
	for n, step := range r.steps {
		name := t.Steps[n+1].Tool
		in := r.inside[name]
		calls, failed := c.calls[name]-in[0], c.failed[name]-in[1]
		if calls <= 0 || step.calls == 0 {
			continue
		}
		out.Compared++
		times := float64(step.calls) / float64(step.runs) // of a step that walks a list
		for _, p := range []*product{&observed, &surely} {
			p.add(step.failed, step.calls, times)
		}
		for _, p := range []*product{&expected, &likely} {
			p.add(failed, calls, times)
		}
	}
	out.Observed, out.Expected = observed.failed(), expected.failed()
	o, e := surely.failed(), likely.failed()
	out.Excess = o.Share - e.Share - math.Hypot(o.Share-o.Lo, e.Hi-e.Share)
	return out
}

// product is the logarithm of the chance that all of several calls succeed, with the
// squared distances to the ends of its interval (Zou and Donner 2008).
type product struct{ level, log, up, down float64 }

// add lets so many more calls succeed as often as they did.
func (p *product) add(failed, n int, times float64) {
	share := stat.Wilson(float64(failed), float64(n), p.level)
	log := func(share float64) float64 { return times * math.Log(max(1-share, 1e-9)) }
	at := log(float64(failed) / float64(n))
	p.log += at
	p.up += math.Pow(log(share.Lo)-at, 2)
	p.down += math.Pow(at-log(share.Hi), 2)
}

// failed returns the share in which a call fails.
func (p *product) failed() Estimated {
	share := func(log float64) float64 { return 1 - math.Exp(min(log, 0)) }
	return Estimated{share(p.log), share(p.log + math.Sqrt(p.up)), share(p.log - math.Sqrt(p.down))}
}
