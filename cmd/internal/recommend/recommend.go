// Package recommend says what to do about an agent, and what that saves: as figures and rows
// for scripts, and in words that are the first line of `awo backtest`, `awo report` and
// `awo extract`.
//
// A back-test comes in, and the recommendation of package backtest is in it; what the traces
// do not bear is null with a reason. It keeps nothing.
package recommend

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// Figures say what to do.
type Figures struct {
	backtest.Way
	Label     string                    `json:"label"`         // in words
	Objective string                    `json:"objective"`     // money, tokens, turns or time
	Kept      bool                      `json:"kept"`          // from the manifest
	Caching   string                    `json:"caching"`       // recorded, or fixed: weighed as if prompt caching were on
	Decided   bool                      `json:"decided"`       // one kind is chosen in at least 70 % of the resamples
	Tied      []string                  `json:"tied"`          // the kinds of at least 30 % of them, where none is decided
	SameBill  bool                      `json:"same_bill"`     // no measurable change of the bill, but fewer calling turns
	Resamples map[backtest.Kind]float64 `json:"resamples"`     // the share of the resamples that choose a kind
	Assumed   int                       `json:"assumed_reads"` // tools that are taken to only read by their names alone
	Asked     stat.Estimate             `json:"asked_again"`   // the share of reads that the agent makes again although it has their results: what prefetch saves is times one minus it
	Tasks     int                       `json:"tasks"`         // held out
	Agents    int                       `json:"agents"`        // it is about the one of them that costs most
}

// Row is what a way saves on tasks held out, summed up over them.
type Row struct {
	Way   string        `json:"way"` // a kind, parallel-calls, programs-lower or programs-upper for information, recommended: what the whole procedure comes to, or confirmed: the way that is recommended with reads that rules or definitions confirm
	P     float64       `json:"p"`
	T     int           `json:"T"`
	USD   stat.Estimate `json:"usd"`
	Token stat.Estimate `json:"tokens"`
	Turns stat.Estimate `json:"calling_turns"`
	Calls stat.Estimate `json:"model_calls"`
	Time  stat.Estimate `json:"model_seconds"`
}

// Result is a recommendation with the ways that it was chosen from.
type Result struct {
	Figures
	Rows []Row

	from   *backtest.Recommendation
	result *backtest.Result
}

// Options say what a back-test recommends by.
type Options struct {
	Objective string                  `mapstructure:"objective"`
	Ways      []string                `mapstructure:"ways"` // kinds, as --ways names them
	Kept      map[string]backtest.Way `mapstructure:"-"`    // what was recommended before, by agent
	Turns     bool                    `mapstructure:"-"`    // keeps which turns go
	IsFixed   bool                    `mapstructure:"-"`    // prompt caching is taken to be on
}

// waysNamed are the kinds as --ways names them.
var waysNamed = map[string]backtest.Kind{"prefetch": backtest.OnlyPrefetch, "meta-tools": backtest.OnlyMetaTools, "both": backtest.Both, "register": backtest.WithRegistration}

// Arguments are the flags that a command repeats to recommend the same.
func (o *Options) Arguments() (args []string) {
	if o.Objective != string(backtest.ObjectiveMoney) {
		args = append(args, "--objective", o.Objective)
	}
	if len(o.Ways) > 0 {
		args = append(args, "--ways", strings.Join(o.Ways, ","))
	}
	return args
}

// Weigh returns the options for the back-test.
func (o *Options) Weigh() (*backtest.RecommendOptions, error) {
	out := &backtest.RecommendOptions{Objective: backtest.Objective(o.Objective), Kept: o.Kept, Turns: o.Turns}
	for _, name := range o.Ways {
		kind, known := waysNamed[name]
		if !known {
			return nil, cli.Usagef("--ways: %q is none of prefetch, meta-tools, both and register", name)
		}
		out.Kinds = append(out.Kinds, kind)
	}
	return out, nil
}

