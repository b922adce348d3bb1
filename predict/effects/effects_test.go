package effects_test

import (
	"testing"

	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/predict/effects"
	"github.com/awo-dev/awo/trace"
)

// TestOrder wants definitions that contradict each other to say the same in any order: a tool that one of them says writes is no tool that only reads.
func TestOrder(t *testing.T) {
	reads, writes := `{"readOnlyHint":true}`, `{"readOnlyHint":false}`
	for _, said := range [][]string{{reads, writes}, {writes, reads}, {reads, writes, reads}} {
		k := effects.New(nil, false)
		for _, text := range said {
			k.Add(&trace.Trajectory{Tools: []trace.ToolDef{
				{Name: trace.Intern("both"), Annotations: trace.JSONOf([]byte(text))},
				{Name: trace.Intern("a.b"), Annotations: trace.JSONOf([]byte(reads))},
			}})
		}
		if got := k.Of(trace.Intern("both")); got != predict.EffectWrites {
			t.Errorf("%v: the tool %v", said, got)
		}
		if got := k.Of(trace.Intern("a.b")); got != predict.EffectReads {
			t.Errorf("%v: the other tool %v", said, got)
		}
	}
}
