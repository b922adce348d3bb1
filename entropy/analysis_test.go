package entropy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
	"pgregory.net/rapid"
)

func count(k int, sequences [][]uint32) *ngram.Counts {
	return ngram.Count(k, slices.Values(sequences))
}

// parallel runs everything at once.
func parallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// corpora generates sequences over a handful of symbols.
func corpora() *rapid.Generator[[][]uint32] {
	return rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 5), 0, 10), 0, 20)
}

func near(got stat.Figure, want, tolerance float64) bool {
	return math.Abs(got.Float()-want) <= tolerance
}

// TestWorkedExample is the example of docs/statistics.md: its figures are those
// printed there.
func TestWorkedExample(t *testing.T) {
	const s, r, w = 0, 1, 2 // search, read, write
	c := count(2, [][]uint32{{s, r, s, r}, {s, r, w}, {s, w}, {s, r}})
	a := entropy.Analyze(c, entropy.Options{Permutations: 99_999, MonteCarlo: true})
	paper := entropy.Analyze(c, entropy.Options{AutoTool: true})
	for _, x := range []struct {
		what string
		got  stat.Figure
		want float64
	}{
		{"H_0", a.Orders[0].Bits, 1.494919},
		{"H_1", a.Orders[1].Bits, 0.801377},
		{"Miller-Madow's H_1", a.Orders[1].MillerMadow, 0.801377 + 2/(2*7*math.Ln2)},
		{"H_0 on the windows of order 1", a.Tests[0].FromBits, 1.378783},
		{"G2", a.Tests[0].G2, 5.603186},
		{"log10 p", a.Tests[0].Log10P, -1.216717},
		{"effect", a.Tests[0].Effect, (1.378783 - 0.801377) / 1.378783},
		{"the paper's H_1", paper.Orders[1].Bits, 0.691786},
		{"the paper's G2", paper.Tests[0].G2, 15.019760},
		{"the paper's log10 p", paper.Tests[0].Log10P, -3.261500},
		{"mean expected count", a.Tests[0].MeanExpected, 7.0 / 6},
		// 3 of the 21 ways to deal the seven successors are at least as extreme.
		{"Monte Carlo p", stat.Known(a.Tests[0].MonteCarlo.P), 1.0 / 7},
	} {
		tolerance := 1e-6
		if x.what == "Monte Carlo p" {
			tolerance = 0.005 // 4.5 standard deviations
		}
		if !near(x.got, x.want, tolerance) {
			t.Errorf("%s = %.6f, want %.6f", x.what, x.got.Float(), x.want)
		}
	}
	if f := (entropy.Freedom{Observed: 2, Full: 4, Paper: 2}); a.Tests[0].DFAll != f || a.Tests[0].N != 7 {
		t.Errorf("degrees of freedom %+v on %d windows, want %+v on 7", a.Tests[0].DFAll, a.Tests[0].N, f)
	}
}

func TestG2IsTheFallOfEntropy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 3).Draw(t, "k")
		c := count(k+1, corpora().Draw(t, "corpus"))
		x := entropy.TestOrder(k, entropy.Options{Permutations: -1}, c)
		// The same windows by the other road: the counts' own alignment.
		bits := map[int]float64{}
		for o := range c.Aligned(k + 2) {
			for context := range o.Contexts() {
				for _, s := range context.Next {
					bits[o.K] += float64(s.N) * math.Log2(float64(context.N)/float64(s.N))
				}
			}
		}
		if x.N == 0 {
			if x.G2.Known() || x.Log10P.Known() || len(x.Warnings) == 0 {
				t.Fatalf("without windows: %+v", x)
			}
			return
		}
		if want := 2 * math.Ln2 * (bits[k] - bits[k+1]); !near(x.G2, want, 1e-9*(1+want)) {
			t.Fatalf("G2 = %v, want 2 ln2 N (H_%d - H_%d) = %v", x.G2.Float(), k, k+1, want)
		}
		n := float64(x.N)
		if !near(x.FromBits, bits[k]/n, 1e-12) || !near(x.ToBits, bits[k+1]/n, 1e-12) {
			t.Fatalf("entropies %v and %v, want %v and %v", x.FromBits.Float(), x.ToBits.Float(), bits[k]/n, bits[k+1]/n)
		}
	})
}

func TestDegreesOfFreedomByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 2).Draw(t, "k")
		sequences := corpora().Draw(t, "corpus")
		rows, columns, symbols := map[string]map[uint32]bool{}, map[string]map[uint32]bool{}, map[uint32]bool{}
		have := [2]map[string]bool{{}, {}} // contexts of k and k+1 symbols with a successor
		for _, q := range sequences {
			for i, s := range q {
				symbols[s] = true
				if i >= k {
					have[0][fmt.Sprint(q[i-k:i])] = true
				}
				if i >= k+1 {
					have[1][fmt.Sprint(q[i-k-1:i])] = true
					c := fmt.Sprint(q[i-k : i])
					if rows[c] == nil {
						rows[c], columns[c] = map[uint32]bool{}, map[uint32]bool{}
					}
					rows[c][q[i-k-1]], columns[c][s] = true, true
				}
			}
		}
		var want entropy.Freedom
		for c := range rows {
			want.Observed += float64((len(rows[c]) - 1) * (len(columns[c]) - 1))
		}
		if n := float64(len(symbols)); n > 0 {
			want.Full = math.Pow(n, float64(k)) * (n - 1) * (n - 1)
			want.Paper = float64(len(have[1])-len(have[0])) * (n - 1)
		}
		got := entropy.TestOrder(k, entropy.Options{Permutations: -1, Convention: entropy.Full}, count(k+1, sequences))
		if got.DFAll != want || got.DF != want.Full {
			t.Fatalf("degrees of freedom %+v, of which %v chosen, want %+v", got.DFAll, got.DF, want)
		}
	})
}

func TestCriteriaByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sequences := corpora().Draw(t, "corpus")
		const longest = 2
		a := entropy.Analyze(count(longest, sequences), entropy.Options{Permutations: -1})
		symbols := map[uint32]bool{}
		for _, q := range sequences {
			for _, s := range q {
				symbols[s] = true
			}
		}
		for k := range longest + 1 {
			n, contexts, cells := 0.0, map[string]float64{}, map[string]float64{}
			of := map[string]string{}
			for _, q := range sequences {
				for i := longest; i < len(q); i++ {
					c, cell := fmt.Sprint(q[i-k:i]), fmt.Sprint(q[i-k:i+1])
					contexts[c]++
					cells[cell]++
					of[cell] = c
					n++
				}
			}
			if n == 0 {
				if a.Orders[k].AIC.Known() || a.Selection.AIC != -1 {
					t.Fatalf("AIC without windows: %+v", a.Selection)
				}
				continue
			}
			loss := 0.0
			for cell, x := range cells {
				loss += 2 * x * math.Log(contexts[of[cell]]/x)
			}
			p := float64(len(contexts) * (len(symbols) - 1))
			if !near(a.Orders[k].AIC, loss+2*p, 1e-9*(1+loss+p)) || !near(a.Orders[k].BIC, loss+p*math.Log(n), 1e-9*(1+loss+9*p)) {
				t.Fatalf("order %d: AIC %v, BIC %v, want %v and %v", k, a.Orders[k].AIC.Float(), a.Orders[k].BIC.Float(), loss+2*p, loss+p*math.Log(n))
			}
			if a.Orders[k].BIC.Float() < a.Orders[a.Selection.BIC].BIC.Float() || a.Orders[k].AIC.Float() < a.Orders[a.Selection.AIC].AIC.Float() {
				t.Fatalf("order %d is better than those chosen: %+v", k, a.Selection)
			}
		}
	})
}

func TestAnalysisIgnoresOrderAndWorkers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sequences := corpora().Draw(t, "corpus")
		shuffled := rapid.Permutation(sequences).Draw(t, "shuffled")
		o := entropy.Options{Permutations: 99, MonteCarlo: true}
		one := entropy.Analyze(count(3, sequences), o)
		o.Each = parallel
		other := entropy.Analyze(count(3, shuffled), o)
		a, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(other)
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Fatalf("in another order and with workers\n%s\nbecame\n%s", a, b)
		}
	})
}

func TestAnalysisOfLittle(t *testing.T) {
	for name, x := range map[string]struct {
		sequences [][]uint32
		code      string
	}{
		"nothing":        {nil, entropy.VerdictEmpty},
		"empty":          {[][]uint32{{}}, entropy.VerdictEmpty},
		"one call":       {[][]uint32{{3}}, entropy.VerdictOneSymbol},
		"one tool":       {[][]uint32{{3, 3, 3}, {3}}, entropy.VerdictOneSymbol},
		"two calls":      {[][]uint32{{3, 4}}, entropy.VerdictInsufficient},
		"one trajectory": {[][]uint32{{3, 4, 5, 3, 4, 5, 3}}, entropy.VerdictOrder},
		"three tasks":    {[][]uint32{{3, 4, 5, 3, 4, 5, 3}, {4, 5, 3}, {4, 5, 3}}, entropy.VerdictInsufficient},
	} {
		t.Run(name, func(t *testing.T) {
			a := entropy.Analyze(count(3, x.sequences), entropy.Options{AutoTool: name == "one call"})
			tasks := make([]uint32, len(x.sequences))
			for i := range tasks {
				tasks[i] = uint32(i)
			}
			a.AddHeldOut(ngram.HeldOut(3, x.sequences, tasks, ngram.HeldOutOptions{}), entropy.Options{})
			if a.Verdict.Code != x.code || a.Verdict.Sentence == "" {
				t.Errorf("verdict %+v, want %s", a.Verdict, x.code)
			}
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range a.Orders {
				if o.N == 0 && (o.Bits.Known() || len(o.Warnings) == 0) {
					t.Errorf("an entropy of nothing: %+v", o)
				}
			}
			if strings.Contains(string(text), "-0,") {
				t.Errorf("a negative zero in %s", text)
			}
		})
	}
}

// TestSmallDifferencesAreExact has one window in ten million that breaks the
// rule: the entropy is tiny, and all its digits count.
func TestSmallDifferencesAreExact(t *testing.T) {
	const n = 10_000_000
	c := ngram.NewCounter(1)
	c.AddN([]uint32{0, 1}, n-1)
	c.AddN([]uint32{0, 0}, 1)
	a := entropy.Analyze(c.Counts(), entropy.Options{Permutations: -1})
	x := 1.0 / n
	want := -(x*math.Log2(x) + (1-x)*math.Log1p(-x)/math.Ln2)
	if got := a.Orders[1].Bits; !near(got, want, 1e-9*want) {
		t.Errorf("H_1 = %.15g, want %.15g", got.Float(), want)
	}
}