// Of returns the recommendation of a back-test, nil if none was asked for. IsFixed says that
// it was weighed as if prompt caching were on.
func Of(r *backtest.Result, isFixed bool) *Result {
	v := r.Recommendation
	if v == nil {
		return nil
	}
	out := &Result{from: v, result: r, Figures: Figures{
		Way: v.Way, Label: label(v.Way), Objective: string(v.Objective), Kept: v.Kept, Caching: map[bool]string{false: "recorded", true: "fixed"}[isFixed], Decided: v.Decided, SameBill: v.SameBill, Resamples: v.Chosen, Tasks: v.Tasks, Assumed: v.Assumed, Agents: max(len(r.Agents), 1),
	}}
	for _, kind := range v.Tied {
		out.Tied = append(out.Tied, string(kind))
	}
	out.Asked = askedAgain(v)
	if v.Unknown != "" {
		return out
	}
	out.Rows = append(out.Rows, out.row("recommended", &v.Recommended))
	if v.Confirmed.Kind != "" {
		out.Rows = append(out.Rows, out.row("confirmed", &v.Confirmed))
	}
	for _, kind := range backtest.Kinds[1:] {
		if w := best(v, kind); w != nil {
			out.Rows = append(out.Rows, out.row(string(kind), w))
		}
	}
	for i := range r.Techniques {
		if name := informing[r.Techniques[i].Name]; name != "" {
			out.Rows = append(out.Rows, out.informs(name, &r.Techniques[i]))
		}
	}
	return out
}

// informing are the techniques that have a row for information, with its name: they compile
// nothing, and are never recommended.
var informing = map[string]string{"batch": "parallel-calls", "code": "programs-lower", "code-upper": "programs-upper"}

// askedAgain returns the share of reads that are made again. A share that is assumed has no
// interval.
func askedAgain(v *backtest.Recommendation) stat.Estimate {
	a := &v.Asked
	if a.Assumed {
		return stat.Estimate{Figure: stat.Known(a.Share), Interval: stat.NoInterval("assumed: fewer than 20 reads could have been made again")}
	}
	return stat.ShareOf(a.Again, a.Reads, v.Unknown)
}

// informs returns the row of a technique.
func (r *Result) informs(name string, o *backtest.Outcome) Row {
	estimate := func(measure int, saved float64, metric string) stat.Estimate {
		return r.estimate(measure, saved, o.Intervals[metric])
	}
	return Row{
		Way: name, USD: estimate(backtest.SavedUSD, o.USDSaved, "cost_saved_usd"), Token: estimate(backtest.SavedTokens, float64(o.TokensSaved), "tokens_saved"),
		Turns: estimate(backtest.SavedTurns, float64(o.CallingTurnsSaved), "calling_turns_saved"), Calls: estimate(backtest.SavedCalls, float64(o.LLMCallsSaved), "llm_calls_saved"),
		Time: estimate(backtest.SavedSeconds, o.SecondsSaved, "model_seconds_saved"),
	}
}

// best returns the way that stands for its kind: that which is recommended, or the one that
// saves most.
func best(v *backtest.Recommendation, kind backtest.Kind) (found *backtest.WayOutcome) {
	for i := range v.Ways {
		w := &v.Ways[i]
		switch {
		case w.Kind != kind:
		case w.Way == v.Way:
			return w
		case found == nil || w.Saved[v.Objective.Of()] > found.Saved[v.Objective.Of()]:
			found = w
		}
	}
	return found
}

// recommended returns the row of what is recommended.
func (r *Result) recommended() *Row {
	return &r.Rows[slices.IndexFunc(r.Rows, func(row Row) bool { return row.Way == "recommended" })]
}

func (r *Result) row(name string, w *backtest.WayOutcome) Row {
	estimate := func(measure int) stat.Estimate {
		return r.estimate(measure, w.Saved[measure], w.Intervals[measure])
	}
	return Row{name, w.P, w.T, estimate(backtest.SavedUSD), estimate(backtest.SavedTokens), estimate(backtest.SavedTurns), estimate(backtest.SavedCalls), estimate(backtest.SavedSeconds)}
}

