package cli

import (
	"iter"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/findings"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Finding is what findings call so, for results that hold it.
type Finding = findings.Finding

// Recommended is the code of what is charged to a recommendation.
const Recommended = findings.Recommended

// Findings looks for what is wrong with an agent while an Intake reads its traces. The
// looking is done on all workers, the adding up in the order of the input.
type Findings struct {
	options findings.Options
	finder  *findings.Finder
	looker  findings.Looker
	meter   *cost.Meter
	rules   *rules.Set // nil without

	seen    *findings.Seen // in the trajectory at hand
	account *cost.Account  // of the trajectory at hand, if a command made one
	list    []findings.Finding
	isDone  bool
}

// NewFindings returns findings under the rules that the job read last, with the tokens and
// prices of meter; a command that makes accounts of its own hands them in with Paid.
func (j *Job) NewFindings(meter *cost.Meter) *Findings {
	return &Findings{rules: j.rules, finder: findings.NewFinder(findings.Options{}), meter: meter}
}

// WithFields looks for fields of results that nobody reads, too.
func (f *Findings) WithFields() *Findings {
	f.looker.Fields = true
	return f
}

// WithTools says what findings cost by tool, too.
func (f *Findings) WithTools() *Findings {
	f.options.Tools = true
	f.begin()
	return f
}

// begin forgets what was found.
func (f *Findings) begin() {
	f.finder, f.list, f.isDone = findings.NewFinder(f.options), nil, false
}

// Paid says what the trajectory that All yielded last cost.
func (f *Findings) Paid(account *cost.Account) {
	if f != nil {
		f.account = account
	}
}

// List returns what was found when All has ended, nil without Findings.
func (f *Findings) List() []findings.Finding {
	if f != nil && !f.isDone {
		f.list, f.isDone = f.finder.Findings(), true
	}
	if f == nil {
		return nil
	}
	return f.list
}

// Unsaid says in how many trajectories a prompt cache was on although their usage does not
// say so, "" if in none.
func (f *Findings) Unsaid() string {
	n := f.finder.CacheUnsaid()
	if n == 0 {
		return ""
	}
	return "In " + CountOf(n, "trajectory") + " a prompt cache was on, because what was paid is below the list price of the recorded tokens; the usage does not say so, so caching is no finding there."
}

// Watch yields what in yields, and looks for findings in it; nil looks for none.
func (f *Findings) Watch(workers int, in iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	if f == nil {
		return in
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		f.begin()
		for t, err := range f.Look(workers, in) {
			if !yield(t, err) || err != nil {
				return
			}
			f.add(t)
		}
	}
}

// Look yields what in yields, in its order, after having looked at it; Seen is what was seen
// in the trajectory that was yielded last.
func (f *Findings) Look(workers int, in iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	type marked struct {
		t     *trace.Trajectory
		marks []merge.Mark
	}
	items := func(yield func(marked, error) bool) {
		var rewriter *merge.Rewriter // what it remembers is let go with the reading
		if f.rules != nil {
			rewriter = merge.NewRewriter(f.rules, merge.Full(f.rules), &merge.Labels{}, nil)
		}
		for t, err := range in {
			x := marked{t: t}
			if err == nil && rewriter != nil {
				x.marks = merge.Marks(t, rewriter.Rewrite(t))
			}
			if !yield(x, err) {
				return
			}
		}
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		look := func(x marked) *findings.Seen { return f.looker.Look(x.t, x.marks) }
		for x, err := range par.With(workers, items, look) {
			if err == nil {
				f.seen = x.Is
			}
			if !yield(x.From.t, err) {
				return
			}
		}
	}
}

// Seen is what was seen in the trajectory that was yielded last.
func (f *Findings) Seen() *findings.Seen { return f.seen }

// Add adds what was seen in t before.
func (f *Findings) Add(t *trace.Trajectory, seen *findings.Seen) {
	f.seen = seen
	f.add(t)
}

// add adds what was seen in t, which was yielded last.
func (f *Findings) add(t *trace.Trajectory) {
	if f.account == nil {
		f.account = f.meter.Trajectory(t)
	}
	f.finder.Add(t, f.seen, f.account)
	f.account = nil
}
