package extraction

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// absent is why calls in a row are no meta-tool.
type absent struct {
	absenceFigures
	candidates []found // those of these calls that were found
	takers     []taker
}

type absenceFigures struct {
	whyFigures
	Tools    []string `json:"tools"`
	Code     string   `json:"code"`
	Step     int      `json:"step"`     // of the call that the code is about, from 0
	Argument string   `json:"argument"` // of that call
	Text     string   `json:"text"`
	Count    int      `json:"count"` // see the code
	Of       int      `json:"of"`

	Called     []int                  `json:"called"`   // trajectories, by tool; empty if no traces were read
	InOrder    int                    `json:"in_order"` // trajectories
	InARow     compile.Extent         `json:"in_a_row"`
	InOneGo    compile.Extent         `json:"in_one_go"` // nothing in between that a user or a rule put there
	Between    []compile.Interruption `json:"between"`
	Majority   *compile.Majority      `json:"majority"`
	TurnsSaved *int                   `json:"turns_saved"` // what one call for each run would save at most; null if no traces were read
}

type found struct {
	Name     string         `json:"name"`
	Status   string         `json:"status"`
	Reason   string         `json:"reason"`
	Whole    bool           `json:"whole"` // these calls and no others
	Refusals []bind.Refusal `json:"refusals"`
}

type taker struct {
	Tools       []string `json:"tools"`
	Occurrences int      `json:"occurrences"`
}

// why answers from what was found in a folder, or else from the traces.
func (out *absent) why(a *cli.App, j *cli.Job, found emit.CandidatesJSON, dir string, files []string) error {
	out.lookUp(found)
	if out.Code != "" {
		return j.Result(out.document(nil))
	}
	o, err := recalledOptions(a, dir)
	if err != nil {
		return err
	}
	if m, ok := readManifest(dir); ok {
		if err := m.missing(j, dir, files); err != nil {
			return err
		}
	}
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	in.Expand, in.Follows = o.Expand, true
	c, err := compileAgain(j, o, in, j.Set)
	if err != nil {
		return err
	}
	out.explain(c)
	return j.Result(out.document(in))
}

// compileAgain compiles what the intake yields as extract does, as far as it
// matters for what is found.
func compileAgain(j *cli.Job, o Options, in *cli.Intake, set *rules.Set) (*compile.Compilation, error) {
	mined, err := in.Load(set)
	if err != nil {
		return nil, err
	}
	return compile.Run(mined.Runs, set, o.Compiler(cmp.Or(o.Threshold, candidate.DefaultThreshold), j.Parallel())), in.Refuse(set)
}

// lookUp finds the calls among what was found; if they are there whole, that is
// the answer.
func (out *absent) lookUp(all emit.CandidatesJSON) {
	for _, c := range all.Candidates {
		if len(c.Tools) < len(out.Tools) || !contains(c.Tools, out.Tools) {
			continue
		}
		one := found{c.Name, c.Status, c.Reason, len(c.Tools) == len(out.Tools), c.Refusals}
		out.candidates = append(out.candidates, one)
		if !one.Whole || out.Code == statusEmitted {
			continue
		}
		if out.Code = "left-out"; c.Status == statusEmitted {
			out.Code, out.Step, out.Argument = statusEmitted, 0, ""
		} else if len(c.Refusals) > 0 {
			out.Code, out.Step, out.Argument = c.Refusals[0].Code, c.Refusals[0].Step, c.Refusals[0].Argument
		}
	}
	for _, one := range out.candidates {
		switch {
		case !one.Whole:
		case out.Code == statusEmitted && one.Status == statusEmitted:
			out.Text = "They are offered: " + one.Name + "."
		case out.Code != statusEmitted && out.Text == "":
			out.Text = "They were found, as " + one.Name + ", and rejected: " + reasonText(one.Reason) + "."
		}
	}
}

