package backtest

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/stat"
)

// totals are sums over all trajectories that need no interval.
type totals struct {
	before, after float64
	places, exact int
	known, wrong  int
	notComparable int
	blind         bool  // there are figures of blind use
	attributed    []int // turns, by part of a combination
	learnt        Learnt
	splits        int
	metaTools     int
	anti          int
	rules         int
	reading       Reading
	tokens        int64
	programs      *Programs // nil for none
}

func (t *totals) learn(l Learnt) {
	t.splits++
	t.metaTools += l.MetaTools
	t.anti += l.Anti
	t.rules += l.Rules
	t.tokens += l.DefinitionTokens
	t.learnt = l
}

// count adds what was done in one trajectory.
func (t *totals) count(f *Finding, one *taskSums) {
	if f.Used {
		t.before += one.llm
		t.after += one.llm - one.llmSaved
	}
	t.blind = t.blind || f.Blind != nil
	t.places += f.Places
	t.notComparable += f.NotComparable
	t.exact += f.Exact
	t.known += f.Known
	t.wrong += f.Wrong
	t.attribute(f.Attributed)
	t.read(f.Reading)
	t.program(f.Programs)
}

// program adds what programs did.
func (t *totals) program(p *Programs) {
	if p == nil {
		return
	}
	if t.programs == nil {
		t.programs = &Programs{}
	}
	t.programs.add(p)
}

