package entropy

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// minTasks is how many tasks an interval needs at least, goodTasks how many
	// it takes not to be rough.
	minTasks  = 5
	goodTasks = 20
	// maxPicks bounds the work of one bootstrap.
	maxPicks = 300_000_000
	// minReplicates is how far that may shorten it.
	minReplicates = 200
)

// methodBootstrap names the intervals of this package: the tasks are drawn
// anew, since calls of one task are not independent, and the quantiles are moved
// outwards as Student's t asks for with few tasks (the expanded percentile
// interval of Hesterberg 2015, section 3.3).
const methodBootstrap = "bootstrap over tasks, expanded percentile"

// resample draws the tasks anew, o.Replicates times, and calls visit with how
// often each was drawn. visit gets the number of the replicate, writes to what
// belongs to it alone, and keeps nothing.
func resample(tasks int, purpose uint64, o Options, visit func(replicate int, drawn []uint16)) int {
	replicates := o.Replicates
	if tasks > 0 && replicates > maxPicks/tasks {
		replicates = max(maxPicks/tasks, minReplicates)
	}
	inBlocks(o.Each, replicates, func(first, last int) struct{} {
		drawn := make([]uint16, tasks)
		for i := first; i < last; i++ {
			clear(drawn)
			random := stream(o.Seed, 2, purpose, uint64(i))
			for range tasks {
				drawn[below(random, tasks)]++
			}
			visit(i, drawn)
		}
		return struct{}{}
	})
	return replicates
}

// interval returns what the replicates say of a figure that rests on that many
// tasks, or nil where those are too few. It sorts the replicates.
func interval(replicates []float64, tasks int, level float64) *Interval {
	if tasks < minTasks || len(replicates) == 0 {
		return nil
	}
	slices.Sort(replicates)
	n := float64(tasks)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1 - level) / 2)
	tail := distuv.UnitNormal.CDF(t * math.Sqrt(n/(n-1)))
	return &Interval{
		Lo: quantile(replicates, tail), Hi: quantile(replicates, 1-tail),
		Level: level, Method: methodBootstrap,
	}
}

// quantile interpolates between the sorted values (type 7 of Hyndman and Fan).
func quantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := min(max(int(h), 0), len(sorted)-1)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// taskWarning says what the number of tasks does to intervals.
func taskWarning(tasks int) []Warning {
	switch {
	case tasks < minTasks:
		return []Warning{warn(WarnFewTasks, "intervals need at least %d tasks, there are %d", minTasks, tasks)}
	case tasks < goodTasks:
		return []Warning{warn(WarnFewTasks, "with %d tasks intervals are rough, %d make good ones", tasks, goodTasks)}
	}
	return nil
}
