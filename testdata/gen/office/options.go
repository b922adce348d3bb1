package office

import (
	"fmt"
	"iter"
	"time"

	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/testdata/gen/truth"
	"github.com/awo-dev/awo/testdata/gen/world"
)

// Options say which runs to make. The zero value is the committed corpus.
type Options struct {
	Seed         uint64 // 0 means CommittedSeed
	Trajectories int    // 0 means 300
	Trials       int    // runs per task; 0 means 4
	Days         int    // over which the runs are spread; 0 means 28
	Drift        bool   // change tools and habits halfway
	Tokens       Tokens // how token usage is counted
	Workers      int    // 0 means 1; the runs do not depend on it
}

// CommittedSeed is the seed of the committed corpus: one in which every planted
// coincidence comes about and every chain occurs at least ten times.
const CommittedSeed = 49

// start is when the first run begins.
var start = time.Date(2026, 2, 2, 7, 0, 0, 0, time.UTC)

// defaults fills in what was left out.
func (o Options) defaults() Options {
	if o.Seed == 0 {
		o.Seed = CommittedSeed
	}
	if o.Trajectories == 0 {
		o.Trajectories = 300
	}
	if o.Trials == 0 {
		o.Trials = 4
	}
	if o.Days == 0 {
		o.Days = 28
	}
	if o.Workers == 0 {
		o.Workers = 1
	}
	return o
}

// Office makes the runs of some Options.
type Office struct {
	Options Options

	first, second *world.Edition
	counter       counter
	definition    map[*world.Tool]int // tokens of a tool's definition
	personas      int
	offices       *shelf
	families      []*family // in the order in which tasks come
	chains        []truth.Chain
	coincidences  []truth.Coincidence
}

// New returns an office. It fails only if the tokenizer cannot be loaded.
func New(o Options) (*Office, error) {
	o = o.defaults()
	if o.Trajectories < 1 || o.Trials < 1 || o.Days < 1 || o.Workers < 1 {
		return nil, fmt.Errorf("trajectories, trials, days and workers must be positive")
	}
	c, err := newCounter(o.Tokens)
	if err != nil {
		return nil, err
	}
	tasks := (o.Trajectories + o.Trials - 1) / o.Trials
	// As many offices as would share a factor with the sequence of families would
	// see only some of them.
	list, personas := sequence(families()), max(3, (tasks+6)/7)
	for gcd(personas, len(list)) > 1 {
		personas++
	}
	office := &Office{
		Options: o, first: world.NewEdition(false), second: world.NewEdition(true), counter: c,
		definition: make(map[*world.Tool]int), personas: personas,
		offices:  &shelf{seed: o.Seed},
		families: list, chains: chains(), coincidences: coincidences(),
	}
	for _, e := range []*world.Edition{office.first, office.second} {
		for _, t := range e.Tools {
			office.definition[t] = c.count(string(t.Function)) + perCall
		}
	}
	return office, nil
}

// Runs yields all runs in order.
func (o *Office) Runs() iter.Seq[*Run] {
	return par.Map(o.Options.Workers, func(yield func(int) bool) {
		for i := range o.Options.Trajectories {
			if !yield(i) {
				return
			}
		}
	}, o.Run)
}

// Edition returns the tools that run i works with.
func (o *Office) Edition(i int) *world.Edition {
	if o.Drifted(i) {
		return o.second
	}
	return o.first
}

// Drifted reports whether run i is in the second half of a corpus with drift.
func (o *Office) Drifted(i int) bool { return o.Options.Drift && i >= o.DriftAt() }

// DriftAt is the first run with the second edition, if there is drift.
func (o *Office) DriftAt() int { return o.Options.Trajectories / 2 }

// World returns run i's office as it was before the run.
func (o *Office) World(i int) *world.World {
	task, _ := o.schedule(i)
	return o.offices.fresh(o.persona(task))
}

// block is how many tasks are under way at the same time: their first trials
// come first, then their second ones, so that trials of a task are spread in
// time but a later part of the corpus has tasks of its own.
const block = 24

// schedule returns which trial of which task run i is.
func (o *Office) schedule(i int) (task, trial int) {
	size := block * o.Options.Trials
	first := i / size * block
	tasks := min(block, (o.Options.Trajectories+o.Options.Trials-1)/o.Options.Trials-first)
	return first + i%size%tasks, i % size / tasks
}

// persona returns whose office a task is about. Tasks come in pairs in the same
// office and of the same family with different objects, so that histories that
// differ in nothing but an id can be compared.
func (o *Office) persona(task int) int { return (task / 2) % o.personas }

// family returns the kind of a task.
func (o *Office) family(task int) *family {
	return o.families[task/2*7%len(o.families)]
}

// startOf returns when run i begins.
func (o *Office) startOf(i int, r *world.Rand) time.Time {
	span := time.Duration(o.Options.Days) * 24 * time.Hour
	slot := span / time.Duration(o.Options.Trajectories)
	jitter := time.Duration(r.IntN(1000)) * slot / 1000
	return start.Add(time.Duration(i)*slot + jitter).Truncate(time.Millisecond)
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
