// Package worth is the commands that count what trajectories cost and what would be
// saved of it: `awo cost`, `awo backtest` and `awo register`.
//
// In come traces, rules and prices; out go accounts, back-tests and lists of tools to
// register. A report shows the same findings in fewer tables, so those are exported.
// Packages cost and backtest do the arithmetic, and what is kept in memory is
// theirs.
package worth

import (
	"cmp"
	"container/heap"
	"hash/fnv"
	"iter"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/process"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/trace"
)

// CostOptions are the flags of `awo cost`.
type CostOptions struct {
	Lazy   bool    `mapstructure:"lazy"`
	Share  float64 `mapstructure:"share"`
	Batch  int     `mapstructure:"batch"`
	Top    int     `mapstructure:"top"`
	By     string  `mapstructure:"by"`
	Budget string  `mapstructure:"budget"`

	Group func(*trace.Trajectory) string `mapstructure:"-"` // also by what it names; nil for none
	// Known returns what is known of the costs of a trajectory; nil where it is read now.
	Known func(*trace.Trajectory) (*cost.Account, cost.Placeholders) `mapstructure:"-"`
}

// NewCost returns `awo cost`.
func NewCost(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "cost FILES...",
		Short: "Show what trajectories cost, and what lazy registration would cost",
		Long: `Show what trajectories cost in tokens and money: by model, agent, outcome, tool and
day, the habits that cost most, and the most expensive trajectories.

Tokens are those that the traces record; turns without usage are counted with the o200k
vocabulary and scaled by turns that have both. What was recorded as paid counts first, then
list prices; --prices adds others (docs/cost.md).

--lazy shows what registering tools only when they are needed would have cost (EcoAct), where
the traces record the definitions of the tools offered.

FILES may be summaries (*.awosum) too, for the usage that is recorded.

` + cli.FilesHelp,
		Example: `  awo cost traces/
  awo cost traces/ --prices prices.yaml --where 'outcome == "success"'
  awo cost traces/ --by week
  awo cost traces/ --budget 5USD/day
  awo cost traces/ --lazy --format json`,
		GroupID: cli.GroupLook,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices, cli.UseShell)
	f := c.Flags()
	f.Bool("lazy", false, "also simulate lazy registration of tools")
	cli.Share(f, "share", 0.3, false, "with --lazy: `SHARE` of the offered tools that one of the variants registers, used or not")
	cli.Count(f, "batch", 5, 1, "with --lazy: how many tools one of the variants registers at a time")
	f.Var(cli.NewChoice(append([]string{"none", "day", "week"}, cli.GroupNames...)...), "by", "also by groups of trajectories; day and week say what changed and why, project is the folder of a file, server that of MCP")
	f.String("budget", "", "fail if a day or week cost more than this `AMOUNT`, such as 5USD/day")
	cli.Count(f, "top", 10, 0, "how many habits and trajectories are named")
	return cli.Work(a, c, costs)
}

func costs(j *cli.Job, o CostOptions, files []string) error {
	limit, err := readBudget(o.Budget, o.By)
	if err != nil {
		return err
	}
	if limit != nil {
		o.By = limit.by
	}
	meter := j.Meter()
	stored, err := cli.OnlyStored(files)
	if err != nil {
		return err
	}
	if len(stored) > 0 {
		return storedCosts(j, o, stored, meter)
	}
	in, err := j.Intake(files, trace.Options{Spool: true})
	if err != nil {
		return err
	}
	in.Shell = j.Splitter(j.Set)
	f, err := Account(j, in, in.All(), meter, o, nil)
	if err != nil {
		return err
	}
	d := f.document(in)
	d.Next = []string{j.Then(files, "what is wrong, and what it costs", "findings", "{}")}
	if limit == nil {
		return j.Result(d)
	}
	over := limit.over(f.periods)
	d.Answer = limit.words(over, len(f.periods)) + " " + d.Answer
	if err := j.Result(d); err != nil || len(over) == 0 {
		return err
	}
	return cli.ErrProblems
}

