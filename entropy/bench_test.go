package entropy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/entropy/ngram"
)

// chain returns n symbols in sequences of 20 of a chain with habits.
func chain(alphabet, n int) [][]uint32 {
	r := rand.New(rand.NewPCG(1, 1))
	sequences := make([][]uint32, n/20)
	for i := range sequences {
		s := make([]uint32, 20)
		at := r.IntN(alphabet)
		for j := range s {
			s[j] = uint32(at)
			if r.Float64() < 0.9 {
				at = (at*7 + 1 + int(-2*math.Log(1-r.Float64()))) % alphabet
			} else {
				at = r.IntN(alphabet)
			}
		}
		sequences[i] = s
	}
	return sequences
}

// BenchmarkAnalyze is everything but counting and Monte Carlo tests, for a
// million symbols.
func BenchmarkAnalyze(b *testing.B) {
	for _, alphabet := range []int{20, 1600} {
		const n = 1_000_000
		c := ngram.Count(5, slices.Values(chain(alphabet, n)))
		b.Run(fmt.Sprintf("alphabet=%d/k=5", alphabet), func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				entropy.Analyze(c, entropy.Options{Permutations: -1})
			}
		})
	}
}

func BenchmarkMonteCarlo(b *testing.B) {
	for _, alphabet := range []int{20, 1600} {
		const n = 100_000
		c := ngram.Count(2, slices.Values(chain(alphabet, n)))
		b.Run(fmt.Sprintf("alphabet=%d/samples=99", alphabet), func(b *testing.B) {
			b.SetBytes(99 * n)
			b.ReportAllocs()
			for b.Loop() {
				entropy.TestOrder(1, entropy.Options{Permutations: 99, MonteCarlo: true}, c)
			}
		})
	}
}

func BenchmarkHeldOut(b *testing.B) {
	for _, alphabet := range []int{20, 1600} {
		const n = 100_000
		sequences := chain(alphabet, n)
		tasks := each(len(sequences))
		b.Run(fmt.Sprintf("alphabet=%d/k=3/folds=10", alphabet), func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				entropy.NewHeldOut(ngram.HeldOut(3, sequences, tasks, ngram.HeldOutOptions{}), entropy.Options{})
			}
		})
	}
}

func BenchmarkCompareHabits(b *testing.B) {
	const n = 100_000
	sequences := chain(20, n)
	half := len(sequences) / 2
	tasks := each(len(sequences))
	first, second := entropy.Sample{Sequences: sequences[:half], Tasks: tasks[:half]}, entropy.Sample{Sequences: sequences[half:], Tasks: tasks[half:]}
	b.SetBytes(n)
	b.ReportAllocs()
	for b.Loop() {
		entropy.CompareHabits(1, first, second, entropy.Options{})
	}
}