// add adds those of another agent, but for what was learnt in splits.
func (t *totals) add(o *totals) {
	t.before += o.before
	t.after += o.after
	t.places += o.places
	t.exact += o.exact
	t.known += o.known
	t.wrong += o.wrong
	t.notComparable += o.notComparable
	t.blind = t.blind || o.blind
	t.attribute(o.attributed)
	t.read(&o.reading)
	t.program(o.programs)
	for _, note := range o.learnt.Notes {
		if !slices.Contains(t.learnt.Notes, note) {
			t.learnt.Notes = append(slices.Clip(t.learnt.Notes), note)
		}
	}
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

// read adds what was read ahead in one trajectory.
func (t *totals) read(r *Reading) {
	if r == nil {
		return
	}
	t.reading.Reads += r.Reads
	t.reading.Used += r.Used
	t.reading.Stale += r.Stale
	t.reading.Second += r.Second
}

// taskSums are the sums of one task and technique.
type taskSums struct {
	trajectories, used    float64
	llm, llmSaved         float64
	turns, turnsSaved     float64
	tokens, tokensSaved   float64
	usd, usdSaved         float64
	seconds, secondsSaved float64
	reads, readsVain      float64

	attached Saved // by results that were attached, if no agent asked for them again
	blind    blindSums
	hasBlind bool
}

// columnSums are the sums of one task by column. Most columns do the same in a task, and
// share what they add up to: with sums of their own for each of a hundred columns, a hundred
// thousand tasks would take gigabytes.
type columnSums struct {
	distinct []taskSums
	of       []int32 // by column: which of them
}

func newColumnSums(columns int) columnSums {
	return columnSums{distinct: make([]taskSums, 1), of: make([]int32, columns)}
}

// at returns the sums of a column, to be read.
func (s *columnSums) at(column int) *taskSums { return &s.distinct[s.of[column]] }

// add adds something to each column.
func (s *columnSums) add(more []taskSums) {
	type addition struct {
		to   int32
		what int // the first column to which the same is added
		sum  int32
	}
	var known []addition
	var distinct []taskSums
	for column := range more {
		same := func(a addition) bool { return a.to == s.of[column] && more[a.what] == more[column] }
		at := slices.IndexFunc(known, same)
		if at < 0 {
			at = len(known)
			known = append(known, addition{s.of[column], column, int32(len(distinct))})
			sum := s.distinct[s.of[column]]
			sum.add(&more[column])
			distinct = append(distinct, sum)
		}
		s.of[column] = known[at].sum
	}
	s.distinct = slices.Clip(distinct)
}

// blindSums are what blind use of meta-tools comes to.
type blindSums struct {
	llmSaved, turnsSaved  float64
	tokensSaved, usdSaved float64
	moments, followed     float64
	reads, writes         float64
	secondsSaved          float64
}

// save sets what a finding saves.
func (s *taskSums) save(f *Finding, saved cost.Totals, seconds float64) {
	s.llmSaved, s.turnsSaved = float64(len(f.Removed)-f.Added), float64(len(f.Removed))
	s.tokensSaved, s.usdSaved, s.secondsSaved = float64(saved.Tokens()), saved.USD, seconds
}

func (s *taskSums) addBlind(b *Blind, saved cost.Totals, seconds float64) {
	s.hasBlind = true
	s.blind = blindSums{
		llmSaved: float64(len(b.Removed) - b.Added), turnsSaved: float64(len(b.Removed)),
		tokensSaved: float64(saved.Tokens()), usdSaved: saved.USD,
		moments: float64(b.Moments), followed: float64(b.Followed), reads: b.Reads, writes: b.Writes, secondsSaved: seconds,
	}
}

func (s *blindSums) add(o *blindSums) {
	s.llmSaved += o.llmSaved
	s.turnsSaved += o.turnsSaved
	s.tokensSaved += o.tokensSaved
	s.usdSaved += o.usdSaved
	s.moments += o.moments
	s.followed += o.followed
	s.reads += o.reads
	s.writes += o.writes
	s.secondsSaved += o.secondsSaved
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
	s.reads += o.reads
	s.readsVain += o.readsVain
	for m := range s.attached {
		s.attached[m] += o.attached[m]
	}
	s.blind.add(&o.blind)
	s.hasBlind = s.hasBlind || o.hasBlind
}

// finish works out the figures of all techniques.
func (r *run) finish() {
	r.out.TestTasks = len(r.tasks)
	if r.options.By == SplitFolds {
		r.out.TrainTasks = len(r.tasks)
	}
	var f intervals
	for i, technique := range r.columns[:r.waysFrom] {
		r.out.Techniques = append(r.out.Techniques, r.outcome(i, technique, &f))
	}
	r.interact(&f)
	f.draw(&r.options)
}

// intervals are figures whose intervals are wanted, which are drawn together.
type intervals struct {
	figures []stat.ClusterRatio
	into    []map[string]stat.Interval
	names   []string
}

// want asks for the interval of a figure, to be put into a map under a name.
func (v *intervals) want(f stat.ClusterRatio, into map[string]stat.Interval, name string) {
	v.figures, v.into, v.names = append(v.figures, f), append(v.into, into), append(v.names, name)
}

// draw fills in what was asked for.
func (v *intervals) draw(o *Options) {
	for i, interval := range stat.Intervals(v.figures, stat.Options{Seed: o.Seed, Each: each(o.Workers)}) {
		v.into[i][v.names[i]] = interval
	}
}

// outcome returns the figures of the i-th column; intervals are filled in when f draws.
func (r *run) outcome(i int, technique Technique, f *intervals) Outcome {
	var sum taskSums
	uses := 0.0
	for task := range r.sums {
		s := r.sums[task].at(i)
		sum.add(s)
		uses += s.used / s.trajectories
	}
	out := Outcome{
		Name: technique.Name, Doc: technique.Doc,
		LLMCalls: int(sum.llm), LLMCallsSaved: int(sum.llmSaved), CallingTurns: int(sum.turns), CallingTurnsSaved: int(sum.turnsSaved),
		Tokens: int64(sum.tokens), TokensSaved: int64(sum.tokensSaved), USD: sum.usd, USDSaved: sum.usdSaved,
		Seconds: sum.seconds, SecondsSaved: sum.secondsSaved, Used: int(sum.used),
		Utilisation: ratio(uses, float64(len(r.sums))), StepsBefore: math.NaN(), StepsAfter: math.NaN(),
		Intervals: map[string]stat.Interval{},
	}
	if i < len(r.all) {
		a := &r.all[i]
		out.Places, out.Exact, out.Known, out.Wrong, out.Notes = a.places, a.exact, a.known, a.wrong, slices.Clone(a.learnt.Notes)
		out.StepsBefore, out.StepsAfter = ratio(a.before, sum.used), ratio(a.after, sum.used)
		out.Reading, out.Programs = a.reading, a.programs
		out.NotComparable = a.notComparable
		if a.blind {
			out.Blind = r.blind(i, &sum.blind, f)
		}
		out.learnt(a)
		for _, part := range r.parts {
			out.learnt(&part.all[i])
		}
	}
	column := func(of func(*taskSums) float64) []float64 {
		by := make([]float64, len(r.sums))
		for task := range r.sums {
			by[task] = of(r.sums[task].at(i))
		}
		return by
	}
	var figures []stat.ClusterRatio
	for _, m := range measures {
		saved, all := column(m.saved), column(m.all)
		figures = append(figures, stat.ClusterRatio{Num: saved}, stat.ClusterRatio{Num: saved, Den: all})
	}
	used := column(func(s *taskSums) float64 { return s.used / s.trajectories })
	figures = slices.Insert(figures, 8, stat.ClusterRatio{Num: used, Den: slices.Repeat([]float64{1}, len(r.sums))})
	for k, figure := range figures {
		f.want(figure, out.Intervals, Metrics[k])
	}
	return out
}

// learnt adds the means over the splits of what was learnt for one agent.
func (o *Outcome) learnt(t *totals) {
	if t.splits == 0 {
		return
	}
	for _, mean := range []struct {
		to *float64
		of int64
	}{{&o.Rules, int64(t.rules)}, {&o.AntiMetaTools, int64(t.anti)}, {&o.MetaTools, int64(t.metaTools)}, {&o.DefinitionTokens, t.tokens}} {
		*mean.to = math.Round((*mean.to+float64(mean.of)/float64(t.splits))*1e9) / 1e9
	}
}

// blind returns the figures of blind use of the i-th column.
func (r *run) blind(i int, sum *blindSums, into *intervals) BlindOutcome {
	out := BlindOutcome{
		Known:         true,
		LLMCallsSaved: int(sum.llmSaved), CallingTurnsSaved: int(sum.turnsSaved), TokensSaved: int64(sum.tokensSaved), USDSaved: sum.usdSaved,
		Use: Use{Moments: int(sum.moments), Followed: int(sum.followed)}, Reads: sum.reads, Writes: sum.writes,
		Intervals: map[string]stat.Interval{},
	}
	for _, m := range blindMeasures {
		f := stat.ClusterRatio{Num: make([]float64, len(r.sums))}
		if m.of != nil {
			f.Den = make([]float64, len(r.sums))
		}
		for task := range r.sums {
			s := r.sums[task].at(i)
			f.Num[task] = m.sum(&s.blind)
			if m.of != nil {
				f.Den[task] = m.of(s)
			}
		}
		into.want(f, out.Intervals, m.name)
	}
	return out
}

// blindMeasures are the figures of blind use that have an interval.
var blindMeasures = []struct {
	name string
	sum  func(*blindSums) float64
	of   func(*taskSums) float64 // nil for a sum
}{
	{"calling_turns_saved", func(s *blindSums) float64 { return s.turnsSaved }, nil},
	{"calling_turns_saved_share", func(s *blindSums) float64 { return s.turnsSaved }, func(s *taskSums) float64 { return s.turns }},
	{"llm_calls_saved", func(s *blindSums) float64 { return s.llmSaved }, nil},
	{"tokens_saved", func(s *blindSums) float64 { return s.tokensSaved }, nil},
	{"cost_saved_usd", func(s *blindSums) float64 { return s.usdSaved }, nil},
	{"precision", func(s *blindSums) float64 { return s.followed }, func(s *taskSums) float64 { return s.blind.moments }},
}

// measures are what a technique may save, in the order of Metrics.
var measures = []struct{ saved, all func(*taskSums) float64 }{
	{func(s *taskSums) float64 { return s.llmSaved }, func(s *taskSums) float64 { return s.llm }},
	{func(s *taskSums) float64 { return s.turnsSaved }, func(s *taskSums) float64 { return s.turns }},
	{func(s *taskSums) float64 { return s.tokensSaved }, func(s *taskSums) float64 { return s.tokens }},
	{func(s *taskSums) float64 { return s.usdSaved }, func(s *taskSums) float64 { return s.usd }},
	{func(s *taskSums) float64 { return s.secondsSaved }, func(s *taskSums) float64 { return s.seconds }},
}

// ratio returns a/b, NaN if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// each returns what calls a function for 0 to n-1, so many at once.
func each(workers int) stat.Each {
	return func(n int, do func(i int)) {
		for range par.Each(max(workers, 1), n, do) {
		}
	}
}
