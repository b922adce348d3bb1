package show

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
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
	table := report.TableOf("trajectories", "", rows, []report.Column{
		{Key: "id", Title: "ID", Max: 40},
		{Key: "outcome", Words: true},
		{Key: "turns"},
		{Key: "calls"},
		{Key: "failed"},
		{Key: "tokens"},
		{Key: "cost_usd", Title: "money", Unit: "USD", Digits: 4},
	})
	estimated := 0
	for i := range rows {
		estimated += rows[i].Estimated
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
	table := report.TableOf("calls", "", out.Calls, []report.Column{
		{Key: "trajectory", Max: 40},
		{Key: "call"},
		{Key: "tool", Max: 40},
		{Key: "status", Words: true},
		{Key: "arguments", Max: 60, Words: true},
		{Key: "result", Max: 60, Words: true},
	})
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
	// A row is a message, a call, or what a turn says beside its calls; the first of a
	// turn has what the turn cost.
	type row struct {
		Turn *turnJSON `json:"turn"` // nil where it stands in a row above, or there is none
		Call *callJSON `json:"call"`
		From string    `json:"from"`
		What string    `json:"what"`
	}
	var rows []row
	for i := range t.Turn {
		step := &t.Turn[i]
		turn := step
		if step.Turn == 0 {
			turn = nil
		}
		if step.Text != "" || len(step.Calls) == 0 {
			rows = append(rows, row{turn, nil, step.From, step.Text})
			turn = nil
		}
		for k := range step.Calls {
			c := &step.Calls[k]
			rows = append(rows, row{turn, c, c.Origin, c.Arguments})
			turn = nil
		}
	}
	table := report.TableOf("steps", "", rows, []report.Column{
		{Key: "turn", From: "turn.turn"},
		{Key: "from", Words: true},
		{Key: "call", Align: report.Right, Cell: report.By(func(r *row) report.Cell {
			if r.Call == nil {
				return report.Text("")
			}
			return report.Int(r.Call.number)
		})},
		{Key: "tool", From: "call.tool", Max: 40},
		{Key: "what", Title: "text or arguments", Max: width, Words: true},
		{Key: "result", From: "call.result", Max: width, Words: true},
		{Key: "status", From: "call.status", Words: true, Hide: !judged},
		{Key: "seconds", From: "call.seconds", Unit: "s", Digits: 3, Hide: !timed},
		{Key: "tokens", From: "turn.tokens"},
		{Key: "cost_usd", From: "turn.cost_usd", Title: "money", Unit: "USD", Digits: 4, Hide: !priced},
	})
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
	table := report.TableOf("places", "Where meta-tools could have stood in", t.Places, []report.Column{
		{Key: "meta_tool", Title: "meta-tool", Max: 50},
		{Key: "first_call", Title: "from call"},
		{Key: "last_call", Title: "to call"},
		{Key: "turns_saved", Title: "turns saved"},
		{Key: "exact", Title: "the same calls"},
	})
	table.Note("Places may overlap. Turns saved are an upper bound: the agent would have to choose the meta-tool.")
	return []report.Block{table}
}
