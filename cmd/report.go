package cmd

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/plot"
	"github.com/awo-dev/awo/internal/report"
)

// reportOptions are the flags of `awo report`.
type reportOptions struct {
	analyzeOptions `mapstructure:",squash"`
	Out            string `mapstructure:"out"`
}

func newReport(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "report FILES...",
		Short: "Write what was found into one page that explains itself",
		Long: `Write the figures of 'awo analyze' with their pictures into one HTML file, each
explained for somebody who has not read the papers. The page loads nothing and
runs nothing: it can be mailed, printed, or kept as an artefact of a build.

--format markdown prints the same for a comment on a pull request, with all but the
first section folded. JSON is that of 'awo analyze'.

` + filesHelp,
		Example: `  awo report traces/ --out report.html
  awo report traces/ --by model --out report.html
  awo report traces/ --format markdown`,
		GroupID: groupLook,
	}
	f := c.Flags()
	addAnalysis(f)
	f.Bool("sources", true, "say where the arguments of calls come from; --sources=false is faster")
	f.String("out", "", "write the page into this `FILE`; - is the standard output")
	return work(a, c, writeReport)
}

// reportInput is what the sections of a report are made of.
type reportInput struct {
	in      *intake
	found   *findings
	o       analyzeOptions
	figures map[string]*plot.Figure // by name
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
	sectionOrders,
	sectionTests,
	sectionSuccessors,
	sectionTools,
	sectionTrajectories,
	sectionSources,
	sectionGroups,
}

func writeReport(j *job, o reportOptions, files []string) error {
	in, found, err := j.analysis(o.analyzeOptions, files)
	if err != nil {
		return err
	}
	defer in.Close()
	d, err := reportDocument(&reportInput{in: in, found: found, o: o.analyzeOptions})
	if err != nil {
		return err
	}
	if o.Out != "" {
		var page bytes.Buffer
		if err := d.WriteHTML(&page); err != nil {
			return err
		}
		if o.Out == "-" {
			j.printf("%s", page.Bytes())
			return nil
		}
		dir, name := splitOut(o.Out)
		if err := emit.Write(dir, []emit.File{{Name: name, Data: page.Bytes()}}); err != nil {
			return err
		}
		if j.Format == report.FormatText {
			short := &report.Document{Title: d.Title, Sections: d.Sections[:1]}
			short.Add(report.Paragraph(fmt.Sprintf("%s: %s.", o.Out, countOf(len(d.Sections)-1, "section"))))
			return j.print(short, nil)
		}
	}
	switch j.Format {
	case report.FormatMarkdown:
		return d.Write(j.out, j.Format, report.Options{Fold: true})
	case report.FormatCSV:
		d = analysisDocument(in, found, o.analyzeOptions, true)
	}
	return j.print(d, analysisResult(in, found))
}

// reportDocument puts the sections together.
func reportDocument(r *reportInput) (*report.Document, error) {
	d := &report.Document{Title: "What these agents do by habit"}
	d.Add(r.in.Summary())
	if r.in.tally.Calls == 0 {
		d.Add(report.Paragraph("There are no calls, so there is nothing to measure."))
		return d, nil
	}
	d.Add(report.Paragraph(r.found.analysis.Verdict.Sentence))
	drawn, err := analysisFigures(r.found)
	if err != nil {
		return nil, err
	}
	r.figures = map[string]*plot.Figure{}
	for _, figure := range drawn {
		r.figures[figure.Name] = figure
	}
	for _, s := range reportSections {
		blocks := s.blocks(r)
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
