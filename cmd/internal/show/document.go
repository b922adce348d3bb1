package show

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

func (s *shower) result(in *cli.Intake) JSON {
	s.sorted()
	out := JSON{Schema: "awo.show/v1", Input: in.JSON(), Trajectory: s.shown, Calls: s.calls, Found: s.found}
	if s.id == "" && s.find == nil {
		out.Trajectories = s.list
	}
	return out
}

func (s *shower) document(in *cli.Intake, out JSON) *report.Document {
	d := &report.Document{}
	switch {
	case s.id != "":
		for i := range out.Trajectory {
			s.one(d, &out.Trajectory[i])
		}
	case s.find != nil:
		d.Title = "Calls that were looked for"
		s.matches(d, out)
	default:
		d.Title = "Trajectories"
		d.Add(in.Summary())
		s.index(d, out)
	}
	return d
}

func money(f stat.Figure) report.Cell { return report.FloatOf(f, 4) }

func (s *shower) index(d *report.Document, out JSON) {
	rows := out.Trajectories
	if s.o.Limit > 0 {
		rows = rows[:min(len(rows), s.o.Limit)]
	}
	table := report.NewTable("trajectories", "",
		report.Column{Key: "id", Title: "ID", Max: 40},
		report.Column{Key: "outcome"},
		report.Column{Key: "turns", Align: report.Right},
		report.Column{Key: "calls", Align: report.Right},
		report.Column{Key: "failed", Align: report.Right},
		report.Column{Key: "tokens", Align: report.Right},
		report.Column{Key: "cost_usd", Title: "money", Unit: "USD", Align: report.Right},
	)
	estimated := 0
	for i := range rows {
		l := &rows[i]
		table.Add(report.Name(l.ID), report.Text(l.Outcome), report.Int(l.Turns), report.Int(l.Calls), report.Int(l.Failed), report.Int64(l.Tokens), money(l.CostUSD))
		estimated += l.Estimated
	}
	if left := len(out.Trajectories) - len(rows); left > 0 {
		table.Note("%s more; --limit 0 and --format json list all.", cli.CountOf(left, "trajectory"))
	}
	if estimated > 0 {
		table.Note("The tokens of %s are counted from texts, because the traces record none, and not scaled: `awo cost` does.", cli.CountOf(estimated, "turn"))
	}
	d.Add(table)
	if len(rows) > 0 {
		d.Add(report.Paragraph("Next: `awo show FILES " + rows[0].ID + "` shows the first of them turn by turn."))
	}
}

func (s *shower) matches(d *report.Document, out JSON) {
	d.Add(report.Paragraph(fmt.Sprintf("The expression holds for %s in %s.", cli.CountOf(out.Found, "call"), trajectories(s.in))))
	table := report.NewTable("calls", "",
		report.Column{Key: "trajectory", Max: 40},
		report.Column{Key: "call", Align: report.Right},
		report.Column{Key: "tool", Max: 40},
		report.Column{Key: "status"},
		report.Column{Key: "arguments", Max: 60},
		report.Column{Key: "result", Max: 60},
	)
	for i := range out.Calls {
		c := &out.Calls[i]
		table.Add(report.Name(c.Trajectory), report.Int(c.Number), report.Name(c.Tool), report.Text(c.Status), report.Text(c.Arguments), report.Text(c.Result))
	}
	if left := out.Found - len(out.Calls); left > 0 {
		table.Note("%s more; --limit 0 and --format json list all.", cli.CountOf(left, "call"))
	}
	if len(out.Calls) > 0 {
		d.Add(table, report.Paragraph("Next: `awo show FILES "+out.Calls[0].Trajectory+"` shows the first of these trajectories."))
	}
}

func trajectories(n int) string { return cli.CountOf(n, "trajectory") }

// Widths of what was called and came back: of shapes, and of values.
const (
	shapeMost = 60
	valueMost = 200
)

