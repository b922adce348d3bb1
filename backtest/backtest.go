package backtest

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// SplitBy says how the traces are split.
type SplitBy string

// The ways of splitting. The zero value is SplitFolds.
const (
	SplitFolds SplitBy = "kfold" // every task is tested on once, compiled from the others
	SplitTask  SplitBy = "task"  // a share of the tasks is tested on
	SplitTime  SplitBy = "time"  // the last part is tested on
)

// Options say how Run works. The zero value is the default.
type Options struct {
	Rules   *rules.Set // nil for none
	Compile metatool.CompileOptions
	Choose  ChooseOptions

	By    SplitBy
	Folds int     // of SplitFolds; 0 means DefaultFolds
	Share float64 // that is tested on otherwise; 0 means DefaultShare
	Seed  uint64  // of the split and of the bootstrap

	Techniques []Technique // nil: Techniques

	// Declared returns declarations that know nothing yet: one for each training
	// part. nil: nothing is declared, and no tool is called without the model.
	Declared func() Declarations

	Meter   *cost.Meter // nil: one with the default prices
	Workers int         // at once; 0 and 1 are the same

	// Progress is told of every step: so many are done, and this is next. nil for
	// none.
	Progress func(done, of int, next string)
}

// Defaults of Options.
const (
	DefaultFolds = 5
	DefaultShare = 0.3
)

// Result is what a back-test found.
type Result struct {
	By                    SplitBy
	Folds                 int // splits that were compiled and tested
	TrainTasks, TestTasks int // of SplitFolds all tasks are both, in turn
	Unused                int // trajectories that are in neither part (SplitTime)

	Trajectories int // tested on
	NoTurns      int // of these, with calls of which the model turn is not recorded: nothing is saved there
	NoUsage      int // of these, without recorded usage
	NoTools      int // of these, without the definitions of the tools offered
	LLMTurns     int // model turns
	Unpriced     int // of these, without a price
	Timed        int // calling turns with recorded times

	Techniques   []Outcome
	Interactions []Interaction // of the combinations all of whose parts were measured
}

// Outcome is what a technique would have done in the test part.
type Outcome struct {
	Name, Doc string

	LLMCalls, LLMCallsSaved         int
	CallingTurns, CallingTurnsSaved int
	Tokens, TokensSaved             int64
	USD, USDSaved                   float64
	Seconds, SecondsSaved           float64 // model time of turns that record it

	// Utilisation is the share of a task's trajectories with an occurrence, the mean
	// over tasks.
	Utilisation             float64
	Used                    int     // trajectories with an occurrence
	StepsBefore, StepsAfter float64 // model calls in those, the mean; NaN without one

	// Places of meta-tools that would save a turn, those of them that were exact in
	// replay, and those of these whose inputs were known. Places overlap.
	Places, Exact, Known int

	// Wrong is how many calls would have been made without the model that were not.
	Wrong int

	// Means over the splits.
	MetaTools        float64
	AntiMetaTools    float64 // that were left out; see Left.IsAnti
	DefinitionTokens float64

	Intervals map[string]Interval // by metric, as Metrics names them
	Notes     []string
}

// Metrics are the figures with an interval. Shares are of what was recorded.
var Metrics = []string{
	"llm_calls_saved", "llm_calls_saved_share", "calling_turns_saved", "calling_turns_saved_share",
	"tokens_saved", "tokens_saved_share", "cost_saved_usd", "cost_saved_share", "utilisation",
}

