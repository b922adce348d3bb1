package compile

import (
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/rules"
)

// Options say how Compile works. The zero value is the default.
type Options struct {
	Algorithm Algorithm
	Extract   candidate.Options // Reads is what is assumed
	Bind      bind.Options      // Reads is what is assumed
	Workers   int               // at once; 0 and 1 are the same

	// DeclaredReads is that of [SurveyOptions].
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

// Run makes meta-tools of runs. The rules may be nil.
func Run(runs []*corpus.Run, set *rules.Set, o Options) *Compilation {
	return At(runs, set, o, []int{o.Extract.Threshold})[0]
}

// At is Run at several thresholds, which stand for those of the options; all rest on one
// survey.
func At(runs []*corpus.Run, set *rules.Set, o Options, thresholds []int) []*Compilation {
	s := NewSurvey(runs, set, SurveyOptions{
		Patterns: o.Algorithm == Patterns, Gain: o.Extract.Gain, DeclaredReads: o.DeclaredReads, Workers: o.Workers,
	})
	ways := make([]Way, len(thresholds))
	for i, threshold := range thresholds {
		ways[i] = Way{Algorithm: o.Algorithm, Threshold: threshold, AsPublished: o.Extract.AsPublished, Bind: o.Bind}
		if threshold != o.Extract.Threshold {
			ways[i].Bind.Threshold = threshold
		}
	}
	return s.Compile(ways...)
}

// pass goes through runs once: see is called for several at a time, add for one after the
// other.
func pass[R any](runs []*corpus.Run, workers int, see func(i int, r *corpus.Run) R, add func(*corpus.Run, R)) {
	seen := make([]R, len(runs))
	for i := range par.Each(max(workers, 1), len(runs), func(i int) { seen[i] = see(i, runs[i]) }) {
		add(runs[i], seen[i])
		clear(seen[i : i+1])
	}
}
