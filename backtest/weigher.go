package backtest

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/awo-dev/awo/internal/stat"
)

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
