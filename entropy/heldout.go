package entropy

import (
	"slices"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
)

const (
	// optimism is how far, in bits, a plug-in may be below the held-out loss.
	optimism = 0.5
	// unseenShare is the share of unseen symbols worth a warning.
	unseenShare = 0.05
)

// A HeldOutOrder is the held-out cross-entropy of one order: the mean of -log2 p
// over all symbols, by models that have not seen their tasks.
type HeldOutOrder struct {
	K        int           `json:"k"`
	Bits     stat.Figure   `json:"bits"`
	Interval stat.Interval `json:"interval,omitzero"`
	// Gain is how much less this order loses than the one before, on the same
	// symbols, with an interval from the same replicates.
	Gain         stat.Figure   `json:"gain_bits"`
	GainInterval stat.Interval `json:"gain_interval,omitzero"`
}

// HeldOut is what interpolated Kneser-Ney models of each order lose on tasks
// that they have not seen: unlike the entropies of an [Order] it does not fall
// because contexts have become unique.
type HeldOut struct {
	Orders   []HeldOutOrder `json:"orders"`
	N        int            `json:"n"`      // symbols predicted, at every order
	Unseen   int            `json:"unseen"` // of which training had never shown
	Tasks    int            `json:"tasks"`
	Folds    int            `json:"folds"`
	Warnings []Warning      `json:"warnings,omitempty"`
	// beats[j][k] is true where order j > k loses less than order k by more than
	// chance.
	beats [][]bool
}

// NewHeldOut sums up held-out losses, with intervals by bootstrap over tasks:
// each replicate's figure is the sum of its losses over the sum of its symbols.
func NewHeldOut(l ngram.Losses, o Options) HeldOut {
	o = o.withDefaults()
	total := l.Total()
	h := HeldOut{Orders: []HeldOutOrder{}, N: total.N, Unseen: total.Unseen, Tasks: len(l.Tasks), Folds: l.Folds}
	if h.N == 0 {
		h.Warnings = append(h.Warnings, warn(WarnNoHeldOut, "a held-out loss needs at least two tasks with calls"))
		return h
	}
	h.Warnings = taskWarning(h.Tasks)
	if share := float64(h.Unseen) / float64(h.N); share > unseenShare {
		h.Warnings = append(h.Warnings, warn(WarnUnseen, "%.0f %% of the calls are of tools that no other task's calls show", 100*share))
	}
	losses := lossesOf(l)
	var figures []stat.ClusterRatio // of each order, then of each pair of them
	figures = append(figures, losses...)
	for j := range losses {
		for k := range j {
			figures = append(figures, losses[k].Minus(losses[j]))
		}
	}
	intervals := stat.Intervals(figures, o.drawing(0))
	pairs := intervals[len(losses):]
	h.beats = make([][]bool, len(losses))
	for k := range losses {
		order := HeldOutOrder{K: k, Bits: figure(total.Bits[k] / float64(h.N)), Gain: stat.Unknown("there is no shorter context to compare with"), Interval: intervals[k]}
		for j, gain := range pairs[:k] {
			// Where all tasks gain the same, there is no interval, and no doubt either.
			same := !gain.Known() && h.Tasks >= stat.MinClusters && losses[j].Minus(losses[k]).Value() > 0
			h.beats[k] = append(h.beats[k], same || gain.Known() && gain.Lo > 0)
		}
		if k > 0 {
			order.Gain, order.GainInterval = figure(h.Orders[k-1].Bits.Float()-order.Bits.Float()), pairs[k-1]
		}
		pairs = pairs[k:]
		h.Orders = append(h.Orders, order)
	}
	return h
}

// lossesOf returns the loss in bits a symbol, by order.
func lossesOf(l ngram.Losses) []stat.ClusterRatio {
	losses := make([]stat.ClusterRatio, len(l.Tasks[0].Bits))
	symbols := make([]float64, len(l.Tasks))
	for i := range l.Tasks {
		symbols[i] = float64(l.Tasks[i].N)
	}
	for k := range losses {
		losses[k] = stat.ClusterRatio{Num: make([]float64, len(l.Tasks)), Den: symbols}
		for i := range l.Tasks {
			losses[k].Num[i] = l.Tasks[i].Bits[k]
		}
	}
	return losses
}

// best returns the order with the least loss.
func (h *HeldOut) best() int {
	best := 0
	for k, o := range h.Orders {
		if o.Bits.Float() < h.Orders[best].Bits.Float() {
			best = k
		}
	}
	return best
}

// supported returns the smallest order that no longer one beats by more than
// chance.
func (h *HeldOut) supported() int {
	k := 0
	for slices.ContainsFunc(h.beats[k+1:], func(beats []bool) bool { return beats[k] }) {
		k++
	}
	return k
}

// AddHeldOut adds held-out losses to the analysis, warns where a plug-in is more
// than half a bit below them, and renews the choice of an order and the verdict.
func (a *Analysis) AddHeldOut(l ngram.Losses, o Options) {
	h := NewHeldOut(l, o)
	a.HeldOut = &h
	if h.N == 0 {
		a.Verdict = a.verdict()
		return
	}
	a.Selection.HeldOut, a.Selection.Supported = h.best(), h.supported()
	for k := range min(len(a.Orders), len(h.Orders)) {
		if gap := h.Orders[k].Bits.Float() - a.Orders[k].Bits.Float(); gap > optimism {
			a.Orders[k].Warnings = append(a.Orders[k].Warnings, warn(WarnOptimistic,
				"%.2f bits below the held-out loss: on new tasks expect that one", gap))
		}
	}
	a.Verdict = a.verdict()
}
