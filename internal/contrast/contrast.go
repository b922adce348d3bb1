// Package contrast says what differs between two sets of trajectories, such as before
// and after a change of a prompt, a model or a tool: turns, calls, failures, tokens,
// money, how often tools are used and which steps are taken.
//
// In come the trajectories of two sets, with what they cost; out come figures of both and
// their differences with intervals. The unit is the task: runs of one task are alike, and
// many runs of few tasks say little about other tasks. Where both sets have enough tasks
// in common those are compared task by task, which takes out how hard the tasks are.
//
// Memory is O(tasks), and O(tasks x tools) and O(tasks x steps) for as many tools and
// steps as a task has. The package does not say what caused a difference: whoever changed
// two things at once, or gave one set other tasks, sees the sum of both.
package contrast

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
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

// Pairing says whether tasks that both sets have are compared one by one.
type Pairing uint8

// The pairings. The zero value is PairAuto.
const (
	PairAuto   Pairing = iota // if both have at least LeastPairs tasks in common, and these are half of the runs of each
	PairAlways                // and nothing else is compared
	PairNever
)

// LeastPairs is how many tasks both sets must have for PairAuto.
const LeastPairs = 10

// Estimate is a figure of both sets and its difference.
type Estimate struct {
	Before     stat.Figure   `json:"before"`
	After      stat.Figure   `json:"after"`
	Difference stat.Figure   `json:"difference"` // after less before
	Interval   stat.Interval `json:"difference_interval"`
	Tasks      [2]int        `json:"tasks"` // that have the figure

	P         stat.Figure `json:"p"`          // of a permutation test
	PAdjusted stat.Figure `json:"p_adjusted"` // by Holm, for all that is tested
	Different bool        `json:"different"`  // the adjusted p is under 5 %
}

// Clear reports whether the difference is declared.
func (e *Estimate) Clear() bool { return e.Different }

