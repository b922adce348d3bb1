package backtest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// RecommendOptions say what a recommendation weighs.
type RecommendOptions struct {
	Objective Objective      // "" is ObjectiveMoney
	Kinds     []Kind         // of the ways that are tried, also where they need more calls of the model; nil for those that may pay
	Kept      map[string]Way // what was recommended before, by the key of the agent, "" for the only one
	Turns     bool           // says which turns go
}

// Measures of what a way saves, in the order of Saved.
const (
	SavedTurns = iota // calling turns
	SavedCalls        // calls of the model
	SavedTokens
	SavedUSD
	SavedSeconds // model time
	measuresSaved
)

// Saved is what is saved, by measure.
type Saved [measuresSaved]float64

// WayOutcome is what a way saves on tasks held out, summed up over all tasks.
type WayOutcome struct {
	Way
	Saved     Saved
	Intervals [measuresSaved]stat.Interval
}

// Recommendation is what to do about an agent.
//
// Each way is compiled from and tested on five deals of folds. Its estimate is the mean over
// folds of what a task saves, its standard error that of Nadeau and Bengio (2003), which
// takes into account that folds share what they learn from. Recommended is what the whole
// procedure comes to, the choice among ways included: on bootstrap samples of the tasks the
// choice is made again and measured on the tasks left out (Tsamardinos, Greasidou and
// Borboudakis 2018).
type Recommendation struct {
	Way       Way // Kind is Nothing where nothing is recommended
	Objective Objective
	Tasks     int
	Total     Saved // what was recorded: calling turns, calls, tokens, money, seconds
	Ways      []WayOutcome

	Recommended WayOutcome       // the procedure
	Chosen      map[Kind]float64 // the share of bootstrap samples that chose a kind
	Decided     bool             // one kind was chosen in at least decidedShare of them
	Tied        []Kind           // those chosen in at least tiedShare of them, where none is decided
	Assumed     int              // tools that are taken to only read by their names alone
	Confirmed   WayOutcome       // the same way without these; its Kind is "" where there are none, or nothing is recommended
	SameBill    bool             // no measurable change of the bill, but fewer calling turns
	Asked       Asked            // what prefetch saves is times one minus its share
	Kept        bool             // the way of before is kept: none is clearly better

	// Unknown says why there are no figures, TooFew why there is nothing to choose by.
	Unknown string
	TooFew  bool

	// Without is the turns that the way does without, by trajectory, in the first deal of
	// the folds; nil unless RecommendOptions.Turns asks for it.
	Without Turns
}

// Turns are some turns of trajectories.
type Turns map[*trace.Trajectory][]int

// Constants of the procedure (the limits were chosen by simulation).
const (
	deals        = 5
	fewestTasks  = 10
	resamples    = 500
	decidedShare = 0.7
	tiedShare    = 0.3
	sameBill     = 0.02 // of the bill: no measurable change
	fewerTurns   = 0.05 // of the calling turns: worth it without a change of the bill
	keptErrors   = 2    // standard errors by which another way must be better than the kept one
)

// row is what each way saves in a fold or a task, nothing first.
type row []Saved

// waysOf adds the columns of the ways.
func (r *run) waysOf() {
	if r.options.Recommend == nil {
		return
	}
	if r.ways == nil {
		for _, t := range r.runs {
			account := r.options.Meter.Trajectory(t.Trajectory)
			total := account.Total()
			r.turns += total.Turns
			r.unpriced += total.Unpriced
			for i := range account.Turns {
				r.tokens += float64(account.DefinitionsAt(i))
			}
		}
		r.ways = waysTried(r.tokens >= registrationTokens*float64(r.turns) && r.turns > 0, r.options.Recommend.Kinds)
	}
	share := 1 - r.options.Share
	if r.options.By == SplitFolds {
		share = 1 - 1/float64(max(len(r.splits), 2))
	}
	for _, w := range r.ways {
		r.columns = append(r.columns, w.technique(share, r.objective().Selection()))
	}
}

// objective returns what is weighed: tokens stand for money where most turns have no price.
func (r *run) objective() Objective {
	o := cmp.Or(r.options.Recommend.Objective, ObjectiveMoney)
	if o == ObjectiveMoney && 2*r.unpriced > r.turns {
		return ObjectiveTokens
	}
	return o
}

// Of returns which measure an objective is.
func (o Objective) Of() int {
	switch o {
	case ObjectiveMoney:
		return SavedUSD
	case ObjectiveTokens:
		return SavedTokens
	case ObjectiveTime:
		return SavedSeconds
	}
	return SavedTurns
}

// savedOf returns what a column saves in a task if meta-tools are always used.
func savedOf(s *taskSums) Saved {
	if s.hasBlind {
		return Saved{s.blind.turnsSaved, s.blind.llmSaved, s.blind.tokensSaved, s.blind.usdSaved, s.blind.secondsSaved}
	}
	return helpful(s)
}

