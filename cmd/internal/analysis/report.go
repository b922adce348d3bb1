package analysis

import (
	"bytes"
	"slices"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/process"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// reportOptions are the flags of `awo report`.
type reportOptions struct {
	analyzeOptions `mapstructure:",squash"`
	Backtest       string `mapstructure:"backtest"`
	MetaTools      string `mapstructure:"meta-tools"`
	Out            string `mapstructure:"out"`
}

// NewReport returns `awo report`.
func NewReport(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "report FILES...",
		Short: "Write what was found into one page that explains itself",
		Long: `Write what awo findings, backtest, cost and analyze say into one HTML file: first what was paid,
where it goes, what to do and what that saves; then findings, savings, cost over time, a process
map, trajectories, habits, what would be compiled and the quality of the data; all tables are in
appendices. The page loads nothing: it can be mailed, printed, or kept as an artefact of a build.

The back-test takes by far the longest: --backtest auto makes it of up to 30,000 calls.

--format markdown prints the same for a comment on a pull request, with all but the first
section folded. JSON is that of awo analyze, with the members backtest, cost and process.

` + cli.FilesHelp,
		Example: `  awo report traces/ --out report.html
  awo report traces/ --rules rules.yaml --by model --out report.html
  awo report traces/ --backtest always --out report.html
  awo report traces/ --format markdown`,
		GroupID: cli.GroupLook,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices, cli.UseShell, cli.UseExclude)
	f := c.Flags()
	addAnalysis(f)
	f.Bool("sources", true, "say where the arguments of calls come from; --sources=false is faster")
	f.Var(cli.NewChoice("auto", "always", "never"), "backtest", "say what would be saved on tasks that were not compiled from, which takes by far the longest; auto is up to 30,000 calls")
	f.Var(cli.NewChoice("auto", "always", "never"), "meta-tools", "draw what would be compiled; auto is up to 30,000 calls")
	f.String("out", "", "write the page into this `FILE`; - is the standard output")
	return cli.Work(a, c, writeReport)
}

// pageInput is what the sections of a report are made of.
type pageInput struct {
	j        *cli.Job
	files    []string
	in       *cli.Intake
	mined    []*corpus.Run // nil where nothing asks for it
	wrong    []cli.Finding // in all calls
	charged  []cli.Finding // the same, and what the recommendation would remove beyond them
	found    *findings
	o        analyzeOptions
	process  *process.Map
	sample   *process.Sample
	costs    *worth.CostFindings // nil without calls
	cost     worth.Costs
	tested   *worth.BacktestFindings // nil where it was not asked for, or there are too many calls
	saving   worth.Backtest
	apart    bool           // it is about other calls than the rest
	untested bool           // it was asked for, and there are too many calls
	compiled []report.Block // nil with --meta-tools never
}

func writeReport(j *cli.Job, o reportOptions, files []string) error {
	walked := process.NewBuilder()
	in, found, err := analyzed(j, o.analyzeOptions, trace.Options{Spool: true}, files, walked.Add)
	if err != nil {
		return err
	}
	r := &pageInput{j: j, files: files, in: in, wrong: in.Findings.List(), found: found, o: o.analyzeOptions, process: walked.Map(), sample: process.NewSample(timelinesShown)}
	result := reportFigures{figures: found.figures(in), Process: processFigures{r.process.Trajectories, r.process.OtherTools, r.process.EdgesLeftOut}}
	data := analysisDocument(in, found, o.analyzeOptions) // before the traces are read again
	if err := weigh(j, r, o); err != nil {
		return err
	}
	if r.tested != nil {
		result.Backtest = &r.saving.BacktestFigures
		data.Add(r.saving.Recommended.Table().Hidden())
		r.tested.Sections(data, r.saving)
	}
	if r.costs != nil {
		result.Cost = &r.cost
		data.Add(r.costs.WaitTable())
	}
	if err := r.compile(j, o); err != nil {
		return err
	}
	d, err := r.document()
	if err != nil {
		return err
	}
	j.MarkPrices(d)
	if o.Out != "" {
		var page bytes.Buffer
		if err := d.WriteHTML(&page); err != nil {
			return err
		}
		if o.Out == "-" {
			j.Printf("%s", page.Bytes())
			return nil
		}
		if err := j.WriteFile(o.Out, page.Bytes()); err != nil {
			return err
		}
		if j.Format == report.FormatText {
			short := &report.Document{Title: d.Title, Answer: d.Answer, Sections: slices.DeleteFunc(slices.Clone(d.Sections), func(s report.Section) bool { return s.Detail })}
			short.Section("", report.Paragraph("The page is "+o.Out+"."))
			return j.Result(short)
		}
	}
	switch j.Format {
	case report.FormatMarkdown:
		return d.Write(j.Out, j.Format, report.Options{Fold: true})
	case report.FormatCSV, report.FormatLaTeX, report.FormatJSONLines, report.FormatJSON:
		d = data
		d.Figures = result
		d.Add(stepTable(r.process), report.TableOf("process_tools", "", r.process.Nodes, nil))
	}
	return j.Result(d)
}