// one shows a trajectory.
func (s *shower) one(d *report.Document, t *trajectoryJSON) {
	facts := []string{cli.CountOf(t.Turns, "turn") + ", " + cli.CountOf(t.Calls, "call")}
	if t.Failed > 0 {
		facts = append(facts, fmt.Sprintf("%d failed", t.Failed))
	}
	facts = append(facts, report.Grouped(int(t.Tokens))+" tokens")
	if usd, known := t.CostUSD.Value(); known {
		facts = append(facts, fmt.Sprintf("%.4f USD", usd))
	}
	facts = append(facts, "outcome "+t.Outcome)
	where := fmt.Sprintf("Recorded in %s:%d as %s", t.File, t.Line, t.Format)
	for _, f := range [][2]string{{"agent", t.Agent}, {"model", t.Model}, {"task", t.Task}} {
		if f[1] != "" {
			where += fmt.Sprintf(", %s %s", f[0], f[1])
		}
	}
	d.Sections = append(d.Sections, report.Section{Heading: "Trajectory " + t.ID})
	d.Add(report.Paragraph(strings.Join(facts, ", ") + ". " + where + "."))
	timed, most := false, shapeMost
	for i := range t.Turn {
		for k := range t.Turn[i].Calls {
			_, known := t.Turn[i].Calls[k].Seconds.Value()
			timed = timed || known
		}
	}
	if s.j.ShowValues {
		most = valueMost
	}
	columns := []report.Column{
		{Key: "turn", Align: report.Right},
		{Key: "from"},
		{Key: "call", Align: report.Right},
		{Key: "what", Max: most},
		{Key: "result", Max: most},
		{Key: "status"},
	}
	if timed {
		columns = append(columns, report.Column{Key: "seconds", Unit: "s", Align: report.Right})
	}
	table := report.NewTable("steps", "", append(columns,
		report.Column{Key: "tokens", Align: report.Right},
		report.Column{Key: "cost_usd", Title: "money", Unit: "USD", Align: report.Right})...)
	empty := report.Text("")
	for i := range t.Turn {
		step := &t.Turn[i]
		turn, tokens, cost := empty, empty, empty
		if step.Turn > 0 {
			turn, tokens, cost = report.Int(step.Turn), report.Int64(step.Tokens), money(step.CostUSD)
		}
		add := func(cells []report.Cell, seconds report.Cell) {
			if timed {
				cells = append(cells, seconds)
			}
			table.Add(append(cells, tokens, cost)...)
			turn, tokens, cost = empty, empty, empty
		}
		if step.Text != "" || len(step.Calls) == 0 {
			add([]report.Cell{turn, report.Text(step.From), empty, report.Text(step.Text), empty, empty}, empty)
		}
		for k := range step.Calls {
			c := &step.Calls[k]
			add([]report.Cell{turn, report.Text(c.Origin), report.Int(c.number), report.Name(c.Tool + " " + c.Arguments), report.Text(c.Result), report.Text(c.Status)}, report.FloatOf(c.Seconds, 3))
		}
	}
	if !s.j.ShowValues {
		table.Note("Values are shown by their shape; --show-values shows them.")
	}
	d.Add(table)
	if t.Places != nil {
		d.Add(s.places(t)...)
	}
}

// places says where meta-tools could have stood in.
func (s *shower) places(t *trajectoryJSON) []report.Block {
	if len(t.Places) == 0 {
		return []report.Block{report.Paragraph("None of the meta-tools could have stood in here and saved a turn.")}
	}
	table := report.NewTable("places", "Where meta-tools could have stood in",
		report.Column{Key: "meta_tool", Title: "meta-tool", Max: 50},
		report.Column{Key: "first_call", Title: "from call", Align: report.Right},
		report.Column{Key: "last_call", Title: "to call", Align: report.Right},
		report.Column{Key: "turns_saved", Title: "turns saved", Align: report.Right},
		report.Column{Key: "exact", Title: "the same calls"},
	)
	for i := range t.Places {
		p := &t.Places[i]
		table.Add(report.Name(p.Tool), report.Int(p.First), report.Int(p.Last), report.Int(p.Turns), report.Bool(p.Exact))
	}
	table.Note("Places may overlap. Turns saved are an upper bound: the agent would have to choose the meta-tool.")
	return []report.Block{table}
}
