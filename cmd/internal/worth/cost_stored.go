package worth

import (
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/internal/summary/count"
)

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
