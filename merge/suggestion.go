package merge

import (
	"math"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Suggestion is a rule with what speaks for and against it.
type Suggestion struct {
	Rule  *rules.Rule // with an id
	Basis string      // the reason, in words

	Calls, Trajectories int // of the tools that it names; of several tools the trajectories are those of the one in most
	For, Against        int // observations: of effects reads that returned the same or not, of other kinds values or calls

	Before, After Size         // without the rule, after the rules above it, and with it
	Evidence      RuleEvidence // in the set of all suggestions
}

// Size is how large the graph of a set of rules is, and what it predicts.
type Size struct {
	States int
	Bits   float64 // held out, of the next call given the state, mean over 4 partitions into folds; NaN with fewer than two tasks
}

// Left is a rule that is not suggested.
type Left struct {
	Suggestion
	Reason string

	candidate *candidate // to try again; nil if the reason stays
}

// Suggestions are rules for a corpus, in the order in which they were taken.
type Suggestions struct {
	Rules []Suggestion
	Left  []Left

	Trajectories, Calls int
	LeftOut             int   // trajectories beyond MaxBytes
	Runs                []Run // that were looked at; what counter-examples refer to
	Before, After       Size
}

// Set returns the suggested rules as a set.
func (s *Suggestions) Set() *rules.Set {
	set := &rules.Set{}
	for i := range s.Rules {
		set.Rules = append(set.Rules, s.Rules[i].Rule)
	}
	return set
}

// measure merges what was kept under a set of rules.
func (s *Suggester) measure(set *rules.Set) Size {
	if set == nil {
		set = &rules.Set{}
	}
	l := newLens(set, nil, maxCached)
	var states table
	next := newNextCalls()
	tasks := map[string]uint32{}
	for _, t := range s.kept {
		task, known := tasks[t.Task]
		if !known {
			task = uint32(len(tasks))
			tasks[t.Task] = task
		}
		next.begin(task, t.Task)
		l.look(t)
		for i, m := range l.marks {
			state, _ := states.number(m.key)
			if i < len(t.Calls) && t.Calls[i].Origin == trace.OriginModel {
				next.add(state, t.Calls[i].Tool)
			}
		}
	}
	size := Size{States: states.len()}
	for i := range uint64(partitions) {
		total := next.heldOut(s.options.Folds, s.options.Seed+i).Total()
		if total.N == 0 {
			return Size{states.len(), math.NaN()}
		}
		size.Bits += total.Bits[1] / float64(total.N) / partitions
	}
	return size
}

// partitions is over how many ways to deal the tasks into folds losses are
// averaged, so that rules are not chosen for the luck of one.
const partitions = 4

// examine holds a set of rules against what was kept.
func (s *Suggester) examine(set *rules.Set) *Evidence {
	e := NewExaminer(set, ExaminerOptions{Tolerance: s.options.Tolerance, Folds: s.options.Folds, Seed: s.options.Seed})
	for _, t := range s.kept {
		e.Add(t)
	}
	return e.Evidence()
}
