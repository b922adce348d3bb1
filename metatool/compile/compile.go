package compile

import (
	"iter"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Source yields the trajectories to compile, the same in the same order each
// time it is called. An error ends the sequence.
type Source func() iter.Seq2[*trace.Trajectory, error]

// Options say how Compile works. The zero value is the default.
type Options struct {
	Algorithm Algorithm
	Extract   candidate.Options // Reads is what is assumed
	Bind      bind.Options      // Reads is what is assumed
	Workers   int               // at once; 0 and 1 are the same

	// DeclaredReads takes only those tools to read only of which the rules say so,
	// and makes no Assumption.
	DeclaredReads bool
}

// Algorithm says how candidates are found.
type Algorithm string

// The algorithms.
const (
	AWO      Algorithm = "awo"      // Extract; also the zero value
	Patterns Algorithm = "patterns" // NewPatterns
)

// Compilation is what Compile found.
type Compilation struct {
	Merged      *merge.Merged
	Set         *dataflow.Set
	Judgments   []dataflow.Judgment
	Extraction  *candidate.Extraction
	Definitions []*bind.Definition
	Assumptions []Assumption // tools taken to read only, in order of names

	patterns *candidate.Patterns // for AlgorithmPatterns; Absence asks it
}

// Run makes meta-tools of traces: it reads them three times, twice for a
// [Survey] and once to bind the arguments of what was extracted. The rules may be
// nil. The error is that of the source.
func Run(source Source, set *rules.Set, o Options) (*Compilation, error) {
	list, err := At(source, set, o, []int{o.Extract.Threshold})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// At is Run at several thresholds, which stand for those of the options; nothing is read
// more often for that.
func At(source Source, set *rules.Set, o Options, thresholds []int) ([]*Compilation, error) {
	s, err := NewSurvey(source, set, SurveyOptions{
		Patterns: o.Algorithm == Patterns, Gain: o.Extract.Gain, DeclaredReads: o.DeclaredReads, Workers: o.Workers,
	})
	if err != nil {
		return nil, err
	}
	ways := make([]Way, len(thresholds))
	for i, threshold := range thresholds {
		ways[i] = Way{Algorithm: o.Algorithm, Threshold: threshold, AsPublished: o.Extract.AsPublished, Bind: o.Bind}
		if threshold != o.Extract.Threshold {
			ways[i].Bind.Threshold = threshold
		}
	}
	return s.Compile(ways...)
}

// pass reads the source once: see is called for several trajectories at a time,
// add for one after the other.
func pass[R any](source Source, workers int, see func(i int, t *trace.Trajectory) R, add func(*trace.Trajectory, R)) error {
	type item struct {
		i int
		t *trace.Trajectory
	}
	type seen struct {
		t *trace.Trajectory
		r R
	}
	var failed error
	items := func(yield func(item) bool) {
		i := 0
		for t, err := range source() {
			if err != nil {
				failed = err
				return
			}
			if !yield(item{i, t}) {
				return
			}
			i++
		}
	}
	for s := range par.Map(max(workers, 1), items, func(in item) seen { return seen{in.t, see(in.i, in.t)} }) {
		add(s.t, s.r)
	}
	return failed
}
