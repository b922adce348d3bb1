package backtest

import (
	"slices"

	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// tested are techniques that have learnt in a fold. Columns that do the same share one of them.
type tested struct {
	columns []Trained
	each    []Trained // of columns, each once
	at      []int     // by column: its place in each

	finder  *replay.Finder // of the pool; nil without meta-tools
	readers []*reader
	habits  *habits // nil for none
}

func newTested(p *Part, columns []Trained) *tested {
	k := &tested{columns: columns, habits: p.habits}
	for _, c := range columns {
		at := slices.Index(k.each, c)
		if at < 0 {
			at, k.each = len(k.each), append(k.each, c)
		}
		k.at = append(k.at, at)
	}
	if len(p.pool.tools) > 0 {
		k.finder = p.pool.finder()
	}
	for _, r := range p.readers { // in any order: each is looked at by itself
		k.readers = append(k.readers, r)
	}
	return k
}

// look finds out about a case what several techniques build on.
func (k *tested) look(c *Case) {
	if k.finder != nil {
		c.uses = k.finder.Use(c.Trajectory, c.Marks, c.Flow)
	}
	if len(k.readers) > 0 {
		c.asked, c.ahead = newAskedCalls(c.Trajectory), map[*reader]*Finding{}
		for _, r := range k.readers {
			c.ahead[r] = r.find(c, nil, nil)
		}
	}
	if k.habits != nil {
		c.avoided, c.wrong = k.habits.avoids(c)
	}
}

// tried is what all techniques did in a trajectory.
type tried struct {
	c        *Case
	findings []*Finding // by place in tested.each
}

// fold trains on one side of a split and tests on the other.
func (r *run) fold(split holdout.Split) {
	k := r.train(split)
	r.progress("testing")
	r.part++
	if r.all == nil {
		r.all = make([]totals, len(k.columns))
	}
	labels := false
	for i, trained := range k.columns {
		summary := trained.Summary()
		labels = labels || summary.Labels
		r.all[i].learn(summary)
	}
	cases := casesOf(r.testing(split), r.options.Rules, labels)
	for t := range par.Map(max(r.options.Workers, 1), cases, func(c *Case) tried {
		k.look(c)
		out := tried{c: c}
		for _, trained := range k.each {
			out.findings = append(out.findings, trained.Find(c))
		}
		return out
	}) {
		r.count(t, k)
	}
}

// train has all columns learn from one side of a split.
func (r *run) train(split holdout.Split) *tested {
	part := &Part{Runs: Side(r.runs, split, holdout.Train), Options: r.options, meter: r.options.Meter, fit: r.fit}
	var ways, offered []way
	for i := range r.columns {
		ways = append(ways, r.columns[i].ways...)
		if o := r.columns[i].offer; o != nil {
			offered = append(offered, o.way)
		}
	}
	r.progress("compiling")
	part.prepare(ways)
	part.readChoices(offered)
	var columns []Trained
	for _, technique := range r.columns {
		r.progress(technique.Name)
		columns = append(columns, technique.Train(part))
	}
	return newTested(part, columns)
}

// count adds up what was done in one trajectory.
func (r *run) count(k tried, by *tested) {
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
		r.sums = append(r.sums, newColumnSums(len(by.columns)))
		r.partOf = append(r.partOf, r.part)
	}
	each := make([]taskSums, len(by.each))
	for i, f := range k.findings {
		one := base
		one.trajectories = 1
		one.save(f, by.each[i].Saving(k.c, f), secondsOf(t, f.Removed))
		if f.Used {
			one.used = 1
		}
		if b := f.Blind; b != nil {
			one.addBlind(b, by.each[i].Saving(k.c, &b.Finding), secondsOf(t, b.Removed))
			if always, helps := savedOf(&one), helpful(&one); always[SavedTurns] > helps[SavedTurns] || always[r.goal()] > helps[r.goal()] {
				// Where other places save less, those of the same uses that help.
				only := b.Finding
				only.vain, only.handBacks, only.Added = nil, 0, only.Added-only.handBacks
				one.save(&only, by.each[i].Saving(k.c, &only), secondsOf(t, only.Removed))
			}
		}
		if f.Reading != nil {
			one.reads, one.readsVain = f.Reading.Reads, f.Reading.InVain()
			one.attached = attached(k.c, f)
		}
		each[i] = one
	}
	ones := make([]taskSums, len(by.columns))
	for i, at := range by.at {
		ones[i] = each[at]
		r.all[i].count(k.findings[at], &ones[i])
	}
	r.sums[task].add(ones)
	if r.options.Recommend != nil && r.options.Recommend.Turns && !r.isAgain {
		r.keepTurns(t, k, by)
	}
}

// keepTurns notes which turns each way does without in a trajectory.
func (r *run) keepTurns(t *trace.Trajectory, k tried, by *tested) {
	if r.without == nil {
		r.without = make([]Turns, len(r.ways))
	}
	for w := range r.ways {
		f := k.findings[by.at[r.waysFrom+w]]
		turns := f.Removed
		if f.Blind != nil {
			turns = f.Blind.Removed
		}
		if len(turns) == 0 {
			continue
		}
		if r.without[w] == nil {
			r.without[w] = Turns{}
		}
		r.without[w][t] = turns
	}
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
