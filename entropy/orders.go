package entropy

import (
	"math"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
)

// biasShare is the share of windows in cells seen once above which an entropy is
// marked: by Good and Turing's estimate, that is the probability that the next
// window is one that has never been seen.
const biasShare = 0.05

// An Order is the entropy of the next symbol given the last K, and what it rests
// on. The plug-in and its Miller-Madow correction have no interval on purpose: a
// bootstrap of them does not cover the truth, because no sample has the
// transitions that none has shown yet.
type Order struct {
	K int `json:"k"`
	// Bits is the plug-in estimate H_K = -sum n(c,s)/N log2(n(c,s)/n(c)).
	Bits stat.Figure `json:"bits"`
	// N is the number of windows: symbols that have K before them.
	N          uint64 `json:"n"`
	Contexts   int    `json:"contexts"`   // of K symbols that have a successor
	Cells      int    `json:"cells"`      // different windows
	Singletons int    `json:"singletons"` // windows that occurred once
	// MillerMadow is Bits + sum over contexts of (successors - 1)/(2 N ln 2).
	MillerMadow stat.Figure `json:"miller_madow_bits"`
	// BiasDominated is set when more than one window in twenty occurred once:
	// the figures then say more of how few data there are than of habits.
	BiasDominated bool        `json:"bias_dominated"`
	AIC           stat.Figure `json:"aic"` // see [Selection]
	BIC           stat.Figure `json:"bic"`
	Warnings      []Warning   `json:"warnings"`
}

// plugIn returns the entropy of a table.
func plugIn(t ngram.Order) Order {
	s := t.Summary()
	o := Order{
		K: t.K, N: s.N, Contexts: s.Contexts, Cells: s.Cells, Singletons: s.Singletons,
		Bits: none, MillerMadow: none, AIC: none, BIC: none, Warnings: []Warning{},
	}
	if s.N == 0 {
		o.Warnings = append(o.Warnings, warn(WarnNoWindows, "no sequence has more than %d symbols", t.K))
		return o
	}
	n := float64(s.N)
	bits := totalBits(t) / n
	o.Bits, o.MillerMadow = figure(bits), figure(bits+float64(s.Cells-s.Contexts)/(2*n*math.Ln2))
	if share := float64(s.Singletons) / n; share > biasShare {
		o.BiasDominated = true
		o.Warnings = append(o.Warnings, warn(WarnBias,
			"%.0f %% of the windows occurred once: the plug-in is too low, and the correction for it too small", 100*share))
	}
	return o
}

// totalBits returns N H of a table. Every term is positive: nothing cancels.
func totalBits(t ngram.Order) float64 {
	var total sum
	for c := range t.Contexts() {
		total.add(contextBits(c))
	}
	return total.value()
}

// contextBits returns n(c) H(c).
func contextBits(c ngram.Context) float64 {
	if len(c.Next) == 1 {
		return 0
	}
	var total sum
	for _, s := range c.Next {
		total.add(float64(s.N) * math.Log2(float64(c.N)/float64(s.N)))
	}
	return total.value()
}

// paperEntropy returns H_1 with each context weighed by all occurrences of its
// symbol.
func paperEntropy(c *ngram.Counts) stat.Figure {
	var total sum
	for x := range c.Order(1).Contexts() {
		total.add(float64(c.Occurrences(x.Symbols)) * contextBits(x) / float64(x.N))
	}
	if c.Order(1).Summary().N == 0 {
		return none
	}
	return figure(total.value() / float64(c.Symbols()))
}

// A Selection is the order that each criterion prefers, or -1 where there is
// none.
//
// AIC = 2 p - 2 log L and BIC = p log n - 2 log L are in nats; both compare all
// orders on the same windows, those of the longest order. p is the number of
// contexts seen there times (S-1).
type Selection struct {
	Windows uint64 `json:"windows"` // that all orders are compared on
	AIC     int    `json:"aic"`
	BIC     int    `json:"bic"`
	// HeldOut is the order with the least held-out loss, and Supported the
	// smallest one that no longer order beats by more than chance.
	HeldOut   int `json:"held_out"`
	Supported int `json:"supported"`
}

// criteria fills in AIC and BIC of the orders, and returns their choices.
func criteria(c *ngram.Counts, orders []Order) Selection {
	s := Selection{AIC: -1, BIC: -1, HeldOut: -1, Supported: -1}
	for t := range c.Aligned(c.MaxOrder() + 1) {
		seen := t.Summary()
		if s.Windows = seen.N; seen.N == 0 {
			return s
		}
		logLoss := totalBits(t) * math.Ln2
		parameters := float64(seen.Contexts) * float64(c.Distinct(1)-1)
		o := &orders[t.K]
		o.AIC = figure(2*parameters + 2*logLoss)
		o.BIC = figure(parameters*math.Log(float64(seen.N)) + 2*logLoss)
	}
	s.AIC, s.BIC = 0, 0
	for k, o := range orders {
		if o.AIC.Float() < orders[s.AIC].AIC.Float() {
			s.AIC = k
		}
		if o.BIC.Float() < orders[s.BIC].BIC.Float() {
			s.BIC = k
		}
	}
	return s
}
