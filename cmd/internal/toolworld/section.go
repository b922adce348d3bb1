package toolworld

import (
	"fmt"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/toolgraph"
	"github.com/awo-dev/awo/toolgraph/toolrank"
)

// The bounds of a report's section: below the first there is nothing to choose among,
// above the second (tasks times tools) the study takes minutes.
const (
	leastTools = 15
	mostStudy  = 1_500_000
)

// Section returns what a report says of tools: the edges of the graph, and, where
// there are tools enough to choose among, how many a task needs. They are found in what
// is mined of in. What it leaves out because there are too many tools it says.
func Section(j *cli.Job, in *cli.Intake, mined []*corpus.Run, seed uint64) ([]report.Block, error) {
	if n := in.Tally.Tools(); n > bounds.Tools {
		return []report.Block{report.Paragraph(fmt.Sprintf("Links between tools are not shown: there are %s tools, and at most %s are drawn here. awo tools graph finds those of all.",
			report.Grouped(n), report.Grouped(bounds.Tools)))}, nil
	}
	w := &world{in: in}
	if err := w.observe(j, corpus.Each(mined), want{tasks: true}); err != nil {
		return nil, err
	}
	links := dataflow.NewLinks()
	for _, r := range mined {
		links.Add(r.Flow)
	}
	w.flows = links.Set()
	c, problems := w.builder.Catalog()
	if err := warn(j, problems); err != nil || len(c.Tools) < 2 {
		return nil, err
	}
	g := toolgraph.Build(toolgraph.Input{Catalog: c, Observed: &w.observed, Proofs: toolgraph.ProofsOf(w.flows), Seed: seed})
	out := figuresOf(w, g)
	blocks := []report.Block{edgeTable(out, edgesOf(g))}
	for _, text := range plainly(g, out) {
		blocks = append(blocks, report.Paragraph(text))
	}
	blocks = append(blocks, predictionTable(g))
	if len(c.Tools) < leastTools {
		return blocks, nil
	}
	if len(w.tasks)*len(c.Tools) > mostStudy {
		return append(blocks, report.Paragraph(fmt.Sprintf("How few tools a task needs is not studied here: %s tasks times %s tools are more than %s. awo tools subset does it.",
			report.Grouped(len(w.tasks)), report.Grouped(len(c.Tools)), report.Grouped(mostStudy)))), nil
	}
	scenarios := toolrank.Scenarios(w.tasks)
	corpus := toolrank.NewCorpus(c, w.tasks, g.FeedsTools())
	if corpus.Groups() < 2 {
		return blocks, nil
	}
	options := toolrank.Options{Seed: seed, Workers: j.Parallel()}
	study := corpus.Study(options)
	result, _ := corpus.Train(options, false)
	found := &learned{subsetFigures: subsetFigures{Asked: study.Asked, Scenarios: scenarios}}
	fill(found, study, result)
	if _, err := listFiles(found, c, result, nil); err != nil {
		return nil, err
	}
	return append(blocks, subsetWords(found), baselineTable(found)), nil
}
