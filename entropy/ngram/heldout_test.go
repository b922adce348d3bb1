package ngram_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/awo-dev/awo/entropy/ngram"
)

// parallel runs everything at once.
func parallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { do(i) })
	}
	wg.Wait()
}

// trials returns sequences of tasks in three trials each.
func trials(tasks int) (sequences [][]uint32, of []uint32) {
	r := rand.New(rand.NewPCG(3, 4))
	for task := range uint32(tasks) {
		for range 3 {
			s := make([]uint32, r.IntN(9))
			for i := range s {
				s[i] = (task + uint32(r.IntN(3))) % 7
			}
			sequences, of = append(sequences, s), append(of, task*10)
		}
	}
	return sequences, of
}

func TestHeldOutPredictsEveryCallOnce(t *testing.T) {
	sequences, tasks := trials(23)
	losses := ngram.HeldOut(2, sequences, tasks, ngram.HeldOutOptions{Folds: 5, Seed: 1})
	want := map[uint32]int{}
	for i, s := range sequences {
		want[tasks[i]] += len(s)
	}
	n, folds := 0, make([]int, losses.Folds)
	for i, l := range losses.Tasks {
		if l.N != want[l.Task] || len(l.Bits) != 3 || i > 0 && losses.Tasks[i-1].Task >= l.Task {
			t.Errorf("task %d at place %d: %d symbols of %d, %d orders", l.Task, i, l.N, want[l.Task], len(l.Bits))
		}
		folds[l.Fold]++
		n += l.N
	}
	if total := losses.Total(); total.N != n || n == 0 {
		t.Errorf("a total of %d symbols, want %d", total.N, n)
	}
	if slices.Max(folds)-slices.Min(folds) > 1 {
		t.Errorf("folds of %v tasks", folds)
	}
}

func TestHeldOutLeavesTheTaskOut(t *testing.T) {
	// Every task uses a symbol of its own, in all its trials: nothing but its own
	// trials could teach it.
	var sequences [][]uint32
	var tasks []uint32
	for task := range uint32(20) {
		for range 5 {
			sequences, tasks = append(sequences, []uint32{task, task, task}), append(tasks, task)
		}
	}
	losses := ngram.HeldOut(1, sequences, tasks, ngram.HeldOutOptions{})
	if total := losses.Total(); total.N != 300 || total.Unseen != 300 {
		t.Errorf("%d of %d symbols were unseen, want all 300", total.Unseen, total.N)
	}
	// By trajectory instead, trials leak.
	for i := range tasks {
		tasks[i] = uint32(i)
	}
	if total := ngram.HeldOut(1, sequences, tasks, ngram.HeldOutOptions{}).Total(); total.Unseen != 0 {
		t.Errorf("%d symbols were unseen by trajectory, want none", total.Unseen)
	}
}

func TestHeldOutEqualsTrainingByHand(t *testing.T) {
	sequences, tasks := trials(6)
	losses := ngram.HeldOut(2, sequences, tasks, ngram.HeldOutOptions{Folds: 6})
	for _, l := range losses.Tasks {
		trainer, n := ngram.NewTrainer(2), 0
		for i, s := range sequences {
			if tasks[i] != l.Task {
				trainer.Add(s)
			}
		}
		m := trainer.Model(ngram.ModelOptions{Alphabet: 7})
		bits := 0.0
		for i, s := range sequences {
			if tasks[i] == l.Task {
				n += len(s)
				bits += m.Loss(s).Bits[2]
			}
		}
		if l.N != n || math.Abs(l.Bits[2]-bits) > 1e-9 {
			t.Errorf("task %d: %d symbols at %v bits, want %d at %v", l.Task, l.N, l.Bits[2], n, bits)
		}
	}
}

// TestHeldOutOfEqualSequences has the losses of sequences that others equal be those of a
// model that learns from each by itself, to the last bit.
func TestHeldOutOfEqualSequences(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var sequences [][]uint32
	var tasks []uint32
	for range 400 {
		s := make([]uint32, r.IntN(5))
		for i := range s {
			s[i] = uint32(r.IntN(3))
		}
		sequences, tasks = append(sequences, s), append(tasks, uint32(r.IntN(40)))
	}
	losses := ngram.HeldOut(3, sequences, tasks, ngram.HeldOutOptions{Folds: 4, Seed: 9})
	fold, want := map[uint32]int{}, make([]ngram.Loss, len(losses.Tasks))
	for _, l := range losses.Tasks {
		fold[l.Task] = l.Fold
	}
	for f := range losses.Folds {
		trainer := ngram.NewTrainer(3)
		for i, s := range sequences {
			if len(s) > 0 && fold[tasks[i]] != f {
				trainer.Add(s)
			}
		}
		m := trainer.Model(ngram.ModelOptions{Alphabet: 3})
		for i, s := range sequences {
			if at := slices.IndexFunc(losses.Tasks, func(l ngram.TaskLoss) bool { return l.Task == tasks[i] }); len(s) > 0 && fold[tasks[i]] == f {
				want[at].Add(m.Loss(s))
			}
		}
	}
	for i, l := range losses.Tasks {
		if !reflect.DeepEqual(l.Loss, want[i]) {
			t.Errorf("task %d: %+v, want %+v", l.Task, l.Loss, want[i])
		}
	}
}

func TestDistinct(t *testing.T) {
	sequences := [][]uint32{{1, 2}, {}, {2, 1}, {1, 2}, nil, {258}, {1, 2, 0}}
	distinct, of := ngram.Distinct(sequences)
	if len(distinct) != 5 {
		t.Errorf("%d different sequences, want 5", len(distinct))
	}
	for i, s := range sequences {
		if !slices.Equal(distinct[of[i]], s) {
			t.Errorf("%v is said to equal %v", s, distinct[of[i]])
		}
	}
}

func TestHeldOutIsDeterministic(t *testing.T) {
	sequences, tasks := trials(40)
	one := ngram.HeldOut(3, sequences, tasks, ngram.HeldOutOptions{Seed: 5})
	many := ngram.HeldOut(3, sequences, tasks, ngram.HeldOutOptions{Seed: 5, Each: parallel})
	if !reflect.DeepEqual(one, many) {
		t.Error("the losses depend on the workers")
	}
	other := ngram.HeldOut(3, sequences, tasks, ngram.HeldOutOptions{Seed: 6})
	if reflect.DeepEqual(one, other) {
		t.Error("the seed changes nothing")
	}
	// Whole tasks in reverse: the same folds, the same losses.
	slices.Reverse(sequences)
	slices.Reverse(tasks)
	back := ngram.HeldOut(3, sequences, tasks, ngram.HeldOutOptions{Seed: 5})
	for i, l := range back.Tasks {
		if w := one.Tasks[i]; l.Fold != w.Fold || l.N != w.N || math.Abs(l.Bits[3]-w.Bits[3]) > 1e-9 {
			t.Errorf("in reverse, task %d has %+v instead of %+v", l.Task, l, w)
		}
	}
}

func TestHeldOutNeedsTwoTasks(t *testing.T) {
	l := ngram.HeldOut(1, [][]uint32{{1, 2}, {1}, {}}, []uint32{4, 4, 5}, ngram.HeldOutOptions{})
	if l.Folds != 0 || len(l.Tasks) != 0 {
		t.Errorf("one task with symbols gave %+v", l)
	}
	l = ngram.HeldOut(1, [][]uint32{{1, 2}, {1}}, []uint32{4, 5}, ngram.HeldOutOptions{})
	if l.Folds != 2 || len(l.Tasks) != 2 {
		t.Errorf("two tasks gave %+v", l)
	}
}
