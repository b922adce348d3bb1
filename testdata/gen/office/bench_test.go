package office

import "testing"

func BenchmarkRun(b *testing.B) {
	for _, tokens := range []Tokens{Exact, Approximate} {
		name := "exact"
		if tokens == Approximate {
			name = "approximate"
		}
		b.Run(name, func(b *testing.B) {
			o, err := New(Options{Tokens: tokens, Trajectories: 1_000_000})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			calls, i := 0, 0
			for b.Loop() {
				r := o.Run(i)
				calls += len(r.Calls())
				i++
			}
			b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
