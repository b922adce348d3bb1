package cost

import (
	"math"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// TestHour prices what is written to a cache for an hour as twice the input, and the
// rest as the table says.
func TestHour(t *testing.T) {
	for name, c := range map[string]struct {
		table string
		want  float64
	}{
		"twice the input":     {"version: 1\nprices:\n  - {models: m, input: 4, cached_input: 0.4, cache_write: 5, output: 20}\n", (600*5 + 400*8) / 1e6},
		"as the table says":   {"version: 1\nprices:\n  - {models: m, input: 4, cached_input: 0.4, cache_write: 5, cache_write_1h: 6, output: 20}\n", (600*5 + 400*6) / 1e6},
		"no price of its own": {"version: 1\nprices:\n  - {models: m, input: 4, output: 20}\n", 1000 * 4 / 1e6},
	} {
		table, err := ParseTable("prices.yaml", []byte(c.table))
		if err != nil {
			t.Fatal(err)
		}
		run := &trace.Trajectory{Model: "m", Turns: []trace.Turn{{Usage: trace.Usage{Known: true, Input: 1000, CacheWrite: 1000, CacheWriteHour: 400}}}}
		a := NewMeter(Options{Prices: table}).Trajectory(run)
		if got := a.Total().USD; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
