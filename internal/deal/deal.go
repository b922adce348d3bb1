// Package deal deals tasks into folds, the same way wherever folds are wanted.
//
// Hashes of tasks and how many trajectories each has come in, the fold of each goes out. It
// keeps nothing.
package deal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Hash stands for a task: 128 bits of the SHA-256 of what names it.
type Hash [16]byte

// HashOf returns the hash of what names a task.
func HashOf(task string) Hash {
	sum := sha256.Sum256([]byte(task))
	return Hash(sum[:16])
}

// Rank is the place of a task in the order that seed draws.
func Rank(task Hash, seed uint64) [sha256.Size]byte {
	var text [8 + len(task)]byte
	binary.LittleEndian.PutUint64(text[:], seed)
	copy(text[8:], task[:])
	return sha256.Sum256(text[:])
}

// Task is a task with the number of its trajectories.
type Task struct {
	Hash  Hash
	Count int
}

// Folds deals distinct tasks into k folds, from 0: in the order of their size, as powers of two,
// the largest first, then of their rank, to each fold in turn. No fold is empty where there are k
// tasks, sizes differ by at most one, and nothing depends on the order of the tasks.
func Folds(tasks []Task, k int, seed uint64) []int {
	type ranked struct {
		size, at int
		rank     [sha256.Size]byte
	}
	order := make([]ranked, len(tasks))
	for i, t := range tasks {
		order[i] = ranked{bits.Len(uint(max(t.Count, 1))), i, Rank(t.Hash, seed)}
	}
	slices.SortFunc(order, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.size, a.size), bytes.Compare(a.rank[:], b.rank[:]))
	})
	folds := make([]int, len(tasks))
	for n, r := range order {
		folds[r.at] = n % max(k, 1)
	}
	return folds
}