// Named is an estimate about a tool, or about a step from one to another.
type Named struct {
	Tool string `json:"tool,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Estimate
}

// Contrast is what differs.
type Contrast struct {
	Paired bool
	Both   int    // tasks that both have
	Left   [2]int // runs left out, because their task is in one set only

	Different bool        // some figure, or how often tools are called
	ToolsP    stat.Figure // adjusted, of the joint test of how often tools are called

	Figures [measures]Estimate
	Tools   []Named // calls by run, largest differences first
	Steps   []Named // share of runs with the step
}

// Options are the choices of New. The zero value is the default.
type Options struct {
	Pairing Pairing
	Most    int // tools and steps that get an interval; 0 means 15
	Seed    uint64
	Each    stat.Each

	Permutations int // that each test draws; 0 means 9,999
}

// New compares two sets.
func New(before, after *Set, o Options) *Contrast {
	if o.Most <= 0 {
		o.Most = 15
	}
	if o.Permutations <= 0 {
		o.Permutations = permutations
	}
	c := &Contrast{}
	var shared [2]float64
	for key, b := range before.tasks {
		if a := after.tasks[key]; a != nil {
			c.Both++
			shared[0] += float64(b.runs)
			shared[1] += float64(a.runs)
		}
	}
	c.Paired = o.Pairing == PairAlways || o.Pairing == PairAuto && c.Both >= LeastPairs &&
		2*shared[0] >= float64(before.Runs) && 2*shared[1] >= float64(after.Runs)
	if c.Paired {
		c.Left = [2]int{before.Runs - int(shared[0]), after.Runs - int(shared[1])}
	}
	p := &pair{o: o, paired: c.Paired}
	p.list(before, after)
	for m := range c.Figures {
		if m == seconds && (before.filledIn() || after.filledIn()) {
			const reason = "all runs of a set take the same to the microsecond, so their times were filled in"
			c.Figures[m] = Estimate{Before: stat.Unknown(reason), After: stat.Unknown(reason), Difference: stat.Unknown(reason), Interval: stat.NoInterval(reason), P: stat.Unknown(reason), PAdjusted: stat.Unknown(reason)}
			continue
		}
		c.Figures[m] = p.estimate(uint64(m), func(t *task) (num, den float64) { return t.of(m) })
	}
	c.Tools = named(p, func(t *task) map[string]int { return t.tools }, 1000, func(n *Named, tool string) { n.Tool = tool })
	c.Steps = named(p, func(t *task) map[[2]string]int { return t.steps }, 2000, func(n *Named, step [2]string) { n.From, n.To = step[0], step[1] })
	p.test(c)
	return c
}

// pair is the tasks of both sets, in order.
type pair struct {
	o      Options
	paired bool
	tasks  [2][]*task // beside each other where they are paired
}

func (p *pair) list(before, after *Set) {
	for side, s := range [2]*Set{before, after} {
		keys := make([]deal.Hash, 0, len(s.tasks))
		for key := range s.tasks {
			if !p.paired || before.tasks[key] != nil && after.tasks[key] != nil {
				keys = append(keys, key)
			}
		}
		slices.SortFunc(keys, func(a, b deal.Hash) int { return bytes.Compare(a[:], b[:]) })
		for _, key := range keys {
			p.tasks[side] = append(p.tasks[side], s.tasks[key])
		}
	}
}

// point returns the figure of both sides, and of how many tasks.
func (p *pair) point(of func(*task) (num, den float64)) (value [2]float64, n [2]int) {
	if p.paired {
		sum := [2]float64{}
		for i := range p.tasks[0] {
			bn, bd := of(p.tasks[0][i])
			an, ad := of(p.tasks[1][i])
			if bd > 0 && ad > 0 {
				sum[0] += bn / bd
				sum[1] += an / ad
				n[0]++
				n[1]++
			}
		}
		return [2]float64{sum[0] / float64(n[0]), sum[1] / float64(n[1])}, n
	}
	for side, tasks := range p.tasks {
		num, den := 0.0, 0.0
		for _, t := range tasks {
			x, y := of(t)
			num, den = num+x, den+y
			if y > 0 {
				n[side]++
			}
		}
		value[side] = num / den
	}
	return value, n
}

const nothing = "no run of this set has the figure"

// estimate compares a figure of tasks: paired it is the mean over tasks of the figure of
// each, else the sum over tasks of num by that of den.
func (p *pair) estimate(purpose uint64, of func(*task) (num, den float64)) Estimate {
	value, n := p.point(of)
	e := Estimate{
		Before: stat.Finite(value[0], nothing), After: stat.Finite(value[1], nothing), Tasks: n,
		Difference: stat.Finite(value[1]-value[0], "one of the sets does not have the figure"),
		Interval:   stat.NoInterval("there is no difference to have one"),
		P:          stat.Unknown("it is not tested"), PAdjusted: stat.Unknown("it is not tested"),
	}
	if math.IsNaN(value[1] - value[0]) {
		return e
	}
	options := stat.Options{Seed: p.o.Seed, Purpose: []uint64{0xc0, purpose}, Each: p.o.Each}
	if p.paired {
		var r stat.ClusterRatio
		for i := range p.tasks[0] {
			bn, bd := of(p.tasks[0][i])
			an, ad := of(p.tasks[1][i])
			if bd > 0 && ad > 0 {
				r.Num, r.Den = append(r.Num, an/ad-bn/bd), append(r.Den, 1)
			}
		}
		e.Interval = r.Interval(options)
		return e
	}
	side := func(tasks []*task) (r stat.ClusterRatio) {
		for _, t := range tasks {
			x, y := of(t)
			r.Num, r.Den = append(r.Num, x), append(r.Den, y)
		}
		return r
	}
	e.Interval = stat.Arms{Treated: side(p.tasks[1]), Control: side(p.tasks[0])}.Intervals(options).Difference
	return e
}

// named compares counts by name, and returns those whose difference is largest.
func named[K comparable](p *pair, counts func(*task) map[K]int, purpose uint64, set func(*Named, K)) []Named {
	all := map[K]bool{}
	for _, tasks := range p.tasks {
		for _, t := range tasks {
			for k := range counts(t) {
				all[k] = true
			}
		}
	}
	type row struct {
		key  K
		name string
		diff float64
	}
	var rows []row
	for k := range all {
		value, _ := p.point(func(t *task) (float64, float64) { return float64(counts(t)[k]), float64(t.runs) })
		if d := math.Abs(value[1] - value[0]); d > 0 {
			var n Named
			set(&n, k)
			rows = append(rows, row{k, n.Tool + "\x00" + n.From + "\x00" + n.To, d})
		}
	}
	slices.SortFunc(rows, func(x, y row) int { return cmp.Or(cmp.Compare(y.diff, x.diff), strings.Compare(x.name, y.name)) })
	var out []Named
	for i, r := range rows[:min(len(rows), p.o.Most)] {
		var n Named
		set(&n, r.key)
		n.Estimate = p.estimate(purpose+uint64(i), func(t *task) (float64, float64) { return float64(counts(t)[r.key]), float64(t.runs) })
		out = append(out, n)
	}
	return out
}
