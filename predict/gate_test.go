package predict

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawEvents(t *rapid.T) []Event {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Event {
		return Event{Inertial: rapid.Bool().Draw(t, "inertial"), Failed: rapid.Bool().Draw(t, "failed")}
	}), 0, 20).Draw(t, "events")
}

// The gate is a function of the history alone, and what passes it keeps the
// bounds.
func TestGate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := drawEvents(t)
		before := slices.Clone(events)
		g := Gate{Preset: rapid.Bool().Draw(t, "preset")}
		allowed := g.Allows(events)
		if allowed != g.Allows(events) || !slices.Equal(events, before) {
			t.Fatal("the gate is no function of the history")
		}
		n := 1
		for _, e := range events {
			if e.Inertial {
				n++
			}
		}
		if allowed && 10*n > 3*(len(events)+1) {
			t.Fatalf("%d of %d calls are inertial", n, len(events)+1)
		}
		if last := len(events) - 1; allowed && last >= 0 && (events[last].Inertial || !g.Preset && events[last].Failed) {
			t.Fatal("a call right after an inertial one, or after a failure")
		}
	})
}

// Played through, calls without the model stay below the share at every step.
func TestGateOverTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []Event
		inertial := 0
		for range rapid.IntRange(0, 60).Draw(t, "calls") {
			e := Event{Failed: rapid.Bool().Draw(t, "failed")}
			if e.Inertial = (Gate{}).Allows(events); e.Inertial {
				inertial++
			}
			events = append(events, e)
			if float64(inertial) > DefaultShare*float64(len(events)) {
				t.Fatalf("%d of %d calls are inertial", inertial, len(events))
			}
		}
	})
}

func TestGateByHand(t *testing.T) {
	model, failed := Event{}, Event{Failed: true}
	for _, c := range []struct {
		name     string
		events   []Event
		default_ bool
		preset   bool
	}{
		{"the first call", nil, false, false},
		{"one of three", []Event{model, model}, false, false},
		{"one of four", []Event{model, model, model}, true, true},
		{"after a failure", []Event{model, model, failed}, false, true},
		{"after two", []Event{model, failed, failed}, false, true},
		{"right after an inertial one", append(slices.Repeat([]Event{model}, 9), Event{Inertial: true}), false, false},
		{"one call later", append(slices.Repeat([]Event{model}, 9), Event{Inertial: true}, model), true, true},
	} {
		if (Gate{}).Allows(c.events) != c.default_ || (Gate{Preset: true}).Allows(c.events) != c.preset {
			t.Errorf("%s: default %v, preset %v", c.name, Gate{}.Allows(c.events), Gate{Preset: true}.Allows(c.events))
		}
	}
}
