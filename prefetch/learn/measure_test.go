package learn

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/partition"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/prefetch/stored"
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
		set := linked(survey(t, train, Options{Reads: byName}).Choose(ChooseOptions{})).Set
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

// TestMeasureAddsUp wants the sums of any parts to give the figures of the whole: all but
// the bounds of intervals that are drawn.
func TestMeasureAddsUp(t *testing.T) {
	list := recordings.Read(t, "../../testdata/office/trajectories.jsonl.gz")
	reads := regexp.MustCompile(`_(search|get|read|list|show)`)
	set := survey(t, list, Options{Reads: func(n trace.Name) bool { return reads.MatchString(n.Value()) }}).Choose(ChooseOptions{Threshold: .05}).Set
	whole := NewMeasure(&set)
	var observed []*Observation
	for _, one := range list {
		observed = append(observed, whole.Observe(one))
		whole.Add(observed[len(observed)-1])
	}
	want := whole.Evidence(7)
	var first []stored.Evidence
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		sums, byTask := map[string]int{}, map[string]map[[16]byte]int{}
		for _, part := range partition.Of(r, 1+r.IntN(9), observed) {
			m := NewMeasure(&set)
			for _, o := range part {
				m.Add(o)
			}
			m.AddTo(func(name string, n int) { sums[name] += n }, func(task, name string, n int) {
				if byTask[name] == nil {
					byTask[name] = map[[16]byte]int{}
				}
				byTask[name][md5.Sum([]byte(task))] += n
			})
		}
		tasks := func(name string) iter.Seq2[[16]byte, int] {
			return func(yield func([16]byte, int) bool) {
				for _, task := range slices.SortedFunc(maps.Keys(byTask[name]), func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }) {
					if !yield(task, byTask[name][task]) {
						return
					}
				}
			}
		}
		m := NewMeasure(&set)
		if !m.Restore(func(name string) int { return sums[name] }, tasks) {
			t.Fatal("the sums contradict each other")
		}
		got := m.Evidence(7)
		if first == nil {
			first = slices.Clone(got)
		}
		for i := range got {
			if got[i].Interval != first[i].Interval {
				t.Errorf("the interval of %s depends on the parts", set.Rules[i].ID)
			}
			if got[i].Tasks != want[i].Tasks || got[i].Interval.Known() != want[i].Interval.Known() {
				t.Errorf("%s: %+v, want %+v", set.Rules[i].ID, got[i], want[i])
			}
			got[i].Interval = want[i].Interval
			got[i].TokensUsed, got[i].TokensVain = want[i].TokensUsed, want[i].TokensVain // not numbers
			if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
				t.Errorf("%s: %+v, want %+v", set.Rules[i].ID, got[i], want[i])
			}
		}
		for name := range byTask {
			for task := range byTask[name] {
				byTask[name][task] += 1 << 20
				if strings.HasSuffix(name, "used") && NewMeasure(&set).Restore(func(name string) int { return sums[name] }, tasks) {
					t.Error("more is used than is offered")
				}
				byTask[name][task] -= 1 << 20
				break
			}
		}
	}
}
