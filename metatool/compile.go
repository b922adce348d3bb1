package metatool

import (
	"iter"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Source yields the trajectories to compile, the same in the same order each
// time it is called. An error ends the sequence.
type Source func() iter.Seq2[*trace.Trajectory, error]

// CompileOptions say how Compile works. The zero value is the default.
type CompileOptions struct {
	Algorithm Algorithm
	Extract   Options
	Bind      BindOptions
	Workers   int // at once; 0 and 1 are the same

	// DeclaredReads takes only those tools to read only of which the rules say so,
	// and makes no Assumption.
	DeclaredReads bool
}

// Algorithm says how candidates are found.
type Algorithm string

// The algorithms.
const (
	AlgorithmAWO      Algorithm = "awo"      // Extract; also the zero value
	AlgorithmPatterns Algorithm = "patterns" // NewPatterns
)

// Compilation is what Compile found.
type Compilation struct {
	Merged      *merge.Merged
	Set         *dataflow.Set
	Judgments   []dataflow.Judgment
	Extraction  *Extraction
	Definitions []*Definition
	Assumptions []Assumption // tools taken to read only, in order of names

	patterns *Patterns // for AlgorithmPatterns; Absence asks it
}

// Compile makes meta-tools of traces: it reads them three times. The first time
// they are merged under the rules, which may be nil, and links between their
// calls are found; the second time the links are judged and, for patterns, calls
// are told apart by them; the third time, of those with an occurrence of a
// candidate, bindings are found. The error is that of the source.
func Compile(source Source, set *rules.Set, o CompileOptions) (*Compilation, error) {
	c := &Compilation{}
	merger, links := merge.NewMerger(set, merge.Options{}), dataflow.NewLinks()
	var collector dataflow.Collector
	type read struct {
		flow  *dataflow.Flow
		again repeated
	}
	var evidence readEvidence
	err := pass(source, o.Workers, func(_ int, t *trace.Trajectory) read {
		r := read{flow: collector.Collect(t)}
		if !o.DeclaredReads {
			r.again = repeatedCalls(t)
		}
		return r
	}, func(t *trace.Trajectory, r read) {
		merger.Add(t)
		links.Add(r.flow)
		evidence.add(r.again)
	})
	if err != nil {
		return nil, err
	}
	c.Merged, c.Set = merger.Merged(), links.Set()
	if !o.DeclaredReads {
		c.Assumptions = evidence.assumptions(c.Merged)
	}
	if len(c.Assumptions) > 0 {
		reads := make(map[trace.Name]bool, len(c.Assumptions))
		for _, a := range c.Assumptions {
			reads[trace.Intern(a.Tool)] = true
		}
		o.Extract.Reads = func(tool trace.Name) bool { return reads[tool] }
		o.Bind.Reads = o.Extract.Reads
	}
	if err := c.extract(source, &collector, o); err != nil {
		return nil, err
	}
	binder := NewBinder(c.Merged, c.Set, c.Judgments, c.Extraction.Candidates, o.Bind)
	err = pass(source, o.Workers, func(i int, t *trace.Trajectory) *Observation {
		if !binder.Wants(i) {
			return nil
		}
		return binder.Observe(i, t, collector.Collect(t))
	}, func(_ *trace.Trajectory, seen *Observation) {
		if seen != nil {
			binder.Add(seen)
		}
	})
	if err != nil {
		return nil, err
	}
	c.Definitions = binder.Definitions()
	return c, nil
}

// extract judges the links and finds the candidates.
func (c *Compilation) extract(source Source, collector *dataflow.Collector, o CompileOptions) error {
	type read struct {
		votes   *dataflow.Votes
		symbols *Symbols
	}
	judge := dataflow.NewJudge(c.Set)
	var patterns *Patterns
	if o.Algorithm == AlgorithmPatterns {
		patterns = NewPatterns(c.Merged, c.Set, o.Extract)
	}
	err := pass(source, o.Workers, func(i int, t *trace.Trajectory) read {
		r := read{votes: judge.Check(t)}
		if patterns != nil {
			r.symbols = patterns.Symbols(i, t, collector.Collect(t))
		}
		return r
	}, func(_ *trace.Trajectory, r read) {
		judge.Add(r.votes)
		if patterns != nil {
			patterns.Add(r.symbols)
		}
	})
	if err != nil {
		return err
	}
	c.Judgments = judge.Judgments()
	if patterns == nil {
		c.Extraction = Extract(c.Merged, o.Extract)
		return nil
	}
	c.patterns = patterns
	patterns.Judge(c.Judgments)
	c.Extraction = patterns.Extraction()
	return nil
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
