// Package show is `awo show`: single trajectories, turn by turn, and the search for
// those that are worth looking at.
//
// In come traces; out goes one trajectory, a list of them, or the calls that a condition
// holds for. Arguments, results and texts are shown as their shape, unless they are
// asked for. It keeps a row for each trajectory, or for each call that was found.
package show

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

type options struct {
	Find string `mapstructure:"find"`
	Sort string `mapstructure:"sort"`
}

// New returns `awo show`.
func New(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "show FILES... [ID]",
		Short: "Show a trajectory turn by turn, or find the ones to look at",
		Long: `Show one trajectory turn by turn: what was called, what it took, what each turn cost in
tokens and money. Arguments, results and texts are shown as their shape; --show-values
shows them, but for what looks like a credential. The last argument is the ID, or what only
one ID begins with, if there is no file of that name; every table of awo that names
trajectories prints such ids.

Without an ID the trajectories are listed, most calls first, or by --sort. --find lists the
calls for which an expression holds, in which these names may be used:

` + callNames() + `
` + cli.FilesHelp,
		Example: `  awo show traces/
  awo show traces/ run-000017
  awo show traces/ run-000017 --show-values
  awo show traces/ --find 'tool == "get_order" && status == "failed"'`,
		GroupID: cli.GroupLook,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices)
	f := c.Flags()
	f.String("find", "", "list the calls for which the `EXPRESSION` holds")
	f.Var(cli.NewChoice("calls", "failed", "tokens", "money", "input"), "sort", "what the list of trajectories begins with the most of; input is the order in which they were read")
	return cli.Work(a, c, show)
}

func callNames() string {
	var b strings.Builder
	for _, n := range filter.CallNames() {
		fmt.Fprintf(&b, "  %-32s %s\n", n[0], n[1])
	}
	return b.String()
}

// split takes an ID that is the last argument off the files.
func split(args []string) (files []string, id string) {
	last := len(args) - 1
	if last < 1 || args[last] == "-" || strings.ContainsAny(args[last], "*?[") {
		return args, ""
	}
	if _, err := os.Stat(args[last]); err == nil {
		return args, ""
	}
	return args[:last], args[last]
}

func show(j *cli.Job, o options, args []string) error {
	files, id := split(args)
	if id != "" && o.Find != "" {
		return cli.Usagef("--find lists calls of many trajectories, and the ID %q chooses one: use --find 'id == %q && ...'", id, id)
	}
	s := &shower{j: j, o: o, id: id, files: files}
	var err error
	if o.Find != "" {
		if s.find, err = filter.CompileCall("--find", o.Find); err != nil {
			return err
		}
	}
	s.marker = extraction.NewMarker(j.Set)
	s.meter = j.Meter()
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	for t, err := range in.All() {
		if err != nil {
			return err
		}
		if err := s.see(t); err != nil {
			return err
		}
	}
	if id != "" && len(s.shown) == 0 {
		if s.begun != 1 {
			return s.unknown()
		}
		s.shown = []trajectory{s.only}
	}
	return j.Result(s.document(in))
}

// shower collects what is shown.
type shower struct {
	j      *cli.Job
	o      options
	id     string
	files  []string
	find   *filter.CallExpression
	marker extraction.Marker
	meter  *cost.Meter

	shown []trajectory // with that ID
	begun int          // whose ID begins with it
	only  trajectory   // the first of those
	list  []line
	calls []found
	in    int // trajectories with one of these
	near  nearest
}

// mostShown bounds trajectories of one ID that are shown.
const mostShown = 20

func (s *shower) see(t *trace.Trajectory) error {
	if s.id != "" {
		if t.ID != s.id {
			s.near.see(t.ID)
			if strings.HasPrefix(t.ID, s.id) {
				if s.begun++; s.begun == 1 {
					s.only = s.trajectory(t)
				}
			}
			return nil
		}
		if len(s.shown) < mostShown {
			s.shown = append(s.shown, s.trajectory(t))
		}
		return nil
	}
	if s.find == nil {
		s.list = append(s.list, s.line(t))
		return nil
	}
	any := false
	if s.marker != (extraction.Marker{}) {
		s.marker.Marks(t) // statuses that rules read
	}
	for i := range t.Calls {
		holds, err := s.find.Holds(t, i)
		if err != nil {
			return err
		}
		if !holds {
			continue
		}
		any = true
		s.calls = append(s.calls, found{t.ID, s.call(&t.Calls[i], i)})
	}
	if any {
		s.in++
	}
	return nil
}

// line is a row of the list.
func (s *shower) line(t *trace.Trajectory) line {
	line := line{ID: t.ID, Task: t.Task, Model: t.Model, Outcome: t.Outcome.String(), Turns: len(t.Turns), Calls: len(t.Calls)}
	for i := range t.Calls {
		if t.Calls[i].Status == trace.StatusFailed {
			line.Failed++
		}
	}
	total := s.meter.Trajectory(t).Total()
	line.Tokens, line.CostUSD = totalsOf(total)
	line.Estimated = total.Estimated
	return line
}

// totalsOf returns tokens and money, where a price is known.
func totalsOf(t cost.Totals) (tokens int64, money stat.Figure) {
	money = stat.Unknown("no price of the model is known, or no turn is recorded")
	if t.Turns > 0 && t.Unpriced == 0 {
		money = stat.Known(t.USD)
	}
	return t.Tokens(), money
}

// sorted puts the list into the order that was asked for.
func (s *shower) sorted() {
	by := map[string]func(l *line) float64{
		"calls":  func(l *line) float64 { return float64(l.Calls) },
		"failed": func(l *line) float64 { return float64(l.Failed) },
		"tokens": func(l *line) float64 { return float64(l.Tokens) },
		"money":  func(l *line) float64 { v, _ := l.CostUSD.Value(); return v },
	}[s.o.Sort]
	if by == nil {
		return
	}
	slices.SortStableFunc(s.list, func(x, y line) int { return cmp.Compare(by(&y), by(&x)) })
}

// nearest remembers the ID that is most like the one that was asked for.
type nearest struct {
	best  []string
	total int
}

// nearMost bounds the ids that are compared.
const nearMost = 5000

func (n *nearest) see(id string) {
	n.total++
	if len(n.best) < nearMost {
		n.best = append(n.best, id)
	}
}

func (s *shower) unknown() error {
	text := fmt.Sprintf("none of %s has the ID %q", cli.CountOf(s.near.total, "trajectory"), s.id)
	if s.begun > 1 {
		text += fmt.Sprintf("; %d begin with it", s.begun)
	} else if near := diag.Nearest(s.id, s.near.best); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return diag.New(diag.Pos{}, "trajectory-unknown", "%s `awo show FILES` lists them", text+";")
}
