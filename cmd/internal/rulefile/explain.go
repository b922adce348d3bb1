package rulefile

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
	"github.com/spf13/cobra"
)

// explainOptions are the flags of `awo rules explain`.
type explainOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	Trajectory       string `mapstructure:"trajectory"`
	Call             int    `mapstructure:"call"`
}

func newExplain(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "explain RULES TRACES...",
		Short: "Explain what each stage of the rules did to one call",
		Long: `Explain what the rules made of one recorded call: every rule that matches it, in the
order in which they apply, with what was there before and after; of rules of which
the last one wins also those that lost, and to which. Then the step that came out,
with its effect and domain, and the states that it leads from and to.

The traces are merged as by awo graph, so that the states have the same numbers
there. Argument values are shown as ordinals such as ‹v1›; --show-values shows them.

` + cli.FilesHelp,
		Example: "  awo rules explain rules.yaml traces/ --trajectory run-17 --call 3",
		Args:    rulesAndFiles,
	}
	f := c.Flags()
	cli.AddInput(f)
	f.String("trajectory", "", "`ID` of the trajectory, as awo inspect and the traces have it")
	f.Int("call", 1, "`N`th call of the trajectory, from 1, those included that rules drop")
	return cli.Work(a, c, explainRules)
}

// ExplanationJSON is the JSON of `awo rules explain`.
type ExplanationJSON struct {
	Schema     string              `json:"schema"`
	Trajectory string              `json:"trajectory"`
	Call       int                 `json:"call"`
	Calls      int                 `json:"calls"` // of the trajectory
	Tool       string              `json:"tool"`
	Label      string              `json:"label"` // as recorded, values as ordinals
	Status     string              `json:"status"`
	Rules      []appliedRuleJSON   `json:"rules"`
	Fate       string              `json:"fate"` // step, dropped, failed, not-the-model's or unread
	Steps      []explainedStepJSON `json:"steps"`
}

type appliedRuleJSON struct {
	diag.Pos
	Rule        string `json:"rule"`
	Kind        string `json:"kind"`
	Decides     bool   `json:"decides"`
	OverruledBy string `json:"overruled_by"` // "" for none
	Changes     bool   `json:"changes"`
	Before      string `json:"before"`
	After       string `json:"after"`
}

type explainedStepJSON struct {
	Label      string `json:"label"`
	Status     string `json:"status"`
	Effect     string `json:"effect"`
	Idempotent bool   `json:"idempotent"`
	Domain     string `json:"domain"`
	Barrier    bool   `json:"barrier"`
	Inserted   bool   `json:"inserted"`
	Calls      int    `json:"calls"`
	Cut        bool   `json:"cut"`
	From       int    `json:"from"`
	To         int    `json:"to"`
	Visits     int    `json:"visits"` // of the state it leads to
}

