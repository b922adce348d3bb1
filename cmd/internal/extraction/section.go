package extraction

import (
	"fmt"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/rules"
)

// cardsShown is how many meta-tools, and how many prefetch rules, a page draws.
const cardsShown = 6

// Section returns what a report shows of the meta-tools and the prefetch rules
// that `awo extract` would write: pictures of them with their evidence. v is the verdict
// of a back-test on the same traces, nil if there was none. runs are what
// is mined of in.
func Section(j *cli.Job, in *cli.Intake, runs []*corpus.Run, set *rules.Set, meter *cost.Meter, v *recommend.Result) ([]report.Block, error) {
	o := Options{
		Threshold: candidate.DefaultThreshold, Algorithm: string(compile.Patterns),
		AssumeReads: true, Select: string(backtest.SelectTurns), WritePrecision: backtest.DefaultWritePrecision, Verdict: "never", By: "none", Prefetch: learn.DefaultThreshold,
	}
	against := ""
	if v != nil {
		switch {
		case v.Agents > 1:
			against = "What is recommended above is for one of several agents; these are what could be offered to all of them."
		case v.T == 0:
			against = "No meta-tool is recommended here, so awo extract offers none by default; --verdict never offers these:"
		default:
			o.Select, o.Threshold = string(backtest.Objective(v.Objective).Selection()), v.T
		}
		if v.P > 0 {
			o.Prefetch = v.P
		}
	}
	c, err := compileAndChoose(j, runs, set, meter, &o)
	if err != nil {
		return nil, err
	}
	out := extractionResult(in, o, c, c.Merged.Masker(false))
	var blocks []report.Block
	if cards := flowCards(c, out); len(cards) > 0 {
		blocks = append(blocks, report.Paragraph(against), cards[:min(len(cards), cardsShown)])
		if more := len(cards) - cardsShown; more > 0 {
			blocks = append(blocks, report.Paragraph(fmt.Sprintf("%s more in the table.", cli.CountOf(more, "meta-tool"))))
		}
		blocks = append(blocks, offeredTable(in, out))
	} else {
		blocks = append(blocks, report.Paragraph(extractionAnswer(o, out)))
	}
	if out.readsAhead(readsAhead(j, set, meter, o, c)); len(out.prefetch) > 0 {
		blocks = append(blocks, report.Paragraph("Reads that usually follow from an answer, and can be made before the agent asks:"),
			readCards(out.prefetch[:min(len(out.prefetch), cardsShown)]), prefetchTable(out.prefetch))
	}
	return blocks, nil
}

// offeredTable lists the meta-tools that are offered.
func offeredTable(in *cli.Intake, out *extraction) *report.Table {
	var offered []metaTool
	for i := range out.metaTools {
		if out.metaTools[i].Status == statusEmitted {
			offered = append(offered, out.metaTools[i])
		}
	}
	table := metaToolTable(in, out, offered)
	table.ID = "offered"
	table.Title = "Meta-tools"
	return table
}