// estimate returns what is saved of a measure, unknown where the measure is.
func (r *Result) estimate(measure int, saved float64, in stat.Interval) stat.Estimate {
	if why := r.lacks(measure); why != "" {
		return stat.Estimate{Figure: stat.Unknown(why), Interval: stat.NoInterval(why)}
	}
	return stat.Estimate{Figure: stat.Known(saved), Interval: in}
}

// lacks returns why a measure is not known, "" if it is.
func (r *Result) lacks(measure int) string {
	switch total := r.from.Total; {
	case measure == backtest.SavedTurns && total[backtest.SavedTurns] == 0:
		return "no calling turn in the test part"
	case measure != backtest.SavedTurns && total[backtest.SavedCalls] == 0:
		return "no trajectory records model turns"
	case measure == backtest.SavedUSD && total[backtest.SavedUSD] == 0:
		return "no turn has a price"
	case measure == backtest.SavedSeconds && total[backtest.SavedSeconds] == 0:
		return "no turn records when it began and ended"
	}
	return ""
}

// label says what a way is, for people.
func label(w backtest.Way) string {
	switch w.Kind {
	case backtest.OnlyPrefetch:
		return fmt.Sprintf("prefetch reads of which %.0f %% are used", 100*w.P)
	case backtest.OnlyMetaTools:
		return fmt.Sprintf("meta-tools that %d trajectories follow", w.T)
	case backtest.Both:
		return fmt.Sprintf("prefetch reads of which %.0f %% are used, and meta-tools that %d trajectories follow", 100*w.P, w.T)
	case backtest.WithRegistration:
		rest := backtest.Way{P: w.P, T: w.T}
		switch {
		case w.P > 0 && w.T > 0:
			rest.Kind = backtest.Both
		case w.P > 0:
			rest.Kind = backtest.OnlyPrefetch
		case w.T > 0:
			rest.Kind = backtest.OnlyMetaTools
		default:
			return "register tools when they are needed"
		}
		return "register tools when they are needed, " + label(rest)
	}
	return "nothing"
}

// actions are what the kinds say to do.
var actions = map[backtest.Kind]string{
	backtest.Nothing: "do nothing", backtest.OnlyPrefetch: "prefetch reads", backtest.OnlyMetaTools: "offer meta-tools", backtest.Both: "prefetch reads and offer meta-tools",
	backtest.WithRegistration: "register tools when they are needed",
}

// Words are the recommendation in a sentence, "" without one. Its numbers stand in the row
// recommended.
func (r *Result) Words() string {
	if r == nil {
		return ""
	}
	v := r.from
	switch {
	case v.Unknown != "":
		return fmt.Sprintf("Recommended: nothing, because %s.", v.Unknown)
	case v.TooFew:
		return fmt.Sprintf("Recommended: nothing. %s are too few to judge (10 are needed).", cli.CountOf(v.Tasks, "task"))
	case v.Way.Kind == backtest.Nothing && r.others() != "":
		return fmt.Sprintf("Recommended: do nothing. On tasks held out that is tied with %s.", r.others())
	case v.Way.Kind == backtest.Nothing:
		return "Recommended: do nothing. On tasks held out no way surely saves " + map[backtest.Objective]string{backtest.ObjectiveMoney: "money", backtest.ObjectiveTokens: "tokens", backtest.ObjectiveTurns: "calling turns", backtest.ObjectiveTime: "time"}[v.Objective] + "."
	}
	rec := r.recommended()
	saves := amount(rec.Turns, 0, "calling turns")
	if v.SameBill {
		saves = "no measurable change of the bill, " + saves + " fewer"
	} else if usd := amount(rec.USD, 2, "USD"); usd != "" && r.Objective != string(backtest.ObjectiveTokens) {
		saves = "it saves " + usd + " and " + saves
	} else {
		saves = "it saves " + cmp.Or(amount(rec.Token, 0, "tokens"), saves) + " and " + saves
	}
	text := fmt.Sprintf("Recommended: %s; on tasks held out %s, if always used", actions[v.Way.Kind], saves)
	if others := r.others(); others != "" {
		text += "; tied with " + others
	}
	if r.Kept {
		text += "; kept from the manifest"
	}
	if r.Agents > 1 {
		text += fmt.Sprintf(" (for the dearest of %d agents)", r.Agents)
	}
	return text + "."
}

