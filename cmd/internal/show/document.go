package show

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

func (s *shower) document(in *cli.Intake) *report.Document {
	d := &report.Document{Title: "Trajectories"}
	switch out := (figures{Input: in.JSON(), Found: len(s.calls)}); {
	case s.id != "":
		d.Figures = out
		s.one(d)
	case s.find != nil:
		d.Title, d.Figures = "Calls that were looked for", out
		s.matches(d)
	default:
		d.Figures = out
		s.sorted()
		s.index(d)
		d.Add(in.Summary())
	}
	return d
}

// most are what a list that is sorted so begins with.
var most = map[string]func(l *line) string{
	"calls":  func(l *line) string { return "the most calls, " + report.Grouped(l.Calls) + "," },
	"failed": func(l *line) string { return "the most failed calls, " + report.Grouped(l.Failed) + "," },
	"tokens": func(l *line) string { return "the most tokens, " + report.Grouped(int(l.Tokens)) + "," },
	"money": func(l *line) string {
		usd, known := l.CostUSD.Value()
		if !known {
			return ""
		}
		return "the highest cost, " + cli.Dollars(usd) + " USD,"
	},
}

// indexAnswer says which trajectory comes first, and why.
func (s *shower) indexAnswer() string {
	text := trajectories(len(s.list))
	if len(s.list) == 0 {
		return text + "."
	}
	first := &s.list[0]
	if words := most[s.o.Sort]; words != nil && words(first) != "" {
		return fmt.Sprintf("Of %s %s has %s in %s; its outcome is %s.", text, first.ID, words(first), cli.CountOf(first.Turns, "turn"), first.Outcome)
	}
	return fmt.Sprintf("%s; the first is %s.", text, first.ID)
}

func (s *shower) index(d *report.Document) {
	d.Answer = s.indexAnswer()
	table := lines(s.list)
	estimated := 0
	for i := range s.list {
		estimated += s.list[i].Estimated
	}
	table.NoteIf(estimated > 0, "The tokens of %s are counted from texts, because the traces record none, and not scaled: `awo cost` does.", cli.CountOf(estimated, "turn"))
	d.Add(limited(table))
	if len(s.list) > 0 {
		d.Next = []string{s.j.Then(s.files, "the first of them, turn by turn", "show", "{}", s.list[0].ID)}
	}
}

func lines[T any](list []T) *report.Table {
	return report.TableOf("trajectories", "", list, []report.Column{
		{Key: "id", Title: "ID", Max: 40},
		{Key: "outcome", Words: true},
		{Key: "turns"},
		{Key: "calls"},
		{Key: "failed"},
		{Key: "tokens"},
		{Key: "cost_usd", Title: "money", Unit: "USD", Digits: 4},
	})
}

// listed is how many rows texts list.
const listed = 15

func limited(t *report.Table) *report.Table {
	t.Most, t.Brief = listed, len(t.Rows)
	return t
}

func (s *shower) matches(d *report.Document) {
	d.Answer = fmt.Sprintf("The expression holds for %s in %s.", cli.CountOf(len(s.calls), "call"), trajectories(s.in))
	d.Add(limited(report.TableOf("calls", "", s.calls, []report.Column{
		{Key: "trajectory", Max: 40},
		{Key: "call"},
		{Key: "tool", Max: 40},
		{Key: "status", Words: true},
		{Key: "arguments", Max: 60, Words: true},
		{Key: "result", Max: 60, Words: true},
	})).IfAny())
	if len(s.calls) > 0 {
		d.Next = []string{s.j.Then(s.files, "the first of these trajectories, turn by turn", "show", "{}", s.calls[0].Trajectory)}
	}
}

func trajectories(n int) string { return cli.CountOf(n, "trajectory") }

// Widths of what was called and came back: of shapes, and of values.
const (
	shapeMost = 60
	valueMost = 200
)

// one shows a trajectory, or all that have its ID.
func (s *shower) one(d *report.Document) {
	var list []recorded
	var steps []step
	for _, t := range s.shown {
		list, steps = append(list, t.recorded), append(steps, t.steps...)
	}
	t, table := &list[0], lines(list)
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
	d.Answer = fmt.Sprintf("Trajectory %s made %s; its outcome is %s.", t.ID, strings.Join(facts, ", "), t.Outcome)
	if len(list) > 1 {
		d.Answer = fmt.Sprintf("%s have the ID %s.", trajectories(len(list)), t.ID)
		where = "They are shown one after the other"
	} else {
		table = table.Hidden()
	}
	if !s.j.ShowValues {
		where += ". Values are shown by their shape, texts by how many characters they have; --show-values shows them"
	}
	d.Add(table, report.Paragraph(where+"."), s.steps(steps, len(list) > 1))
}

func (s *shower) steps(rows []step, several bool) *report.Table {
	timed, priced, judged, width := false, false, false, shapeMost
	for i := range rows {
		timed = timed || rows[i].Seconds != nil && rows[i].Seconds.Known()
		priced = priced || rows[i].CostUSD != nil && rows[i].CostUSD.Known()
		judged = judged || rows[i].Status != "" && rows[i].Status != trace.StatusUnknown.String()
	}
	if s.j.ShowValues {
		width = valueMost
	}
	table := report.TableOf("steps", "", rows, []report.Column{
		{Key: "source", Title: "recorded in", Max: 40, Hide: !several},
		{Key: "turn"},
		{Key: "from", Words: true},
		{Key: "call"},
		{Key: "tool", Max: 40},
		{Key: "what", Title: "text or arguments", Max: width, Words: true},
		{Key: "result", Max: width, Words: true},
		{Key: "status", Words: true, Hide: !judged},
		{Key: "seconds", Unit: "s", Digits: 3, Hide: !timed},
		{Key: "tokens"},
		{Key: "cost_usd", Title: "money", Unit: "USD", Digits: 4, Hide: !priced},
	})
	table.Brief = len(table.Rows)
	return table
}