// helpful returns what a column saves in a task if meta-tools are used where they help.
func helpful(s *taskSums) Saved {
	return Saved{s.turnsSaved, s.llmSaved, s.tokensSaved, s.usdSaved, s.secondsSaved}
}

// goal returns the measure by which it is said whether something helps.
func (r *run) goal() int {
	if r.options.Recommend == nil {
		return SavedUSD
	}
	return r.objective().Of()
}

// recommend tests the ways on further deals of the folds and says which to go.
func (r *run) recommend() error {
	if r.options.Recommend == nil {
		return nil
	}
	out := &Recommendation{Way: Way{Kind: Nothing}, Objective: r.objective(), Tasks: len(r.tasks), Chosen: map[Kind]float64{}}
	r.out.Recommendation = out
	for _, key := range slices.Sorted(slices.Values(r.keys())) {
		s := r.sums[r.tasks[key]].at(0)
		for i, x := range (Saved{s.turns, s.llm, s.tokens, s.usd, s.seconds}) {
			out.Total[i] += x
		}
	}
	switch {
	case len(r.tasks) < 2:
		out.Unknown = "nothing is held out of fewer than 2 tasks"
		return nil
	case out.Objective == ObjectiveTime && out.Total[SavedSeconds] == 0:
		out.Unknown = "no turn records when it began and ended"
		return nil
	}
	dealt := []*run{r}
	if r.options.By == SplitFolds {
		for deal := 1; deal < deals; deal++ {
			again, err := r.again(deal, r.options.Compile.DeclaredReads, r.ways)
			if err != nil {
				return err
			}
			dealt = append(dealt, again)
		}
	}
	all := r.undivided()
	out.Asked = all.askedAgain(r.everywhere)
	r.judge(out, dealt)
	if at := slices.Index(r.ways, out.Way); at >= 0 && r.without != nil {
		out.Without = r.without[at]
	}
	if !r.options.Compile.DeclaredReads {
		out.Assumed = all.effects().AssumedReads()
	}
	if out.Assumed == 0 || out.Way.Kind == Nothing || r.options.By != SplitFolds {
		return nil
	}
	for deal := range dealt {
		again, err := r.again(deal, true, []Way{out.Way})
		if err != nil {
			return err
		}
		dealt[deal] = again
	}
	_, folds := rowsOfDeals(dealt, out.Asked.Share)
	judge := r.weigher(out, dealt)
	judge.ways = dealt[0].ways
	out.Confirmed = judge.outcome(1, folds, out.Tasks)
	return nil
}

// undivided returns all runs as one part, for what is asked of them as a whole.
func (r *run) undivided() *Part { return &Part{Runs: r.runs, Options: r.options} }

// again tests ways on another deal of the folds, or with other reads.
func (r *run) again(deal int, declared bool, ways []Way) (*run, error) {
	o := r.options
	o.AgentTasks, o.Techniques, o.Seed, o.Compile.DeclaredReads = -1, []Technique{none}, r.options.Seed+uint64(deal)<<32, declared
	again := newRun(r.runs, o)
	again.isAgain, again.offers, again.ways, again.turns, again.unpriced = true, r.offers, ways, r.turns, r.unpriced
	if err := again.survey(); err != nil {
		return nil, err
	}
	again.waysOf()
	again.test()
	return again, nil
}

// rowsOfDeals returns what the ways save in each task, the mean over the deals, and in each
// fold, if agents ask for such a share of attached results again.
func rowsOfDeals(dealt []*run, again float64) (tasks, folds []row) {
	keys, ways := slices.Sorted(slices.Values(dealt[0].keys())), len(dealt[0].ways)
	tasks = newRows(len(keys), ways)
	for _, d := range dealt {
		sums, counts := newRows(d.part, ways), make([]float64, d.part)
		for at, key := range keys { // in order, as sums of money depend on it
			task := d.tasks[key]
			fold := d.partOf[task] - 1
			counts[fold]++
			for w := range ways {
				sum := d.sums[task].at(d.waysFrom + w)
				for m, x := range savedOf(sum) {
					x -= again * sum.attached[m]
					sums[fold][w+1][m] += x
					tasks[at][w+1][m] += x / float64(len(dealt))
				}
			}
		}
		for fold := range sums {
			if counts[fold] == 0 {
				continue
			}
			for w := range sums[fold] {
				for m := range sums[fold][w] {
					sums[fold][w][m] /= counts[fold]
				}
			}
			folds = append(folds, sums[fold])
		}
	}
	return tasks, folds
}

// weigher weighs ways by the rows of so many deals.
func (r *run) weigher(out *Recommendation, dealt []*run) weigher {
	judge := weigher{ways: r.ways, goal: out.Objective.Of(), bill: out.Total, tasks: float64(out.Tasks), named: r.options.Recommend.Kinds != nil}
	if len(dealt) > 1 {
		k := float64(dealt[0].out.Folds)
		judge.factor, judge.freedom = 1/(deals*k)+1/(k-1), deals*k-1
		judge.deals = len(dealt)
	}
	return judge
}

