package ngram_test

import (
	"fmt"
	"slices"

	"github.com/awo-dev/awo/entropy/ngram"
)

func ExampleCount() {
	sequences := [][]uint32{{0, 1, 2}, {0, 1, 3}, {0, 1, 2}}
	counts := ngram.Count(2, slices.Values(sequences))
	fmt.Println(counts.Occurrences([]uint32{0, 1}), "times 0 and then 1")
	fmt.Println(counts.Follows([]uint32{0, 1}, 2), "times 2 after them")
	// Output:
	// 3 times 0 and then 1
	// 2 times 2 after them
}
