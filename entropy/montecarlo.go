package entropy

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/awo-dev/awo/ngram"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// minPermutations is how far [Options.MaxDraws] may shorten a Monte Carlo
	// test; what takes more is left out.
	minPermutations = 99
	// maxWindows bounds its memory, 4 bytes a window.
	maxWindows = 100_000_000
)

// A MonteCarlo is a p from samples under the null hypothesis.
type MonteCarlo struct {
	// P is (1 + samples at least as extreme as what was seen)/(1 + samples).
	P        float64  `json:"p"`
	Exceeded int      `json:"exceeded"`
	Samples  int      `json:"samples"`
	Interval Interval `json:"interval"` // of the p that more samples would give
}

// newMonteCarlo returns the p of that many samples at least as extreme.
func newMonteCarlo(exceeded, samples int, level float64) *MonteCarlo {
	return &MonteCarlo{
		P:        float64(1+exceeded) / float64(1+samples),
		Exceeded: exceeded, Samples: samples,
		Interval: clopperPearson(exceeded, samples, level),
	}
}

// clopperPearson returns the exact interval of a binomial share.
func clopperPearson(hits, n int, level float64) Interval {
	x := Interval{Lo: 0, Hi: 1, Level: level, Method: "Clopper-Pearson"}
	tail := (1 - level) / 2
	if hits > 0 {
		x.Lo = distuv.Beta{Alpha: float64(hits), Beta: float64(n-hits) + 1}.Quantile(tail)
	}
	if hits < n {
		x.Hi = distuv.Beta{Alpha: float64(hits) + 1, Beta: float64(n - hits)}.Quantile(1 - tail)
	}
	return x
}

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
	exceeded := 0
	for _, n := range inBlocks(o.Each, samples, func(first, last int) int {
		s := newSampler(strata)
		n := 0
		for i := first; i < last; i++ {
			if s.sample(strata, stream(o.Seed, 1, uint64(k), uint64(i))) >= observed {
				n++
			}
		}
		return n
	}) {
		exceeded += n
	}
	return newMonteCarlo(exceeded, samples, o.Level), refused
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
			j := below(random, len(windows))
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

// below returns a number from 0 to n-1. Its bias is n/2^64.
func below(random *rand.PCG, n int) int {
	high, _ := bits.Mul64(random.Uint64(), uint64(n))
	return int(high)
}

// stream returns a source of random numbers of its own for each list of parts.
func stream(seed uint64, parts ...uint64) *rand.PCG {
	next := func(x uint64) uint64 { // the finalizer of splitmix64
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	a := next(seed)
	for _, p := range parts {
		a = next(a ^ next(p))
	}
	return rand.NewPCG(a, next(a))
}

// inBlocks splits 0..n-1 into blocks, so that scratch memory is made once for
// many samples, and returns what do gives for each.
func inBlocks[T any](each ngram.Each, n int, do func(first, last int) T) []T {
	const size = 32
	results := make([]T, (n+size-1)/size)
	each.Run(len(results), func(i int) { results[i] = do(i*size, min((i+1)*size, n)) })
	return results
}