func explainRules(j *cli.Job, o explainOptions, args []string) error {
	switch {
	case o.Trajectory == "":
		return cli.Usagef("--trajectory: name the trajectory that the call is in")
	case o.Call < 1:
		return cli.Usagef("--call: calls are counted from 1, and %d is none", o.Call)
	}
	set, err := j.Rules(args[0])
	if err != nil {
		return err
	}
	in, err := j.Intake(args[1:], o.InputOptions, trace.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	in.Statuses = nil // what rules make of a call is told beside what was recorded
	merger := merge.NewMerger(set, merge.Options{})
	var found *trace.Trajectory
	number, n := 0, 0
	for t, err := range in.All() {
		if err != nil {
			return err
		}
		merger.Add(t)
		if t.ID == o.Trajectory {
			if found != nil {
				return cli.Usagef("--trajectory: there are two trajectories %q, at %s and %s; read one of the files alone", o.Trajectory, found.Source, t.Source)
			}
			found, number = t, n
		}
		n++
	}
	if found == nil {
		return cli.Usagef("--trajectory: none of %s has the id %q", cli.CountOf(n, "trajectory"), o.Trajectory)
	}
	if o.Call > len(found.Calls) {
		return cli.Usagef("--call: the trajectory has %s", cli.CountOf(len(found.Calls), "call"))
	}
	merged := merger.Merged()
	e := merged.Explain(found, number, o.Call-1, merged.Masker(j.ShowValues))
	out := explanationResult(e)
	out.Trajectory, out.Call, out.Calls = found.ID, o.Call, len(found.Calls)
	return j.Print(explanationDocument(out), out)
}

func explanationResult(e *merge.Explanation) ExplanationJSON {
	out := ExplanationJSON{
		Schema: "awo.rules-explanation/v1", Tool: e.Tool, Label: e.Label, Status: e.Status.String(), Fate: e.Fate.String(),
	}
	for _, a := range e.Stages {
		rule := appliedRuleJSON{
			Pos: a.Rule.Pos, Rule: a.Rule.ID, Kind: a.Rule.Kind.String(), Decides: a.OverruledBy == nil,
			Changes: a.OverruledBy == nil && !a.Idle, Before: a.Before, After: a.After,
		}
		if a.OverruledBy != nil {
			rule.OverruledBy = a.OverruledBy.ID
		}
		out.Rules = append(out.Rules, rule)
	}
	out.Steps = cli.Map(e.Steps, func(s *merge.ExplainedStep) explainedStepJSON {
		return explainedStepJSON{s.Label, s.Status.String(), s.Effect.String(), s.Twice, s.Domain, s.Barrier, s.Inserted, s.Calls, s.Cut, int(s.From), int(s.To), s.Visits}
	})
	return out
}

// fates say in words what became of a call that is no step.
var fates = map[string]string{
	merge.FateDropped.String(): "A drop rule leaves the call out.",
	merge.FateFailed.String():  "The call failed, and the policy for failed calls leaves it out.",
	merge.FateOther.String():   "No model decided on the call, so it is in no sequence and no rule is asked.",
	merge.FateUnread.String():  "The policy `outcome: success` leaves out the whole trajectory.",
}

func explanationDocument(out ExplanationJSON) *report.Document {
	d := &report.Document{Title: fmt.Sprintf("Call %d of %d in %s", out.Call, out.Calls, out.Trajectory)}
	d.Add(report.Paragraph(fmt.Sprintf("Recorded: %s (status %s).", out.Label, out.Status)))
	if len(out.Rules) == 0 {
		d.Add(report.Paragraph("No rule matches the call."))
	}
	d.Add(report.TableOf("rules", "", out.Rules, []report.Column{
		{Key: "kind", Words: true},
		{Key: "rule"},
		{Key: "verdict", Cell: report.By(func(r *appliedRuleJSON) report.Cell {
			switch {
			case r.OverruledBy != "":
				return report.Text("overruled by " + r.OverruledBy)
			case !r.Changes:
				return report.Text("changes nothing")
			}
			return report.Text("applies")
		})},
		{Key: "before", Max: 48, Wrap: true, Words: true},
		{Key: "after", Max: 48, Wrap: true, Words: true},
	}).IfAny())
	if text := fates[out.Fate]; text != "" {
		d.Add(report.Paragraph(text))
		return d
	}
	steps := report.TableOf("steps", "", out.Steps, []report.Column{
		{Key: "label", Max: 60, Wrap: true, Words: true},
		{Key: "effect", Words: true},
		{Key: "domain", Words: true},
		{Key: "from", Title: "from state"},
		{Key: "to", Title: "to state"},
		{Key: "visits"},
		{Key: "remarks", Wrap: true, Cell: report.By(func(s *explainedStepJSON) report.Cell { return report.Text(remarks(s)) })},
	})
	steps.Note("State 0 is the root; visits count how often executions came to the state that the step leads to.")
	d.Add(steps)
	return d
}

// remarks are what else there is to say of a step.
func remarks(s *explainedStepJSON) string {
	var text []string
	for _, x := range []struct {
		is     bool
		remark string
	}{
		{s.Inserted, "inserted by a rule"},
		{s.Calls > 1, fmt.Sprintf("%d calls folded", s.Calls)},
		{s.From == s.To, "leaves the state as it is"},
		{s.Idempotent, "may be repeated"},
		{s.Barrier, "barrier"},
		{s.Cut, "starts again at the root"},
	} {
		if x.is {
			text = append(text, x.remark)
		}
	}
	return strings.Join(text, ", ")
}
