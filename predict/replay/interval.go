package replay

import (
	"math"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/predict"
)

// Intervals are the intervals of a predictor's figures, by bootstrap over tasks: calls
// of one task are not independent.
type Intervals struct {
	Top1      stat.Interval `json:"top1"`
	Top3      stat.Interval `json:"top3"`
	LogLoss   stat.Interval `json:"log_loss_bits"`
	Coverage  stat.Interval `json:"coverage"`
	Precision stat.Interval `json:"precision"`
	Avoided   stat.Interval `json:"-"`
	Avoided80 stat.Interval `json:"turns_avoided"`
	Avoided90 stat.Interval `json:"turns_avoided_90"`
}

// Bootstrap returns the intervals of figures. theta is the operating point, the
// thresholds at80 and at90 those of [Most], NaN where there are none.
func Bootstrap(runs []Replayed, theta, at80, at90 float64, gate predict.Gate, seed uint64) Intervals {
	const (
		turns = iota // that make predictions
		top1
		top3
		bits
		all
		fired
		right
		right80
		right90
		columns
	)
	sums := newTaskSums(runs, columns)
	for i := range runs {
		one := runs[i : i+1]
		r := Rank(one, false)
		f := Fire(one, theta, gate)
		sums.add(i, turns, float64(r.N))
		sums.add(i, top1, float64(r.Top1))
		sums.add(i, top3, float64(r.Top3))
		if r.N > 0 {
			sums.add(i, bits, float64(r.LogLoss*float64(r.N)))
		}
		sums.add(i, all, float64(f.Turns))
		sums.add(i, fired, float64(f.Fired))
		sums.add(i, right, float64(f.Right))
		if !math.IsNaN(at80) {
			sums.add(i, right80, float64(Fire(one, at80, gate).Right))
		}
		if !math.IsNaN(at90) {
			sums.add(i, right90, float64(Fire(one, at90, gate).Right))
		}
	}
	x := stat.Intervals([]stat.ClusterRatio{
		sums.ratio(top1, turns), sums.ratio(top3, turns), sums.ratio(bits, turns), sums.ratio(fired, all), sums.ratio(right, fired),
		{Num: sums.columns[right]},
		{Num: sums.columns[right80]},
		{Num: sums.columns[right90]},
	}, stat.Options{Seed: seed})
	for i, at := range []float64{at80, at90} {
		if math.IsNaN(at) {
			x[6+i] = stat.NoInterval("no threshold reaches this precision")
		}
	}
	for i := range x {
		most := 1.0
		if i == 2 || i > 4 { // bits and counts
			most = math.Inf(1)
		}
		x[i] = x[i].Within(0, most)
	}
	return Intervals{Top1: x[0], Top3: x[1], LogLoss: x[2], Coverage: x[3], Precision: x[4], Avoided: x[5], Avoided80: x[6], Avoided90: x[7]}
}

// taskSums are sums by task.
type taskSums struct {
	place   []int       // of the task of each run
	columns [][]float64 // by figure, then by task
}

func newTaskSums(runs []Replayed, columns int) *taskSums {
	s := &taskSums{}
	tasks := map[string]int{}
	for i := range runs {
		place, known := tasks[runs[i].Task]
		if !known {
			place = len(tasks)
			tasks[runs[i].Task] = place
		}
		s.place = append(s.place, place)
	}
	for range columns {
		s.columns = append(s.columns, make([]float64, len(tasks)))
	}
	return s
}

func (s *taskSums) add(run, column int, v float64) { s.columns[column][s.place[run]] += v }

func (s *taskSums) ratio(num, den int) stat.ClusterRatio {
	return stat.ClusterRatio{Num: s.columns[num], Den: s.columns[den]}
}

// Advantage returns how many bits a turn the predictor of ours loses less than that
// of theirs, on the same turns, with its interval. It is NaN if one of them has no
// probabilities.
func Advantage(ours, theirs []Replayed, seed uint64) (float64, stat.Interval) {
	both := make([]Replayed, 0, len(ours)+len(theirs))
	both = append(append(both, ours...), theirs...)
	sums := newTaskSums(both, 2)
	for i := range both {
		r := Rank(both[i:i+1], false)
		if r.N == 0 {
			continue
		}
		bits := r.LogLoss * float64(r.N)
		if i < len(ours) {
			bits = -bits
			sums.add(i, 1, float64(r.N))
		}
		sums.add(i, 0, bits)
	}
	figure := sums.ratio(0, 1)
	return figure.Value(), figure.Interval(stat.Options{Seed: seed})
}
