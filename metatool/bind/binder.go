package bind

import (
	"math/rand/v2"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/trace"
)

// DefaultMaxExtra is BindOptions.MaxExtra where nothing else is said.
const DefaultMaxExtra = 10

// Options say how bindings are chosen. The zero value is the default.
type Options struct {
	// MaxExtra is how many reads a fan-out may make that the recorded runs did
	// without: more in the 95th percentile of its occurrences, and the candidate
	// is refused. 0 means DefaultMaxExtra, a negative number none.
	MaxExtra int

	// Threshold is how many trajectories a part of a refused candidate must occur
	// in to be offered instead. 0 means DefaultThreshold.
	Threshold int

	// Reads are tools that are taken to read only, beside those of which the rules
	// say so; nil for none.
	Reads func(tool trace.Name) bool

	// Credentials are tools whose results hold what looks like a credential; nil for none.
	// What would return one is refused, unless a rule of kind plumbing says otherwise.
	Credentials func(tool trace.Name) bool
}

func (o Options) maxExtra() int {
	switch {
	case o.MaxExtra == 0:
		return DefaultMaxExtra
	case o.MaxExtra < 0:
		return 0
	}
	return o.MaxExtra
}

// maxObserved is how many occurrences of a candidate are looked at.
const maxObserved = 2000

// Binder finds out where the arguments of candidates come from. It is given the
// trajectories that Wants names, in the order of the input, and makes
// definitions of what it saw; docs/artefacts.md says which binding is taken when.
//
// Of each candidate at most 2,000 occurrences are looked at, chosen by a fixed
// seed. Memory is O(candidates), and what is kept of values is one for each
// argument. Observe may be called from several goroutines, Add by one.
type Binder struct {
	*Planner
	options Options
	plans   []*plan
	seen    []*planSeen
	wants   []want  // in order of trajectories
	from    []int32 // by trajectory: its first want; one more for the end
}

// want is an occurrence that is looked at.
type want struct{ plan, occurrence int32 }

// New returns a binder for candidates of a merged graph, with the links of
// the same trajectories and how they were judged.
func New(m *merge.Merged, set *dataflow.Set, judgments []dataflow.Judgment, candidates []*candidate.Candidate, o Options) *Binder {
	return NewPlanner(m, set, judgments, o.Reads).Binder(candidates, o)
}

// Binder returns a binder for candidates; o.Reads is that of the planner. What binders of
// one planner see alike in a View is worked out once.
func (p *Planner) Binder(candidates []*candidate.Candidate, o Options) *Binder {
	b := &Binder{Planner: p, options: o}
	var wants []want
	for i, c := range candidates {
		b.plans = append(b.plans, p.plan(c))
		b.seen = append(b.seen, newPlanSeen(b.plans[i]))
		for _, n := range sampled(len(c.Occurrences), i) {
			wants = append(wants, want{int32(i), int32(n)})
		}
	}
	b.sortWants(wants)
	return b
}

// sortWants puts the occurrences that are looked at in order of trajectories, and
// else leaves their order.
func (b *Binder) sortWants(wants []want) {
	trajectory := func(w want) int { return b.plans[w.plan].candidate.Occurrences[w.occurrence].Trajectory }
	last := -1
	for _, w := range wants {
		last = max(last, trajectory(w))
	}
	b.from = make([]int32, last+2)
	for _, w := range wants {
		b.from[trajectory(w)+1]++
	}
	for t := range last + 1 {
		b.from[t+1] += b.from[t]
	}
	b.wants = make([]want, len(wants))
	next := slices.Clone(b.from)
	for _, w := range wants {
		t := trajectory(w)
		b.wants[next[t]] = w
		next[t]++
	}
}

// wantsOf returns what is looked at in the trajectory with this ordinal.
func (b *Binder) wantsOf(trajectory int) []want {
	if trajectory < 0 || trajectory+1 >= len(b.from) {
		return nil
	}
	return b.wants[b.from[trajectory]:b.from[trajectory+1]]
}

// sampled returns which of n occurrences are looked at, in order.
func sampled(n, candidate int) []int {
	r := rand.New(rand.NewPCG(1, uint64(candidate)))
	var chosen []int
	switch {
	case n <= maxObserved:
		for i := range n {
			chosen = append(chosen, i)
		}
	default:
		chosen = r.Perm(n)[:maxObserved]
		slices.Sort(chosen)
	}
	return chosen
}

// Wants reports whether the trajectory with this ordinal has to be observed.
func (b *Binder) Wants(trajectory int) bool { return len(b.wantsOf(trajectory)) > 0 }

// Add counts what an observation shows.
func (b *Binder) Add(o *Observation) {
	for i := range o.occurrences {
		b.seen[o.occurrences[i].plan].add(b.plans[o.occurrences[i].plan], o, &o.occurrences[i])
	}
}
