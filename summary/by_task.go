package summary

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/varint"
)

// byTask are sums that others count of trajectories for each task, by name, as named has
// them of all: what an interval over tasks is drawn from.
type byTask map[string]map[[16]byte]int

// AddTaskN adds n to the sum of a name and a task; of the task some trajectory must be
// added, too.
func (s *Summary) AddTaskN(task, name string, n int) { s.byTask.add(name, taskOf(task), n) }

// TaskSums yields the sums of a name by the hash of their task, in order of these.
func (s *Summary) TaskSums(name string) iter.Seq2[[16]byte, int] {
	return func(yield func([16]byte, int) bool) {
		for _, task := range s.byTask.tasks(name) {
			if !yield(task, s.byTask[name][task]) {
				return
			}
		}
	}
}

func (b *byTask) add(name string, task [16]byte, n int) {
	if n == 0 {
		return
	}
	if *b == nil {
		*b = byTask{}
	}
	sums := (*b)[name]
	if sums == nil {
		sums = map[[16]byte]int{}
		(*b)[name] = sums
	}
	sums[task] += n
}

func (b *byTask) merge(o byTask) {
	for name, sums := range o {
		for task, n := range sums {
			b.add(name, task, n)
		}
	}
}

// tasks returns the tasks of a name in order.
func (b byTask) tasks(name string) [][16]byte {
	return slices.SortedFunc(maps.Keys(b[name]), func(x, y [16]byte) int { return bytes.Compare(x[:], y[:]) })
}

// append appends the sums of each name, whose tasks are known by their places among all
// tasks of the rows, which are in order.
func (b byTask) append(dst []byte, all [][16]byte) []byte {
	dst = varint.Append(dst, len(b))
	for _, name := range slices.Sorted(maps.Keys(b)) {
		dst = varint.Append(varint.AppendText(dst, name), len(b[name]))
		at, before := 0, 0
		for _, task := range b.tasks(name) {
			for at < len(all) && all[at] != task {
				at++
			}
			if at == len(all) {
				panic(fmt.Sprintf("summary: %s is of a task without trajectories", name))
			}
			dst = binary.AppendUvarint(varint.Append(dst, at-before), uint64(b[name][task]))
			before = at
		}
	}
	return dst
}

// readByTask reads sums by task, after the rows. Without any there must be something
// behind them.
func (s *Summary) readByTask(d *decoder) {
	n := d.Length(4)
	if n == 0 && len(d.Data) == 0 {
		d.Fail("sums by task")
	}
	rows := s.ordered()
	all := rows.tasks()
	before := ""
	for i := range n {
		name := d.Text()
		if i > 0 {
			d.ascending(strings.Compare(name, before), "sums by task")
		}
		before = name
		at, sums := 0, d.Length(2)
		if sums == 0 {
			d.Fail("sums by task")
		}
		for j := range sums {
			step := d.Below(len(all))
			n := d.Int()
			at += step
			if d.Broken != "" || at >= len(all) || n == 0 || j > 0 && step == 0 {
				d.Fail("sums by task")
				return
			}
			s.byTask.add(name, all[at], n)
		}
	}
}
