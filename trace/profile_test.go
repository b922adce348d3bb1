package trace

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Uint64Range(0, 1<<50), 1, 300).Draw(t, "values")
		var d Distribution
		for _, v := range values {
			d.Add(v)
		}
		slices.Sort(values)
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		want := float64(values[max(int(math.Ceil(p*float64(len(values)))), 1)-1])
		if got := d.Quantile(p); math.Abs(got-want) > want/256 || want < 256 && got != want {
			t.Fatalf("quantile %v of %v is %v, want %v", p, values, got, want)
		}
		if d.N() != len(values) {
			t.Fatalf("n is %d", d.N())
		}
	})
	if !math.IsNaN(new(Distribution).Quantile(0.5)) {
		t.Error("no values have a median")
	}
}

func TestProfile(t *testing.T) {
	x := played("t", "a +a +b > a")
	for i := range x.Turns {
		x.Turns[i].Usage = Usage{Known: i == 0, Input: 100, Output: 10}
	}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	x.Calls[0].Start, x.Calls[0].End = start, start.Add(2*time.Second)
	x.Calls[1].Start, x.Calls[1].End = start, start.Add(-time.Second) // clocks differ
	x.Calls[2].HasResult = false
	x.Calls[3].Origin = OriginModel
	var p Profile
	p.Add(x)
	p.Add(played("u", ""))
	tools := p.Tools()
	if len(tools) != 2 || tools[0].Name != "a" || tools[1].Name != "b" {
		t.Fatalf("tools are %v", tools)
	}
	a, b := tools[0], tools[1]
	if a.Turns != 2 || a.TurnsUsage != 1 || a.Input != 100 || a.Output != 10 || b.Turns != 1 || b.Input != 100 {
		t.Errorf("turns: %+v, %+v", a, b)
	}
	if a.Latency.N() != 1 || math.Abs(a.Latency.Quantile(0.5)-2e9) > 4e6 {
		t.Errorf("latency of %d calls: %v", a.Latency.N(), a.Latency.Quantile(0.5))
	}
	if a.Result.N() != 3 || a.Result.Quantile(0.95) != 1 || b.Result.N() != 0 {
		t.Errorf("%d and %d results", a.Result.N(), b.Result.N())
	}
}
