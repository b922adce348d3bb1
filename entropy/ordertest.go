package entropy

import (
	"math"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
)

// minExpected is the mean expected count of a cell below which the chi-square
// distribution is no guide to G2.
const minExpected = 5

// Freedom holds the degrees of freedom of a test by every convention.
type Freedom struct {
	Observed float64 `json:"observed"`
	Full     float64 `json:"full"`
	Paper    float64 `json:"paper"`
}

// by returns the degrees of freedom by one convention.
func (f Freedom) by(c Convention) float64 {
	switch c {
	case Full:
		return f.Full
	case Paper:
		return f.Paper
	}
	return f.Observed
}

// A Test is the likelihood ratio test of a Markov chain of order From against
// one of order To = From+1. A rejection shows memory or a mixture: sequences of
// several kinds, each without memory, are rejected too. [TestOrder] over the
// kinds apart tells which.
type Test struct {
	From int `json:"from"`
	To   int `json:"to"`
	// G2 = 2 sum n(a,c,s) ln(n(a,c,s) n(c) / (n(a,c) n(c,s))), both models on the
	// same windows a, c, s.
	G2 stat.Figure `json:"g2"`
	// G2Paper = 2 ln2 (N H_From - N' H_To), each entropy on windows of its own.
	G2Paper    stat.Figure `json:"g2_paper"`
	DF         float64     `json:"df"`
	Convention Convention  `json:"df_convention"`
	DFAll      Freedom     `json:"df_all"`
	// Log10P is the chi-square p. Where a warning says that it is unreliable,
	// MonteCarlo takes its place.
	Log10P stat.Figure `json:"log10_p"`
	N      uint64      `json:"n"` // windows
	// FromBits and ToBits are the entropies of both orders on these windows:
	// G2 = 2 N ln2 (FromBits - ToBits).
	FromBits stat.Figure `json:"from_bits"`
	ToBits   stat.Figure `json:"to_bits"`
	// Effect is the share of the uncertainty that one more symbol takes away:
	// (FromBits - ToBits)/FromBits.
	Effect       stat.Figure `json:"effect"`
	MeanExpected stat.Figure `json:"mean_expected"` // count of a cell
	// MonteCarlo is the p of G2 on the same windows, whatever the convention.
	MonteCarlo *MonteCarlo `json:"monte_carlo,omitempty"`
	Groups     int         `json:"groups"` // that the sums are over
	Warnings   []Warning   `json:"warnings"`
}

// TestOrder tests order k against k+1, which is at most the order of the counts.
// Given the counts of several groups it adds up their G2 and degrees of freedom:
// the test within groups, which their differences cannot make reject.
func TestOrder(k int, o Options, groups ...*ngram.Counts) Test {
	o = o.withDefaults()
	t := Test{
		From: k, To: k + 1, Convention: o.Convention, Groups: len(groups),
		G2: none, G2Paper: none, Log10P: none, FromBits: none, ToBits: none, Effect: none, MeanExpected: none,
		Warnings: []Warning{},
	}
	var s statistics
	for _, c := range groups {
		s.add(k, c)
	}
	t.N, t.DFAll, t.G2Paper = s.n, s.freedom, figure(s.paper.value())
	t.DF = t.DFAll.by(o.Convention)
	if s.n == 0 {
		t.G2Paper = none
		t.Warnings = append(t.Warnings, warn(WarnNoWindows, "no sequence has more than %d symbols", k+1))
		return t
	}
	n := float64(s.n)
	t.G2 = figure(max(s.g2.value(), 0))
	from, to, expected := s.from.value()/n, s.to.value()/n, n/s.cells
	t.FromBits, t.ToBits, t.MeanExpected = figure(from), figure(to), figure(expected)
	if from > 0 {
		t.Effect = figure(max((from-to)/from, 0))
	}
	if o.AutoTool {
		t.G2 = t.G2Paper
		t.Warnings = append(t.Warnings, warn(WarnDifferentSample,
			"G2 compares likelihoods on %d and on %d windows: it also counts what was left out", s.ownFrom, s.ownTo))
	}
	if t.Log10P = ChiSquareTail(t.DF, t.G2.Float()); t.DF <= 0 {
		t.Warnings = append(t.Warnings, warn(WarnNoFreedom, "by the %s convention there are %.0f degrees of freedom: no p", t.Convention, t.DF))
	}
	if expected < minExpected {
		t.Warnings = append(t.Warnings, warn(WarnSmallExpected,
			"a cell is expected to hold %.2g windows on average, %d are needed: the chi-square p is unreliable", expected, minExpected))
	}
	if o.Permutations > 0 && t.DFAll.Observed > 0 && (o.MonteCarlo || expected < minExpected) {
		var refused string
		if t.MonteCarlo, refused = monteCarlo(k, o, groups); t.MonteCarlo == nil || t.MonteCarlo.Samples < o.Permutations {
			t.Warnings = append(t.Warnings, Warning{WarnShortened, refused})
		}
	}
	return t
}

// statistics are the sums that a test is made of.
type statistics struct {
	n              uint64
	ownFrom, ownTo uint64 // windows of each order's own
	g2, from, to   sum    // from and to in bits
	paper          sum
	cells          float64 // of all tables, empty ones included
	freedom        Freedom
}

// add adds one group's tables.
func (s *statistics) add(k int, c *ngram.Counts) {
	var columns columns
	for t := range c.Tables(k) {
		columns.of(t)
		s.n += t.N
		s.cells += float64(len(t.Rows)) * float64(len(columns.totals))
		s.freedom.Observed += float64(len(t.Rows)-1) * float64(len(columns.totals)-1)
		n := float64(t.N)
		var g2 sum
		for _, r := range t.Rows {
			for _, x := range r.Next {
				seen, column := float64(x.N), float64(columns.totals[columns.index[x.Symbol]])
				g2.add(seen * math.Log(seen/float64(r.N)*(n/column)))
				s.to.add(seen * math.Log2(float64(r.N)/seen))
			}
		}
		if len(t.Rows) > 1 { // else 0, but for rounding
			s.g2.add(2 * g2.value())
		}
		for _, column := range columns.totals {
			s.from.add(float64(column) * math.Log2(n/float64(column)))
		}
	}
	symbols := float64(c.Distinct(1))
	before, after := c.Order(k), c.Order(k+1)
	s.paper.add(2 * math.Ln2 * (totalBits(before) - totalBits(after)))
	if symbols > 0 {
		s.freedom.Full += math.Pow(symbols, float64(k)) * (symbols - 1) * (symbols - 1)
		s.freedom.Paper += float64(after.Summary().Contexts-before.Summary().Contexts) * (symbols - 1)
	}
	s.ownFrom += before.Summary().N
	s.ownTo += after.Summary().N
}

// columns are the successors in a table: a number for each, in the order of
// their first appearance, and how often they occur.
type columns struct {
	index  map[uint32]uint32
	totals []uint64
}

// of takes in another table.
func (c *columns) of(t ngram.Table) {
	if c.index == nil {
		c.index = map[uint32]uint32{}
	}
	clear(c.index)
	c.totals = c.totals[:0]
	for _, r := range t.Rows {
		for _, x := range r.Next {
			i, ok := c.index[x.Symbol]
			if !ok {
				i = uint32(len(c.totals))
				c.index[x.Symbol] = i
				c.totals = append(c.totals, 0)
			}
			c.totals[i] += x.N
		}
	}
}
