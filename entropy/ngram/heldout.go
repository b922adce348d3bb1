package ngram

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/awo-dev/awo/internal/deal"
)

// Each runs do(0), ..., do(n-1) in any order, on as many goroutines as it
// likes, and returns when all have ended. A nil Each is a plain loop. Results
// do not depend on which one it is.
type Each func(n int, do func(i int))

// Run calls e, or runs the plain loop.
func (e Each) Run(n int, do func(i int)) {
	if e != nil {
		e(n, do)
		return
	}
	for i := range n {
		do(i)
	}
}

// HeldOutOptions are the choices of [HeldOut]. The zero value is the default.
type HeldOutOptions struct {
	Folds int    // parts to leave out in turn; 0 means 10, and never more than there are tasks
	Seed  uint64 // of the partition of tasks into folds
	// Hash returns what stands for a task whatever its number; nil makes it of that.
	Hash func(task uint32) deal.Hash
	Each Each // runs the folds; each under way holds a model of the others
}

// TaskLoss is the loss on the sequences of one task, by a model that has seen
// no sequence of this task.
type TaskLoss struct {
	Task uint32
	Fold int
	Loss
}

// Losses are the losses of all tasks, in order of their numbers.
type Losses struct {
	Folds int // 0 where there were fewer than two tasks, and so no losses
	Tasks []TaskLoss
}

// Total returns the sum over all tasks.
func (l Losses) Total() Loss {
	var sum Loss
	for _, t := range l.Tasks {
		sum.Add(t.Loss)
	}
	return sum
}

// HeldOut returns what models of order 0..k lose on sequences that they have not
// seen: tasks are dealt into folds, and each fold's sequences are predicted by a
// [Model] of all others. tasks[i] is the task of sequences[i]; the trials of one
// task stay together, because between them habits leak. Every symbol of every
// sequence is predicted once, at every order.
//
// The models know the whole alphabet by name, as an agent knows its tools, but
// not from the fold's sequences how often its symbols occur: one that the others
// lack costs the share that their discounts leave for it, and is counted as
// unseen.
//
// Which tasks share a fold depends on their hashes, the number of their sequences and the
// seed, not on the order of the sequences.
func HeldOut(k int, sequences [][]uint32, tasks []uint32, o HeldOutOptions) Losses {
	if len(sequences) != len(tasks) {
		panic(fmt.Sprintf("ngram: %d sequences with %d tasks", len(sequences), len(tasks)))
	}
	alphabet := 0
	var distinct []uint32
	counts := map[uint32]int{}
	for i, s := range sequences {
		if len(s) == 0 {
			continue
		}
		alphabet = max(alphabet, int(slices.Max(s))+1)
		if counts[tasks[i]]++; counts[tasks[i]] == 1 {
			distinct = append(distinct, tasks[i])
		}
	}
	slices.Sort(distinct)
	if len(distinct) < 2 {
		return Losses{}
	}
	folds := o.Folds
	if folds <= 0 {
		folds = 10
	}
	folds = max(2, min(folds, len(distinct)))

	losses := Losses{Folds: folds, Tasks: o.deal(distinct, counts, folds)}
	place := make(map[uint32]int, len(distinct)) // task -> index in losses.Tasks
	for i, t := range losses.Tasks {
		place[t.Task] = i
	}
	foldOf := make([]int, len(sequences))
	for i, s := range sequences {
		if len(s) > 0 {
			foldOf[i] = losses.Tasks[place[tasks[i]]].Fold
		}
	}
	different, of := Distinct(sequences)
	o.Each.Run(folds, func(fold int) {
		others := make([]uint64, len(different)) // how often the other folds have each sequence
		for i, n := range of {
			if foldOf[i] != fold {
				others[n]++
			}
		}
		trainer := NewTrainer(k)
		for n, s := range different {
			if others[n] > 0 {
				trainer.AddN(s, others[n])
			}
		}
		model := trainer.Model(ModelOptions{Alphabet: alphabet})
		known := make([]Loss, len(different)) // without Bits where it was not asked for
		for i, s := range sequences {
			if len(s) == 0 || foldOf[i] != fold {
				continue
			}
			loss := &known[of[i]]
			if loss.Bits == nil {
				*loss = model.Loss(s)
			}
			losses.Tasks[place[tasks[i]]].Add(*loss)
		}
	})
	return losses
}

// deal gives each task a fold; see deal.Folds.
func (o *HeldOutOptions) deal(tasks []uint32, counts map[uint32]int, folds int) []TaskLoss {
	list, dealt := make([]deal.Task, len(tasks)), make([]TaskLoss, len(tasks))
	for i, t := range tasks {
		list[i], dealt[i].Task = deal.Task{Count: counts[t]}, t
		if o.Hash != nil {
			list[i].Hash = o.Hash(t)
		} else {
			binary.LittleEndian.PutUint32(list[i].Hash[:], t)
		}
	}
	for i, fold := range deal.Folds(list, folds, o.Seed) {
		dealt[i].Fold = fold
	}
	return dealt
}
