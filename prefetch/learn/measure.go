package learn

import (
	"fmt"
	"iter"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace"
)

// Measure counts, in trajectories, how often what given rules offer is used. It counts as
// [Survey] does, so its figures can be held against the evidence of the rules. It keeps
// sums of each rule and task, of the tasks in which the rule offers something.
type Measure struct {
	survey Survey
	tasks  *tasks
	sums   []tally // of each rule
}

// NewMeasure returns a Measure of the rules of a set. Neither the rules nor which tools
// read is learned anew: a tool that the set does not name may have changed anything.
func NewMeasure(set *prefetch.Set) *Measure {
	m := &Measure{Survey{reads: set.Reads}, &tasks{}, make([]tally, len(set.Rules))}
	for i := range set.Rules {
		c := &candidate{rule: set.Rules[i]}
		c.matcher = prefetch.NewMatcher(&c.rule)
		m.survey.candidates = append(m.survey.candidates, c)
	}
	return m
}

// Observation is what one trajectory says of the rules.
type Observation struct{ observed }

// Observe looks at a trajectory. It may be called concurrently.
func (m *Measure) Observe(t *trace.Trajectory) *Observation { return &Observation{m.survey.observe(t)} }

// Add takes what was observed. The order matters for nothing but how intervals are drawn.
func (m *Measure) Add(o *Observation) {
	task := m.tasks.number(o.t.TaskKey())
	for i := range m.sums {
		sum, rule := &m.sums[i], &m.survey.candidates[i].rule
		sum.answers += o.answers[i]
		offered, under := false, condition{when: rule.When, most: rule.MaxElements}
		if rule.When.Alone {
			under.others = map[moment]bool{}
			for k, list := range o.offers {
				for _, one := range list {
					if one.message > 0 && m.survey.candidates[k].rule.Target.Tool != rule.Target.Tool {
						under.others[moment{message: one.message}] = true
					}
				}
			}
		}
		for _, one := range o.offers[i] {
			if one.under(&under) {
				one.task, offered = task, true
				sum.add(&one)
			}
		}
		if offered {
			sum.runs++
		}
	}
}

// Evidence returns what the trajectories say of each rule. Where no value is used, or each
// is, its interval takes every task for one trial: resamples would all say the same.
func (m *Measure) Evidence(seed uint64) []stored.Evidence {
	var out []stored.Evidence
	for i := range m.sums {
		e := m.sums[i].evidence(ChooseOptions{Seed: seed})
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

// What is counted of a rule, beside its number, by name; the last two are by task.
const (
	sumAnswers = "answers"
	sumRuns    = "trajectories"
	sumStale   = "stale"
	sumOffered = "offered"
	sumUsed    = "used"
)

func ruleSum(rule int, name string) string { return fmt.Sprintf("prefetch.%d.%s", rule, name) }

// AddTo adds what was counted to sums by name, and to sums by task and name, which add up
// over parts of the traces: rules are told apart by their numbers.
func (m *Measure) AddTo(add func(name string, n int), addTask func(task, name string, n int)) {
	keys := m.tasks.keys.Values()
	for i := range m.sums {
		sum := &m.sums[i]
		add(ruleSum(i, sumAnswers), sum.answers)
		add(ruleSum(i, sumRuns), sum.runs)
		add(ruleSum(i, sumStale), sum.stale)
		for _, of := range sum.tasks {
			addTask(keys[of.task], ruleSum(i, sumOffered), of.offered)
			addTask(keys[of.task], ruleSum(i, sumUsed), of.used)
		}
	}
}

// Restore adds sums that were counted before by Measures of the same rules: sum gives that
// of a name, tasks those of a name by task, known by hashes of their names and in order of
// these. It returns false if they contradict each other.
//
// All figures are those of the Measures that counted, and intervals are over the same
// tasks in another order, so that other ones are drawn.
func (m *Measure) Restore(sum func(name string) int, tasks func(name string) iter.Seq2[[16]byte, int]) bool {
	for i := range m.sums {
		s := &m.sums[i]
		s.answers += sum(ruleSum(i, sumAnswers))
		s.runs += sum(ruleSum(i, sumRuns))
		s.stale += sum(ruleSum(i, sumStale))
		for task, n := range tasks(ruleSum(i, sumOffered)) {
			s.of(m.tasks.number(string(task[:]))).offered += n
		}
		before := len(s.tasks)
		for task, n := range tasks(ruleSum(i, sumUsed)) {
			s.of(m.tasks.number(string(task[:]))).used += n
		}
		offered, used := 0, 0
		for _, of := range s.tasks {
			offered, used = offered+of.offered, used+of.used
			if of.used > of.offered || offered < of.offered {
				return false
			}
		}
		if len(s.tasks) != before || s.stale > offered-used || s.runs > offered || s.runs < len(s.tasks) || offered > 0 && s.answers == 0 {
			return false
		}
	}
	return true
}