// Without returns the turns that what is recommended does without, by trajectory, if
// Options.Turns asked for them.
func (r *Result) Without() backtest.Turns { return r.from.Without }

// IsNothing reports whether nothing is recommended.
func (r *Result) IsNothing() bool { return r.Kind == backtest.Nothing }

// Best returns the row of what is recommended, nil if nothing is known.
func (r *Result) Best() *Row {
	if len(r.Rows) == 0 {
		return nil
	}
	return r.recommended()
}

// others names the kinds that are tied with the recommended one.
func (r *Result) others() string {
	var words []string
	for _, kind := range r.from.Tied {
		if kind != r.from.Way.Kind {
			words = append(words, string(kind))
		}
	}
	return strings.Join(words, " and ")
}

// amount is an estimate in words, "" where it is not known.
func amount(e stat.Estimate, digits int, unit string) string {
	v, ok := e.Value()
	if !ok {
		return ""
	}
	words := cli.Amounts(v, e.Interval.Lo, e.Interval.Hi)
	if digits == 0 {
		for i, x := range []float64{v, e.Interval.Lo, e.Interval.Hi} {
			words[i] = report.Grouped(int(math.Round(x)))
		}
	}
	if e.Interval.Known() {
		return fmt.Sprintf("%s (95 %% %s to %s) %s", words[0], words[1], words[2], unit)
	}
	return words[0] + " " + unit
}

// Table shows the ways.
func (r *Result) Table() *report.Table {
	if r == nil {
		return nil
	}
	time := false
	for i := range r.Rows {
		time = time || r.Rows[i].Time.Known()
	}
	table := report.TableOf("ways", "What each way saves on tasks held out, if always used", r.Rows, []report.Column{
		{Key: "way", Words: true},
		{Key: "p", Title: "P(use)", Align: report.Right, Rank: 2, Cell: report.By(func(r *Row) report.Cell {
			if r.P == 0 {
				return report.Text("")
			}
			return report.Float(r.P, 1)
		})},
		{Key: "T", Title: "trajectories", Align: report.Right, Rank: 2, Cell: report.By(func(r *Row) report.Cell {
			if r.T == 0 {
				return report.Text("")
			}
			return report.Int(r.T)
		})},
		{Key: "usd", Title: "USD", Digits: 4, Range: "95 %"},
		{Key: "tokens", Digits: report.Whole, Rank: 3},
		{Key: "calling_turns", Title: "calling turns", Digits: report.Whole, Range: "95 %"},
		{Key: "model_calls", Title: "model calls", Digits: report.Whole, Rank: 3},
		{Key: "model_seconds", Title: "model seconds", Digits: report.Whole, Hide: !time, Rank: 3},
	})
	table.NoteIf(len(r.Rows) > 0, "Of %s; negative is more than before. Each way was compiled from and tested on five deals of folds. The row recommended is what choosing comes to on tasks that the choice did not see. Parallel calls and programs are for information: they compile nothing.", r.whole())
	table.NoteIf(r.Assumed > 0, "It rests on %s that by the name alone is taken to only read; the row confirmed is without. `awo rules suggest --effects` drafts rules that say so.", cli.CountOf(r.Assumed, "tool"))
	table.NoteIf(r.prefetches(), "Of reads whose results they have, agents make %.1f %% again (%s): the savings of prefetch are without these.", 100*r.from.Asked.Share, r.askedWords())
	table.NoteIf(r.Caching == "fixed", "Prompt caching is off or broken (see the findings): what a way saves is counted as if that were fixed first; --caching recorded undoes it.")
	return table.IfAny()
}

