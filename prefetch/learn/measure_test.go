package learn

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

// On the trajectories that rules were made from, their figures are their evidence.
func TestMeasureIsEvidence(t *testing.T) {
	list := recordings.Read(t, "../../testdata/office/trajectories.jsonl.gz")
	reads := regexp.MustCompile(`_(search|get|read|list|show)`)
	r := survey(t, list, Options{Reads: func(n trace.Name) bool { return reads.MatchString(n.Value()) }}).Choose(ChooseOptions{Threshold: .05, Seed: 7})
	if len(r.Set.Rules) < 2 {
		t.Fatalf("%d rules", len(r.Set.Rules))
	}
	m := NewMeasure(&r.Set)
	for _, one := range list {
		m.Add(m.Observe(one))
	}
	for i, got := range m.Evidence(7) {
		want := r.Evidence[i]
		got.TokensUsed, got.TokensVain, want.TokensUsed, want.TokensVain = 0, 0, 0, 0 // not counted
		if !want.Interval.Known() {
			got.Interval = want.Interval
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: measured %+v, learnt %+v", r.Set.Rules[i].ID, got, want)
		}
	}
}

// Of two orders that a customer has, the first is read in every third run, after a write
// in every sixth: 12 runs offer 24 values, 2 are used, 2 stale.
func TestMeasure(t *testing.T) {
	shop := func(i int) *scripted.Run {
		s := (&scripted.Run{}).User(fmt.Sprintf("I am customer-%d", i))
		return s.Call("get_customer", fmt.Sprintf(`{"name":"customer-%d"}`, i), fmt.Sprintf(`{"orders":["order-%d-a","order-%d-b"]}`, i, i))
	}
	ask := func(s *scripted.Run, i int, which string) {
		s.Call("get_order", fmt.Sprintf(`{"id":"order-%d-%s"}`, i, which), `{"ok":true}`)
	}
	measured := func(n int, then func(s *scripted.Run, i int)) (offered, used, stale, tasks int, lo, hi float64) {
		var train []*trace.Trajectory
		for i := range 20 {
			s := shop(i)
			ask(s, i, "a")
			ask(s, i, "b")
			train = append(train, &s.T)
		}
		set := survey(t, train, Options{Reads: byName}).Choose(ChooseOptions{}).Set
		if len(set.Rules) != 1 {
			t.Fatalf("%d rules", len(set.Rules))
		}
		m := NewMeasure(&set)
		for i := range n {
			s := shop(100 + i)
			s.T.Task = fmt.Sprint("task-", i)
			then(s, 100+i)
			m.Add(m.Observe(&s.T))
		}
		e := m.Evidence(1)[0]
		return e.Offered, e.Used, e.Stale, e.Tasks, e.Interval.Lo, e.Interval.Hi
	}
	offered, used, stale, tasks, _, _ := measured(12, func(s *scripted.Run, i int) {
		if i%6 == 0 {
			s.Call("touch", `{}`, `true`)
		}
		if i%3 == 0 {
			ask(s, i, "a")
		}
	})
	if offered != 24 || used != 2 || stale != 2 || tasks != 12 {
		t.Errorf("%d offered, %d used, %d stale in %d tasks, want 24, 2, 2 and 12", offered, used, stale, tasks)
	}
	// Nothing is used in 11 tasks: 1 - 0.025^(1/11) = 0.285 may be.
	if _, used, _, _, lo, hi := measured(11, func(*scripted.Run, int) {}); used != 0 || lo != 0 || math.Abs(hi-.285) > .001 {
		t.Errorf("%d used, %.3f to %.3f, want 0 to 0.285", used, lo, hi)
	}
	// All is used in 11 tasks: 0.025^(1/11) = 0.715 at least.
	if offered, used, _, _, lo, hi := measured(11, func(s *scripted.Run, i int) { ask(s, i, "a"); ask(s, i, "b") }); used != offered || hi != 1 || math.Abs(lo-.715) > .001 {
		t.Errorf("%d of %d used, %.3f to %.3f, want 0.715 to 1", used, offered, lo, hi)
	}
	if offered, _, _, tasks, _, _ := measured(0, nil); offered != 0 || tasks != 0 {
		t.Errorf("of nothing %d are offered in %d tasks", offered, tasks)
	}
}
