package entropy_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/entropy/ngram"
	"pgregory.net/rapid"
)

func TestContextsByHand(t *testing.T) {
	const a, b, c = 0, 1, 2
	counts := count(2, [][]uint32{{a, b, a, c}, {a, b, b}, {c, a, b}})
	// After a: b three times, c once; after b: a and b once; after c: a once.
	got := entropy.Contexts(counts, entropy.ContextOptions{MaxLength: 2, Most: 2, Top: 1})
	type line struct {
		Symbols  []uint32
		N        uint64
		Next     uint32
		Share    float64
		Distinct int
	}
	var lines []line
	for _, x := range got {
		lines = append(lines, line{x.Symbols, x.N, x.Next[0].Symbol, x.Next[0].Share, x.Distinct})
	}
	want := []line{
		{[]uint32{a}, 4, b, 0.75, 2},
		{[]uint32{b}, 2, a, 0.5, 2}, // a and b as often: by number
		{[]uint32{a, b}, 2, a, 0.5, 2},
		{[]uint32{b, a}, 1, c, 1, 1},
	}
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("%+v, want %+v", lines, want)
	}
	if bits := 0.75*math.Log2(4.0/3) + 0.25*2; math.Abs(got[0].Bits-bits) > 1e-12 || math.Abs(got[0].Share-4.0/7) > 1e-12 {
		t.Errorf("after a %v bits in %v of the windows, want %v in 4/7", got[0].Bits, got[0].Share, bits)
	}
	backwards := entropy.Contexts(counts, entropy.ContextOptions{Compare: func(a, b uint32) int { return cmp.Compare(b, a) }})
	if s := backwards[1].Next[0].Symbol; s != b {
		t.Errorf("in reverse order, after b comes %d first, want b", s)
	}
	if len(backwards) != 3 || len(backwards[0].Next) != 2 {
		t.Errorf("without limits %+v, want everything", backwards)
	}
}

// TestMostContexts: the first of many are those of all.
func TestMostContexts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 31))
	q := make([]uint32, 30_000)
	for i := range q {
		q[i] = uint32(float64(200) * r.Float64() * r.Float64())
	}
	c := count(2, [][]uint32{q})
	all := entropy.Contexts(c, entropy.ContextOptions{MaxLength: 2, Top: 2})
	some := entropy.Contexts(c, entropy.ContextOptions{MaxLength: 2, Top: 2, Most: 7})
	pairs := slices.IndexFunc(all, func(c entropy.Context) bool { return len(c.Symbols) == 2 })
	want := slices.Concat(all[:7], all[pairs:pairs+7])
	if len(all) < 5000 || !reflect.DeepEqual(some, want) {
		t.Errorf("%+v, want the first of %d: %+v", some, len(all), want)
	}
}

// TestContextsMakeUpTheEntropy: what contexts contribute adds up to H_k.
func TestContextsMakeUpTheEntropy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := count(2, corpora().Draw(t, "corpus"))
		var bits [3]float64
		for _, x := range entropy.Contexts(c, entropy.ContextOptions{MaxLength: 2}) {
			bits[len(x.Symbols)] += x.Share * x.Bits
		}
		a := entropy.Analyze(c, entropy.Options{Permutations: -1})
		for k := 1; k <= 2; k++ {
			if a.Orders[k].N > 0 && !near(a.Orders[k].Bits, bits[k], 1e-12) {
				t.Fatalf("contexts of %d symbols contribute %v, H = %v", k, bits[k], a.Orders[k].Bits.Float())
			}
		}
	})
}

func TestSuccessorIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 31))
	var s entropy.Sample
	for task := range uint32(60) {
		for range 2 {
			q := make([]uint32, 6)
			for i := range q {
				q[i] = uint32(r.IntN(2))
			}
			s.Sequences, s.Tasks = append(s.Sequences, q), append(s.Tasks, task)
		}
	}
	s.Sequences, s.Tasks = append(s.Sequences, []uint32{7, 8}, []uint32{7, 9}, nil), append(s.Tasks, 0, 1, 2)
	list := func(o entropy.Options) []entropy.Context {
		contexts := entropy.Contexts(count(2, s.Sequences), entropy.ContextOptions{MaxLength: 2})
		entropy.AddIntervals(contexts, s, o)
		return contexts
	}
	contexts := list(entropy.Options{})
	for _, c := range contexts {
		if c.Symbols[0] == 7 {
			if c.Tasks != 2 || c.Next[0].Interval.Known() || len(c.Warnings) != 1 || c.Warnings[0].Code != entropy.WarnFewTasks {
				t.Errorf("a context of two tasks: %+v, want a warning and no interval", c)
			}
			continue
		}
		for _, x := range c.Next {
			i := x.Interval
			if !i.Known() || i.Lo > x.Share || i.Hi < x.Share || i.Hi-i.Lo > 0.3 || i.Level != 0.95 {
				t.Errorf("after %v: %+v in %+v", c.Symbols, x, i)
			}
		}
	}
	one, _ := json.Marshal(contexts)
	other, _ := json.Marshal(list(entropy.Options{Each: parallel}))
	if string(one) != string(other) {
		t.Error("intervals depend on the workers")
	}
	if third, _ := json.Marshal(list(entropy.Options{Seed: 1})); string(one) == string(third) {
		t.Error("the seed changes nothing")
	}
}