// Run splits the traces, lets every technique learn from the one part, and adds up
// what it would have done in the other.
func Run(source metatool.Source, o Options) (*Result, error) {
	o.Folds, o.Share = cmp.Or(o.Folds, DefaultFolds), cmp.Or(o.Share, DefaultShare)
	o.By = cmp.Or(o.By, SplitFolds)
	if o.Techniques == nil {
		o.Techniques = Techniques
	}
	if o.Meter == nil {
		o.Meter = cost.NewMeter(cost.Options{})
	}
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	r := &run{source: source, options: o, out: &Result{By: o.By}, tasks: map[string]int{}}
	steps := o.Folds
	if o.By != SplitFolds {
		steps = 1
	}
	r.steps = steps*(len(o.Techniques)+1) + 1
	r.progress("reading tasks")
	if err := r.survey(); err != nil {
		return nil, err
	}
	for i, split := range r.splits {
		if err := r.fold(i, split); err != nil {
			return nil, err
		}
	}
	r.finish()
	o.Progress(r.steps, r.steps, "done")
	return r.out, nil
}

// run is a back-test under way.
type run struct {
	source  metatool.Source
	options Options
	out     *Result
	splits  []trace.Split
	fit     *cost.Fit

	done, steps int

	tasks map[string]int // those that were tested on, numbered
	sums  [][]taskSums   // by task, then technique
	all   []totals       // by technique
}

func (r *run) progress(next string) {
	r.options.Progress(r.done, r.steps, next)
	r.done++
}

// survey reads everything once: which tasks there are, and what tokens are fitted on.
func (r *run) survey() error {
	o := &r.options
	var tasks []string
	seen := map[string]bool{}
	var timeline trace.Timeline
	recorded, missing := 0, 0
	for t, err := range r.source() {
		if err != nil {
			return err
		}
		key := t.TaskKey()
		if !seen[key] {
			seen[key] = true
			tasks = append(tasks, key)
		}
		if o.By == SplitTime {
			timeline.Add(key, t.Started())
		}
		for i := range t.Turns {
			if t.Turns[i].Usage.Known {
				recorded++
			} else {
				missing++
			}
		}
	}
	r.fit = cost.NewFit(o.Meter)
	if recorded > 0 && missing > 0 {
		if err := r.learnTokens(len(tasks)); err != nil {
			return err
		}
	}
	switch o.By {
	case SplitTime:
		split, err := timeline.Split(o.Share)
		if err != nil {
			return err
		}
		r.splits = []trace.Split{split}
	case SplitTask:
		r.splits = []trace.Split{trace.ByTaskOf(tasks, o.Share, o.Seed)}
	default:
		folds := trace.BalancedFolds(tasks, min(o.Folds, max(len(tasks), 1)), o.Seed)
		for i := range folds.Len() {
			r.splits = append(r.splits, folds.Split(i))
		}
	}
	r.out.Folds = len(r.splits)
	return nil
}

// learnTokens fits counted to recorded tokens on a part of the trajectories.
func (r *run) learnTokens(tasks int) error {
	const enough = 300
	sample := trace.ByTask(min(1, enough/float64(max(tasks, 1))), r.options.Seed)
	for t, err := range r.source() {
		if err != nil {
			return err
		}
		if sample.Of(t) == trace.SideTest {
			r.fit.Add(t)
		}
	}
	return nil
}

// Side yields the trajectories of source on one side of a split, and its errors.
func Side(source metatool.Source, split trace.Split, want trace.Side) metatool.Source {
	return func() iter.Seq2[*trace.Trajectory, error] {
		return func(yield func(*trace.Trajectory, error) bool) {
			for t, err := range source() {
				if err == nil && split.Of(t) != want {
					continue
				}
				if !yield(t, err) || err != nil {
					return
				}
			}
		}
	}
}

// tried is what all techniques did in a trajectory.
type tried struct {
	c        *Case
	findings []*Finding
}

