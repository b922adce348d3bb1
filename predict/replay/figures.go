package replay

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/trace"
)

// Ranking is how well a predictor ranks and bets, over some decisions. Log losses
// are means in bits, NaN where scores are no probabilities.
type Ranking struct {
	N       int
	Top1    int
	Top3    int
	LogLoss float64
}

// Rank sums up verdicts: over the turns of the model, or over calls only as
// AutoTool does.
func Rank(runs []Replayed, callsOnly bool) Ranking {
	r, bits := Ranking{}, 0.0
	for i := range runs {
		for j := range runs[i].Verdicts {
			v := &runs[i].Verdicts[j]
			place, loss := v.Rank, v.Bits
			if callsOnly {
				place, loss = v.OfCalls, v.CallBits
			}
			if callsOnly && v.None || !callsOnly && v.Inside {
				continue
			}
			r.N++
			bits += loss
			if place == 1 {
				r.Top1++
			}
			if place >= 1 && place <= 3 {
				r.Top3++
			}
		}
	}
	r.LogLoss = bits / float64(r.N)
	return r
}

// Fired is what firing at and above a threshold comes to.
type Fired struct {
	Theta float64
	Turns int // of the model
	Fired int
	Right int // turns avoided
	Wrong map[WrongClass]int
	By    [predict.NumSources]int // wrong arguments, by source
}

// Precision returns the share of the calls made that were right, NaN if none was.
func (f *Fired) Precision() float64 { return float64(f.Right) / float64(f.Fired) }

// Fire lets a predictor's calls with scores of at least theta pass a gate. A
// wrong call is charged, and the recorded turn follows it as a turn of the model.
func Fire(runs []Replayed, theta float64, gate predict.Gate) Fired {
	f := Fired{Theta: theta, Wrong: map[WrongClass]int{}}
	for i := range runs {
		f.fire(runs[i].Verdicts, gate)
	}
	return f
}

func (f *Fired) fire(verdicts []Verdict, gate predict.Gate) {
	var past predict.Past
	for i := range verdicts {
		v := &verdicts[i]
		failed := v.Status == trace.StatusFailed
		if v.Inside {
			past.Add(predict.Event{Failed: failed})
			continue
		}
		f.Turns++
		fires := v.Fires && v.Score >= f.Theta && (gate.AllowsAfter(&past) || v.Forced)
		if fires {
			f.Fired++
		}
		switch {
		case fires && v.Right:
			f.Right++
			past.Add(predict.Event{Inertial: true, Failed: failed})
			continue
		case fires:
			f.Wrong[v.Wrong]++
			if v.Wrong == WrongArgument {
				f.By[v.By]++
			}
			past.Add(predict.Event{Inertial: true})
		}
		if !v.None {
			past.Add(predict.Event{Failed: failed})
		}
	}
}

// Thresholds returns the scores at which something changes, ascending, at most
// most of them.
func Thresholds(runs []Replayed, most int) []float64 {
	var all []float64
	for i := range runs {
		for j := range runs[i].Verdicts {
			if v := &runs[i].Verdicts[j]; v.Fires {
				all = append(all, v.Score)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) <= most {
		return all
	}
	out := make([]float64, most)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(most-1)]
	}
	return out
}

// maxThresholds is how many thresholds are tried for the most turns avoided.
const maxThresholds = 400

// Most returns the threshold at which the most turns are avoided with at least
// a precision; false if it is reached nowhere. It is chosen with the outcomes in
// sight, for every predictor alike: what an operator with perfect foresight gets.
func Most(runs []Replayed, precision float64, gate predict.Gate) (Fired, bool) {
	best, found := Fired{}, false
	for _, theta := range Thresholds(runs, maxThresholds) {
		f := Fire(runs, theta, gate)
		if f.Right > 0 && f.Precision() >= precision && (!found || f.Right > best.Right) {
			best, found = f, true
		}
	}
	return best, found
}

// A Tier is how often a source filled in an argument of the call that was then
// made, and how often with the same value.
type Tier struct {
	Source predict.Source
	Tried  int
	Right  int
}

// Tiers sums up the filling of the calls of right tools.
func Tiers(runs []Replayed) []Tier {
	out := make([]Tier, predict.NumSources)
	for s := range out {
		out[s].Source = predict.Source(s)
		for i := range runs {
			for j := range runs[i].Verdicts {
				out[s].Tried += runs[i].Verdicts[j].Tried[s]
				out[s].Right += runs[i].Verdicts[j].Good[s]
			}
		}
	}
	return out
}

// A Bin is the calls whose scores lie between two bounds.
type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	N     int     `json:"n"`
	Mean  float64 `json:"mean"`  // of the scores
	Right float64 `json:"right"` // share
}

// Reliability returns how often calls were right against how likely they were
// said to be, in bins of equal width that hold any.
func Reliability(runs []Replayed, bins int) []Bin {
	all := make([]Bin, bins)
	for i := range runs {
		for j := range runs[i].Verdicts {
			v := &runs[i].Verdicts[j]
			if !v.Fires {
				continue
			}
			b := &all[min(int(v.Score*float64(bins)), bins-1)]
			b.N++
			b.Mean += v.Score
			if v.Right {
				b.Right++
			}
		}
	}
	var out []Bin
	for i, b := range all {
		if b.N > 0 {
			b.From, b.To = float64(i)/float64(bins), float64(i+1)/float64(bins)
			b.Mean, b.Right = b.Mean/float64(b.N), b.Right/float64(b.N)
			out = append(out, b)
		}
	}
	return out
}

// Theta returns the threshold at which a predictor fires unless told otherwise:
// cost is what a wrong call costs in turns.
func Theta(predictor string, cost float64) float64 {
	if predictor == PredictorPreset {
		return math.Nextafter(predict.DefaultTheta, 1) // the score must be above it
	}
	return predict.Threshold(cost)
}

// GateOf returns the gate of a predictor.
func GateOf(predictor string) predict.Gate { return predict.Gate{Preset: predictor == PredictorPreset} }
