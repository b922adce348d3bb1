package analysis

import (
	"fmt"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// The sections that show what `awo backtest` and `awo cost` find.

var sectionSaving = reportSection{
	heading: "What it would save",
	about: "Calls that agents keep making one after the other can be made by one tool, a meta-tool, and then the model is asked fewer times; here such tools, and other ways to ask it less, were made from one part of the tasks and tried on runs of tasks that they had not seen. " +
		"All figures are upper bounds: an agent would have to choose the new tool every time, and to go on as it did in the recording.",
	figures: []string{"backtest-turns", "backtest-money"},
	blocks: func(r *reportInput) []report.Block {
		switch {
		case r.untested:
			return []report.Block{report.Paragraph(fmt.Sprintf("It was not measured here, because there are %s and more than %s take long; --backtest always measures it.", cli.CountOf(r.in.Tally.Calls, "call"), report.Grouped(autoCalls)))}
		case r.tested == nil:
			return nil
		}
		d := &report.Document{}
		if r.apart {
			d.Add(report.Paragraph("This section is about all calls, also those that the other sections leave out: turns cannot be taken apart."))
		}
		r.tested.Sections(d, r.saving)
		return d.Blocks()
	},
}

var sectionCost = reportSection{
	heading: "What it costs",
	about: "Each turn of a model reads all that was said before and is paid by the token, so that one turn less saves its own tokens and all later reading of them. " +
		"The tables say which models, tools, days and habits that goes to; the money is tokens times list prices, and not what anybody was billed.",
	blocks: func(r *reportInput) []report.Block {
		if r.costs == nil {
			return nil
		}
		d := &report.Document{}
		r.costs.Sections(d, r.cost)
		return d.Blocks()
	},
}

// autoCalls is how many calls are back-tested unasked: a minute or so.
const autoCalls = 30_000

// weigh adds what the traces cost, and what could be saved of it. They are read again, with
// the calls that the analysis leaves out, and what is mined of them is kept.
func weigh(j *cli.Job, r *reportInput, o reportOptions) error {
	mines := o.Backtest != "never" || o.MetaTools != "never"
	if r.in.Tally.Calls == 0 || !mines && !o.Cost {
		return nil
	}
	set, err := j.Rules(j.RuleFile)
	if err != nil {
		return err
	}
	meter, err := j.Meter()
	if err != nil {
		return err
	}
	tests := o.Backtest == "always" || o.Backtest == "auto" && r.in.Tally.Calls <= autoCalls
	again := r.in.Again()
	if r.in.Findings = nil; tests {
		r.in.Findings = j.NewFindings(meter)
		again = r.in.Findings.Watch(j.Parallel(), again)
	}
	sampler, see := corpus.NewSampler(r.in.Mining(set)), func(*trace.Trajectory) {}
	if mines {
		see = sampler.Add
	}
	if o.Cost {
		if r.costs, err = worth.Account(j, r.in, again, meter, worth.CostOptions{Top: 10}, see); err != nil {
			return err
		}
		r.cost = r.costs.Costs(r.in)
	} else {
		for t, err := range again {
			if err != nil {
				return err
			}
			see(t)
		}
	}
	mined := sampler.Corpus()
	r.in.Mined(mined)
	if r.mined = mined.Runs; !tests {
		r.untested = o.Backtest != "never"
		return nil
	}
	if r.tested, err = worth.BackTest(j, r.in, r.mined, set, meter, worth.UsualBacktest()); err != nil {
		return err
	}
	r.saving = r.tested.Backtest(r.in)
	r.apart = o.leavesOut(j) || o.CollapseRepeats
	figures, err := worth.BacktestPlots(r.tested)
	if err != nil {
		return err
	}
	r.draw(figures)
	return nil
}
