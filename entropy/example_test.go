package entropy_test

import (
	"fmt"
	"slices"

	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/entropy/ngram"
)

// After tool 0 comes always tool 1, and after tool 1 one of two with equal
// frequency: half a bit on average.
func ExampleAnalyze() {
	var sequences [][]uint32
	for range 20 {
		sequences = append(sequences, []uint32{0, 1, 2}, []uint32{0, 1, 3})
	}
	counts := ngram.Count(2, slices.Values(sequences))
	a := entropy.Analyze(counts, entropy.Options{})
	for _, order := range a.Orders {
		fmt.Printf("%d known calls: %.2f bits over %d contexts\n", order.K, order.Bits.Float(), order.Contexts)
	}
	// Output:
	// 0 known calls: 1.92 bits over 1 contexts
	// 1 known calls: 0.50 bits over 2 contexts
	// 2 known calls: 1.00 bits over 1 contexts
}
