package trace

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/deal"
)

// Corpus is the compact store of what later passes need of many trajectories:
// which tools were called in which turns. It is columnar, 9 bytes a call, and
// keeps equal sequences of calls once, so that a month of habits takes far less.
// Texts, arguments and results are not in it.
//
// Only calls that a model decided on are in a Corpus. Tools, tasks and other
// names are numbered in order of first appearance, until Sort numbers them by what they are. A Corpus is filled by one goroutine; once filled it may be read
// by several.
type Corpus struct {
	options CorpusOptions

	tools  Numbering[Name]
	tasks  Numbering[deal.Hash]
	groups Numbering[string]

	// One element a call, distinct sequences one behind the other.
	tool []uint32
	turn []uint32 // of the trajectory, -1 as noTurn
	flag []CallFlags

	known map[[16]byte]stretch // where a sequence stands

	content []byte // scratch of contentKey

	rows []row
}

// CorpusOptions say what becomes of the calls of a trajectory.
type CorpusOptions struct {
	// CollapseRepeats makes runs of calls of one tool one call: A, A, B is A, B.
	// The run stands in the turn of its first call.
	CollapseRepeats bool
	// Group names the group of a trajectory, such as its model; nil means that
	// all are of one.
	Group func(*Trajectory) string
}

// CallFlags are what a Corpus knows of a call beside its tool and turn.
type CallFlags uint8

// The flags.
const (
	FlagAfterUser CallFlags = 1 << iota // a user message came before it
	FlagFailed
	FlagOK
)

// noTurn stands for the turn of calls whose turn is not recorded.
const noTurn = ^uint32(0)

// stretch is a piece of the columns.
type stretch struct{ first, end uint32 }

// row is one trajectory.
type row struct {
	stretch
	task, group uint32
	turns       uint32 // model responses, answers included
	outcome     Outcome
}

// NewCorpus returns an empty Corpus.
func NewCorpus(o CorpusOptions) *Corpus {
	return &Corpus{options: o, known: map[[16]byte]stretch{}}
}

// Add stores t and returns its index. Nothing of t is kept.
func (c *Corpus) Add(t *Trajectory) int {
	r := row{turns: uint32(len(t.Turns)), outcome: t.Outcome, task: c.tasks.Number(deal.HashOf(t.TaskKey()))}
	if c.options.Group != nil {
		r.group = c.groups.Number(c.options.Group(t))
	} else {
		c.groups.Number("")
	}
	r.first = uint32(len(c.tool))
	c.appendCalls(t)
	r.end = uint32(len(c.tool))
	c.share(&r)
	return len(c.rows) - 1
}

// AddSequence stores n trajectories of which only the tools in their order are known. The
// calls have no turn and no flag.
func (c *Corpus) AddSequence(task deal.Hash, group string, tools []Name, n int) {
	if n <= 0 {
		return
	}
	r := row{task: c.tasks.Number(task), group: c.groups.Number(group)}
	r.first = uint32(len(c.tool))
	for _, tool := range tools {
		c.tool, c.turn, c.flag = append(c.tool, c.tools.Number(tool)), append(c.turn, noTurn), append(c.flag, 0)
	}
	r.end = uint32(len(c.tool))
	c.share(&r)
	for range n - 1 {
		c.rows = append(c.rows, r)
	}
}

// Number gives tools their numbers before any trajectory is stored, so that the numbers
// do not depend on which comes first.
func (c *Corpus) Number(tools []Name) {
	for _, tool := range tools {
		c.tools.Number(tool)
	}
}

// Forget drops all trajectories, and keeps the numbers of the tools.
func (c *Corpus) Forget() {
	c.truncate(0)
	clear(c.known)
	c.tasks, c.groups = Numbering[deal.Hash]{}, Numbering[string]{}
	c.rows = c.rows[:0]
}

// share stores a row whose calls stand at the end of the columns, once if they are known.
func (c *Corpus) share(r *row) {
	key := c.contentKey(r.stretch)
	if same, ok := c.known[key]; ok {
		c.truncate(int(r.first))
		r.stretch = same
	} else {
		c.known[key] = r.stretch
	}
	c.rows = append(c.rows, *r)
}

