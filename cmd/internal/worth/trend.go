package worth

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// trend counts by period what --by day and --by week show.
type trend struct {
	week  bool
	calls map[string]map[string]*[2]float64 // by period and tool: calls whose end or result is known, and those that failed
}

// period is what one day or week cost, and why that is more or less than the one before.
type period struct {
	Period        string        `json:"period"` // 2026-03-25, or 2026-W13; "" for trajectories without a time
	Trajectories  int           `json:"trajectories"`
	Turns         int           `json:"turns"`
	Paid          stat.Figure   `json:"paid_usd"`
	PerTrajectory stat.Figure   `json:"usd_per_trajectory"`
	Effects       *cost.Effects `json:"effects"`      // null in the first period, and where the cost of one is not known
	Failing       string        `json:"failing_more"` // the tool that fails more often than in the period before, "" for none
}

// newTrend returns what counts by the periods that are asked for, nil if none are.
func newTrend(by string) *trend {
	if by != "day" && by != "week" {
		return nil
	}
	return &trend{week: by == "week", calls: map[string]map[string]*[2]float64{}}
}

// of returns the period in which a trajectory began, in UTC; "" if it records no time.
func (r *trend) of(t *trace.Trajectory) string {
	at := t.Started()
	switch {
	case at.IsZero():
		return ""
	case r.week:
		year, week := at.UTC().ISOWeek()
		return fmt.Sprintf("%d-W%02d", year, week)
	}
	return at.UTC().Format(time.DateOnly)
}

// group names the period and model of a trajectory.
func (r *trend) group(t *trace.Trajectory) string { return r.of(t) + "\x00" + t.Model }

// see counts which calls failed.
func (r *trend) see(t *trace.Trajectory) {
	name := r.of(t)
	tools := r.calls[name]
	if tools == nil {
		tools = map[string]*[2]float64{}
		r.calls[name] = tools
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Status == trace.StatusUnknown && !c.HasResult {
			continue
		}
		n := tools[c.Tool.Value()]
		if n == nil {
			n = &[2]float64{}
			tools[c.Tool.Value()] = n
		}
		n[0]++
		if c.Status == trace.StatusFailed {
			n[1]++
		}
	}
}

// periods compares each period with the one before it.
func (r *trend) periods(groups []cost.Line) []period {
	models := map[string]map[string]cost.Line{}
	for _, l := range groups {
		name, model, _ := strings.Cut(l.Name, "\x00")
		if models[name] == nil {
			models[name] = map[string]cost.Line{}
		}
		models[name][model] = l
	}
	out, before := []period{}, ""
	for _, name := range slices.Sorted(maps.Keys(models)) {
		whole := cost.Line{}
		for _, model := range slices.Sorted(maps.Keys(models[name])) {
			l := models[name][model]
			whole.Totals.Add(l.Totals)
			whole.Trajectories += l.Trajectories
			whole.Paying += l.Paying
		}
		whole = whole.Priced()
		p := period{Period: name, Trajectories: whole.Trajectories, Turns: whole.Turns, Paid: whole.PaidUSD, PerTrajectory: whole.PerTrajectory}
		if before != "" {
			if p.Failing = r.failing(before, name); p.Paid.Known() && out[len(out)-1].Paid.Known() {
				p.Effects = new(cost.Compare(models[before], models[name]))
			}
		}
		out, before = append(out, p), name
	}
	return out
}

// failing returns the tool whose share of failed calls rose most from one period to the next,
// if the intervals of both lie apart at a level of 95 % over all tools; "" for none.
func (r *trend) failing(before, after string) (tool string) {
	most, had, has := 0.0, r.calls[before], r.calls[after]
	level := 1 - 0.05/float64(max(len(has), 1))
	for _, name := range slices.Sorted(maps.Keys(has)) {
		x, y := had[name], has[name]
		if x == nil {
			continue
		}
		rise := y[1]/y[0] - x[1]/x[0]
		if rise > most && stat.Wilson(x[1], x[0], level).Hi < stat.Wilson(y[1], y[0], level).Lo {
			tool, most = name, rise
		}
	}
	return tool
}