// Account adds up what the trajectories cost that from yields, which in has read. see, which
// may be nil, is shown each of them.
func Account(j *cli.Job, in *cli.Intake, from iter.Seq2[*trace.Trajectory, error], meter *cost.Meter, o CostOptions, see func(*trace.Trajectory, *cost.Account)) (*CostFindings, error) {
	ledger, sample := cost.NewLedger(meter), fitSample{}
	times := newTrend(o.By)
	if group := cli.GroupOf(o.By); group != nil || o.Group != nil {
		if group == nil {
			group = o.Group
		}
		ledger.GroupBy(group)
	} else if times != nil {
		ledger.GroupBy(times.group)
	}
	var lazy *cost.LazyStudy
	if o.Lazy {
		lazy = cost.NewLazyStudy(meter, cost.LazyStudyOptions{Share: o.Share, Batch: o.Batch, Seed: j.Seed})
	}
	estimated := 0
	var rough cost.Placeholders
	waits := &process.Waits{}
	for t, err := range from {
		if err != nil {
			return nil, err
		}
		var account *cost.Account
		if o.Known == nil {
			account = ledger.Add(t)
			rough.Add(t)
		} else {
			var known cost.Placeholders
			account, known = o.Known(t)
			ledger.AddAccount(t, account)
			rough.Merge(known)
		}
		waits.Add(t)
		estimated += account.Estimated()
		in.Findings.Paid(account)
		if see != nil {
			see(t, account)
		}
		if times != nil {
			times.see(t)
		}
		sample.see(t, account)
		if lazy != nil {
			lazy.Add(t, account)
		}
	}
	f := &CostFindings{options: o, caching: j.Caching, fit: cost.NewFit(meter), meter: meter, rough: rough, waits: waits.Rows()}
	if estimated > 0 {
		if err := learn(j, in, f.fit, sample); err != nil {
			return nil, err
		}
		f.unscaled = ledger.Apply(f.fit)
	}
	f.statement = ledger.Statement(o.Top)
	if ledger.Ranges(f.statement, f.fit); times != nil {
		f.periods, f.statement.Groups = times.periods(f.statement.Groups), nil
	}
	if lazy != nil {
		f.lazy = lazy.Report(f.fit)
	}
	return f, nil
}

// learn reads the chosen trajectories again and fits counted to recorded tokens.
func learn(j *cli.Job, in *cli.Intake, fit *cost.Fit, sample fitSample) error {
	for t, err := range in.Reader.At(sample.refs()) {
		if err != nil {
			return err
		}
		fit.Add(t)
	}
	return nil
}

// fitSize is how many trajectories of a model and system prompt counted tokens are fitted
// on: some seconds of counting at most, and enough for an interval of a few percent.
const fitSize = 300

// fitSample keeps, of each model and system prompt, the trajectories with usage whose names
// have the smallest hashes: a sample that depends on no others, and not on their order.
type fitSample struct {
	chosen map[fitGroup]*fitHeap
	wanted map[fitGroup]bool // groups with turns to estimate
}

// fitGroup is the model and the system prompt of a trajectory.
type fitGroup struct {
	model  string
	prompt uint64
}

type fitChoice struct {
	hash uint64
	ref  trace.Ref
}

type fitHeap []fitChoice

func (h fitHeap) Len() int { return len(h) }
func (h fitHeap) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(h[k].hash, h[i].hash), h[k].ref.Compare(h[i].ref)) < 0
}
func (h fitHeap) Swap(i, k int) { h[i], h[k] = h[k], h[i] }
func (h *fitHeap) Push(x any)   { *h = append(*h, x.(fitChoice)) }
func (h *fitHeap) Pop() any     { last := len(*h) - 1; x := (*h)[last]; *h = (*h)[:last]; return x }

// see considers t, whose account is a.
func (s *fitSample) see(t *trace.Trajectory, a *cost.Account) {
	if len(t.Turns) == 0 {
		return
	}
	if s.chosen == nil {
		s.chosen, s.wanted = map[fitGroup]*fitHeap{}, map[fitGroup]bool{}
	}
	group, estimated := fitGroup{a.Model(0), a.Prompt}, a.Estimated()
	if estimated > 0 {
		s.wanted[group] = true
	}
	if estimated == len(t.Turns) || t.Ref.IsZero() {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(t.ID))
	choice, chosen := fitChoice{h.Sum64(), t.Ref}, s.chosen[group]
	if chosen == nil {
		chosen = &fitHeap{}
		s.chosen[group] = chosen
	}
	if len(*chosen) == fitSize && choice.hash >= (*chosen)[0].hash {
		return
	}
	heap.Push(chosen, choice)
	if len(*chosen) > fitSize {
		heap.Pop(chosen)
	}
}

