package evidence

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/rules"
)

// maxExamples is how many counter-examples of a rule are kept.
const maxExamples = 3

// Evidence returns what was found. The examiner must not be used afterwards.
func (e *Examiner) Evidence() *Evidence {
	out := &Evidence{
		Set: e.set, Catalog: e.catalog, Trajectories: len(e.runs), Calls: e.next.calls(),
		States: e.states.Len(), Unwatched: e.unstored, Runs: e.runs,
		Next: e.next.heldOut(e.options.Folds, e.options.Seed),
	}
	for _, b := range e.byTool {
		out.Baseline.Of += b.sameTask.Of + b.other.Of
		out.Baseline.Count += b.sameTask.Count + b.other.Count
	}
	found := make([]RuleEvidence, len(e.units))
	for u := range found {
		found[u] = RuleEvidence{Rules: e.units[u].rules, Moves: true}
	}
	e.countStates(found)
	counted := slices.DeleteFunc(slices.Clone(e.tallied), func(t *tally) bool {
		if e.counts(t.called, t.sameTask) {
			return false
		}
		out.Unstable += t.checks
		return true
	})
	for _, t := range counted {
		out.Checks[t.kind] += t.checks
		out.Contradictions[t.kind] += t.differ
		needed := e.needs.sets[t.needs]
		if len(needed) == 0 {
			out.Unexplained.Of += t.checks
			out.Unexplained.Count += t.differ
		}
		for _, u := range needed {
			found[u].Checks += t.checks
			found[u].Involved += t.differ
			found[u].Expected += e.expected(t) * float64(t.checks)
		}
	}
	e.blame(counted, found)
	out.sortOut(found)
	return out
}

// countStates counts the states that units join, and those of them where a
// check counts.
func (e *Examiner) countStates(found []RuleEvidence) {
	touched := make([]bool, e.states.Len())
	for _, g := range e.inOrder {
		if g.sameTask && e.counts(g.called, true) || g.other && e.counts(g.called, false) {
			touched[g.state] = true
		}
	}
	for s, isTouched := range touched {
		for u := range found {
			if e.joined[s*len(found)+u] {
				found[u].States++
				if isTouched {
					found[u].Tested++
				}
			}
		}
	}
}

// blame charges every contradiction to one of the units that made the two
// histories one state. Most contradictions have several such units, right rules
// among them. So the one is charged first whose checks speak most for its being
// wrong: the largest gain in likelihood when the rate of contradictions among
// its checks is what was seen, and not the tolerated one. All contradictions
// that it may explain are its own; the rest is charged in the same way.
//
// Note: charging the highest rate instead blames right rules that were needed
// in a handful of histories, together with the wrong one.
func (e *Examiner) blame(counted []*tally, found []RuleEvidence) {
	for {
		checks, differ := make([]int, len(found)), make([]int, len(found))
		for _, t := range counted {
			if t.charged {
				continue
			}
			for _, u := range e.needs.sets[t.needs] {
				checks[u] += t.checks
				differ[u] += t.differ
			}
		}
		best, most := -1, math.Inf(-1)
		for u := range found {
			if differ[u] == 0 {
				continue
			}
			// Later rules are the exceptions to earlier ones: they win ties.
			if gain := likelihoodGain(differ[u], checks[u], e.options.Tolerance); gain >= most {
				best, most = u, gain
			}
		}
		if best < 0 {
			return
		}
		r := &found[best]
		for _, t := range counted {
			if t.charged || t.differ == 0 || !slices.Contains(e.needs.sets[t.needs], best) {
				continue
			}
			t.charged = true
			r.Contradictions += t.differ
			if len(r.Examples) < maxExamples {
				r.Examples = append(r.Examples, t.example)
			}
		}
	}
}

// likelihoodGain is the logarithm of how much likelier count of n is at its own
// rate than at the tolerated one; negative if the rate is below that.
func likelihoodGain(count, n int, tolerated float64) float64 {
	rate := float64(count) / float64(n)
	gain := float64(count) * math.Log(rate/tolerated)
	if count < n {
		gain += float64(n-count) * math.Log((1-rate)/(1-tolerated))
	}
	if rate < tolerated {
		return -gain
	}
	return gain
}

// sortOut gives every rule of the set its evidence.
func (out *Evidence) sortOut(found []RuleEvidence) {
	for i := range found {
		r := &found[i]
		r.Rate = wilson(max(0, float64(r.Contradictions)-r.Expected), float64(r.Checks))
		if len(r.Rules) > 1 && r.Checks > 0 {
			out.Kinds = append(out.Kinds, *r)
		}
	}
	for _, rule := range out.Set.Rules {
		i := slices.IndexFunc(found, func(r RuleEvidence) bool { return len(r.Rules) == 1 && r.Rules[0] == rule })
		if i < 0 {
			out.Rules = append(out.Rules, RuleEvidence{Rules: []*rules.Rule{rule}})
			continue
		}
		out.Rules = append(out.Rules, found[i])
	}
}

// Bound is a share with its interval. Checks of one task are not independent, so the
// interval is too narrow rather than too wide.
type Bound struct {
	N        float64 // 0: nothing is known
	Share    float64
	Interval stat.Interval
}

// wilson returns count of n with its interval.
func wilson(count, n float64) Bound {
	b := Bound{N: n, Interval: stat.Wilson(count, n, stat.DefaultLevel)}
	if n > 0 {
		b.Share = count / n
	}
	return b
}
