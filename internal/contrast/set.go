package contrast

import (
	"iter"
	"math"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/deal"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// Cost is what a trajectory cost.
type Cost struct {
	Tokens float64
	USD    float64
	Priced bool // whether all its turns have a price
}

// Set is the trajectories of one side.
type Set struct {
	Runs  int
	tasks map[deal.Hash]*task
	runs  [measures]completeness.Distribution // of what single runs have, as whole numbers like the sums
}

// task is the sums over the runs of a task, whole numbers: money in billionths, times in
// microseconds, so that sums do not depend on their order.
type task struct {
	key   string // "" of one that was restored
	runs  int
	sums  [measures][2]int // numerator and denominator
	tools map[string]int   // calls
	steps map[[2]string]int
}

func newTask(key string) *task {
	return &task{key: key, tools: map[string]int{}, steps: map[[2]string]int{}}
}

// of returns numerator and denominator of a measure in its unit.
func (t *task) of(m int) (num, den float64) {
	return float64(t.sums[m][0]) / unitOf(m), float64(t.sums[m][1])
}

// unitOf is how many of the whole numbers of a measure are one of its unit.
func unitOf(m int) float64 {
	switch m {
	case usd:
		return 1e9
	case seconds:
		return 1e6
	}
	return 1
}

// NewSet returns an empty set.
func NewSet() *Set { return &Set{tasks: map[deal.Hash]*task{}} }

// Tasks is how many tasks the set has.
func (s *Set) Tasks() int { return len(s.tasks) }

// The measures, in the order in which they are reported.
const (
	turns = iota
	callingTurns
	answers
	calls
	callsByTurn
	failed
	loops
	tokens
	usd
	seconds
	success
	measures
)

// Measure describes a figure that is compared.
type Measure struct {
	Name string
	Unit string // "USD", "s", or "" for counts and shares
	Per  string // what it is counted by
	Doc  string
	Less bool // less of it is better
	More bool // more of it is better
}

// Measures are the figures that are compared, in order.
var Measures = [measures]Measure{
	{"turns", "", "run", "responses of the model", true, false},
	{"calling_turns", "", "run", "responses that call a tool", true, false},
	{"turns_without_calls", "", "run", "responses that call none", true, false},
	{"calls", "", "run", "calls that the model decided on", false, false},
	{"calls_by_turn", "", "calling turn", "parallel calls", false, true},
	{"failed_calls", "", "run", "calls known to have failed", true, false},
	{"loops", "", "run", "calls made again with nothing changed between", true, false},
	{"tokens", "", "run", "tokens read and written", true, false},
	{"money", "USD", "run", "tokens at list prices, of runs that have prices for all turns", true, false},
	{"seconds", "s", "run", "from the first recorded time to the last, of runs that record them", true, false},
	{"success", "", "run with a known outcome", "runs that solved their task", false, true},
}

// Add counts a trajectory.
func (s *Set) Add(t *trace.Trajectory, c Cost) {
	s.Runs++
	key := t.TaskKey()
	hash := deal.HashOf(key)
	k := s.tasks[hash]
	if k == nil {
		k = newTask(key)
		s.tasks[hash] = k
	}
	k.runs++
	add := func(m, num, den int) {
		if den == 1 && m != success {
			s.runs[m].Add(uint64(num))
		}
		k.sums[m][0] += num
		k.sums[m][1] += den
	}
	calling, made, bad := 0, 0, 0
	seen := map[[2]string]bool{}
	before := Start
	for i := range t.Calls {
		call := &t.Calls[i]
		if call.Origin != trace.OriginModel {
			continue
		}
		made++
		if call.Status == trace.StatusFailed {
			bad++
		}
		tool := call.Tool.Value()
		k.tools[tool]++
		seen[[2]string{before, tool}] = true
		before = tool
	}
	if made > 0 {
		seen[[2]string{before, End}] = true
	}
	for step := range seen {
		k.steps[step]++
	}
	for i := range t.Turns {
		if t.Turns[i].NumCalls > 0 {
			calling++
		}
	}
	add(turns, len(t.Turns), 1)
	add(callingTurns, calling, 1)
	add(answers, len(t.Turns)-calling, 1)
	add(calls, made, 1)
	add(callsByTurn, made, calling)
	add(failed, bad, 1)
	repeats := merge.Repeats(t, nil)
	again := 0
	for i, of := range repeats {
		if of >= 0 && t.Calls[i].Origin == trace.OriginModel {
			again++
		}
	}
	add(loops, again, 1)
	add(tokens, int(math.Round(c.Tokens)), 1)
	if c.Priced {
		add(usd, int(math.Round(c.USD*1e9)), 1)
	}
	if first, last := t.Span(); last.After(first) {
		add(seconds, int(last.Sub(first).Microseconds()), 1)
	}
	if t.Outcome != trace.OutcomeUnknown {
		won := 0
		if t.Outcome == trace.OutcomeSuccess {
			won = 1
		}
		add(success, won, 1)
	}
}

// AddTo adds what the set holds to sums by name, and by task and name, so that sets add up.
func (s *Set) AddTo(add func(name string, n int), addTask func(task, name string, n int)) {
	for m := range s.runs {
		for v, n := range s.runs[m].All() {
			add(prefix+Measures[m].Name+"/"+strconv.FormatUint(v, 10), n)
		}
	}
	for _, t := range s.tasks { // sums do not depend on the order
		addTask(t.key, prefix+"runs", t.runs)
		for m, sum := range t.sums {
			addTask(t.key, prefix+Measures[m].Name, sum[0])
			addTask(t.key, prefix+Measures[m].Name+"/of", sum[1])
		}
		for tool, n := range t.tools {
			addTask(t.key, prefix+"tool/"+tool, n)
		}
		for step, n := range t.steps {
			addTask(t.key, prefix+"step/"+step[0]+"\x00"+step[1], n)
		}
	}
}

// prefix begins the names of the sums.
const prefix = "compare/"

// Sums are where AddTo puts a set.
type Sums interface {
	Sums(prefix string) iter.Seq2[string, int]
	TaskNames(prefix string) iter.Seq[string]
	TaskSums(name string) iter.Seq2[[16]byte, int]
}

// Restore returns the set that AddTo put into sums.
func Restore(from Sums) *Set {
	s := NewSet()
	for name := range from.TaskNames(prefix) {
		for id, n := range from.TaskSums(prefix + name) {
			if s.tasks[id] == nil {
				s.tasks[id] = newTask("")
			}
			s.tasks[id].restore(name, n)
		}
	}
	for _, t := range s.tasks {
		s.Runs += t.runs
	}
	for m := range Measures {
		for text, n := range from.Sums(prefix + Measures[m].Name + "/") {
			if v, err := strconv.ParseUint(text, 10, 64); err == nil {
				s.runs[m].AddN(v, n)
			}
		}
	}
	return s
}

func (t *task) restore(name string, n int) {
	if tool, is := strings.CutPrefix(name, "tool/"); is {
		t.tools[tool] = n
		return
	}
	if step, is := strings.CutPrefix(name, "step/"); is {
		from, to, _ := strings.Cut(step, "\x00")
		t.steps[[2]string{from, to}] = n
		return
	}
	if name == "runs" {
		t.runs = n
		return
	}
	name, isOf := strings.CutSuffix(name, "/of")
	for m := range Measures {
		if Measures[m].Name == name && isOf {
			t.sums[m][1] = n
		} else if Measures[m].Name == name {
			t.sums[m][0] = n
		}
	}
}

// Quantile returns the value that a share p of the runs do not exceed, in the unit of the
// measure; it is kept to 1 in 128.
func (s *Set) Quantile(m int, p float64) stat.Figure {
	return stat.Finite(s.runs[m].Quantile(p)/unitOf(m), nothing)
}

// leastTimed is how many runs have to take the same before it is no coincidence.
const leastTimed = 5

// filledIn reports whether the times of the set say nothing: its runs all take the same to
// the microsecond, so they were filled in.
func (s *Set) filledIn() bool {
	runs, took := 0, -1
	for _, t := range s.tasks {
		sum := t.sums[seconds]
		if sum[1] == 0 {
			continue
		}
		if runs += sum[1]; took < 0 {
			took = sum[0] / sum[1]
		}
		if sum[0] != took*sum[1] {
			return false
		}
	}
	return runs >= leastTimed
}

// The ends of a step that are no tool.
const (
	Start = "(start)"
	End   = "(end)"
)