// judge chooses a way by what the deals came to.
func (r *run) judge(out *Recommendation, dealt []*run) {
	tasks, folds := rowsOfDeals(dealt, out.Asked.Share)
	judge := r.weigher(out, dealt)
	sample, quoted := folds, folds
	if len(dealt) == 1 { // one part is tested on: one half of it chooses, the other says what that comes to
		sample, quoted = halves(tasks)
		judge.factor, judge.freedom = 1/float64(max(len(sample), 1)), float64(max(len(sample)-1, 1))
	}
	for w := range r.ways {
		out.Ways = append(out.Ways, judge.outcome(w+1, quoted, out.Tasks))
	}
	if out.TooFew = out.Tasks < fewestTasks; out.TooFew {
		for i := range out.Ways {
			out.Ways[i].Intervals = noIntervals("too few tasks: 10 are needed")
		}
		out.Recommended = WayOutcome{Way: out.Way, Intervals: noIntervals("too few tasks: 10 are needed")}
		return
	}
	chosen, sameBill := judge.choose(sample)
	// Of single tasks the same variance is wanted as of folds: that of a fold's mean is the
	// variance of a task over its size.
	again := judge
	again.perTask = judge.factor * float64(len(folds)) / deals
	if len(dealt) == 1 {
		again.perTask = 1
	}
	out.resample(&again, tasks, r.options.Seed, chosen)
	if !out.Decided {
		chosen = judge.simplest(sample, out.Tied, chosen)
	}
	if kept := r.kept(); kept > 0 && kept != chosen {
		if keeps, same := judge.keeps(sample, kept, chosen); keeps {
			chosen, sameBill, out.Kept = kept, same, true
		}
	}
	if chosen > 0 {
		out.Way, out.SameBill = r.ways[chosen-1], sameBill
	}
	out.Recommended.Way = out.Way
	if out.Decided = out.Chosen[out.Way.Kind] >= decidedShare; out.Decided {
		out.Tied = nil
	}
}

// kept returns the place of the way that was recommended before, 0 for none.
func (r *run) kept() int {
	kept, is := r.options.Recommend.Kept[r.agent]
	if !is {
		return 0
	}
	return slices.Index(r.ways, kept) + 1
}

func newRows(n, ways int) []row {
	rows := make([]row, n)
	for i := range rows {
		rows[i] = make(row, ways+1)
	}
	return rows
}

// halves divides tasks, which stand in the order of their keys, into two.
func halves(tasks []row) (a, b []row) {
	for i, t := range tasks {
		if i%2 == 0 {
			a = append(a, t)
		} else {
			b = append(b, t)
		}
	}
	if len(b) == 0 {
		b = a
	}
	return a, b
}

func noIntervals(reason string) (out [measuresSaved]stat.Interval) {
	for i := range out {
		out[i] = stat.NoInterval(reason)
	}
	return out
}

// resample makes the choice again on bootstrap samples of the tasks, and measures it on the
// tasks that are not in them.
func (out *Recommendation) resample(c *weigher, tasks []row, seed uint64, chosen int) {
	random := rand.New(rand.NewPCG(seed, 13)) //nolint:gosec // a reproducible sample, no secret
	var samples [measuresSaved][]float64
	sample, drawn := make([]row, len(tasks)), make([]bool, len(tasks))
	for range resamples {
		clear(drawn)
		for i := range sample {
			k := random.IntN(len(tasks))
			sample[i], drawn[k] = tasks[k], true
		}
		way, _ := c.choose(sample)
		kind := Nothing
		if way > 0 {
			kind = c.ways[way-1].Kind
		}
		out.Chosen[kind] += 1.0 / resamples
		var sum Saved
		left := 0.0
		for i, t := range tasks {
			if drawn[i] {
				continue
			}
			left++
			for m, x := range t[way] {
				sum[m] += x
			}
		}
		if left == 0 {
			continue
		}
		for m, x := range sum {
			samples[m] = append(samples[m], x/left*c.tasks)
		}
	}
	kind := Nothing
	if chosen > 0 {
		kind = c.ways[chosen-1].Kind
	}
	out.Decided = out.Chosen[kind] >= decidedShare
	for _, kind := range Kinds {
		if share := out.Chosen[kind]; share >= tiedShare && !out.Decided {
			out.Tied = append(out.Tied, kind)
		}
	}
	for m, list := range samples {
		slices.Sort(list)
		mean := 0.0
		for _, x := range list {
			mean += x / float64(len(list))
		}
		out.Recommended.Saved[m] = mean
		at := func(q float64) float64 { return list[int(math.Round(q*float64(len(list)-1)))] }
		out.Recommended.Intervals[m] = stat.Interval{Lo: at(0.025), Hi: at(0.975), Level: 0.95, N: len(tasks), Method: "bootstrap of the whole procedure"}
	}
}

// ForRecommendation are the techniques that a recommendation is told beside: nothing, and
// parallel calls.
func ForRecommendation() []Technique { return []Technique{none, batch} }
