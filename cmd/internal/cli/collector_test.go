package cli

import "testing"

func TestCollectorPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 24 << 20: 400, 48 << 20: 200, 96 << 20: 100, 192 << 20: 150, 480 << 20: 106, 1 << 30: 54, 2 << 30: 50, 4 << 30: 25, 64 << 30: 25} {
		if got := collectorPercent(live); got != want {
			t.Errorf("%d MiB live: %d %%, want %d %%", live>>20, got, want)
		}
	}
}
