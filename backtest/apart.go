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
	var everywhere *Asked
	if r.options.Recommend != nil {
		all := r.undivided().askedAgain(nil)
		everywhere = &all
	}
	for i, agent := range r.agents.Agents {
		o := r.options
		o.AgentTasks = -1
		part := newRun(OfAgent(r.runs, r.agents, i), o)
		part.offers, part.agent, part.everywhere = r.offers, agent.Key(), everywhere
		if err := part.survey(); err != nil {
			return err
		}
		part.waysOf()
		part.test()
		part.finish()
		if err := part.recommend(); err != nil {
			return err
		}
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
	for i := range r.all {
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
	if one := part.out.Recommendation; one != nil && (to.Recommendation == nil || dearer(one.Total, to.Recommendation.Total)) {
		to.Recommendation = one
	}
}

// keys returns the tasks by number.
func (r *run) keys() []string {
	out := make([]string, len(r.tasks))
	for key, task := range r.tasks {
		out[task] = key
	}
	return out
}

// dearer reports whether what was recorded cost more than something else: in money, or in
// tokens where it is the same.
func dearer(a, b Saved) bool {
	return cmp.Or(cmp.Compare(a[SavedUSD], b[SavedUSD]), cmp.Compare(a[SavedTokens], b[SavedTokens])) > 0
}
