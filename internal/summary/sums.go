package summary

import (
	"bytes"
	"encoding/hex"
	"iter"
	"maps"
	"slices"
	"strings"
)

// AddN adds n to the sum of a name. What names mean is known to who counts and who reads;
// an option of the summary says that they were counted, and from what.
func (s *Summary) AddN(name string, n int) {
	if n == 0 {
		return
	}
	if s.sums == nil {
		s.sums = map[string]int{}
	}
	s.sums[name] += n
}

// Sum returns the sum of a name.
func (s *Summary) Sum(name string) int { return s.sums[name] }

// Sums yields the sums whose names begin with prefix, by what stands behind it, in order.
func (s *Summary) Sums(prefix string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.sums)) {
			if rest, ok := strings.CutPrefix(name, prefix); ok && !yield(rest, s.sums[name]) {
				return
			}
		}
	}
}

// taskID is the hash that a task is known by.
type taskID [16]byte

// String returns the hash in hexadecimal digits.
func (t taskID) String() string { return hex.EncodeToString(t[:]) }

// readTask reads what String returned.
func readTask(text string) (t taskID, ok bool) {
	if len(text) != 2*len(t) {
		return t, false
	}
	_, err := hex.Decode(t[:], []byte(text))
	return t, err == nil
}

func (t taskID) compare(o taskID) int { return bytes.Compare(t[:], o[:]) }

// byTask are sums of each task, by name: what an interval over tasks is drawn from.
type byTask map[string]map[taskID]int

// AddTaskN adds n to the sum of a name and a task.
func (s *Summary) AddTaskN(task, name string, n int) { s.byTask.add(name, taskOf(task), n) }

// TaskSums yields the sums of a name by the hash of their task, in order of these.
func (s *Summary) TaskSums(name string) iter.Seq2[[16]byte, int] {
	return func(yield func([16]byte, int) bool) {
		for _, task := range slices.SortedFunc(maps.Keys(s.byTask[name]), taskID.compare) {
			if !yield(task, s.byTask[name][task]) {
				return
			}
		}
	}
}

// TaskNames yields the names of sums by task that begin with prefix, by what stands behind
// it, in order.
func (s *Summary) TaskNames(prefix string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.byTask)) {
			if rest, ok := strings.CutPrefix(name, prefix); ok && !yield(rest) {
				return
			}
		}
	}
}

func (b *byTask) add(name string, task taskID, n int) {
	if n == 0 {
		return
	}
	if *b == nil {
		*b = byTask{}
	}
	if (*b)[name] == nil {
		(*b)[name] = map[taskID]int{}
	}
	(*b)[name][task] += n
}
