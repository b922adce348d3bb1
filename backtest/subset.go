package backtest

import (
	"fmt"

	"github.com/awo-dev/awo/catalog"
	"github.com/awo-dev/awo/toolrank"
	"github.com/awo-dev/awo/trace"
)

// subset registers from the start the tools that the task's words ask for, and the
// rest when it is used.
var subset = Technique{
	Name: "subset", Doc: "lazy registration, with the tools that a learned ranker expects of the task registered from the start (NaviAgent)",
	Train: func(p *Part) (Trained, error) { return p.trainSubset() },
}

// subsetRecall is the share of the tools that a task uses that is asked for.
const subsetRecall = .95

// trainSubset learns which tools tasks need from the training part.
func (p *Part) trainSubset() (*lazyTools, error) {
	var tools catalog.Builder
	var tasks []toolrank.Task
	for t, err := range p.Source() {
		if err != nil {
			return nil, err
		}
		tools.Observe(t)
		tasks = append(tasks, toolrank.TaskOf(t))
	}
	out := &lazyTools{meter: p.meter}
	c, _ := tools.Catalog()
	toolrank.Scenarios(tasks)
	corpus := toolrank.NewCorpus(c, tasks, nil)
	if corpus.Groups() < 2 {
		out.notes = []string{"fewer than two groups of tasks use tools: no subset is learned, and every tool is registered when it is used."}
		return out, nil
	}
	learned, _ := corpus.Train(toolrank.Options{Recall: subsetRecall, Seed: p.Options.Seed}, false)
	out.preloaded = func(t *trace.Trajectory) []trace.Name {
		var names []trace.Name
		for _, one := range learned.Ranker.Rank(toolrank.TaskOf(t).Text)[:learned.K] {
			names = append(names, trace.Intern(one.Tool))
		}
		return names
	}
	out.notes = []string{fmt.Sprintf("%d of %d tools are registered from the start, other ones for each task: the fewest that hold %.3g of what training tasks use, with a lower bound on tasks left out", learned.K, len(c.Tools), subsetRecall)}
	return out, nil
}
