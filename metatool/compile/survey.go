package compile

import (
	"slices"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Survey is what the traces show whatever is then extracted from them: the graph
// that they are merged into, the links between their calls and how these are
// judged. Several thresholds and both algorithms work on the same one.
//
// Memory is that of the merged graph with its walks, of the links, and with
// SurveyOptions.Patterns that of [Patterns].
type Survey struct {
	Merged      *merge.Merged
	Set         *dataflow.Set
	Judgments   []dataflow.Judgment
	Assumptions []Assumption // tools taken to read only, in order of names

	Credentials map[string]bool // tools that return credentials

	runs     []*corpus.Run
	workers  int
	reads    func(trace.Name) bool // nil if nothing is assumed
	patterns *candidate.Patterns   // nil without SurveyOptions.Patterns
}

// SurveyOptions say how NewSurvey works. The zero value is the default.
type SurveyOptions struct {
	Patterns bool // AlgorithmPatterns is among the ways of compiling
	// Gain is Options.Gain.
	Gain func(t *trace.Trajectory, turn int) float64
	// DeclaredReads takes only those tools to read only of which rules or definitions say
	// so: an Assumption is never made by a name.
	DeclaredReads bool
	Workers       int // at once; 0 and 1 are the same
}

// NewSurvey merges the runs under the rules, which may be nil, and finds links between their
// calls; then the links are judged and, for patterns, calls are told apart by them.
func NewSurvey(runs []*corpus.Run, set *rules.Set, o SurveyOptions) *Survey {
	s := &Survey{runs: runs, workers: o.Workers, Credentials: corpus.Credentials(runs)}
	s.merge(set, o)
	s.judge(o)
	return s
}

// merge merges the runs.
func (s *Survey) merge(set *rules.Set, o SurveyOptions) {
	merger, links := merge.NewMerger(set, merge.Options{}), dataflow.NewLinks()
	var evidence readEvidence
	pass(s.runs, s.workers, func(_ int, r *corpus.Run) repeated {
		return repeatedCalls(r.Trajectory)
	}, func(r *corpus.Run, again repeated) {
		merger.Add(r.Trajectory)
		links.Add(r.Flow)
		evidence.add(again)
	})
	s.Merged, s.Set = merger.Merged(), links.Set()
	s.Assumptions = evidence.assumptions(s.Merged, o.DeclaredReads)
	if len(s.Assumptions) > 0 {
		reads := make(map[trace.Name]bool, len(s.Assumptions))
		for _, a := range s.Assumptions {
			reads[trace.Intern(a.Tool)] = true
		}
		s.reads = func(tool trace.Name) bool { return reads[tool] }
	}
}

// judge judges the links.
func (s *Survey) judge(o SurveyOptions) {
	type read struct {
		votes   *dataflow.Votes
		symbols *candidate.Symbols
	}
	judge := dataflow.NewJudge(s.Set)
	if o.Patterns {
		s.patterns = candidate.NewPatterns(s.Merged, s.Set, candidate.Options{Gain: o.Gain, Reads: s.reads})
	}
	pass(s.runs, s.workers, func(i int, run *corpus.Run) read {
		r := read{votes: judge.Check(run.Trajectory)}
		if s.patterns != nil {
			r.symbols = s.patterns.Symbols(i, run.Trajectory, run.Flow)
		}
		return r
	}, func(_ *corpus.Run, r read) {
		judge.Add(r.votes)
		if s.patterns != nil {
			s.patterns.Add(r.symbols)
		}
	})
	s.Judgments = judge.Judgments()
	if s.patterns != nil {
		s.patterns.Judge(s.Judgments)
	}
}

// Way is one way of extracting and binding meta-tools. The zero value is the
// default.
type Way struct {
	Algorithm   Algorithm // AlgorithmPatterns needs SurveyOptions.Patterns
	Threshold   int       // Options.Threshold
	AsPublished bool      // Options.AsPublished
	Bind        bind.Options
	Unbound     bool // the candidates are all that is wanted: there are no definitions
}

// Compile makes meta-tools in each of the ways.
func (s *Survey) Compile(ways ...Way) []*Compilation {
	out := make([]*Compilation, len(ways))
	binders := make([]*bind.Binder, len(ways))
	var planner *bind.Planner // nil while nothing is bound
	for i, w := range ways {
		c := &Compilation{Merged: s.Merged, Set: s.Set, Judgments: s.Judgments, Assumptions: s.Assumptions}
		out[i] = c
		if w.Algorithm == Patterns {
			c.patterns = s.patterns.WithThreshold(w.Threshold)
			c.Extraction = c.patterns.Extraction()
		} else {
			c.Extraction = candidate.Extract(s.Merged, candidate.Options{Threshold: w.Threshold, AsPublished: w.AsPublished, Reads: s.reads})
		}
		if w.Unbound {
			continue
		}
		if planner == nil {
			planner = bind.NewPlanner(s.Merged, s.Set, s.Judgments, s.reads)
		}
		w.Bind.Reads = s.reads
		w.Bind.Credentials = func(tool trace.Name) bool { return s.Credentials[tool.Value()] }
		binders[i] = planner.Binder(append(slices.Clip(c.Extraction.Candidates), c.Extraction.Overlapping...), w.Bind)
	}
	if planner == nil {
		return out
	}
	s.bind(binders)
	for i, b := range binders {
		if b != nil {
			out[i].Definitions = b.Definitions()
		}
	}
	return out
}

// bind shows the binders what they want to see; those that are nil want nothing.
func (s *Survey) bind(binders []*bind.Binder) {
	pass(s.runs, s.workers, func(i int, r *corpus.Run) []*bind.Observation {
		var view *bind.View
		var seen []*bind.Observation
		for k, b := range binders {
			if b == nil || !b.Wants(i) {
				continue
			}
			if view == nil {
				view, seen = bind.NewView(r.Trajectory, r.Flow), make([]*bind.Observation, len(binders))
			}
			seen[k] = b.Observe(i, view)
		}
		return seen
	}, func(_ *corpus.Run, seen []*bind.Observation) {
		for k, o := range seen {
			if o != nil {
				binders[k].Add(o)
			}
		}
	})
}