// fold trains on one side of a split and tests on the other.
func (r *run) fold(number int, split trace.Split) error {
	part := &Part{Source: Side(r.source, split, trace.SideTrain), Options: r.options, meter: r.options.Meter, fit: r.fit}
	var learnt []Trained
	labels := false
	for _, technique := range r.options.Techniques {
		r.progress(technique.Name)
		trained, err := technique.Train(part)
		if err != nil {
			return err
		}
		labels = labels || trained.Summary().Labels
		learnt = append(learnt, trained)
	}
	part.compiled, part.habits = nil, nil // what was compiled is large
	r.progress("testing")
	if r.all == nil {
		r.all = make([]totals, len(learnt))
	}
	for i, trained := range learnt {
		r.all[i].learn(trained.Summary())
	}
	var failed error
	cases := casesOf(Side(r.source, split, trace.SideTest), newLabeller(r.options.Rules, labels), &failed)
	for t := range par.Map(max(r.options.Workers, 1), cases, func(c *Case) tried {
		out := tried{c: c}
		for _, trained := range learnt {
			out.findings = append(out.findings, trained.Find(c))
		}
		return out
	}) {
		r.count(t, learnt)
	}
	if failed != nil || r.options.By == SplitFolds {
		return failed
	}
	return r.countSides(split)
}

// countSides counts the tasks of both sides of the only split.
func (r *run) countSides(split trace.Split) error {
	train := map[string]bool{}
	for t, err := range r.source() {
		switch {
		case err != nil:
			return err
		case split.Of(t) == trace.SideTrain:
			train[t.TaskKey()] = true
		case split.Of(t) == trace.SideNone:
			r.out.Unused++
		}
	}
	r.out.TrainTasks = len(train)
	return nil
}

// count adds up what was done in one trajectory.
func (r *run) count(k tried, learnt []Trained) {
	t := k.c.Trajectory
	r.out.Trajectories++
	var base taskSums
	known := false
	for i := range t.Turns {
		base.llm++
		if t.Turns[i].NumCalls > 0 {
			base.turns++
			if s := seconds(&t.Turns[i]); s > 0 {
				r.out.Timed++
			}
		}
		known = known || t.Turns[i].Usage.Known
		base.seconds += seconds(&t.Turns[i])
	}
	if slices.ContainsFunc(t.Calls, func(c trace.Call) bool { return c.Turn < 0 && c.Origin == trace.OriginModel }) {
		r.out.NoTurns++
	}
	if !known {
		r.out.NoUsage++
	}
	if len(t.Tools) == 0 {
		r.out.NoTools++
	}
	k.c.Account = r.options.Meter.Trajectory(t)
	r.fit.Apply(k.c.Account)
	total := k.c.Account.Total()
	base.tokens, base.usd = float64(total.Tokens()), total.USD
	r.out.LLMTurns += total.Turns
	r.out.Unpriced += total.Unpriced
	key := t.TaskKey()
	task, seen := r.tasks[key]
	if !seen {
		task = len(r.tasks)
		r.tasks[key] = task
		r.sums = append(r.sums, make([]taskSums, len(learnt)))
	}
	for i, f := range k.findings {
		saved := learnt[i].Saving(k.c, f)
		one := base
		one.trajectories = 1
		one.llmSaved, one.turnsSaved = float64(len(f.Removed)-f.Added), float64(len(f.Removed))
		one.tokensSaved, one.usdSaved = float64(saved.Tokens()), saved.USD
		for _, turn := range f.Removed {
			one.secondsSaved += seconds(&t.Turns[turn])
		}
		if f.Used {
			one.used = 1
			r.all[i].before += base.llm
			r.all[i].after += base.llm - one.llmSaved
		}
		r.all[i].places += f.Places
		r.all[i].exact += f.Exact
		r.all[i].known += f.Known
		r.all[i].wrong += f.Wrong
		r.all[i].attribute(f.Attributed)
		r.sums[task][i].add(&one)
	}
}

// seconds returns how long a turn took, 0 if that is not recorded.
func seconds(t *trace.Turn) float64 {
	if t.Start.IsZero() || t.End.IsZero() || t.End.Before(t.Start) {
		return 0
	}
	return t.End.Sub(t.Start).Seconds()
}

// totals are sums over all trajectories that need no interval.
type totals struct {
	before, after float64
	places, exact int
	known, wrong  int
	attributed    []int // turns, by part of a combination
	learnt        Learnt
	splits        int
	metaTools     int
	anti          int
	tokens        int64
}

