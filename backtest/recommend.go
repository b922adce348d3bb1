package backtest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/awo-dev/awo/internal/stat"
)

// RecommendOptions say what a recommendation weighs.
type RecommendOptions struct {
	Objective Objective      // "" is ObjectiveMoney
	Kinds     []Kind         // of the ways that are tried, also where they need more calls of the model; nil for those that may pay
	Kept      map[string]Way // what was recommended before, by the key of the agent, "" for the only one
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
	SameBill    bool             // no measurable change of the bill, but fewer calling turns
	Kept        bool             // the way of before is kept: none is clearly better

	// Unknown says why there are no figures, TooFew why there is nothing to choose by.
	Unknown string
	TooFew  bool
}

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
			r.tokens += float64(account.Definitions) * float64(total.Turns)
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
	if r.options.Recommend != nil {
		return r.objective().Of()
	}
	if 2*r.unpriced > r.turns {
		return SavedTokens
	}
	return SavedUSD
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
			o := r.options
			o.AgentTasks, o.Techniques, o.Seed = -1, []Technique{none}, r.options.Seed+uint64(deal)<<32
			again := newRun(r.runs, o)
			again.offers, again.ways, again.turns, again.unpriced = r.offers, r.ways, r.turns, r.unpriced
			if err := again.survey(); err != nil {
				return err
			}
			again.waysOf()
			again.test()
			dealt = append(dealt, again)
		}
	}
	r.judge(out, dealt)
	if !r.options.Compile.DeclaredReads {
		out.Assumed = (&Part{Runs: r.runs, Options: r.options}).effects().AssumedReads()
	}
	return nil
}

