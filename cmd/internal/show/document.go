package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
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
		s.index(d, out)
		d.Add(in.Summary())
	}
	return d
}

func money(f stat.Figure) report.Cell { return report.FloatOf(f, 4) }

// most are what a list that is sorted so begins with.
var most = map[string]func(l *lineJSON) string{
	"calls":  func(l *lineJSON) string { return "the most calls, " + report.Grouped(l.Calls) + "," },
	"failed": func(l *lineJSON) string { return "the most failed calls, " + report.Grouped(l.Failed) + "," },
	"tokens": func(l *lineJSON) string { return "the most tokens, " + report.Grouped(int(l.Tokens)) + "," },
	"money": func(l *lineJSON) string {
		usd, known := l.CostUSD.Value()
		if !known {
			return ""
		}
		return "the highest cost, " + cli.Dollars(usd) + " USD,"
	},
}

// indexAnswer says which trajectory comes first, and why.
func (s *shower) indexAnswer(out JSON) string {
	text := trajectories(len(out.Trajectories))
	if len(out.Trajectories) == 0 {
		return text + "."
	}
	first := &out.Trajectories[0]
	if words := most[s.o.Sort]; words != nil && words(first) != "" {
		return fmt.Sprintf("Of %s %s has %s in %s; its outcome is %s.", text, first.ID, words(first), cli.CountOf(first.Turns, "turn"), first.Outcome)
	}
	return fmt.Sprintf("%s; the first is %s.", text, first.ID)
}

func (s *shower) index(d *report.Document, out JSON) {
	d.Answer = s.indexAnswer(out)
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
	var left report.Paragraph
	if n := len(out.Trajectories) - len(rows); n > 0 {
		left = report.Paragraph(cli.CountOf(n, "trajectory") + " more; --limit 0 and --format json list all.")
	}
	if estimated > 0 {
		table.Note("The tokens of %s are counted from texts, because the traces record none, and not scaled: `awo cost` does.", cli.CountOf(estimated, "turn"))
	}
	table.Brief = len(rows)
	d.Add(table, left)
	if len(rows) > 0 {
		d.Next = []string{s.j.Then(s.files, "the first of them, turn by turn", "show", "{}", rows[0].ID)}
	}
}

func (s *shower) matches(d *report.Document, out JSON) {
	d.Answer = fmt.Sprintf("The expression holds for %s in %s.", cli.CountOf(out.Found, "call"), trajectories(s.in))
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
	table.Brief = len(out.Calls)
	if len(out.Calls) > 0 {
		d.Add(table)
		d.Next = []string{s.j.Then(s.files, "the first of these trajectories, turn by turn", "show", "{}", out.Calls[0].Trajectory)}
	}
	if left := out.Found - len(out.Calls); left > 0 {
		d.Add(report.Paragraph(cli.CountOf(left, "call") + " more; --limit 0 and --format json list all."))
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
	facts := []string{cli.CountOf(t.Calls, "call") + " in " + cli.CountOf(t.Turns, "turn")}
	if t.Failed > 0 {
		facts = append(facts, fmt.Sprintf("%d of them failed", t.Failed))
	}
	facts = append(facts, cli.Grouped(t.Tokens)+" tokens")
	if usd, known := t.CostUSD.Value(); known {
		facts = append(facts, cli.Dollars(usd)+" USD")
	}
	where := fmt.Sprintf("Recorded in %s:%d as %s", t.File, t.Line, t.Format)
	for _, f := range [][2]string{{"agent", t.Agent}, {"model", t.Model}, {"task", t.Task}} {
		if f[1] != "" {
			where += fmt.Sprintf(", %s %s", f[0], f[1])
		}
	}
	answer := fmt.Sprintf("Trajectory %s made %s; its outcome is %s.", t.ID, strings.Join(facts, ", "), t.Outcome)
	if d.Answer == "" {
		d.Answer = answer
	} else { // another of the same ID
		d.Sections = append(d.Sections, report.Section{Heading: answer})
	}
	if !s.j.ShowValues {
		where += ". Values are shown by their shape, texts by how many characters they have; --show-values shows them"
	}
	d.Add(report.Paragraph(where + "."))
	timed, priced, judged, width := false, false, false, shapeMost
	for i := range t.Turn {
		_, known := t.Turn[i].CostUSD.Value()
		priced = priced || known
		for k := range t.Turn[i].Calls {
			_, known := t.Turn[i].Calls[k].Seconds.Value()
			timed = timed || known
			judged = judged || t.Turn[i].Calls[k].Status != trace.StatusUnknown.String()
		}
	}
	if s.j.ShowValues {
		width = valueMost
	}
	all := []report.Column{
		{Key: "turn", Align: report.Right},
		{Key: "from"},
		{Key: "call", Align: report.Right},
		{Key: "tool", Max: 40},
		{Key: "what", Title: "text or arguments", Max: width},
		{Key: "result", Max: width},
		{Key: "status", Hide: !judged},
		{Key: "seconds", Unit: "s", Align: report.Right, Hide: !timed},
		{Key: "tokens", Align: report.Right},
		{Key: "cost_usd", Title: "money", Unit: "USD", Align: report.Right, Hide: !priced},
	}
	table := report.NewTable("steps", "", slices.DeleteFunc(slices.Clone(all), func(c report.Column) bool { return c.Hide })...)
	add := func(cells ...report.Cell) {
		var shown []report.Cell
		for i, c := range cells {
			if !all[i].Hide {
				shown = append(shown, c)
			}
		}
		table.Add(shown...)
	}
	empty := report.Text("")
	for i := range t.Turn {
		step := &t.Turn[i]
		turn, tokens, cost := empty, empty, empty
		if step.Turn > 0 {
			turn, tokens, cost = report.Int(step.Turn), report.Int64(step.Tokens), money(step.CostUSD)
		}
		if step.Text != "" || len(step.Calls) == 0 {
			add(turn, report.Text(step.From), empty, empty, report.Text(step.Text), empty, empty, empty, tokens, cost)
			turn, tokens, cost = empty, empty, empty
		}
		for k := range step.Calls {
			c := &step.Calls[k]
			add(turn, report.Text(c.Origin), report.Int(c.number), report.Name(c.Tool), report.Text(c.Arguments), report.Text(c.Result), report.Text(c.Status), report.FloatOf(c.Seconds, 3), tokens, cost)
			turn, tokens, cost = empty, empty, empty
		}
	}
	table.Brief = len(table.Rows)
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