// reportFigures are those of the commands whose sections a report has.
type reportFigures struct {
	figures
	Backtest *worth.BacktestFigures `json:"backtest,omitempty"`
	Cost     *worth.Costs           `json:"cost,omitempty"`
	Process  processFigures         `json:"process"`
}

// compile adds what `awo extract` would offer.
func (r *pageInput) compile(j *cli.Job, o reportOptions) (err error) {
	if r.in.Tally.Calls == 0 || o.MetaTools == "never" || o.MetaTools == "auto" && r.in.Tally.Calls > autoCalls {
		return nil
	}
	r.compiled, err = extraction.Section(j, r.in, r.mined, j.Set, j.Meter(), r.saving.Recommended)
	return err
}

// autoCalls is how many calls are back-tested unasked: a minute or so.
const autoCalls = 30_000

// weigh adds what the traces cost, and what could be saved of it. They are read again, with
// the calls that the analysis leaves out, and what is mined of them is kept.
func weigh(j *cli.Job, r *pageInput, o reportOptions) (err error) {
	if r.in.Tally.Calls == 0 {
		return nil
	}
	meter := j.Meter()
	tests := o.Backtest == "always" || o.Backtest == "auto" && r.in.Tally.Calls <= autoCalls
	r.in.Findings = j.NewFindings(meter).WithTools()
	sampler, mines := corpus.NewSampler(r.in.Mining(j.Set)), o.Backtest != "never" || o.MetaTools != "never"
	see := func(t *trace.Trajectory, account *cost.Account) {
		total := account.Total()
		r.sample.Add(t, total.Paid, total.Tokens())
		if mines {
			sampler.Add(t)
		}
	}
	if r.costs, err = worth.Account(j, r.in, r.in.Findings.Watch(j.Parallel(), r.in.Again()), meter, worth.CostOptions{Top: 10}, see); err != nil {
		return err
	}
	r.cost = r.costs.Costs(r.in)
	r.wrong = r.in.Findings.List()
	r.charged = r.wrong
	mined := sampler.Corpus()
	r.in.Mined(mined)
	if r.mined = mined.Runs; !tests {
		r.untested = o.Backtest != "never"
		return nil
	}
	usual := worth.UsualBacktest()
	usual.Turns = true
	if r.tested, err = worth.BackTest(j, r.in, r.mined, j.Set, meter, usual); err != nil {
		return err
	}
	r.saving = r.tested.Backtest(r.in)
	r.apart = o.leavesOut(j) || o.CollapseRepeats
	return r.charge(meter)
}

// charge adds what the recommendation would remove beyond the findings, if all trajectories
// were mined.
func (r *pageInput) charge(meter *cost.Meter) error {
	if r.saving.Recommended == nil || len(r.mined) != r.in.Tally.Trajectories {
		return nil
	}
	without := r.saving.Recommended.Without()
	if len(without) == 0 {
		return nil
	}
	f := r.j.NewFindings(meter).WithTools()
	all := func(yield func(*trace.Trajectory, error) bool) {
		for _, run := range r.mined {
			if !yield(run.Trajectory, nil) {
				return
			}
		}
	}
	for t, err := range f.Look(r.j.Parallel(), all) {
		if err != nil {
			return err
		}
		seen := f.Seen()
		seen.Without(without[t])
		f.Add(t, seen)
	}
	r.charged = f.List()
	return nil
}
