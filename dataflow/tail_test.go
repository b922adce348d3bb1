package dataflow

import (
	"math"
	"testing"

	"github.com/awo-dev/awo/internal/stat"
)

func TestLog10TailBetweenWholeNumbers(t *testing.T) {
	at := func(hits float64) float64 { return log10Tail(16, hits/16, 0.4) }
	for k := range 16 {
		low, high := float64(k), float64(k+1)
		if got, want := at(low), stat.LogTail(16, k, 0.4)/math.Ln10; math.Abs(got-want) > 1e-9 {
			t.Errorf("%d hits: %v, want %v", k, got, want)
		}
		if middle := at(low + 0.5); math.Abs(middle-(at(low)+at(high))/2) > 1e-6 {
			t.Errorf("%v hits: %v, between %v and %v", low+0.5, middle, at(low), at(high))
		}
	}
	if got := log10Tail(4, 1, 1); got != 0 {
		t.Errorf("what is certain has probability 10^%v", got)
	}
	if got := log10Tail(4, 0.6, 0); !math.IsInf(got, -1) {
		t.Errorf("what is impossible has probability 10^%v", got)
	}
}
