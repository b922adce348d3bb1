package rulefile

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
)

func newTest(a *cli.App) *cobra.Command {
	return cli.Work(a, &cobra.Command{
		Use:   "test RULES [CASES...]",
		Short: "Run the examples of a rule file, and files of further cases",
		Long: `Run the examples that stand in a rule file, and those of CASES: files with
examples for rules that are elsewhere. All rules of the file apply to every
example, so one also notices what another rule spoils.

If all hold nothing is printed and the exit code is 0. Otherwise every difference
is reported at its place, with what came out and what was expected, and the exit
code is 1. The values shown are those of these files.`,
		Example: `  awo rules test rules.yaml
  awo rules test rules.yaml cases/*.yaml
  awo rules test rules.yaml --format json`,
		Args: cli.SomeFiles,
	}, testRules)
}

// testFigures are those of `awo rules test`.
type testFigures struct {
	File   string `json:"file"`
	Rules  int    `json:"rules"`
	Total  int    `json:"total"`  // examples that were run
	Failed int    `json:"failed"` // of those, that do not hold
}

// example is an example that holds, or a difference of one that does not.
type example struct {
	diag.Pos
	Rule  string `json:"rule"` // that the example stands in, "" for none
	Holds bool   `json:"holds"`
	Step  *int   `json:"step"` // from 1; null if it is about all of them
	What  string `json:"what"`
	Got   string `json:"got"`
	Want  string `json:"want"`
}

func testRules(j *cli.Job, _ struct{}, args []string) error {
	j.Problems.Unlimited = true
	file, cases := args[0], args[1:]
	set, err := j.Rules(file)
	if err != nil {
		return err
	}
	out := testFigures{File: file, Rules: len(set.Rules)}
	var rows []example
	owner := map[diag.Pos]string{}
	for _, r := range set.Rules {
		for i := range r.Examples {
			owner[r.Examples[i].Pos] = r.ID
		}
	}
	examples := set.AllExamples()
	for _, name := range cases {
		src, err := j.ReadFile(name)
		if err != nil {
			j.Problems.Add(cli.FileProblem(name, err))
			continue
		}
		more, err := rules.ParseExamples(name, src)
		if err != nil {
			j.Problems.AddAll(err)
		}
		examples = append(examples, more...)
	}
	for i := range examples {
		found := runExample(j, set, &examples[i], owner[examples[i].Pos])
		if rows = append(rows, found...); !found[0].Holds {
			out.Failed++
		}
	}
	out.Total = len(examples)
	if out.Total == 0 && j.Problems.Errors.Total == 0 {
		j.Problems.Add(diag.Warn(diag.Pos{File: file, Line: 1, Col: 1}, "example-none", "there are no examples to run: put some into rules, or name files of cases"))
	}
	if j.Format == report.FormatText {
		return nil // the differences have been printed, and without any there is nothing to say
	}
	d := &report.Document{Figures: out}
	d.Add(report.TableOf("examples", "", rows, []report.Column{
		{Key: "file"},
		{Key: "line"},
		{Key: "rule"},
		{Key: "holds"},
		{Key: "step"},
		{Key: "what", Words: true},
		{Key: "got", Wrap: true, Words: true},
		{Key: "want", Wrap: true, Words: true},
	}))
	return j.Result(d)
}

// runExample runs one example and reports in what it does not hold.
func runExample(j *cli.Job, set *rules.Set, e *rules.Example, rule string) (rows []example) {
	for _, d := range merge.CheckExample(set, e) {
		row := example{Pos: e.Pos, Rule: rule, What: d.What, Got: d.Got, Want: d.Want}
		pos, about := e.Pos, "the "+d.What
		if d.Step >= 0 {
			number := d.Step + 1
			row.Step = &number
			pos, about = e.Gives[d.Step].Pos, fmt.Sprintf("the %s of step %d", d.What, d.Step+1)
		}
		verb := "is"
		if d.What == "steps" || d.What == "args" {
			verb = "are"
		}
		problem := diag.New(pos, "example-failed", "%s %s not as expected", about, verb)
		problem.Note(diag.Pos{}, "got   %s", orNone(d.Got))
		j.Problems.Add(problem.Note(diag.Pos{}, "want  %s", orNone(d.Want)))
		rows = append(rows, row)
	}
	if rows == nil {
		rows = []example{{Pos: e.Pos, Rule: rule, Holds: true}}
	}
	return rows
}

// orNone is what is shown for a text that may be empty.
func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
