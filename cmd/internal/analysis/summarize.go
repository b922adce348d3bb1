package analysis

import (
	"cmp"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/comparing"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/trace"
)

// summarizeOptions are the flags of `awo summarize`.
type summarizeOptions struct {
	countOptions `mapstructure:",squash"`
	Out          string `mapstructure:"out"`
	AllowOverlap bool   `mapstructure:"allow-overlap"`
	Tools        string `mapstructure:"tools"`
	Compare      bool   `mapstructure:"compare"`

	comparing.OutcomeOptions `mapstructure:",squash"`
}

// NewSummarize returns `awo summarize`.
func NewSummarize(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "summarize FILES...",
		Short: "Count traces into a file that adds up with others",
		Long: `Count traces into a summary: a file that awo analyze, cost and verify read in place
of them. Summaries of parts, merged in any order, are byte for byte the summary of the whole.

FILES may be traces, summaries (*.awosum), or both. Summaries that were counted under other
options, or that have an input file in common, are refused. --tools also replays meta-tools
and rules for reading ahead, for ` + "`awo verify`" + `; --compare counts what ` + "`awo compare`" + ` compares,
money as of now.

A summary holds names of tools, models and agents, sequences of tools, hashes of tasks
and of input files, and sums; no argument, result, text or file name.

` + cli.FilesHelp,
		Example: `  awo summarize monday/ --out monday.awosum
  awo summarize monday.awosum tuesday.awosum --out week.awosum
  awo summarize monday.awosum tuesday/ --out week.awosum
  awo summarize traces/ --compare --out baseline.awosum
  awo summarize monday/ --tools tools/ --rules rules.yaml --out monday.awosum
  awo analyze week.awosum --by model`,
		GroupID: cli.GroupLook,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UseShell, cli.UseExclude, cli.UsePrices)
	f := c.Flags()
	addCounting(f)
	f.String("tools", "", "also replay the meta-tools of this `DIR`, and count its rules for reading ahead, for `awo verify`; or a file of the kind metatools.arazzo.yaml")
	f.Bool("compare", false, "also count what `awo compare` compares: the file is a baseline for it")
	comparing.OutcomeFlags(f)
	f.String("out", "", "`FILE` to write, whose name ends in .awosum; one that is there is replaced")
	f.Bool("allow-overlap", false, "add summaries with an input file in common; its trajectories count as often")
	return cli.Work(a, c, summarize)
}

// summarizeFigures are those of `awo summarize`.
type summarizeFigures struct {
	File      string            `json:"file"`
	Bytes     int               `json:"bytes"`
	Input     cli.InputJSON     `json:"input"`
	Summaries int               `json:"summaries,omitempty"` // that were read, beside traces or in place of them
	Options   map[string]string `json:"options"`             // under which was counted
	Inputs    int               `json:"inputs"`              // files that were read for it, now or before
	Tools     int               `json:"tools"`               // in the sequences
	Tasks     int               `json:"tasks"`
	Sequences int               `json:"sequences"` // different ones
	Rows      int               `json:"rows"`      // different in task, labels or sequence
}

func summarize(j *cli.Job, o summarizeOptions, files []string) error {
	switch {
	case o.Out == "":
		return cli.Usagef("--out wants the file to write, such as part%s", summary.Ext)
	case !strings.HasSuffix(o.Out, summary.Ext):
		return cli.Usagef("--out: %q does not end in %s, by which summaries are known", o.Out, summary.Ext)
	case j.Dedupe || j.Sample != 0:
		return cli.Usagef("--dedupe and --sample need all trajectories at once, and a summary is a part")
	}
	counting, err := o.summaryCounting(j)
	if err != nil {
		return err
	}
	stored, traces := cli.SplitStored(files)
	sum, err := j.MergeStored(stored, o.AllowOverlap)
	if err != nil {
		return err
	}
	if len(traces) > 0 || sum == nil {
		part, err := summarized(j, o, counting, traces)
		if err != nil {
			return err
		}
		if sum != nil {
			err = part.Merge(sum, o.AllowOverlap)
		}
		if err != nil {
			return err
		}
		sum = part
	} else if err := j.AsCounted(counting, sum); err != nil {
		return err
	}
	data := sum.Append(nil)
	if err := j.WriteFile(o.Out, data); err != nil {
		return err
	}
	return printSummary(j, sum, o.Out, len(stored), len(data))
}

// summaryCounting reads the files that say what is counted beside sequences.
func (o summarizeOptions) summaryCounting(j *cli.Job) (count.Options, error) {
	out := o.counting(j)
	out.Rules = j.CountedRules()
	if o.Compare {
		out.Compare = comparing.CostBy(j.Meter())
	}
	if o.Tools != "" {
		var err error
		if out.Tools, out.Prefetch, err = extraction.Counted(j, o.Tools); err != nil {
			return out, err
		}
	}
	return out, nil
}

// summarized counts traces.
func summarized(j *cli.Job, o summarizeOptions, counting count.Options, files []string) (*summary.Summary, error) {
	counter, err := counting.NewCounter()
	if _, is := errors.AsType[*diag.Error](err); err != nil && !is {
		return nil, cli.Usagef("%s", err)
	} else if err != nil {
		return nil, err
	}
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return nil, err
	}
	judge, err := o.Judge()
	if err != nil {
		return nil, err
	}
	in.Exclude = counter.Take
	if err := cmp.Or(in.Each(func(t *trace.Trajectory) { judge.Outcome(t); counter.Add(t) }), judge.Err()); err != nil {
		return nil, err
	}
	sum, read := counter.Summary(), in.Stored()
	sum.AddIntake(count.Intake(in.Reader.Counts(), read.Left, read.Excluded, read.Expanded, read.Bounded))
	inputs, err := j.Inputs(".", in, nil)
	if err != nil {
		return nil, err
	}
	for _, input := range inputs.Traces() {
		var hash [32]byte
		if n, err := hex.Decode(hash[:], []byte(input.SHA256)); n != len(hash) || err != nil {
			return nil, cli.Usagef("%s is a pipe, which cannot be read twice, for its hash; give it as standard input (-)", input.File)
		}
		sum.AddInput(hash)
	}
	return sum, nil
}

// printSummary says what was written.
func printSummary(j *cli.Job, sum *summary.Summary, file string, parts, bytes int) error {
	in, size := j.StoredIntake(sum, parts), sum.Size()
	out := summarizeFigures{
		File: file, Bytes: bytes, Input: in.JSON(), Summaries: in.Summaries(), Options: map[string]string{}, Inputs: sum.Inputs(),
		Tools: size.Tools, Tasks: size.Tasks, Sequences: size.Sequences, Rows: size.Rows,
	}
	for _, o := range sum.Choices() {
		out.Options[o.Name] = o.Value
	}
	d := &report.Document{Title: "Summary", Figures: out}
	table := report.TableOf("summary", "", []summarizeFigures{out}, []report.Column{
		{Key: "bytes"}, {Key: "inputs", Title: "input files"}, {Key: "tools"}, {Key: "tasks"}, {Key: "sequences", Title: "different sequences"}, {Key: "rows"},
	}).View()
	table.Note("A row is a task, a group of trajectories and a sequence of tools; the file grows with rows and sequences, and not with calls.")
	d.Add(in.Summary(), table)
	return j.Result(d)
}
