package backtest

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/agents"
	"github.com/awo-dev/awo/internal/corpus"
)

// AgentResult is what was found of one agent.
type AgentResult struct {
	agents.Agent
	*Result
}

// OfAgent returns the runs of one agent of a list.
func OfAgent(runs []*corpus.Run, list *agents.List, agent int) []*corpus.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r *corpus.Run) bool { return list.Of(r.Trajectory) != agent })
}

// apart compiles and tests each agent for itself, and adds up what was found. Techniques
// and cells are the same for all of them.
func (r *run) apart() error {
	for i, agent := range r.agents.Agents {
		o := r.options
		o.AgentTasks = -1
		part := newRun(OfAgent(r.runs, r.agents, i), o)
		part.offers = r.offers
		if err := part.survey(); err != nil {
			return err
		}
		part.addCells()
		part.test()
		part.finish()
		part.judge()
		r.out.Agents = append(r.out.Agents, AgentResult{agent, part.out})
		r.take(part)
	}
	return nil
}

// take adds what was found of one agent.
func (r *run) take(part *run) {
	to, from := r.out, part.out
	to.By, to.Folds = cmp.Or(to.By, from.By), max(to.Folds, from.Folds)
	to.TrainTasks += from.TrainTasks
	to.Unused += from.Unused
	to.Trajectories += from.Trajectories
	to.NoTurns += from.NoTurns
	to.NoUsage += from.NoUsage
	to.NoTools += from.NoTools
	to.LLMTurns += from.LLMTurns
	to.Unpriced += from.Unpriced
	to.Timed += from.Timed
	if r.all == nil {
		r.all = make([]totals, len(r.columns))
	}
	for i := range part.all {
		r.all[i].add(&part.all[i])
	}
	for task, key := range part.keys() {
		at, seen := r.tasks[key]
		if !seen {
			at = len(r.sums)
			r.tasks[key] = at
			r.sums = append(r.sums, newColumnSums(len(r.columns)))
		}
		more := make([]taskSums, len(r.columns))
		for i := range more {
			more[i] = *part.sums[task].at(i)
		}
		r.sums[at].add(more)
	}
	r.parts = append(r.parts, part)
}

// keys returns the tasks by number.
func (r *run) keys() []string {
	out := make([]string, len(r.tasks))
	for key, task := range r.tasks {
		out[task] = key
	}
	return out
}

// judgeApart adds up the verdicts on the agents: where there is none, or it is to do
// nothing, nothing is saved.
func (r *run) judgeApart(v *Verdict) {
	v.Unknown = r.parts[0].out.Verdict.Unknown
	blind, perfect, best := make([]blindSums, len(r.sums)), make([]blindSums, len(r.sums)), make([]blindSums, len(r.sums))
	for i, part := range r.parts {
		of := part.out.Verdict
		if of.Unknown == "" {
			v.Unknown = ""
		}
		alike(&v.Cell, &of.Cell, i)
		alike(&v.Considered, &of.Considered, i)
		alike(&v.Hindsight, &of.Hindsight, i)
		for task, key := range part.keys() {
			at := r.tasks[key]
			saved := part.judged.best(task)
			best[at].add(&saved)
			if of.Cell.Action == DoNothing {
				continue
			}
			saved = part.judged.blind(task)
			blind[at].add(&saved)
			saved = part.judged.perfect(task)
			perfect[at].add(&saved)
		}
	}
	if v.Cell.Action == DoNothing {
		v.Considered = v.Cell // what each would have been is in its own verdict
	}
	in := func(sums []blindSums) func(int) blindSums { return func(task int) blindSums { return sums[task] } }
	r.judged = judgment{in(blind), in(perfect), in(best)}
}

// alike makes a cell that of one more agent, too.
func alike(c, of *Cell, before int) {
	switch {
	case before == 0:
		*c = *of
	case *c != *of:
		*c = Cell{Action: DoByAgent}
	}
}
