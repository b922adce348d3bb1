package cli

import (
	"fmt"
	"iter"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Load reads the traces as All does, and keeps those that are mined under the rules, which may
// be nil.
func (in *Intake) Load(set *rules.Set) (*corpus.Corpus, error) {
	c, err := corpus.Load(in.All(), in.Mining(set))
	if err != nil {
		return nil, err
	}
	in.Mined(c)
	return c, nil
}

// Mining are the options of what is kept to be mined.
func (in *Intake) Mining(set *rules.Set) corpus.Options {
	return corpus.Options{Rules: set, Most: max(in.filter.Sample, corpus.DefaultMost), Workers: in.j.Parallel()}
}

// Mined notes what is mined of what was read.
func (in *Intake) Mined(c *corpus.Corpus) {
	if in.mined = nil; !c.IsWhole() {
		in.mined = &MinedJSON{len(c.Runs), c.Trajectories, c.Kept, c.Tasks}
	}
}

// MinedJSON says what a result was mined from where that is not all that was read.
type MinedJSON struct {
	Trajectories   int `json:"trajectories"`
	OfTrajectories int `json:"of_trajectories"`
	Tasks          int `json:"tasks"`
	OfTasks        int `json:"of_tasks"`
}

// minedWords says it in a sentence, "" for all.
func (in *Intake) minedWords() string {
	m := in.mined
	if m == nil {
		return ""
	}
	return fmt.Sprintf(" Mined from %s of %s (%s of %s).", report.Grouped(m.Trajectories), CountOf(m.OfTrajectories, "trajectory"), report.Grouped(m.Tasks), CountOf(m.OfTasks, "task"))
}

// Again yields the trajectories that pass, once more and before calls are left out of them,
// without counting anything or telling of a problem again.
func (in *Intake) Again() iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		for t, err := range filter.Apply(in.read(in.j.trajectoriesAgain(in.Reader)), in.filter, &filter.Counts{}) {
			if err == nil && in.Shell != nil {
				in.Shell.Split(t)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}
