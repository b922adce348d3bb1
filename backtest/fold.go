package backtest

import (
	"slices"

	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// tried is what all techniques did in a trajectory.
type tried struct {
	c        *Case
	findings []*Finding
}

// fold trains on one side of a split and tests on the other.
func (r *run) fold(split holdout.Split) error {
	part := &Part{Source: Side(r.source, split, holdout.Train), Options: r.options, meter: r.options.Meter, fit: r.fit, plays: r.plays}
	var learnt []Trained
	var ways []way
	for i := range r.columns {
		ways = append(ways, r.columns[i].ways...)
	}
	r.progress("compiling")
	if err := part.prepare(ways); err != nil {
		return err
	}
	var offered []way
	for i := range r.columns {
		if o := r.columns[i].offer; o != nil {
			offered = append(offered, o.way)
		}
	}
	if err := part.readChoices(offered); err != nil {
		return err
	}
	for i := range r.columns {
		if o := r.columns[i].offer; o != nil {
			if _, err := part.choose(o.chosen()); err != nil {
				return err
			}
		}
	}
	for _, technique := range r.columns {
		r.progress(technique.Name)
		trained, err := technique.Train(part)
		if err != nil {
			return err
		}
		learnt = append(learnt, trained)
	}
	if part.pool != nil {
		part.pool.find()
	}
	if err := part.learnRegistering(); err != nil {
		return err
	}
	part.compiled, part.links, part.chosen, part.habits, part.survey, part.reads, part.readers, part.register = nil, nil, nil, nil, nil, nil, nil, nil
	r.progress("testing")
	r.part++
	if r.all == nil {
		r.all = make([]totals, len(learnt))
	}
	labels := false
	for i, trained := range learnt {
		summary := trained.Summary()
		labels = labels || summary.Labels
		r.all[i].learn(summary)
	}
	var failed error
	cases := casesOf(r.testing(split), newLabeller(r.options.Rules, labels), &failed)
	for t := range par.Map(max(r.options.Workers, 1), cases, func(c *Case) tried {
		out := tried{c: c}
		for _, trained := range learnt {
			out.findings = append(out.findings, trained.Find(c))
		}
		return out
	}) {
		r.count(t, learnt)
	}
	return failed
}

// count adds up what was done in one trajectory.
func (r *run) count(k tried, learnt []Trained) {
	t := k.c.Trajectory
	r.out.Trajectories++
	var base taskSums
	known := false
	for i := range t.Turns {
		base.llm++
		if t.Turns[i].NumCalls > 0 {
			base.turns++
			if s := seconds(&t.Turns[i]); s > 0 {
				r.out.Timed++
			}
		}
		known = known || t.Turns[i].Usage.Known
		base.seconds += seconds(&t.Turns[i])
	}
	if slices.ContainsFunc(t.Calls, func(c trace.Call) bool { return c.Turn < 0 && c.Origin == trace.OriginModel }) {
		r.out.NoTurns++
	}
	if !known {
		r.out.NoUsage++
	}
	if len(t.Tools) == 0 {
		r.out.NoTools++
	}
	k.c.Account = r.options.Meter.Trajectory(t)
	r.fit.Apply(k.c.Account)
	total := k.c.Account.Total()
	base.tokens, base.usd = float64(total.Tokens()), total.USD
	r.out.LLMTurns += total.Turns
	r.out.Unpriced += total.Unpriced
	key := t.TaskKey()
	task, seen := r.tasks[key]
	if !seen {
		task = len(r.tasks)
		r.tasks[key] = task
		r.sums = append(r.sums, newColumnSums(len(learnt)))
		r.partOf = append(r.partOf, r.part)
	}
	ones := make([]taskSums, len(learnt))
	for i, f := range k.findings {
		saved := learnt[i].Saving(k.c, f)
		one := base
		one.trajectories = 1
		one.llmSaved, one.turnsSaved = float64(len(f.Removed)-f.Added), float64(len(f.Removed))
		one.tokensSaved, one.usdSaved = float64(saved.Tokens()), saved.USD
		one.secondsSaved = secondsOf(t, f.Removed)
		if f.Used {
			one.used = 1
			r.all[i].before += base.llm
			r.all[i].after += base.llm - one.llmSaved
		}
		if b := f.Blind; b != nil {
			r.all[i].blind = true
			one.addBlind(b, learnt[i].Saving(k.c, &b.Finding), secondsOf(t, b.Removed))
		}
		r.all[i].places += f.Places
		r.all[i].notComparable += f.NotComparable
		r.all[i].exact += f.Exact
		r.all[i].known += f.Known
		r.all[i].wrong += f.Wrong
		r.all[i].attribute(f.Attributed)
		r.all[i].read(f.Reading)
		if f.Reading != nil {
			one.reads, one.readsVain = f.Reading.Reads, f.Reading.InVain()
		}
		ones[i] = one
	}
	r.sums[task].add(ones)
}

// secondsOf returns how long turns took.
func secondsOf(t *trace.Trajectory, turns []int) float64 {
	sum := 0.0
	for _, turn := range turns {
		sum += seconds(&t.Turns[turn])
	}
	return sum
}

// seconds returns how long a turn took, 0 if that is not recorded.
func seconds(t *trace.Turn) float64 {
	if t.Start.IsZero() || t.End.IsZero() || t.End.Before(t.Start) {
		return 0
	}
	return t.End.Sub(t.Start).Seconds()
}
