package rulefile

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// explanation are the figures of `awo rules check --explain`.
type explanation struct {
	Trajectory string `json:"trajectory"`
	Call       int    `json:"call"`
	Calls      int    `json:"calls"` // of the trajectory
	Tool       string `json:"tool"`
	Label      string `json:"label"` // as recorded, values as ordinals
	Status     string `json:"status"`
	Fate       string `json:"fate"` // step, dropped, failed, not-the-model's or unread
}

type appliedRule struct {
	diag.Pos
	Rule        string `json:"rule"`
	Kind        string `json:"kind"`
	Decides     bool   `json:"decides"`
	OverruledBy string `json:"overruled_by"` // "" for none
	Changes     bool   `json:"changes"`
	Before      string `json:"before"`
	After       string `json:"after"`
}

type explainedStep struct {
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

// explainRules is `awo rules check --explain`.
func explainRules(j *cli.Job, o checkOptions, args []string) error {
	files, traces := splitRules(args)
	switch {
	case len(files) != 1 || len(traces) == 0:
		return cli.Usagef("--explain wants one rule file and then files or folders of traces")
	case o.Call < 1:
		return cli.Usagef("--call: calls are counted from 1, and %d is none", o.Call)
	}
	set, err := j.Rules(files[0])
	if err != nil {
		return err
	}
	in, err := j.Intake(traces, trace.Options{})
	if err != nil {
		return err
	}
	in.Statuses = nil // what rules make of a call is told beside what was recorded
	merger := merge.NewMerger(set, merge.Options{})
	var found *trace.Trajectory
	number, n := 0, 0
	for t, err := range in.All() {
		if err != nil {
			return err
		}
		merger.Add(t)
		if t.ID == o.Explain {
			if found != nil {
				return cli.Usagef("--explain: there are two trajectories %q, at %s and %s; read one of the files alone", o.Explain, found.Source, t.Source)
			}
			found, number = t, n
		}
		n++
	}
	if found == nil {
		return cli.Usagef("--explain: none of %s has the id %q", cli.CountOf(n, "trajectory"), o.Explain)
	}
	if o.Call > len(found.Calls) {
		return cli.Usagef("--call: the trajectory has %s", cli.CountOf(len(found.Calls), "call"))
	}
	merged := merger.Merged()
	e := merged.Explain(found, number, o.Call-1, merged.Masker(j.ShowValues))
	var applied []appliedRule
	for _, a := range e.Stages {
		rule := appliedRule{
			Pos: a.Rule.Pos, Rule: a.Rule.ID, Kind: a.Rule.Kind.String(), Decides: a.OverruledBy == nil,
			Changes: a.OverruledBy == nil && !a.Idle, Before: a.Before, After: a.After,
		}
		if a.OverruledBy != nil {
			rule.OverruledBy = a.OverruledBy.ID
		}
		applied = append(applied, rule)
	}
	steps := cli.Map(e.Steps, func(s *merge.ExplainedStep) explainedStep {
		return explainedStep{s.Label, s.Status.String(), s.Effect.String(), s.Twice, s.Domain, s.Barrier, s.Inserted, s.Calls, s.Cut, int(s.From), int(s.To), s.Visits}
	})
	out := explanation{found.ID, o.Call, len(found.Calls), e.Tool, e.Label, e.Status.String(), e.Fate.String()}
	return j.Result(explanationDocument(out, applied, steps))
}

// fates say in words what became of a call that is no step.
var fates = map[string]string{
	merge.FateDropped.String(): "A drop rule leaves the call out.",
	merge.FateFailed.String():  "The call failed, and the policy for failed calls leaves it out.",
	merge.FateOther.String():   "No model decided on the call, so it is in no sequence and no rule is asked.",
	merge.FateUnread.String():  "The policy `outcome: success` leaves out the whole trajectory.",
}

func explanationDocument(out explanation, applied []appliedRule, made []explainedStep) *report.Document {
	d := &report.Document{Figures: out, Title: fmt.Sprintf("Call %d of %d in %s", out.Call, out.Calls, out.Trajectory)}
	d.Add(report.Paragraph(fmt.Sprintf("Recorded: %s (status %s).", out.Label, out.Status)))
	if len(applied) == 0 {
		d.Add(report.Paragraph("No rule matches the call."))
	}
	d.Add(report.TableOf("rules", "", applied, []report.Column{
		{Key: "kind", Words: true},
		{Key: "rule"},
		{Key: "verdict", Cell: report.By(func(r *appliedRule) report.Cell {
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
	steps := report.TableOf("steps", "", made, []report.Column{
		{Key: "label", Max: 60, Wrap: true, Words: true},
		{Key: "effect", Words: true},
		{Key: "domain", Words: true},
		{Key: "from", Title: "from state"},
		{Key: "to", Title: "to state"},
		{Key: "visits"},
		{Key: "remarks", Wrap: true, Cell: report.By(func(s *explainedStep) report.Cell { return report.Text(remarks(s)) })},
	})
	steps.Note("State 0 is the root; visits count how often executions came to the state that the step leads to.")
	d.Add(steps)
	return d
}

// remarks are what else there is to say of a step.
func remarks(s *explainedStep) string {
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
