package analysis

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// NewFindings returns `awo findings`.
func NewFindings(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "findings FILES...",
		Short: "List what is wrong with the agents, what it costs, and what to do",
		Long: `List what is wrong with the agents, what costs most first: prompt caching that is off or
broken, the same call made again and again, retries, tools that fail, reads one by one that
need not wait for each other, and turns that neither call a tool nor answer.

With --details, and in Markdown and JSON, each finding says what to do in a sentence for a
ticket, and names trajectories to look at (awo show). Amounts are upper bounds. A turn with
several findings is charged to the first of them, so amounts add up.

` + cli.FilesHelp,
		Example: `  awo findings traces/
  awo findings traces/ --details
  awo findings traces/ --rules rules.yaml --format markdown
  awo findings traces/ --format json`,
		GroupID: cli.GroupLook,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices, cli.UseShell)
	return cli.Work(a, c, find)
}

// findingsFigures are those of `awo findings`.
type findingsFigures struct {
	Input     cli.InputJSON `json:"input"`
	Findings  int           `json:"findings"`
	USD       float64       `json:"usd"`           // of those with a price, at most
	Estimated float64       `json:"usd_estimated"` // of the others, at the mean price of those
}

func find(j *cli.Job, _ struct{}, files []string) error {
	meter := j.Meter()
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	in.Shell, in.Findings = j.Splitter(j.Set), j.NewFindings(meter).WithFields()
	if err := in.Each(); err != nil {
		return err
	}
	list := in.Findings.List()
	figures := foundFigures(in, list)
	d := &report.Document{Title: "Findings", Answer: figures.answer(list), Figures: figures, Lines: report.ScreenLines}
	d.Add(in.Summary(), cli.FindingsTable(list))
	d.Section("What to do", cli.FindingSentences(list, len(list)))
	d.Details()
	d.Note("tables.findings", in.Findings.Unsaid())
	each := []report.Block{report.Paragraph(in.Findings.Unsaid())}
	for i := range list {
		f := &list[i]
		var lines []string
		for _, x := range f.Examples {
			lines = append(lines, cli.ShowCommand(x.File, x.Trajectory))
		}
		each = append(each, report.Paragraph(fmt.Sprintf("%d. %s:", i+1, cli.FindingName(f))), report.Code{Text: strings.Join(lines, "\n")})
	}
	d.Section("Where to look", each...)
	if len(list) > 0 {
		d.Next = []string{cli.ShowCommand(list[0].Examples[0].File, list[0].Examples[0].Trajectory) + " # the trajectory with most of the first"}
	}
	return j.Result(d)
}

// foundFigures add up what findings are worth.
func foundFigures(in *cli.Intake, list []cli.Finding) findingsFigures {
	out := findingsFigures{Input: in.JSON(), Findings: len(list)}
	for i := range list {
		if usd, known := list[i].USD.Value(); known {
			out.USD += usd
		} else if usd, known := list[i].Worth.Value(); known {
			out.Estimated += usd
		}
	}
	return out
}

// answer says how much is wrong, and what to do first.
func (f *findingsFigures) answer(list []cli.Finding) string {
	if len(list) == 0 {
		return cli.NoFindings
	}
	text := cli.CountOf(len(list), "finding")
	if f.USD > 0 {
		text += fmt.Sprintf(", worth up to %s USD", cli.Dollars(f.USD))
	}
	if f.Estimated > 0 {
		text += fmt.Sprintf(", and about %s USD where no price is known", cli.Dollars(f.Estimated))
	}
	return text + ". Fix this first: " + cli.FindingName(&list[0]) + "."
}
