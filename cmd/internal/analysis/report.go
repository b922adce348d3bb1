package analysis

import (
	"bytes"
	"slices"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/plot"
	"github.com/awo-dev/awo/internal/process"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// reportOptions are the flags of `awo report`.
type reportOptions struct {
	analyzeOptions `mapstructure:",squash"`
	Backtest       string `mapstructure:"backtest"`
	Cost           bool   `mapstructure:"cost"`
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
	f.Bool("cost", true, "say what the traces cost in tokens and money")
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
	costs    *worth.CostFindings     // nil without --cost
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
	in, found, err := analyzed(j, o.analyzeOptions, trace.Options{Spool: o.Backtest != "never" || o.Cost || o.MetaTools != "never"}, files, walked.Add)
	if err != nil {
		return err
	}
	defer in.Close()
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
		dir, name := cli.SplitOut(o.Out)
		if err := emit.Write(dir, []emit.File{{Name: name, Data: page.Bytes()}}); err != nil {
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
		d.Add(stepTable(walked.Map()), report.TableOf("process_tools", "", toolsOf(walked.Map()), nil))
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
	var costs spent
	if r.costs != nil {
		costs = spentOn(r.cost)
		d.Add(report.Paragraph(costs.InSentence))
	}
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
