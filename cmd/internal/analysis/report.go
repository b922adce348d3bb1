package analysis

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/plot"
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
		Long: `Write the figures of awo analyze, backtest and cost into one HTML file with pictures, each
explained for somebody who has not read the papers. The page loads nothing: it can be mailed,
printed, or kept as an artefact of a build.

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
	f.Var(cli.NewChoice("auto", "always", "never"), "meta-tools", "draw what would be compiled, and with --rules the graph of states; auto is up to 30,000 calls")
	f.String("out", "", "write the page into this `FILE`; - is the standard output")
	return cli.Work(a, c, writeReport)
}

// reportInput is what the sections of a report are made of.
type reportInput struct {
	in       *cli.Intake
	mined    []*corpus.Run // nil where nothing asks for it
	wrong    *cli.Findings // what is wrong with the agent, in the calls that are analyzed
	found    *findings
	o        analyzeOptions
	process  *process.Builder
	figures  map[string]*plot.Figure // by name
	costs    *worth.CostFindings     // nil without calls
	cost     worth.Costs
	tested   *worth.BacktestFindings // nil where it was not asked for, or there are too many calls
	saving   worth.Backtest
	apart    bool           // it is about other calls than the rest
	untested bool           // it was asked for, and there are too many calls
	compiled []report.Block // nil with --meta-tools never
	err      error          // of drawing
}

// draw adds figures.
func (r *reportInput) draw(figures []*plot.Figure) {
	for _, figure := range figures {
		r.figures[figure.Name] = figure
	}
}

// picture returns the figure of that name, nil if it was not drawn.
func (r *reportInput) picture(name string) ([]report.Block, error) {
	figure := r.figures[name]
	if figure == nil {
		return nil, nil
	}
	svg, err := figure.SVG()
	if err != nil {
		return nil, err
	}
	return []report.Block{report.Picture{Alt: figure.Alt, SVG: svg}}, nil
}

// reportSection is a part of a report: its heading, what it shows in two
// sentences for a reader new to the matter, and its tables and figures.
type reportSection struct {
	heading string
	about   string
	figures []string // names, shown above the tables
	blocks  func(*reportInput) []report.Block
}

// reportSections are the parts of a report in their order. A section without
// blocks is left out. To add one, write its file and name it here.
var reportSections = []reportSection{
	sectionSaving,
	sectionCost,
	sectionProcess,
	sectionCompiled,
	sectionTrajectories,
	sectionOrders,
	sectionTests,
	sectionSuccessors,
	sectionTools,
	sectionSources,
	sectionGroups,
}

func writeReport(j *cli.Job, o reportOptions, files []string) error {
	walked := process.NewBuilder(timelinesShown)
	in, found, err := analyzed(j, o.analyzeOptions, trace.Options{Spool: true}, files, walked.Add)
	if err != nil {
		return err
	}
	r := &reportInput{in: in, wrong: in.Findings, found: found, o: o.analyzeOptions, process: walked, figures: map[string]*plot.Figure{}}
	result := reportFigures{figures: found.figures(in), Process: processFigures{walked.Map().Trajectories, walked.Map().OtherTools, walked.Map().EdgesLeftOut}}
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
	d, err := reportDocument(r)
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
	case report.FormatCSV, report.FormatJSONLines, report.FormatJSON:
		d = data
		d.Figures = result
		d.Add(stepTable(walked.Map()), report.TableOf("process_tools", "", walked.Map().Nodes, nil))
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

// reportDocument puts the sections together.
func reportDocument(r *reportInput) (*report.Document, error) {
	d := &report.Document{Title: "What these agents do by habit"}
	d.Add(r.in.Summary())
	if r.in.Tally.Calls == 0 {
		d.Add(report.Paragraph("There are no calls, so there is nothing to measure."))
		return d, nil
	}
	costs := spentOn(r.cost)
	d.Add(report.Paragraph(costs.InSentence))
	d.Answer = summaryAnswer(r.in, r.wrong.List(), costs)
	d.Add(report.Paragraph(habitWords(&r.found.analysis)))
	if r.tested != nil {
		d.Section("What to do", report.Paragraph(r.saving.Recommended.Words()), r.saving.Recommended.Table())
	}
	r.wrong.Section(d, cli.FindingsShown)
	d.Details()
	d.Section("All findings", cli.FindingsTable(r.wrong.List()).IfAny())
	drawn, err := analysisFigures(r.found)
	if err != nil {
		return nil, err
	}
	r.draw(drawn)
	for _, s := range reportSections {
		blocks := s.blocks(r)
		if r.err != nil {
			return nil, r.err
		}
		if len(blocks) == 0 {
			continue
		}
		d.Section(s.heading, report.Paragraph(s.about))
		for _, name := range s.figures {
			pictures, err := r.picture(name)
			if err != nil {
				return nil, err
			}
			d.Add(pictures...)
		}
		d.Add(blocks...)
	}
	return d, nil
}

// The sections that show what `awo analyze` finds.

var sectionOrders = reportSection{
	heading: "How predictable is the next call?",
	about: "An agent that does the same things in the same order can be helped by tools that do several of them at once; one that does something else each time cannot. " +
		"The figure is how many yes-or-no questions (bits) are left open about the next call by somebody who knows the calls before it, so lower is more habitual; the orange line counts, because it was measured on tasks that the predictor had not seen.",
	figures: []string{"entropy"},
	blocks:  func(r *reportInput) []report.Block { return []report.Block{orderTable(r.found)} },
}

var sectionTests = reportSection{
	heading: "Does one more call of memory help?",
	about: "Each row asks whether looking one call further back says more about the next call, or whether what it seems to say is chance. " +
		"A small p is not chance; the percentage says how much it helps, which is what matters when there are many calls.",
	blocks: func(r *reportInput) []report.Block {
		if len(r.found.analysis.Tests) == 0 || r.found.analysis.Distinct < 2 {
			return nil
		}
		return []report.Block{testTable("tests", r.found.analysis.Tests, r.o)}
	},
}

var sectionSuccessors = reportSection{
	heading: "What follows what",
	about: "Each row of the map is a tool, and the darker a cell, the more often the tool of its column came next; dark runs beside the diagonal are routines. " +
		"The curve says how often the next tool is among the few commonest after what came before: high on the left means that a guess is usually right.",
	figures: []string{"transitions", "top-m"},
	blocks: func(r *reportInput) []report.Block {
		if r.o.Order < 1 || r.found.analysis.Distinct < 2 {
			return nil
		}
		return []report.Block{successorTable(r.found, r.o), topTable(r.found)}
	},
}

var sectionTools = reportSection{
	heading: "Tools",
	about: "How often each tool was called, how often a call failed and what calls took, as far as the traces say so. " +
		"A tool that is called often and leaves little open about what comes next is where a routine begins.",
	blocks: func(r *reportInput) []report.Block { return []report.Block{toolTable(r.found)} },
}

var sectionTrajectories = reportSection{
	heading: "Whole trajectories",
	about: "A trajectory is one run of an agent on one task. Each row is a run of a sample, each block a call, in the colour of its tool; hatched calls failed, and a bar is a user message. " +
		"The blue line is the largest share of all runs that are at the same point after so many calls: while it is high most runs begin alike, and a tool that does these calls at once would serve them all.",
	figures: []string{"convergence"},
	blocks: func(r *reportInput) []report.Block {
		return append([]report.Block{r.app(report.AppTimelines, timelines(r.process.Timelines())), variantTable(r.in, r.found)}, convergenceTables(r.found)...)
	},
}

var sectionSources = reportSection{
	heading: "Where arguments come from",
	about: "To make a call without the model a program must know its arguments: from the result of an earlier call, from an earlier argument, or from what the user said. " +
		"Each bar is one argument of one tool, divided by where its values stood before; grey is what the model made up or what could be coincidence.",
	figures: []string{"parameter-sources"},
	blocks: func(r *reportInput) []report.Block {
		if r.found.sources == nil {
			return nil
		}
		return sourceTables(r.found.sources, r.o)
	},
}

var sectionGroups = reportSection{
	heading: "Groups",
	about: "The runs are divided into groups, and each group is compared with the largest. " +
		"A small permutation p says that the two follow different habits, so that what was learned from one may not serve the other.",
	blocks: func(r *reportInput) []report.Block {
		if len(r.found.groups) == 0 {
			return nil
		}
		return []report.Block{groupTable(r.found), testTable("tests_within_groups", r.found.within, r.o), shiftTable(r.found)}
	},
}

// The section with what is compiled of the traces: meta-tools and rules for reading ahead.

var sectionCompiled = reportSection{
	heading: "What would be compiled",
	about: "Each picture is a meta-tool: it is given what stands in the dashed box, makes the calls below, from the top down, and answers with their results, so that the model is asked once. " +
		"A call with a second box behind it is made once for each element of a list; an arrow leads from what gives a value to what takes it.",
	blocks: func(r *reportInput) []report.Block { return r.compiled },
}

// compile adds what `awo extract` would offer.
func (r *reportInput) compile(j *cli.Job, o reportOptions) (err error) {
	if r.in.Tally.Calls == 0 || o.MetaTools == "never" || o.MetaTools == "auto" && r.in.Tally.Calls > autoCalls {
		return nil
	}
	var v *recommend.Result
	if r.tested != nil {
		v = r.saving.Recommended
	}
	r.compiled, err = extraction.Section(j, r.in, r.mined, j.Set, j.Meter(), v)
	return err
}

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
		d := &report.Document{}
		r.costs.Sections(d, r.cost)
		return d.Blocks()
	},
}

// autoCalls is how many calls are back-tested unasked: a minute or so.
const autoCalls = 30_000

// weigh adds what the traces cost, and what could be saved of it. They are read again, with
// the calls that the analysis leaves out, and what is mined of them is kept.
func weigh(j *cli.Job, r *reportInput, o reportOptions) (err error) {
	if r.in.Tally.Calls == 0 {
		return nil
	}
	meter := j.Meter()
	tests := o.Backtest == "always" || o.Backtest == "auto" && r.in.Tally.Calls <= autoCalls
	again := r.in.Again()
	if r.in.Findings = nil; tests {
		r.in.Findings = j.NewFindings(meter)
		again = r.in.Findings.Watch(j.Parallel(), again)
	}
	sampler, see := corpus.NewSampler(r.in.Mining(j.Set)), func(*trace.Trajectory) {}
	if o.Backtest != "never" || o.MetaTools != "never" {
		see = sampler.Add
	}
	if r.costs, err = worth.Account(j, r.in, again, meter, worth.CostOptions{Top: 10}, see); err != nil {
		return err
	}
	r.cost = r.costs.Costs(r.in)
	mined := sampler.Corpus()
	r.in.Mined(mined)
	if r.mined = mined.Runs; !tests {
		r.untested = o.Backtest != "never"
		return nil
	}
	if r.tested, err = worth.BackTest(j, r.in, r.mined, j.Set, meter, worth.UsualBacktest()); err != nil {
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
