package entropy

import (
	"math"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
)

// A Convention is a way to count degrees of freedom of a test of order k against
// order k+1.
type Convention string

// The conventions. S is the number of symbols.
const (
	// Observed takes what was seen: the sum over contexts c of k symbols of
	// (predecessors of c - 1)(successors of c - 1). It is the default.
	Observed Convention = "observed"
	// Full takes every transition to be possible: S^k (S-1)^2.
	Full Convention = "full"
	// Paper is AutoTool's: (C(k+1) - C(k))(S-1), C(k) being the contexts of k
	// symbols that have a successor.
	Paper Convention = "paper"
)

// Options are the choices of this package. The zero value is the default.
type Options struct {
	Convention Convention // of degrees of freedom; "" means Observed
	// AutoTool makes orders, G2 and degrees of freedom those of AutoTool's paper:
	// H_1 with its contexts weighed by all their occurrences, the last of a
	// sequence included; G2 from entropies each on its own windows; Paper degrees
	// of freedom.
	AutoTool bool
	// Permutations is the number of samples of Monte Carlo tests; 0 means 999, a
	// negative number none.
	Permutations int
	// MonteCarlo makes every test of orders a Monte Carlo test too, not only
	// those whose chi-square p is unreliable.
	MonteCarlo bool
	// MaxDraws bounds the work of one Monte Carlo test, in windows drawn; 0 means
	// 2*10^9, about 20 seconds on one core. A test that would take more gets fewer
	// samples, and a warning.
	MaxDraws   int
	Replicates int     // of bootstraps; 0 means 2000
	Level      float64 // of intervals; 0 means 0.95
	Seed       uint64  // of all that is drawn
	Each       ngram.Each
}

// withDefaults returns o with its zero values filled in.
func (o Options) withDefaults() Options {
	if o.AutoTool {
		o.Convention = Paper
	}
	if o.Convention == "" {
		o.Convention = Observed
	}
	if o.Permutations == 0 {
		o.Permutations = 999
	}
	if o.MaxDraws <= 0 {
		o.MaxDraws = 2_000_000_000
	}
	if o.Replicates <= 0 {
		o.Replicates = 2000
	}
	if o.Level <= 0 || o.Level >= 1 {
		o.Level = 0.95
	}
	return o
}

// drawing returns the options of what is drawn for one purpose.
func (o Options) drawing(purpose ...uint64) stat.Options {
	return stat.Options{Level: o.Level, Resamples: o.Replicates, Seed: o.Seed, Purpose: purpose, Each: o.Each}
}

// An Analysis is how predictable the next symbol is, given the last 0, 1, ...
// ones.
type Analysis struct {
	Sequences uint64      `json:"sequences"`  // that are not empty
	Symbols   uint64      `json:"symbols"`    // in all of them
	Distinct  int         `json:"distinct"`   // different symbols, S
	HMax      stat.Figure `json:"h_max_bits"` // log2 S: what a uniform guess costs
	Orders    []Order     `json:"orders"`     // by k
	// H1Paper is the entropy of order 1 as AutoTool computes it (appendix F,
	// equation 2, with the p(s_i) of all occurrences).
	H1Paper   stat.Figure `json:"h1_paper_bits"`
	Tests     []Test      `json:"tests"` // of order k against k+1
	Selection Selection   `json:"selection"`
	HeldOut   *HeldOut    `json:"held_out,omitempty"` // once [Analysis.AddHeldOut] was called
	Verdict   Verdict     `json:"verdict"`
}

// Analyze returns what the counts say of orders 0 to their longest. The verdict
// is one by BIC, until held-out losses are added.
func Analyze(c *ngram.Counts, o Options) Analysis {
	o = o.withDefaults()
	a := Analysis{
		Sequences: c.Sequences(), Symbols: c.Symbols(), Distinct: c.Distinct(1),
		HMax: none, H1Paper: none, Tests: []Test{},
	}
	if a.Distinct > 0 {
		a.HMax = figure(math.Log2(float64(a.Distinct)))
	}
	for k := range c.MaxOrder() + 1 {
		a.Orders = append(a.Orders, plugIn(c.Order(k)))
	}
	if c.MaxOrder() > 0 {
		a.H1Paper = paperEntropy(c)
	}
	a.Selection = criteria(c, a.Orders)
	for k := range c.MaxOrder() {
		a.Tests = append(a.Tests, TestOrder(k, o, c))
	}
	if o.AutoTool && c.MaxOrder() > 0 {
		a.Orders[1].Bits = a.H1Paper
	}
	a.Verdict = a.verdict()
	return a
}