func (c *Corpus) appendCalls(t *Trajectory) {
	first := len(c.tool)
	for i := range t.Calls {
		call := &t.Calls[i]
		if call.Origin != OriginModel {
			continue
		}
		tool := c.tools.Number(call.Tool)
		sameTool := len(c.tool) > first && c.tool[len(c.tool)-1] == tool
		if sameTool && c.options.CollapseRepeats {
			continue
		}
		turn := noTurn
		if call.Turn >= 0 {
			turn = uint32(call.Turn)
		}
		var flags CallFlags
		if call.AfterUser {
			flags |= FlagAfterUser
		}
		switch call.Status {
		case StatusFailed:
			flags |= FlagFailed
		case StatusOK:
			flags |= FlagOK
		case StatusUnknown:
		}
		c.tool, c.turn, c.flag = append(c.tool, tool), append(c.turn, turn), append(c.flag, flags)
	}
}

func (c *Corpus) truncate(n int) {
	c.tool, c.turn, c.flag = c.tool[:n], c.turn[:n], c.flag[:n]
}

// contentKey identifies a sequence: 128 bits of SHA-256, so that no input can be
// made to collide.
func (c *Corpus) contentKey(s stretch) [16]byte {
	b := c.content[:0]
	for i := s.first; i < s.end; i++ {
		b = binary.LittleEndian.AppendUint32(b, c.tool[i])
		b = binary.LittleEndian.AppendUint32(b, c.turn[i])
		b = append(b, byte(c.flag[i]))
	}
	c.content = b
	sum := sha256.Sum256(b)
	return [16]byte(sum[:16])
}

// Len returns the number of trajectories, those without calls included.
func (c *Corpus) Len() int { return len(c.rows) }

// Calls returns how many calls all trajectories have, and how many of them are
// stored because sequences that are equal are kept once.
func (c *Corpus) Calls() (all, stored int) {
	for i := range c.rows {
		all += int(c.rows[i].end - c.rows[i].first)
	}
	return all, len(c.tool)
}

// Tools returns the tools by number.
func (c *Corpus) Tools() []Name { return c.tools.values }

// Tasks returns the hashes of the tasks by number.
func (c *Corpus) Tasks() []deal.Hash { return c.tasks.values }

// textOf returns a name, "" for none.
func textOf(n Name) string {
	if n == (Name{}) {
		return ""
	}
	return n.Value()
}

// Sort numbers tools and groups by name and tasks by hash, and orders the trajectories by task,
// group and content: then nothing depends on the order in which they were added. It returns the new number of each tool.
func (c *Corpus) Sort() (tools []uint32) {
	tools = c.tools.sorted(func(a, b Name) int { return cmp.Compare(textOf(a), textOf(b)) })
	groups := c.groups.sorted(strings.Compare)
	tasks := c.tasks.sorted(func(a, b deal.Hash) int { return bytes.Compare(a[:], b[:]) })
	for i, tool := range c.tool {
		c.tool[i] = tools[tool]
	}
	order := make([]int, len(c.rows))
	for i := range c.rows {
		r := &c.rows[i]
		r.task, r.group, order[i] = tasks[r.task], groups[r.group], i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &c.rows[i], &c.rows[j]
		x, y := c.Sequence(i), c.Sequence(j)
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.group, b.group), slices.Compare(x.Tools, y.Tools), slices.Compare(x.Turns, y.Turns),
			slices.Compare(x.Flags, y.Flags), cmp.Compare(a.turns, b.turns), cmp.Compare(a.outcome, b.outcome))
	})
	rows := make([]row, len(order))
	for to, i := range order {
		rows[to] = c.rows[i]
	}
	c.rows = rows
	clear(c.known) // it knew the numbers of before
	return tools
}

// Groups returns the names of groups by number.
func (c *Corpus) Groups() []string { return c.groups.values }

// Sequence is the calls of one trajectory, as parallel slices. They belong to
// the Corpus and must not be changed; those of equal trajectories are the same.
type Sequence struct {
	Tools []uint32
	Turns []uint32 // of the trajectory; ^0 where not recorded
	Flags []CallFlags
}

