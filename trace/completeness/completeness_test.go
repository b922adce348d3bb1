package completeness_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

func TestTallyAndCompleteness(t *testing.T) {
	var facts completeness.Facts
	run := (&scripted.Run{}).User("go").Call("a", `{}`, `1`).Call("b", `{}`, `1`).User("and?").Call("b", `{}`, `1`)
	first := &run.T
	first.Turns = append(first.Turns, trace.Turn{FirstCall: 3})
	for i, status := range []trace.Status{trace.StatusOK, trace.StatusFailed, trace.StatusOK} {
		first.Calls[i].Status = status
	}
	first.Outcome = trace.OutcomeSuccess
	first.Turns[0].Usage = trace.Usage{Known: true, Input: 10, Output: 2}
	first.Calls[1].HasResult = false
	first.Calls = append(first.Calls, trace.Call{Tool: trace.Intern("inner"), Turn: 1, Origin: trace.OriginCode, Status: trace.StatusOK, HasResult: true})
	first.Anomalies.AddN(trace.CodeOrphanResult, 2)
	first.Anomalies.AddN("args-not-json", 1)
	facts.Add(first)
	facts.Add(&trace.Trajectory{})
	y := facts.Tally
	if y.Trajectories != 2 || y.Empty != 1 || y.Calls != 3 || y.OtherCalls != 1 || y.Tools() != 2 || y.LLMTurns != 4 || y.CallingTurns != 3 ||
		y.UserMessages != 2 || y.CallsAfterUser != 1 || y.WithoutResult != 1 || y.OrphanResults != 2 || y.Problems.Total != 1 {
		t.Errorf("tally is %+v", y)
	}
	tools := facts.Tools()
	if len(tools) != 3 || tools[0].Name != "b" || tools[0].Failed != 1 || tools[0].OK != 1 || tools[2].OtherCalls != 1 {
		t.Errorf("tools are %+v", tools)
	}
	support := map[string]completeness.Support{}
	for _, c := range facts.Capabilities() {
		support[c.Name] = c.Support
		if (c.Reason == "") != (c.Support == completeness.SupportFull) {
			t.Errorf("%s is %q and gives the reason %q", c.Name, c.Support, c.Reason)
		}
	}
	for name, want := range map[string]completeness.Support{
		completeness.CapabilitySequences: completeness.SupportPartial, completeness.CapabilityTurns: completeness.SupportFull, completeness.CapabilityDataflow: completeness.SupportPartial, completeness.CapabilityMoney: completeness.SupportPartial,
		completeness.CapabilityOutcomes: completeness.SupportPartial, completeness.CapabilityTime: completeness.SupportNone, completeness.CapabilityStatus: completeness.SupportFull,
	} {
		if support[name] != want {
			t.Errorf("%s is supported %q, want %q", name, support[name], want)
		}
	}
}

func TestDistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Uint64Range(0, 1<<50), 1, 300).Draw(t, "values")
		var d completeness.Distribution
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
	if !math.IsNaN(new(completeness.Distribution).Quantile(0.5)) {
		t.Error("no values have a median")
	}
}

func TestProfile(t *testing.T) {
	run := (&scripted.Run{}).User("go").Call("a", `{}`, `1`).Also("a", `{}`, `1`).Also("b", `{}`, `1`).Call("a", `{}`, `1`)
	x := &run.T
	for i := range x.Turns {
		x.Turns[i].Usage = trace.Usage{Known: i == 0, Input: 100, Output: 10}
	}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	x.Calls[0].Start, x.Calls[0].End = start, start.Add(2*time.Second)
	x.Calls[1].Start, x.Calls[1].End = start, start.Add(-time.Second) // clocks differ
	x.Calls[2].HasResult = false
	x.Calls[3].Origin = trace.OriginModel
	var p completeness.Profile
	p.Add(x)
	p.Add(&trace.Trajectory{})
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

// TestQuantiles holds quantiles to half a percent of what sorting gives.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var d completeness.Distribution
	var all []uint64
	for range 5000 {
		v := uint64(1e9 * math.Exp(r.NormFloat64()*3))
		all = append(all, v)
		d.Add(v)
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.25, 0.5, 0.75, 0.99} {
		want := float64(all[int(math.Ceil(q*float64(len(all))))-1])
		if got := d.Quantile(q); math.Abs(got-want) > 0.005*want {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if !math.IsNaN(new(completeness.Distribution).Quantile(0.5)) {
		t.Error("no values have no median")
	}
}