// refs returns what was chosen of groups with something to estimate, in order.
func (s *fitSample) refs() []trace.Ref {
	var out []trace.Ref
	for group, chosen := range s.chosen {
		if s.wanted[group] {
			for _, c := range *chosen {
				out = append(out, c.ref)
			}
		}
	}
	slices.SortFunc(out, trace.Ref.Compare)
	return out
}

// storedCosts is `awo cost` of summaries.
func storedCosts(j *cli.Job, o CostOptions, files []string, meter *cost.Meter) error {
	switch {
	case o.Lazy:
		return cli.Usagef("--lazy: summaries hold no definitions of tools; give the traces")
	case o.By != "none":
		return cli.Usagef("--by %s: summaries do not hold it; give the traces", o.By)
	case j.RuleFile != "":
		return cli.Usagef("--rules: summaries hold no arguments and results; give the traces")
	case j.Caching == "on":
		return cli.Usagef("--caching on wants the turns one by one, and summaries hold sums; give the traces")
	}
	sum, err := j.MergeStored(files, false)
	if err != nil {
		return err
	}
	asked := count.Default()
	asked.Shell, asked.Where, asked.TurnGap = j.Shell, j.Where, j.TurnGap
	if err := j.AsCounted(asked, sum); err != nil {
		return err
	}
	in := j.StoredIntake(sum, len(files))
	f := &CostFindings{options: o, caching: j.Caching, fit: cost.NewFit(meter), meter: meter, statement: statementOf(sum.Usage(), meter)}
	d := f.document(in)
	d.Note("tables.habits", "summaries hold sums by tool and not by pairs of calls: `awo cost` of the traces has them")
	d.Note("tables.latency", "summaries hold no times of turns: `awo cost` of the traces has them")
	d.Note("tables.dearest", "summaries hold no single trajectories: `awo cost` of the traces has them")
	return j.Result(d)
}

// statementOf prices the sums of a summary.
func statementOf(u *summary.Usage, meter *cost.Meter) *cost.Statement {
	sums := cost.NewSums(meter)
	some := func(model string, day int32, turns int, t *summary.Tokens) cost.Some {
		return cost.Some{Model: model, Day: timeOf(day), Turns: turns, Input: t.Input, Cached: t.Cached, Write: t.Write, WriteHour: t.WriteHour, Output: t.Output}
	}
	for _, row := range u.Turns() {
		x := some(row.Model, row.Day, row.Turns, &row.Tokens)
		x.Agent, x.Outcome, x.Began = row.Agent, row.Outcome, timeOf(row.Began)
		x.Caches, x.Calls, x.Silent = row.Caches, row.Calls, row.Silent
		x.IsPaid, x.PaidUSD = row.Paid, float64(row.Nano)/1e9
		sums.Turns(x)
	}
	for _, row := range u.Runs() {
		sums.Runs(cost.Runs{
			Model: row.Model, Sole: row.Sole, Agent: row.Agent, Outcome: row.Outcome, Began: timeOf(row.Began),
			Trajectories: row.Trajectories, NoTurns: row.NoTurns, Offered: row.Offered, Calls: row.Calls, TurnsUnknown: row.TurnsUnknown,
			RecordedUSD: float64(row.RecordedNano) / 1e9, RecordedTurns: row.RecordedTurns,
		})
	}
	for _, row := range u.Tools() {
		x := some(row.Model, row.Day, row.Times, &row.Tokens)
		x.IsPaid, x.PaidUSD = row.Paid, float64(row.Nano)/1e9
		sums.Calls(row.Tool, int(row.Shared), x)
	}
	for user, n := range u.Users() {
		sums.Users(user.Tool, user.None, n)
	}
	return sums.Statement()
}

// timeOf returns the begin of a day since 1970, zero for none.
func timeOf(day int32) time.Time {
	if day == summary.NoDay {
		return time.Time{}
	}
	return time.Unix(int64(day)*24*60*60, 0).UTC()
}