func (t *totals) learn(l Learnt) {
	t.splits++
	t.metaTools += l.MetaTools
	t.anti += l.Anti
	t.tokens += l.DefinitionTokens
	t.learnt = l
}

// attribute adds the turns of one trajectory.
func (t *totals) attribute(turns []int) {
	if t.attributed == nil {
		t.attributed = make([]int, len(turns))
	}
	for i, n := range turns {
		t.attributed[i] += n
	}
}

// taskSums are the sums of one task and technique.
type taskSums struct {
	trajectories, used    float64
	llm, llmSaved         float64
	turns, turnsSaved     float64
	tokens, tokensSaved   float64
	usd, usdSaved         float64
	seconds, secondsSaved float64
}

func (s *taskSums) add(o *taskSums) {
	s.trajectories += o.trajectories
	s.used += o.used
	s.llm += o.llm
	s.llmSaved += o.llmSaved
	s.turns += o.turns
	s.turnsSaved += o.turnsSaved
	s.tokens += o.tokens
	s.tokensSaved += o.tokensSaved
	s.usd += o.usd
	s.usdSaved += o.usdSaved
	s.seconds += o.seconds
	s.secondsSaved += o.secondsSaved
}

// finish works out the figures of all techniques.
func (r *run) finish() {
	r.out.TestTasks = len(r.tasks)
	if r.options.By == SplitFolds {
		r.out.TrainTasks = len(r.tasks)
	}
	for i, technique := range r.options.Techniques {
		r.out.Techniques = append(r.out.Techniques, r.outcome(i, technique))
	}
	r.interact()
}

func (r *run) outcome(i int, technique Technique) Outcome {
	var sum taskSums
	used := 0.0
	for task := range r.sums {
		s := &r.sums[task][i]
		sum.add(s)
		used += s.used / s.trajectories
	}
	out := Outcome{
		Name: technique.Name, Doc: technique.Doc,
		LLMCalls: int(sum.llm), LLMCallsSaved: int(sum.llmSaved), CallingTurns: int(sum.turns), CallingTurnsSaved: int(sum.turnsSaved),
		Tokens: int64(sum.tokens), TokensSaved: int64(sum.tokensSaved), USD: sum.usd, USDSaved: sum.usdSaved,
		Seconds: sum.seconds, SecondsSaved: sum.secondsSaved, Used: int(sum.used),
		Utilisation: ratio(used, float64(len(r.sums))), StepsBefore: math.NaN(), StepsAfter: math.NaN(),
		Intervals: map[string]Interval{},
	}
	if i < len(r.all) {
		a := &r.all[i]
		out.Places, out.Exact, out.Known, out.Wrong, out.Notes = a.places, a.exact, a.known, a.wrong, slices.Clone(a.learnt.Notes)
		out.StepsBefore, out.StepsAfter = ratio(a.before, sum.used), ratio(a.after, sum.used)
		out.AntiMetaTools = ratio(float64(a.anti), float64(a.splits))
		out.MetaTools, out.DefinitionTokens = ratio(float64(a.metaTools), float64(a.splits)), ratio(float64(a.tokens), float64(a.splits))
	}
	add := func(task int, sums []float64) {
		s := &r.sums[task][i]
		for k, v := range [...]float64{s.llm, s.llmSaved, s.turns, s.turnsSaved, s.tokens, s.tokensSaved, s.usd, s.usdSaved, s.used / s.trajectories, 1} {
			sums[k] += v
		}
	}
	statistics := func(s []float64) []float64 {
		return []float64{s[1], ratio(s[1], s[0]), s[3], ratio(s[3], s[2]), s[5], ratio(s[5], s[4]), s[7], ratio(s[7], s[6]), ratio(s[8], s[9])}
	}
	for k, interval := range bootstrap(len(r.sums), 10, r.options.Seed, add, statistics) {
		out.Intervals[Metrics[k]] = interval
	}
	return out
}

// ratio returns a/b, NaN if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
