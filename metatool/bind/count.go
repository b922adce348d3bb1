package bind

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// planSeen is what was counted over the occurrences of a candidate.
type planSeen struct {
	occurrences int
	steps       []stepCount
	needed      [][]int // by step and later step, the last for calls after the occurrence
}

type stepCount struct {
	otherTool, inserted, folded, noObject, missing int
	crowded                                        bool // more arguments than are kept
	args                                           []*argumentCount
	walks, inside, whole                           int
	extra                                          []int // by occurrence
	results                                        int
	uses                                           useCount
	shape                                          *shape
}

// spread counts in how many trajectories and tasks something was seen, tasks up
// to two.
type spread struct {
	trajectories, tasks int
	last                int
	task                string
}

func (s *spread) add(trajectory int, task string) {
	if s.trajectories > 0 && s.last == trajectory {
		return
	}
	s.trajectories++
	s.last = trajectory
	switch {
	case s.tasks == 0:
		s.tasks, s.task = 1, strings.Clone(task)
	case s.tasks == 1 && s.task != task:
		s.tasks = 2
	}
}

// isCommon reports whether something is shared by enough trajectories and tasks
// to be nobody's secret.
func (s *spread) isCommon() bool { return s.trajectories >= 5 && s.tasks >= 2 }

type argumentCount struct {
	name      string
	mentioned int   // occurrences that were looked at; the others left it out
	present   int   // of them, with a value
	varying   int   // of them, with calls of one step that differ in it
	told      int   // of them, with a value that a message or result held before
	known     []int // by step: of them, known before it, or left out
	kinds     map[trace.Kind]int

	value   trace.Value // of the first occurrence
	hash    uint64
	differs bool // there are other values
	same    spread

	options []optionCount
	few     map[uint64]*fewValue // different texts while they are few
	many    bool
}

// fewValue is one of the few values of an argument.
type fewValue struct {
	value trace.Value
	spread
}

type optionCount struct {
	agree, wrong, nothing int
	spread                // where it agreed
	keys                  map[trace.Kind]int
	keyKnown              []int // by step: keys known before it
}

// maxFew is how many values an enumeration may have.
const maxFew = 8

func newPlanSeen(p *plan) *planSeen {
	n := len(p.steps)
	s := &planSeen{steps: make([]stepCount, n), needed: make([][]int, n)}
	for i := range s.needed {
		s.needed[i] = make([]int, n+1)
		s.steps[i].uses = newUseCount(n)
	}
	return s
}

func (s *planSeen) add(p *plan, o *Observation, seen *occurrenceSeen) {
	s.occurrences++
	for _, pair := range seen.needed {
		s.needed[pair[0]][pair[1]]++
	}
	for k := range seen.steps {
		from, to := &seen.steps[k], &s.steps[k]
		to.otherTool += one(from.otherTool)
		to.inserted += one(from.inserted)
		to.folded += one(from.folded)
		to.noObject += one(from.noObject)
		to.missing += one(from.missing)
		to.uses.add(&from.uses)
		if w := p.steps[k].walk; w != nil && w.from >= 0 {
			to.walks++
			to.inside += one(from.walked.inside)
			to.whole += one(from.walked.whole)
			to.extra = append(to.extra, from.walked.extra)
		}
		if from.answered {
			to.results++
			to.shape = to.shape.with(&from.result, 0)
		}
		for i := range from.args {
			to.addArgument(&p.steps[k], o, &from.args[i], k)
		}
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *stepCount) argument(name string) *argumentCount {
	i, found := slices.BinarySearchFunc(s.args, name, func(a *argumentCount, name string) int { return cmp.Compare(a.name, name) })
	if !found {
		return nil
	}
	return s.args[i]
}

func (s *stepCount) addArgument(p *planStep, o *Observation, seen *argumentSeen, k int) {
	a := s.argument(seen.name)
	if a == nil {
		if len(s.args) >= maxArguments {
			s.crowded = true
			return
		}
		a = &argumentCount{
			name: strings.Clone(seen.name), known: make([]int, k+1), kinds: map[trace.Kind]int{},
			options: make([]optionCount, len(p.options[seen.name])), few: map[uint64]*fewValue{},
		}
		for i := range a.options {
			a.options[i].keyKnown = make([]int, k+1)
		}
		i, _ := slices.BinarySearchFunc(s.args, a.name, func(a *argumentCount, name string) int { return cmp.Compare(a.name, name) })
		s.args = slices.Insert(s.args, i, a)
	}
	a.add(o, seen)
}

func (a *argumentCount) add(o *Observation, seen *argumentSeen) {
	a.mentioned++
	if seen.present {
		a.present++
		a.told += one(seen.told)
		a.varying += one(seen.varies || seen.absent)
		a.kinds[seen.value.Kind]++
		a.addValue(o, seen)
	}
	for s := range a.known {
		a.known[s] += one(!seen.present || seen.known <= s)
	}
	for i := range seen.votes {
		switch c := &a.options[i]; seen.votes[i] {
		case voteAgree:
			c.agree++
			if seen.present {
				c.add(o.trajectory, o.task)
			}
		case voteWrong:
			c.wrong++
		default:
			c.nothing++
		}
	}
	for _, open := range seen.opens {
		c := &a.options[open.option]
		if c.keys == nil {
			c.keys = map[trace.Kind]int{}
		}
		c.keys[open.key.Kind]++
		for s := range c.keyKnown {
			c.keyKnown[s] += one(open.known <= s)
		}
	}
}

func (a *argumentCount) addValue(o *Observation, seen *argumentSeen) {
	if a.present == 1 {
		a.value, a.hash = cloneValue(seen.value), seen.hash
	}
	a.differs = a.differs || seen.hash != a.hash || seen.varies
	a.same.add(o.trajectory, o.task)
	if a.many || seen.value.Kind != trace.String || seen.varies {
		a.many, a.few = true, nil
		return
	}
	f := a.few[seen.hash]
	if f == nil {
		if len(a.few) == maxFew {
			a.many, a.few = true, nil
			return
		}
		f = &fewValue{value: cloneValue(seen.value)}
		a.few[seen.hash] = f
	}
	f.add(o.trajectory, o.task)
}

// cloneValue copies a scalar or an empty value, so that its trajectory can be
// let go; others are not kept.
func cloneValue(v trace.Value) trace.Value {
	v.Text = strings.Clone(v.Text)
	v.Elems, v.Members = nil, nil
	return v
}

// summary returns the mean and the 95th percentile of counts.
func summary(counts []int) (mean float64, p95 int) {
	if len(counts) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(counts))
	total := 0
	for _, n := range sorted {
		total += n
	}
	return float64(total) / float64(len(sorted)), sorted[(len(sorted)*95+99)/100-1]
}