// trendWords say in a sentence what the last period cost, and what explains the change.
func trendWords(list []period) string {
	if len(list) == 0 {
		return ""
	}
	last := &list[len(list)-1]
	if last.Effects == nil {
		return ""
	}
	usd, _ := last.Paid.Value()
	change, word := last.Effects.Change, "more"
	if change < 0 {
		word = "less"
	}
	text := fmt.Sprintf("%s cost %s USD, %s USD %s than %s", last.Period, cli.Dollars(usd), cli.Dollars(math.Abs(change)), word, list[len(list)-2].Period)
	reasons := []struct {
		more, less string
		usd        float64
	}{
		{"more trajectories", "fewer trajectories", last.Effects.Trajectories},
		{"a mix of models that costs more", "a mix of models that costs less", last.Effects.Models},
		{"more turns a trajectory", "fewer turns a trajectory", last.Effects.Turns},
		{"more tokens a turn", "fewer tokens a turn", last.Effects.Tokens},
		{"tokens that cost more", "tokens that cost less", last.Effects.Price},
	}
	most := slices.MaxFunc(reasons, func(a, b struct {
		more, less string
		usd        float64
	},
	) int {
		return cmp.Compare(a.usd*sign(change), b.usd*sign(change))
	})
	if most.usd*change > 0 {
		why := most.more
		if change < 0 {
			why = most.less
		}
		text += fmt.Sprintf(", most of all by %s (%s USD)", why, cli.Dollars(math.Abs(most.usd)))
	}
	if last.Failing != "" {
		text += "; " + last.Failing + " fails more often"
	}
	return text + "."
}

func sign(x float64) float64 { return math.Copysign(1, x) }

// periodTable shows periods.
func periodTable(list []period) *report.Table {
	effect := func(key, title string) report.Column {
		return report.Column{Key: key, From: "effects." + key, Title: title, Unit: "USD", Digits: 4}
	}
	table := report.TableOf("periods", "", list, []report.Column{
		{Key: "period", Empty: "(no time)"},
		{Key: "trajectories"},
		{Key: "paid_usd", Title: "cost", Unit: "USD", Digits: 4},
		{Key: "usd_per_trajectory", Title: "each", Unit: "USD", Digits: 4},
		effect("change_usd", "change"), effect("by_trajectories_usd", "by trajectories"), effect("by_models_usd", "by models"),
		effect("by_turns_usd", "by turns"), effect("by_tokens_usd", "by tokens"), effect("by_price_usd", "by price"),
		{Key: "failing_more", Title: "fails more", Max: 32},
	})
	table.Most, table.Brief = linesShown, 10
	table.Note("A change is that of the cost since the period before, in parts that add up to it: more trajectories, other shares of models, more turns a trajectory, more tokens a turn, and what a token costs (prices, caching, the share of output).")
	return table.IfAny()
}

// budget is what a day or week may cost.
type budget struct {
	usd float64
	by  string
}

var budgetForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?USD/(day|week)$`)

// readBudget reads --budget, and returns nil for none.
func readBudget(text, by string) (*budget, error) {
	if text == "" {
		return nil, nil
	}
	parts := budgetForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, cli.Usagef("--budget: %s is not an amount such as 5USD/day or 30USD/week", report.Escape(text))
	}
	if by != "none" && by != parts[2] {
		return nil, cli.Usagef("--budget a %s and --by %s contradict each other", parts[2], by)
	}
	usd, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return nil, cli.Usagef("--budget: %v", err)
	}
	return &budget{usd, parts[2]}, nil
}

// over returns the periods that cost more.
func (b *budget) over(list []period) (names []string) {
	for i := range list {
		if usd, _ := list[i].Paid.Value(); usd > b.usd {
			names = append(names, cmp.Or(list[i].Period, "(no time)"))
		}
	}
	return names
}

// words say whether a budget was kept.
func (b *budget) words(over []string, of int) string {
	if len(over) == 0 {
		return fmt.Sprintf("The budget of %s USD a %s was kept in all of %s.", cli.Dollars(b.usd), b.by, cli.CountOf(of, b.by))
	}
	text := fmt.Sprintf("Over the budget of %s USD a %s: %s of %s, %s", cli.Dollars(b.usd), b.by, report.Grouped(len(over)), cli.CountOf(of, b.by), strings.Join(over[:min(3, len(over))], ", "))
	if len(over) > 3 {
		text += " and others"
	}
	return text + "."
}
