package entropy

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
)

const (
	// minPermutations is how far [Options.MaxDraws] may shorten a Monte Carlo
	// test; what takes more is left out.
	minPermutations = 99
	// maxWindows bounds its memory, 4 bytes a window.
	maxWindows = 100_000_000
)

// A MonteCarlo is a p from samples under the null hypothesis.
type MonteCarlo = stat.MonteCarlo

// A stratum is one context's table as its windows: which successor each has,
// the windows of one predecessor next to each other and the most frequent
// predecessor last.
type stratum struct {
	rows    []int    // windows of each predecessor
	columns []uint32 // windows of each successor
	windows []uint32 // their successors
}

// monteCarlo returns the p of the test by permuting the successors among the
// windows of the same context: predecessors and successors of each context are
// as often as they were, and all that connects them is chance. Where it is
// refused or shortened it says why.
func monteCarlo(k int, o Options, groups []*ngram.Counts) (*MonteCarlo, string) {
	strata, observed, refused := stratify(k, groups)
	if refused != "" {
		return nil, refused
	}
	draws := 0
	for _, s := range strata {
		draws += len(s.windows) - s.rows[len(s.rows)-1]
	}
	samples := o.Permutations
	if draws > 0 && samples > o.MaxDraws/draws {
		if samples = o.MaxDraws / draws; samples < minPermutations {
			return nil, fmt.Sprintf("no Monte Carlo test: a sample takes %d draws", draws)
		}
		refused = fmt.Sprintf("%d Monte Carlo samples instead of %d, for %d draws each", samples, o.Permutations, draws)
	}
	return stat.Permute(samples, o.drawing(1, uint64(k)), func() func(*rand.PCG) bool {
		s := newSampler(strata)
		return func(random *rand.PCG) bool { return s.sample(strata, random) >= observed }
	}), refused
}

// stratify returns the tables in which something can be permuted, and the sum
// of overlaps in them as they are.
func stratify(k int, groups []*ngram.Counts) (strata []stratum, observed int64, refused string) {
	var columns columns
	windows := uint64(0)
	for _, c := range groups {
		for t := range c.Tables(k) {
			columns.of(t)
			if len(t.Rows) < 2 || len(columns.totals) < 2 {
				continue
			}
			if windows += t.N; windows > maxWindows {
				return nil, 0, fmt.Sprintf("no Monte Carlo test: more than %d windows", maxWindows)
			}
			for _, r := range t.Rows {
				for _, x := range r.Next {
					observed += overlap(x.N)
				}
			}
			strata = append(strata, newStratum(t, &columns))
		}
	}
	return strata, observed, ""
}

func newStratum(t ngram.Table, columns *columns) stratum {
	largest := 0
	for i, r := range t.Rows {
		if r.N > t.Rows[largest].N {
			largest = i
		}
	}
	t.Rows[largest], t.Rows[len(t.Rows)-1] = t.Rows[len(t.Rows)-1], t.Rows[largest]
	s := stratum{windows: make([]uint32, 0, t.N)}
	for _, r := range t.Rows {
		s.rows = append(s.rows, int(r.N))
		for _, x := range r.Next {
			for range x.N {
				s.windows = append(s.windows, columns.index[x.Symbol])
			}
		}
	}
	for _, n := range columns.totals {
		s.columns = append(s.columns, uint32(n))
	}
	return s
}

// With all margins fixed, G2 is 2 sum n(a,c,s) ln n(a,c,s) and a constant. That
// sum is kept in fixed point: it then does not depend on the order of its terms,
// and a sample with the same cells as were seen counts as equal.
const fixedPoint = 1 << 30

func overlap(n uint64) int64 {
	return int64(math.Round(float64(n) * math.Log(float64(n)) * fixedPoint))
}

// A sampler draws tables with the margins of strata.
type sampler struct {
	windows []uint32
	counts  []uint32 // of the row at hand, by column
	left    []uint32 // of each column, after the rows so far
	touched []uint32
	known   []int64 // overlap of small counts
}

func newSampler(strata []stratum) *sampler {
	windows, columns := 0, 0
	for _, s := range strata {
		windows, columns = max(windows, len(s.windows)), max(columns, len(s.columns))
	}
	s := &sampler{
		windows: make([]uint32, windows), counts: make([]uint32, columns), left: make([]uint32, columns),
		known: make([]int64, min(windows+1, 1<<12)),
	}
	for n := range s.known[1:] {
		s.known[n+1] = overlap(uint64(n + 1))
	}
	return s
}

func (s *sampler) overlap(n uint32) int64 {
	if int(n) < len(s.known) {
		return s.known[n]
	}
	return overlap(uint64(n))
}

// sample returns the sum of overlaps of one sample of all strata.
func (s *sampler) sample(strata []stratum, random *rand.PCG) (total int64) {
	for i := range strata {
		total += s.stratum(&strata[i], random)
	}
	return total
}

// stratum draws the windows of all rows but the last without replacement; the
// last one gets what is left.
func (s *sampler) stratum(x *stratum, random *rand.PCG) (total int64) {
	windows := s.windows[:copy(s.windows, x.windows)]
	left := s.left[:copy(s.left, x.columns)]
	for _, size := range x.rows[:len(x.rows)-1] {
		s.touched = s.touched[:0]
		for range size {
			j := stat.Below(random, len(windows))
			column := windows[j]
			windows[j] = windows[len(windows)-1]
			windows = windows[:len(windows)-1]
			if size == 1 {
				left[column]-- // its overlap is 0
				break
			}
			if s.counts[column] == 0 {
				s.touched = append(s.touched, column)
			}
			s.counts[column]++
		}
		for _, column := range s.touched {
			n := s.counts[column]
			total += s.overlap(n)
			left[column] -= n
			s.counts[column] = 0
		}
	}
	for _, n := range left {
		if n > 1 {
			total += s.overlap(n)
		}
	}
	return total
}
