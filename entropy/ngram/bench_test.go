package ngram_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/awo-dev/awo/entropy/ngram"
)

// chain returns n symbols in sequences of 20, from a first-order chain in which
// each symbol has a handful of likely successors: what agents' habits look like.
func chain(seed uint64, alphabet, n int) [][]uint32 {
	r := rand.New(rand.NewPCG(seed, 1))
	var sequences [][]uint32
	for made := 0; made < n; made += 20 {
		s := make([]uint32, min(20, n-made))
		at := r.IntN(alphabet)
		for i := range s {
			s[i] = uint32(at)
			if r.Float64() < 0.9 {
				// Successors by a geometric law from a place of this symbol's own.
				at = (at*7 + 1 + int(-2*math.Log(1-r.Float64()))) % alphabet
			} else {
				at = r.IntN(alphabet)
			}
		}
		sequences = append(sequences, s)
	}
	return sequences
}

// uniform returns n independent symbols in sequences of 20: the worst case,
// nearly every n-gram is new.
func uniform(seed uint64, alphabet, n int) [][]uint32 {
	r := rand.New(rand.NewPCG(seed, 2))
	var sequences [][]uint32
	for made := 0; made < n; made += 20 {
		s := make([]uint32, min(20, n-made))
		for i := range s {
			s[i] = uint32(r.IntN(alphabet))
		}
		sequences = append(sequences, s)
	}
	return sequences
}

func BenchmarkCounter(b *testing.B) {
	for _, alphabet := range []int{20, 1600} {
		const n = 1_000_000
		sequences := chain(1, alphabet, n)
		for _, k := range []int{1, 3, 5} {
			b.Run(fmt.Sprintf("alphabet=%d/k=%d", alphabet, k), func(b *testing.B) {
				b.SetBytes(n) // MB/s reads as millions of symbols a second
				b.ReportAllocs()
				for b.Loop() {
					c := ngram.NewCounter(k)
					for _, s := range sequences {
						c.Add(s)
					}
				}
			})
		}
	}
}

func BenchmarkCounts(b *testing.B) {
	for _, alphabet := range []int{20, 1600} {
		const n = 1_000_000
		sequences := chain(1, alphabet, n)
		b.Run(fmt.Sprintf("alphabet=%d/k=5", alphabet), func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				c := ngram.NewCounter(5)
				for _, s := range sequences {
					c.Add(s)
				}
				b.StartTimer()
				if c.Counts().Symbols() != n {
					b.Fatal("symbols were lost")
				}
			}
		})
	}
}

// BenchmarkLarge counts ten million symbols and reports the heap that is in use
// at the largest moment it looks at.
func BenchmarkLarge(b *testing.B) {
	const n = 10_000_000
	sources := map[string]func(uint64, int, int) [][]uint32{"chain": chain, "uniform": uniform}
	for _, source := range []string{"chain", "uniform"} {
		for _, alphabet := range []int{20, 1600} {
			b.Run(fmt.Sprintf("%s/alphabet=%d/k=5", source, alphabet), func(b *testing.B) {
				if testing.Short() {
					b.Skip("takes up to half a minute")
				}
				sequences := sources[source](1, alphabet, n)
				b.SetBytes(n)
				for b.Loop() {
					c := ngram.NewCounter(5)
					for _, s := range sequences {
						c.Add(s)
					}
					counter := heap()
					counts := c.Counts()
					b.ReportMetric(float64(counter)/1e6, "counter-MB")
					b.ReportMetric(float64(heap())/1e6, "counts-MB")
					b.ReportMetric(float64(counts.Distinct(6))/1e6, "M-6-grams")
				}
			})
		}
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

func BenchmarkLoss(b *testing.B) {
	for _, alphabet := range []int{20, 1600} {
		const n = 1_000_000
		sequences := chain(1, alphabet, n)
		model := ngram.Train(3, slices.Values(sequences), ngram.ModelOptions{})
		b.Run(fmt.Sprintf("alphabet=%d/k=3", alphabet), func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				for _, s := range sequences {
					if model.Loss(s).N != len(s) {
						b.Fatal("not every symbol was predicted")
					}
				}
			}
		})
	}
}

func BenchmarkDistribution(b *testing.B) {
	for _, alphabet := range []int{20, 1600} {
		sequences := chain(1, alphabet, 100_000)
		model := ngram.Train(3, slices.Values(sequences), ngram.ModelOptions{})
		b.Run(fmt.Sprintf("alphabet=%d/k=3", alphabet), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				model.Distribution(sequences[7][:10])
			}
		})
	}
}

func BenchmarkTrain(b *testing.B) {
	for _, alphabet := range []int{20, 1600} {
		const n = 1_000_000
		sequences := chain(1, alphabet, n)
		b.Run(fmt.Sprintf("alphabet=%d/k=3", alphabet), func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				ngram.Train(3, slices.Values(sequences), ngram.ModelOptions{})
			}
		})
	}
}
