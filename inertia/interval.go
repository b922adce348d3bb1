package inertia

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// An Interval is the 95 % bounds of a figure by bootstrap over tasks: calls of one
// task are not independent. The zero value is no interval.
type Interval struct{ Lo, Hi float64 }

// Known reports whether there is an interval.
func (i Interval) Known() bool { return i != Interval{} }

const (
	replicates = 1000
	leastTasks = 5
)

// Intervals are the bounds of a predictor's figures; NaN and fewer than five tasks
// leave them unknown.
type Intervals struct {
	Top1, Top3, LogLoss          Interval
	Coverage, Precision, Avoided Interval
	Avoided80, Avoided90         Interval
}

// sums are what the figures of one task are made of.
type sums struct {
	n, top1, top3, bits, turns, fired, right, right80, right90 float64
}

func (s *sums) add(o *sums) {
	s.n += o.n
	s.top1 += o.top1
	s.top3 += o.top3
	s.bits += o.bits
	s.turns += o.turns
	s.fired += o.fired
	s.right += o.right
	s.right80 += o.right80
	s.right90 += o.right90
}

// Bootstrap returns the intervals of figures. theta is the operating point, the
// thresholds at80 and at90 those of [Most], NaN where there are none.
func Bootstrap(runs []Replayed, theta, at80, at90 float64, gate Gate, seed uint64) Intervals {
	byTask := map[string]*sums{}
	for i := range runs {
		one := runs[i : i+1]
		r := Rank(one, false)
		f := Fire(one, theta, gate)
		s := &sums{n: float64(r.N), top1: float64(r.Top1), top3: float64(r.Top3), turns: float64(f.Turns), fired: float64(f.Fired), right: float64(f.Right)}
		if r.N > 0 {
			s.bits = r.LogLoss * float64(r.N)
		}
		if !math.IsNaN(at80) {
			s.right80 = float64(rightAt(one, at80, gate))
		}
		if !math.IsNaN(at90) {
			s.right90 = float64(rightAt(one, at90, gate))
		}
		if byTask[runs[i].Task] == nil {
			byTask[runs[i].Task] = &sums{}
		}
		byTask[runs[i].Task].add(s)
	}
	tasks := sortedKeys(byTask)
	if len(tasks) < leastTasks {
		return Intervals{}
	}
	random := rand.New(rand.NewPCG(seed, 0x1e7a))
	var drawn [8][]float64
	for range replicates {
		var total sums
		for range tasks {
			total.add(byTask[tasks[random.IntN(len(tasks))]])
		}
		for i, v := range [...]float64{
			total.top1 / total.n, total.top3 / total.n, total.bits / total.n, total.fired / total.turns,
			total.right / total.fired, total.right, total.right80, total.right90,
		} {
			if !math.IsNaN(v) {
				drawn[i] = append(drawn[i], v)
			}
		}
	}
	return Intervals{
		Top1: percentiles(drawn[0]), Top3: percentiles(drawn[1]), LogLoss: percentiles(drawn[2]), Coverage: percentiles(drawn[3]),
		Precision: percentiles(drawn[4]), Avoided: percentiles(drawn[5]), Avoided80: percentiles(drawn[6]), Avoided90: percentiles(drawn[7]),
	}
}

func rightAt(runs []Replayed, theta float64, gate Gate) int {
	f := Fire(runs, theta, gate)
	return f.Right
}

// percentiles returns the middle 95 % of replicates, no interval if more than a
// tenth of them have no value.
func percentiles(values []float64) Interval {
	if len(values) < replicates*9/10 {
		return Interval{}
	}
	slices.Sort(values)
	at := func(p float64) float64 { return values[min(int(p*float64(len(values))), len(values)-1)] }
	return Interval{Lo: at(0.025), Hi: at(0.975)}
}

// CurvePoint is one point of a learning curve.
type CurvePoint struct {
	Tasks, Trajectories int // trained on
	Runs                []Replayed
}

// LearningCurve replays test with growing shares of the tasks of train, which are
// taken in the order of their keys' hashes.
func LearningCurve(train, test []*Run, shares []float64, rank func(task string) uint64, o ReplayOptions) []CurvePoint {
	byTask := map[string]uint64{}
	for _, r := range train {
		byTask[r.Task] = rank(r.Task)
	}
	tasks := sortedKeys(byTask)
	sort.SliceStable(tasks, func(i, j int) bool { return byTask[tasks[i]] < byTask[tasks[j]] })
	o.Only = []string{PredictorDefault}
	var out []CurvePoint
	for _, share := range shares {
		n := max(1, int(math.Round(share*float64(len(tasks)))))
		if n > len(tasks) {
			break
		}
		chosen := map[string]bool{}
		for _, task := range tasks[:n] {
			chosen[task] = true
		}
		var part []*Run
		for _, r := range train {
			if chosen[r.Task] {
				part = append(part, r)
			}
		}
		out = append(out, CurvePoint{Tasks: n, Trajectories: len(part), Runs: Replay(part, test, o)[PredictorDefault]})
	}
	return out
}

// Advantage returns how many bits a turn the predictor of ours loses less than that
// of theirs, on the same turns, with an interval from the same resampled tasks. It
// is NaN if one of them has no probabilities.
func Advantage(ours, theirs []Replayed, seed uint64) (float64, Interval) {
	type pair struct{ n, bits float64 }
	byTask := map[string]*pair{}
	for side, runs := range [][]Replayed{ours, theirs} {
		for i := range runs {
			r := Rank(runs[i:i+1], false)
			if r.N == 0 {
				continue
			}
			if byTask[runs[i].Task] == nil {
				byTask[runs[i].Task] = &pair{}
			}
			bits := r.LogLoss * float64(r.N)
			if side == 0 {
				bits = -bits
				byTask[runs[i].Task].n += float64(r.N)
			}
			byTask[runs[i].Task].bits += bits
		}
	}
	tasks := sortedKeys(byTask)
	var all pair
	for _, t := range tasks {
		all.n += byTask[t].n
		all.bits += byTask[t].bits
	}
	if len(tasks) < leastTasks {
		return all.bits / all.n, Interval{}
	}
	random := rand.New(rand.NewPCG(seed, 0xadba))
	var drawn []float64
	for range replicates {
		var sum pair
		for range tasks {
			t := byTask[tasks[random.IntN(len(tasks))]]
			sum.n += t.n
			sum.bits += t.bits
		}
		if v := sum.bits / sum.n; !math.IsNaN(v) {
			drawn = append(drawn, v)
		}
	}
	return all.bits / all.n, percentiles(drawn)
}