// contains reports whether the calls stand in a row in others.
func contains(calls, part []string) bool {
	for i := 0; i+len(part) <= len(calls); i++ {
		if slices.Equal(calls[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// explain fills in why the compilation found nothing.
func (out *absent) explain(c *compile.Compilation) {
	a := c.Absence(out.Tools)
	out.Code, out.Step, out.Argument, out.Count, out.Of = a.Code, a.Step, a.Argument, a.Count, a.Of
	out.Called, out.InOrder, out.Majority = a.Called, a.InOrder, a.Majority
	out.InARow, out.InOneGo, out.Between, out.TurnsSaved = a.Runs, a.Joined, a.Cuts, &a.TurnsSaved
	for _, t := range a.Takers[:min(len(a.Takers), 5)] {
		out.takers = append(out.takers, taker{candidateTools(c, t.Candidate), t.Occurrences})
	}
	out.Text = absenceWords(out, a, c)
}

// candidateTools names the calls of a candidate.
func candidateTools(c *compile.Compilation, candidate *candidate.Candidate) []string {
	var tools []string
	for _, l := range candidate.Labels {
		name, _ := c.Merged.Labels.Tool(l)
		tools = append(tools, name.Value())
	}
	for i := range candidate.Pattern {
		tools = append(tools, candidate.Pattern[i].Tool.Value())
	}
	return tools
}

// absenceWords says it in a sentence or two.
func absenceWords(out *absent, a *compile.Absence, c *compile.Compilation) string {
	tool := out.Tools[a.Step]
	few := report.Grouped(a.Count) + " of " + cli.CountOf(a.Of, "trajectory")
	wanted := report.Grouped(a.Threshold) + " are needed"
	switch a.Code {
	case "tool-unknown":
		text := tool + " is called nowhere in these traces."
		var names []string
		for _, t := range c.Merged.Catalog.Tools() {
			if t.Called {
				names = append(names, t.Name.Value())
			}
		}
		if near := diag.Nearest(tool, names); near != "" {
			text += " Did you mean " + near + "?"
		}
		return text
	case "tool-no-step":
		return "The rules leave out all calls of " + tool + ", or join them with others."
	case "never-in-a-row":
		text := tool + " never comes directly behind the calls before it"
		if a.Between != "" {
			text += "; most often " + a.Between + " comes there"
		}
		return text + ". In this order, with other calls in between, they are made in " + cli.CountOf(a.InOrder, "trajectory") + "."
	case "in-a-row-rare":
		return "They are made in a row in " + cli.CountOf(a.Runs.Trajectories, "trajectory") + ", and " + wanted + "; in this order, with other calls in between too, in " + report.Grouped(a.InOrder) + "."
	case "user-message":
		return "A user message stands before " + tool + " too often: in a row they are made in " + cli.CountOf(a.Of, "trajectory") + ", in one go in " + report.Grouped(a.Count) + "; " + wanted + "."
	case "barrier":
		return "A barrier stands before " + tool + " too often: without it they are made in " + few + "; " + wanted + "."
	case "cut":
		return "The rules begin a new execution before " + tool + " too often: without it they are made in " + few + "; " + wanted + "."
	case "states-differ":
		return "They begin in different states: from the same one at most " + few + " make them, and " + wanted + ". --algorithm patterns looks for chains wherever they begin."
	case "self-loop":
		return tool + " mostly leaves the state as it is (it was made before, or leaves no trace), and Algorithm 1 follows no such edge."
	case "too-long":
		return "A pattern has at most " + report.Grouped(a.Count) + " calls."
	case "call-unbound":
		return tool + " failed, or rules made it of several calls: without that " + few + " make them; " + wanted + "."
	case "call-repeated":
		return tool + " is made again with the same arguments as before: without that " + few + " make them; " + wanted + "."
	case "argument-unknown":
		argument := a.Argument
		if argument == "" {
			argument = "an argument"
		}
		return argument + " of " + tool + " is not known when the first call is made, and no earlier result gives it: without that " + few + " make them; " + wanted + "."
	case "argument-unproven":
		return a.Argument + " of " + tool + " came from what " + a.From + " returned each time, in too few calls to rely on it: more runs are needed."
	case "list-walked":
		return "The calls of " + tool + " are part of a longer walk over a list: apart from that " + few + " make them; " + wanted + "."
	case "sources-differ":
		return "Their arguments come from different places: from the same ones in at most " + few + ", and " + wanted + "."
	case "saves-nothing":
		return "Nothing would be saved: the calls are made in one turn anyway, or another is made in the last one."
	case "taken":
		return "Their calls are in others that were found, which save more or come first."
	}
	if out.Majority != nil {
		return "Before " + tool + ": " + majorityWords(out.Majority, a.Threshold) + "."
	}
	return ""
}

func (out *absent) document(in *cli.Intake) *report.Document {
	d := &report.Document{Title: "Why not " + strings.Join(out.Tools, " → "), Figures: out.absenceFigures}
	if in != nil {
		d.Add(in.Summary())
	}
	d.Add(report.Paragraph(report.Escape(out.Text) + " (" + out.Code + ")"))
	d.Add(
		report.TableOf("candidates", "What was found with these calls in it", out.candidates, []report.Column{
			{Key: "name", Max: 42}, {Key: "status"}, {Key: "reason", Title: "rejected because", Max: 60, Wrap: true},
		}).IfAny(),
		report.TableOf("takers", "What was found in their places", out.takers, []report.Column{
			{Key: "calls", From: "tools", Max: 72, Wrap: true, Join: " → "}, {Key: "times", From: "occurrences", Title: "overlaps"},
		}).IfAny(),
	)
	return d
}