func TestSuccessorIntervalsCover(t *testing.T) {
	const seeds = 300
	covered := 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 32))
		s := entropy.Sample{Tasks: each(40)}
		for range s.Tasks {
			q := make([]uint32, 3+r.IntN(8))
			for i := range q {
				q[i] = uint32(r.IntN(3))
			}
			s.Sequences = append(s.Sequences, q)
		}
		contexts := entropy.Contexts(count(1, s.Sequences), entropy.ContextOptions{Most: 1})
		entropy.AddIntervals(contexts, s, entropy.Options{Replicates: 1000, Seed: seed})
		for _, x := range contexts[0].Next {
			if x.Symbol == 0 && x.Interval.Lo <= 1.0/3 && x.Interval.Hi >= 1.0/3 {
				covered++
			}
		}
	}
	if lo, hi := band(seeds, 0.95); float64(covered) < lo || float64(covered) > hi {
		t.Errorf("%d of %d intervals hold the truth, want %.0f to %.0f", covered, seeds, lo, hi)
	}
}

// TestManySuccessorIntervals has more successors than replicates are held for
// at a time: which others are listed must not matter.
func TestManySuccessorIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 31))
	s := entropy.Sample{Tasks: each(6)}
	for range s.Tasks {
		q := make([]uint32, 1500)
		for i := range q {
			q[i] = uint32(r.IntN(70))
		}
		s.Sequences = append(s.Sequences, q)
	}
	contexts := entropy.Contexts(count(1, s.Sequences), entropy.ContextOptions{})
	last := len(contexts) - 1
	alone := slices.Clone(contexts[last:])
	alone[0].Next = slices.Clone(alone[0].Next)
	entropy.AddIntervals(alone, s, entropy.Options{})
	entropy.AddIntervals(contexts, s, entropy.Options{})
	if !reflect.DeepEqual(alone[0], contexts[last]) {
		t.Errorf("alone %+v, among others %+v", alone[0], contexts[last])
	}
}

// TestIntervalsOfIdenticalTasks: where tasks do not differ, nothing says how much others
// would. An order that all of them gain from is supported all the same.
func TestIntervalsOfIdenticalTasks(t *testing.T) {
	var s entropy.Sample
	for task := range uint32(30) {
		s.Sequences, s.Tasks = append(s.Sequences, []uint32{0, 1, 0, 2}), append(s.Tasks, task)
	}
	contexts := entropy.Contexts(count(1, s.Sequences), entropy.ContextOptions{})
	entropy.AddIntervals(contexts, s, entropy.Options{})
	for _, x := range contexts[0].Next {
		if x.Interval.Known() || x.Interval.Reason == "" {
			t.Errorf("%+v, want none", x.Interval)
		}
	}
	h := entropy.NewHeldOut(ngram.HeldOut(1, s.Sequences, s.Tasks, ngram.HeldOutOptions{Folds: 30}), entropy.Options{})
	if i := h.Orders[1].Interval; i.Known() {
		t.Errorf("equal losses in %+v", i)
	}
	a := entropy.Analyze(count(1, s.Sequences), entropy.Options{})
	a.AddHeldOut(ngram.HeldOut(1, s.Sequences, s.Tasks, ngram.HeldOutOptions{Folds: 30}), entropy.Options{})
	if a.Selection.Supported != 1 {
		t.Errorf("order %d is supported, want 1", a.Selection.Supported)
	}
}