// Len returns the number of calls.
func (s Sequence) Len() int { return len(s.Tools) }

// Sequence returns the calls of trajectory i.
func (c *Corpus) Sequence(i int) Sequence {
	r := &c.rows[i]
	return Sequence{Tools: c.tool[r.first:r.end:r.end], Turns: c.turn[r.first:r.end:r.end], Flags: c.flag[r.first:r.end:r.end]}
}

// Task returns the number of the task of trajectory i.
func (c *Corpus) Task(i int) uint32 { return c.rows[i].task }

// Group returns the number of the group of trajectory i.
func (c *Corpus) Group(i int) uint32 { return c.rows[i].group }

// Outcome returns the outcome of trajectory i.
func (c *Corpus) Outcome(i int) Outcome { return c.rows[i].outcome }

// Turns returns how many model responses trajectory i has, answers included.
func (c *Corpus) Turns(i int) int { return int(c.rows[i].turns) }

// Sequences yields the tool numbers of every trajectory that has calls, with its
// index, in input order.
func (c *Corpus) Sequences() iter.Seq2[int, []uint32] {
	return func(yield func(int, []uint32) bool) {
		for i := range c.rows {
			if r := &c.rows[i]; r.end > r.first && !yield(i, c.tool[r.first:r.end:r.end]) {
				return
			}
		}
	}
}

// Variant is a distinct sequence of tools.
type Variant struct {
	Tools        []uint32
	Trajectories int // that made exactly these calls in this order
	Example      int // the first of them
}

// Variants returns the distinct sequences of tools, the most frequent first,
// ties in order of first appearance. Trajectories without calls are none.
func (c *Corpus) Variants() []Variant {
	index := map[[16]byte]int{}
	var out []Variant
	for i, tools := range c.Sequences() {
		key := toolsKey(tools)
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, Variant{Tools: tools, Example: i})
		}
		out[at].Trajectories++
	}
	slices.SortStableFunc(out, func(a, b Variant) int { return b.Trajectories - a.Trajectories })
	return out
}

// toolsKey identifies a sequence of tools alone, as contentKey does a whole one.
func toolsKey(tools []uint32) [16]byte {
	h := sha256.New()
	var b [4]byte
	for _, tool := range tools {
		binary.LittleEndian.PutUint32(b[:], tool)
		h.Write(b[:])
	}
	var key [16]byte
	copy(key[:], h.Sum(nil))
	return key
}

// Numbering gives values dense numbers in order of first appearance. The zero value is
// ready. A few values, such as the tools of a trajectory, are looked through without a map.
type Numbering[T comparable] struct {
	index  map[T]uint32 // nil while values are few
	values []T
}

// fewValues is how many values are looked through.
const fewValues = 16

// sorted numbers the values in order, and returns the new number of each.
func (n *Numbering[T]) sorted(compare func(a, b T) int) []uint32 {
	before := n.values
	order := make([]uint32, len(before))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return compare(before[a], before[b]) })
	*n = Numbering[T]{}
	numbers := make([]uint32, len(before))
	for _, was := range order {
		numbers[was] = n.Number(before[was])
	}
	return numbers
}

// Number returns the number of a value.
func (n *Numbering[T]) Number(v T) uint32 {
	if n.index == nil {
		for i := range n.values {
			if n.values[i] == v {
				return uint32(i)
			}
		}
	} else if i, ok := n.index[v]; ok {
		return i
	}
	i := uint32(len(n.values))
	n.values = append(n.values, v)
	switch {
	case n.index != nil:
		n.index[v] = i
	case len(n.values) > fewValues:
		n.index = make(map[T]uint32, 2*fewValues)
		for i, v := range n.values {
			n.index[v] = uint32(i)
		}
	}
	return i
}

// Len returns how many values have a number.
func (n *Numbering[T]) Len() int { return len(n.values) }

// Values returns the values in the order of their numbers. Nobody may change them.
func (n *Numbering[T]) Values() []T { return n.values }
