package serving

import (
	"testing"

	"github.com/awo-dev/awo/gateway/compiled"
	"github.com/awo-dev/awo/trace"
)

// TestSoFar: the agent's calls are turns, and what was predicted belongs to the turn
// before it.
func TestSoFar(t *testing.T) {
	got := soFar([]compiled.Done{{Tool: "a"}, {Tool: "b", Inertial: true}, {Tool: "\x00c", Failed: true}})
	if len(got.Turns) != 2 || got.Turns[0].NumCalls != 2 || got.Turns[1].FirstCall != 2 || got.Calls[1].Origin != trace.OriginInertial || got.Calls[1].Turn != 0 {
		t.Errorf("turns %+v, calls %+v", got.Turns, got.Calls)
	}
	if c := got.Calls[2]; c.Tool.Value() != "c" || c.Status != trace.StatusFailed || c.Turn != 1 {
		t.Errorf("the last call is %+v", c)
	}
	if got := soFar([]compiled.Done{{Tool: "b", Inertial: true}}); got.Calls[0].Turn != -1 {
		t.Errorf("a call before all turns is in turn %d", got.Calls[0].Turn)
	}
}