// judge chooses a way by what the deals came to.
func (r *run) judge(out *Recommendation, dealt []*run) {
	keys := slices.Sorted(slices.Values(r.keys()))
	at := map[string]int{}
	for i, key := range keys {
		at[key] = i
	}
	tasks, folds := newRows(len(keys), len(r.ways)), []row(nil)
	for _, d := range dealt {
		sums, counts := newRows(d.part, len(r.ways)), make([]float64, d.part)
		for _, key := range keys { // in order, as sums of money depend on it
			task := d.tasks[key]
			fold := d.partOf[task] - 1
			counts[fold]++
			for w := range r.ways {
				saved := savedOf(d.sums[task].at(d.waysFrom + w))
				for m, x := range saved {
					sums[fold][w+1][m] += x
					tasks[at[key]][w+1][m] += x / float64(len(dealt))
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
	n := float64(len(keys))
	judge := weigher{ways: r.ways, goal: out.Objective.Of(), bill: out.Total, tasks: n, named: r.options.Recommend.Kinds != nil}
	sample, quoted := folds, folds
	if len(dealt) > 1 {
		k := float64(dealt[0].out.Folds)
		judge.factor, judge.freedom = 1/(deals*k)+1/(k-1), deals*k-1
		judge.deals = len(dealt)
	} else { // one part is tested on: one half of it chooses, the other says what that comes to
		sample, quoted = halves(tasks)
		judge.factor, judge.freedom = 1/float64(max(len(sample), 1)), float64(max(len(sample)-1, 1))
	}
	for w := range r.ways {
		out.Ways = append(out.Ways, judge.outcome(w+1, quoted, len(keys)))
	}
	if out.TooFew = len(keys) < fewestTasks; out.TooFew {
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

// weigher chooses among ways by the rows of folds, or of tasks.
type weigher struct {
	ways    []Way
	goal    int
	bill    Saved
	tasks   float64 // estimates are of so many
	factor  float64 // times the variance of rows is that of their mean
	freedom float64 // degrees of freedom of that
	perTask float64 // factor times the number of rows, of rows of tasks; 0 for rows of folds
	deals   int     // rows of folds are those of so many deals, one after the other
	named   bool    // the kinds were asked for, also those that need more calls of the model
}

// estimate returns the mean of what of gives for each row, and its standard error.
func (c *weigher) estimate(rows []row, of func(row) float64) (mean, err float64) {
	n := float64(len(rows))
	for _, r := range rows {
		mean += of(r) / n
	}
	if n < 2 {
		return mean, math.Inf(1)
	}
	variance := 0.0
	for _, r := range rows {
		d := of(r) - mean
		variance += d * d / (n - 1)
	}
	if c.perTask > 0 {
		return mean, math.Sqrt(c.perTask / n * variance)
	}
	return mean, math.Sqrt(c.factor*variance + c.learning(rows, mean, of))
}

// learning returns the variance that comes from what was compiled. All deals test the same
// tasks, so that their means differ by that alone; each is the mean of as many compilations as
// it has folds, and what is offered in the end is one.
func (c *weigher) learning(rows []row, mean float64, of func(row) float64) float64 {
	if c.deals < 2 || len(rows)%c.deals != 0 {
		return 0
	}
	folds := float64(len(rows)) / float64(c.deals)
	variance := 0.0
	for deal := range slices.Chunk(rows, len(rows)/c.deals) {
		d := -mean
		for _, r := range deal {
			d += of(r) / folds
		}
		variance += d * d / float64(c.deals-1)
	}
	return folds * variance
}

func (c *weigher) way(rows []row, way, measure int) (mean, err float64) {
	return c.estimate(rows, func(r row) float64 { return r[way][measure] })
}

// quantile is how many standard errors a 95 % interval reaches to either side.
func (c *weigher) quantile() float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: c.freedom}.Quantile(0.975)
}

// outcome returns what a way saves on all tasks.
func (c *weigher) outcome(way int, rows []row, n int) WayOutcome {
	out, t := WayOutcome{Way: c.ways[way-1]}, c.quantile()
	for m := range out.Saved {
		mean, err := c.way(rows, way, m)
		out.Saved[m] = mean * c.tasks
		out.Intervals[m] = stat.Interval{Lo: (mean - t*err) * c.tasks, Hi: (mean + t*err) * c.tasks, Level: 0.95, N: n, Method: "corrected t over folds (Nadeau and Bengio)"}
		if math.IsInf(err, 0) {
			out.Intervals[m] = stat.NoInterval("one fold")
		}
	}
	return out
}

// best returns the best way of each kind that may be recommended, 0 for none. Both takes the
// P(use) that is best alone; registration on demand comes beside the best of each other kind.
func (c *weigher) best(rows []row) map[Kind]int {
	best, most := map[Kind]int{}, map[Kind]float64{}
	settings := []Way{{}}
	for _, kind := range Kinds[1:] {
		alone := 0.0
		if w := best[OnlyPrefetch]; w > 0 {
			alone = c.ways[w-1].P
		}
		for i, w := range c.ways {
			calls, _ := c.way(rows, i+1, SavedCalls)
			switch {
			case w.Kind != kind, kind == Both && alone > 0 && w.P != alone,
				kind == WithRegistration && len(settings) > 1 && !slices.Contains(settings, Way{P: w.P, T: w.T}),
				calls < 0 && c.goal != SavedTokens && !c.named:
				continue
			}
			if mean, _ := c.way(rows, i+1, c.goal); best[kind] == 0 || mean > most[kind] {
				best[kind], most[kind] = i+1, mean
			}
		}
		if w := best[kind]; w > 0 {
			settings = append(settings, Way{P: c.ways[w-1].P, T: c.ways[w-1].T})
		}
	}
	return best
}

// choose returns the place of the way to go, 0 for nothing: of the kinds whose lower bound is
// above zero the simplest that is within a standard error of the best. Where there is none,
// the simplest that does not change the bill and leaves out calling turns.
func (c *weigher) choose(rows []row) (way int, sameBill bool) {
	best := c.best(rows)
	var passing []int
	top, most := 0, 0.0
	for _, kind := range Kinds {
		w := best[kind]
		if w == 0 || !c.saves(rows, w) {
			continue
		}
		passing = append(passing, w)
		if mean, _ := c.way(rows, w, c.goal); top == 0 || mean > most {
			top, most = w, mean
		}
	}
	for _, w := range passing {
		if c.within(rows, top, w, 1) {
			return w, false
		}
	}
	for _, kind := range Kinds {
		if w := best[kind]; w > 0 && c.fewerTurns(rows, w) {
			return w, true
		}
	}
	return 0, false
}

// saves reports whether the lower bound of what a way saves is above zero.
func (c *weigher) saves(rows []row, way int) bool {
	mean, err := c.way(rows, way, c.goal)
	return mean-c.quantile()*err > 0
}

// fewerTurns reports whether a way does not change the bill measurably, and surely leaves out
// calling turns.
func (c *weigher) fewerTurns(rows []row, way int) bool {
	if c.goal == SavedTurns {
		return false
	}
	mean, err := c.way(rows, way, c.goal)
	turns, turnsErr := c.way(rows, way, SavedTurns)
	t := c.quantile()
	return (mean-t*err)*c.tasks > -sameBill*c.bill[c.goal] && (turns-t*turnsErr)*c.tasks > fewerTurns*c.bill[SavedTurns]
}

// within reports whether a way is at most so many standard errors of the difference worse
// than another.
func (c *weigher) within(rows []row, than, way int, errors float64) bool {
	if than == way {
		return true
	}
	mean, err := c.estimate(rows, func(r row) float64 { return r[than][c.goal] - r[way][c.goal] })
	return mean <= errors*err
}

// keeps reports whether a kept way still passes and the one chosen now is not clearly better,
// and whether it leaves out turns for the same bill only.
func (c *weigher) keeps(rows []row, kept, chosen int) (keeps, sameBill bool) {
	sameBill = !c.saves(rows, kept)
	return (!sameBill || c.fewerTurns(rows, kept)) && c.within(rows, chosen, kept, keptErrors), sameBill
}

// simplest returns the best way of the simplest kind of those that are tied, and of the one
// that was chosen.
func (c *weigher) simplest(rows []row, tied []Kind, chosen int) int {
	best := c.best(rows)
	for _, kind := range Kinds {
		switch {
		case chosen > 0 && kind == c.ways[chosen-1].Kind:
			return chosen
		case slices.Contains(tied, kind):
			return best[kind]
		}
	}
	return chosen
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
