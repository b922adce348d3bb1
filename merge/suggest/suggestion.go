package suggest

import (
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/rules"
)

// Suggestion is a rule with what speaks for and against it.
type Suggestion struct {
	Rule  *rules.Rule // with an id
	Basis string      // the reason, in words

	Calls, Trajectories int // of the tools that it names; of several tools the trajectories are those of the one in most
	For, Against        int // observations: of effects reads that returned the same or not, of other kinds values or calls

	Before, After Size                  // without the rule, after the rules above it, and with it
	Evidence      evidence.RuleEvidence // in the set of all suggestions
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
	LeftOut             int            // trajectories beyond MaxBytes
	Runs                []evidence.Run // that were looked at; what counter-examples refer to
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
	loss := evidence.NewStateLoss(set)
	for _, t := range s.kept {
		loss.Add(t)
	}
	return Size{States: loss.States(), Bits: loss.Bits(s.options.Folds, s.options.Seed)}
}

// examine holds a set of rules against what was kept.
func (s *Suggester) examine(set *rules.Set) *evidence.Evidence {
	e := evidence.NewExaminer(set, evidence.Options{Tolerance: s.options.Tolerance, Folds: s.options.Folds, Seed: s.options.Seed})
	for _, t := range s.kept {
		e.Add(t)
	}
	return e.Evidence()
}