// prefetches reports whether a row is about prefetch.
func (r *Result) prefetches() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.P > 0 })
}

// askedWords says what the share of reads that are made again rests on.
func (r *Result) askedWords() string {
	if asked := &r.from.Asked; !asked.Assumed {
		return report.Grouped(asked.Again) + " of " + report.Grouped(asked.Reads)
	}
	return "assumed, as too few could be"
}

// whole says what was recorded.
func (r *Result) whole() string {
	total := r.from.Total
	text := cli.CountOf(int(total[backtest.SavedTurns]), "calling turn") + " of " + cli.CountOf(r.Tasks, "task")
	if total[backtest.SavedUSD] > 0 {
		text = cli.Dollars(total[backtest.SavedUSD]) + " USD and " + text
	}
	return text
}

// Agent is one of several agents, and what is recommended for it.
type Agent struct {
	Names        []string `json:"names"` // as recorded
	Tools        []string `json:"tools"` // that it could see
	Rest         bool     `json:"rest"`  // it is several, with too few tasks each
	Trajectories int      `json:"test_trajectories"`
	Tasks        int      `json:"test_tasks"`
	CallingTurns int      `json:"calling_turns"`
	Recommended  *Figures `json:"recommendation"`
	Saves        *Row     `json:"saves"` // the row recommended
}

// AgentsOf returns what a back-test says of each of several agents.
func AgentsOf(r *backtest.Result, isFixed bool) (out []Agent) {
	for i := range r.Agents {
		out = append(out, agentOf(&r.Agents[i], isFixed))
	}
	return out
}

func agentOf(a *backtest.AgentResult, isFixed bool) Agent {
	out := Agent{
		Names: append([]string{}, a.Names...), Tools: append([]string{}, a.Tools...), Rest: a.Rest,
		Trajectories: a.Result.Trajectories, Tasks: a.TestTasks,
	}
	if r := Of(a.Result, isFixed); r != nil {
		out.Recommended = &r.Figures
		if len(r.Rows) > 0 {
			out.Saves = r.recommended()
		}
	}
	if len(a.Techniques) > 0 {
		out.CallingTurns = a.Techniques[0].CallingTurns
	}
	return out
}

// toolsNamed is how many of its tools stand for an agent.
const toolsNamed = 2

// words name an agent by the names that are recorded of it, and by its tools.
func (a *Agent) words() string {
	words := cli.CountOf(len(a.Tools), "tool")
	if some := a.Tools[:min(len(a.Tools), toolsNamed)]; len(some) > 0 {
		words += " (" + strings.Join(some, ", ")
		if len(some) < len(a.Tools) {
			words += ", …"
		}
		words += ")"
	}
	switch {
	case a.Rest:
		return "others, with too few tasks each: " + words
	case len(a.Names) > 0:
		return strings.Join(a.Names, ", ") + ": " + words
	}
	return words
}

// AgentsTable says of each of several agents what to do, and what that saves.
func AgentsTable(list []Agent) *report.Table {
	table := report.TableOf("agents", "By agent", list, []report.Column{
		{Key: "agent", Max: 48, Wrap: true, Cell: report.By(func(a *Agent) report.Cell { return report.Name(a.words()) })},
		{Key: "test_tasks", Title: "tasks"},
		{Key: "calling_turns", Title: "calling turns"},
		{Key: "recommended", From: "recommendation.kind", Words: true},
		{Key: "calling_turns_saved", From: "saves.calling_turns", Title: "turns saved", Digits: report.Whole},
		{Key: "usd", From: "saves.usd", Title: "saved", Unit: "USD", Digits: 4},
	})
	table.Note("Each is compiled and tested for itself, and pays for what it is offered alone; all other figures are sums. Agents are distinguished by the tools that they could see: those of their definitions, or else those that are called together.")
	return table.IfAny()
}