// TestClustersWidenIntervals: ten calls of one task are not ten tasks.
func TestClustersWidenIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 31))
	var s entropy.Sample
	for task := range uint32(40) {
		next := 1 + uint32(r.IntN(2)) // always the same within a task
		for range 10 {
			s.Sequences, s.Tasks = append(s.Sequences, []uint32{0, next}), append(s.Tasks, task)
		}
	}
	width := func(tasks []uint32) float64 {
		contexts := entropy.Contexts(count(1, s.Sequences), entropy.ContextOptions{})
		entropy.AddIntervals(contexts, entropy.Sample{Sequences: s.Sequences, Tasks: tasks}, entropy.Options{})
		i := contexts[0].Next[0].Interval
		return i.Hi - i.Lo
	}
	if by, all := width(s.Tasks), width(each(len(s.Sequences))); by < 2.5*all { // sqrt 10 in theory
		t.Errorf("by task the interval is %v wide, by trajectory %v", by, all)
	}
}

func TestHeldOutOfFewTasks(t *testing.T) {
	var sequences [][]uint32
	for i := range uint32(6) {
		sequences = append(sequences, []uint32{0, 1, 2, i % 3, 1, 2})
	}
	for tasks, want := range map[int]string{2: "few-tasks", 4: "few-tasks", 6: "few-tasks"} {
		h := entropy.NewHeldOut(ngram.HeldOut(2, sequences[:tasks], each(tasks), ngram.HeldOutOptions{}), entropy.Options{})
		if len(h.Warnings) == 0 || h.Warnings[0].Code != want || h.Tasks != tasks {
			t.Errorf("%d tasks: %+v, want a warning", tasks, h)
		}
		if has := h.Orders[1].Interval.Known(); has != (tasks >= 5) {
			t.Errorf("%d tasks: interval %+v", tasks, h.Orders[1].Interval)
		}
	}
	h := entropy.NewHeldOut(ngram.Losses{}, entropy.Options{})
	if len(h.Warnings) != 1 || h.Warnings[0].Code != entropy.WarnNoHeldOut {
		t.Errorf("of nothing: %+v", h)
	}
}

func TestHeldOutDoesNotDependOnWorkers(t *testing.T) {
	sequences := independent(rand.New(rand.NewPCG(3, 31)), 50, skewed)
	losses := ngram.HeldOut(3, sequences, each(50), ngram.HeldOutOptions{})
	one, _ := json.Marshal(entropy.NewHeldOut(losses, entropy.Options{}))
	other, _ := json.Marshal(entropy.NewHeldOut(losses, entropy.Options{Each: parallel}))
	if string(one) != string(other) {
		t.Errorf("with workers %s, without %s", other, one)
	}
}

func TestTopShares(t *testing.T) {
	const a, b, c, d = 0, 1, 2, 3
	// After a: b 3, c 1, d 1; after b: a 1.
	counts := count(1, [][]uint32{{a, b}, {a, b}, {a, b, a, c}, {a, d}})
	got := entropy.TopShares(counts, 1, 9)
	want := []entropy.TopShare{
		{1, 4.0 / 6, (3.0/5 + 1) / 2},
		{2, 5.0 / 6, (4.0/5 + 1) / 2},
		{3, 1, 1},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := entropy.TopShares(counts, 1, 2); len(got) != 2 {
		t.Errorf("%v, want two", got)
	}
	if got := entropy.TopShares(count(1, nil), 1, 5); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
}

func TestConvergence(t *testing.T) {
	const a, b, c = 0, 1, 2
	sequences := [][]uint32{{a, b, c}, {a, b}, {a, c, c, c}, {b, b}, {}}
	got := entropy.Convergence(entropy.Prefixes(slices.Values(sequences)), 3)
	want := []entropy.Step{
		{Calls: 1, State: 1, N: 3, Reached: 4, Share: 3.0 / 5},
		{Calls: 2, State: 2, N: 2, Reached: 4, Share: 2.0 / 5},
		{Calls: 3, State: 3, N: 1, Reached: 2, Share: 1.0 / 5},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := entropy.Convergence(entropy.Prefixes(slices.Values([][]uint32{})), 3); len(got) != 0 {
		t.Errorf("%+v of nothing", got)
	}
}

// What was never contradicted is not certain: the fewer the tasks, the less.
func TestIntervalOfAlways(t *testing.T) {
	for tasks, want := range map[int]float64{5: 0.478, 24: 0.857, 100: 0.964} {
		var s entropy.Sample
		for i := range tasks {
			s.Sequences, s.Tasks = append(s.Sequences, []uint32{0, 1, 0, 1}), append(s.Tasks, uint32(i))
		}
		contexts := entropy.Contexts(ngram.Count(1, slices.Values(s.Sequences)), entropy.ContextOptions{})
		entropy.AddIntervals(contexts, s, entropy.Options{})
		got := contexts[0].Next[0].Interval
		if math.Abs(got.Lo-want) > 0.001 || got.Hi != 1 {
			t.Errorf("%d tasks: %+v, want [%v, 1]", tasks, got, want)
		}
	}
}
