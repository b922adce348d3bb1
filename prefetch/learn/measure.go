package learn

import (
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace"
)

// Measure counts, in trajectories, how often what given rules offer is used. It counts as
// [Survey] does, so its figures can be held against the evidence of the rules.
type Measure struct {
	survey Survey
	tasks  *tasks
}

// NewMeasure returns a Measure of the rules of a set. Neither the rules nor which tools
// read is learned anew: a tool that the set does not name may have changed anything.
func NewMeasure(set *prefetch.Set) *Measure {
	m := &Measure{Survey{reads: set.Reads}, newTasks()}
	for i := range set.Rules {
		m.survey.candidates = append(m.survey.candidates, &candidate{rule: set.Rules[i]})
	}
	return m
}

// Observation is what one trajectory says of the rules.
type Observation struct{ observed }

// Observe looks at a trajectory. It may be called concurrently.
func (m *Measure) Observe(t *trace.Trajectory) *Observation { return &Observation{m.survey.observe(t)} }

// Add takes what was observed. The order matters for nothing but how intervals are drawn.
func (m *Measure) Add(o *Observation) { m.survey.keep(&o.observed, m.tasks) }

// Dropped returns how many values were offered beyond what is kept.
func (m *Measure) Dropped() int { return m.survey.dropped }

// Evidence returns what the trajectories say of each rule. Where no value is used, or each
// is, its interval takes every task for one trial: resamples would all say the same.
func (m *Measure) Evidence(seed uint64) []stored.Evidence {
	var out []stored.Evidence
	for _, c := range m.survey.candidates {
		e, _ := c.evidence(c.rule.When, c.rule.MaxElements, seed)
		switch {
		case e.Interval.Known() || e.Tasks == 0:
		case e.Used == e.Offered:
			e.Interval = stat.Always(e.Tasks, stat.DefaultLevel)
		case e.Used == 0:
			e.Interval = stat.Never(e.Tasks, stat.DefaultLevel)
		}
		out = append(out, e)
	}
	return out
}
