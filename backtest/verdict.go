package backtest

import (
	"cmp"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
)

// Verdict is what to do about the agent, and what that saves on tasks on which neither
// the meta-tools nor the way of choosing them were decided.
//
// Each part of the tasks is judged by the cell that saves most on the other parts, as
// far as that goes beyond two standard errors over tasks; otherwise nothing is done
// there. The cell is the one that all parts together choose (Tsamardinos, Greasidou and
// Borboudakis 2018: the choice among results that are held out is held out too, and
// needs no further models).
//
// Of several agents each has a verdict of its own, and that on all is their sum.
type Verdict struct {
	Objective Objective
	Cell      Cell // Action is DoNothing where nothing pays

	// Considered is what would be done if its interval did not hold a loss; it is Cell
	// where that does not.
	Considered Cell
	Blind      Saved // what considering cells comes to, used blindly
	Perfect    Saved

	Tried     int    // cells
	Parts     []Cell // what is done in each part
	Hindsight Cell   // what saves most on all tasks, chosen on them
	Best      Saved  // what that saves, used blindly

	// Unknown says why there is no verdict; "" if there is one.
	Unknown string
}

// Saved is what something saves.
type Saved struct {
	CallingTurns, LLMCalls float64
	Tokens, USD, Seconds   float64
	Intervals              map[string]stat.Interval // by SavedMetrics
}

// SavedMetrics are the figures of Saved.
var SavedMetrics = []string{"calling_turns_saved", "llm_calls_saved", "tokens_saved", "money_saved", "model_seconds_saved"}

// addCells adds the columns of the cells.
func (r *run) addCells() {
	r.cellsFrom = len(r.columns)
	if r.options.Verdict == nil {
		return
	}
	r.cells = r.options.Verdict.grid(r.offers && r.options.Verdict.Objective != ObjectiveTime)
	for _, c := range r.cells {
		r.columns = append(r.columns, c.technique())
	}
}

// objective returns what is weighed: tokens stand for money where most turns have no
// price.
func (r *run) objective() Objective {
	o := cmp.Or(r.options.Verdict.Objective, ObjectiveMoney)
	if o == ObjectiveMoney && 2*r.out.Unpriced > r.out.LLMTurns {
		return ObjectiveTokens
	}
	return o
}

// in returns what is saved in the unit of an objective.
func (o Objective) in(s *blindSums) float64 {
	switch o {
	case ObjectiveMoney:
		return s.usdSaved
	case ObjectiveTokens:
		return s.tokensSaved
	case ObjectiveTime:
		return s.secondsSaved
	}
	return s.turnsSaved
}

// asUsed are the sums of blind use, which of what needs no choice are the only ones.
func (s *taskSums) asUsed() blindSums {
	if s.hasBlind {
		return s.blind
	}
	return s.perfect()
}

func (s *taskSums) perfect() blindSums {
	return blindSums{llmSaved: s.llmSaved, turnsSaved: s.turnsSaved, tokensSaved: s.tokensSaved, usdSaved: s.usdSaved, secondsSaved: s.secondsSaved}
}

// judgment is what a verdict comes to in a task; nil functions come to nothing.
type judgment struct{ blind, perfect, best func(task int) blindSums }

// judge gives the verdict.
func (r *run) judge() {
	if r.options.Verdict == nil {
		return
	}
	nothing := Cell{Action: DoNothing}
	v := &Verdict{Objective: r.objective(), Tried: len(r.cells), Cell: nothing, Considered: nothing, Hindsight: nothing}
	r.out.Verdict = v
	if len(r.tasks) < stat.MinClusters {
		v.Unknown = "too few tasks"
	}
	if r.parts == nil {
		r.choose(v)
	} else {
		r.judgeApart(v)
	}
	v.Blind, v.Perfect, v.Best = r.saved(r.judged.blind), r.saved(r.judged.perfect), r.saved(r.judged.best)
	if r.parts != nil {
		return
	}
	if i := v.Blind.Intervals[v.Objective.metric()]; v.Unknown == "" && v.Blind.in(v.Objective) > 0 && (!i.Known() || i.Lo >= 0) {
		v.Cell = v.Considered
	}
}

// choose chooses a cell for each part of the tasks, by the other parts.
func (r *run) choose(v *Verdict) {
	parts := r.part
	if parts == 1 {
		// One part is tested on, which nothing was compiled from: it is divided for the
		// choice alone.
		parts = min(DefaultFolds, max(len(r.tasks), 1))
		for task := range r.partOf {
			r.partOf[task] = task%parts + 1
		}
	}
	chosen := make([]int, parts+1) // by part, column; -1 for none
	for part := 1; part <= parts; part++ {
		chosen[part] = r.pick(v.Objective, part)
		v.Parts = append(v.Parts, r.cellAt(chosen[part]))
	}
	v.Considered = r.cellAt(r.pick(v.Objective, 0))
	at := func(task int) *taskSums {
		if column := chosen[r.partOf[task]]; column >= 0 {
			return r.sums[task].at(column)
		}
		return &taskSums{}
	}
	if v.Considered.Action == DoNothing {
		at = func(int) *taskSums { return &taskSums{} }
	}
	r.judged.blind = func(task int) blindSums { return at(task).asUsed() }
	r.judged.perfect = func(task int) blindSums { return at(task).perfect() }
	r.judged.best = r.hindsight(v)
}

// metric returns which of SavedMetrics an objective is.
func (o Objective) metric() string {
	switch o {
	case ObjectiveMoney:
		return "money_saved"
	case ObjectiveTokens:
		return "tokens_saved"
	case ObjectiveTime:
		return "model_seconds_saved"
	}
	return "calling_turns_saved"
}

func (s *Saved) in(o Objective) float64 {
	return o.in(&blindSums{turnsSaved: s.CallingTurns, tokensSaved: s.Tokens, usdSaved: s.USD, secondsSaved: s.Seconds})
}

func (r *run) cellAt(column int) Cell {
	if column < 0 {
		return Cell{Action: DoNothing}
	}
	return r.cells[column-r.cellsFrom]
}

// pick returns the column of the cell that saves most on the tasks that are not in a
// part, -1 if none saves more than twice its standard error; of part 0 are no tasks.
func (r *run) pick(o Objective, part int) int {
	best, most := -1, 0.0
	for column := r.cellsFrom; column < len(r.columns); column++ {
		sum, squares, tasks := 0.0, 0.0, 0.0
		for task := range r.sums {
			if r.partOf[task] == part {
				continue
			}
			s := r.sums[task].at(column).asUsed()
			x := o.in(&s)
			sum, squares, tasks = sum+x, squares+x*x, tasks+1
		}
		if tasks < stat.MinClusters || sum <= most {
			continue
		}
		spread := math.Sqrt(max(squares-sum*sum/tasks, 0) * tasks / (tasks - 1))
		if sum >= 2*spread {
			best, most = column, sum
		}
	}
	return best
}

// hindsight finds what saves most on all tasks, and returns what that saves in each.
func (r *run) hindsight(v *Verdict) func(task int) blindSums {
	best, most := -1, 0.0
	for column := r.cellsFrom; column < len(r.columns); column++ {
		sum := 0.0
		for task := range r.sums {
			s := r.sums[task].at(column).asUsed()
			sum += v.Objective.in(&s)
		}
		if sum > most {
			best, most = column, sum
		}
	}
	v.Hindsight = r.cellAt(best)
	return func(task int) blindSums {
		if best < 0 {
			return blindSums{}
		}
		return r.sums[task].at(best).asUsed()
	}
}

// saved sums up over tasks.
func (r *run) saved(of func(task int) blindSums) Saved {
	figures := make([]stat.ClusterRatio, len(SavedMetrics))
	for k := range figures {
		figures[k].Num = make([]float64, len(r.sums))
	}
	var sum blindSums
	for task := range r.sums {
		s := of(task)
		sum.add(&s)
		for k, x := range []float64{s.turnsSaved, s.llmSaved, s.tokensSaved, s.usdSaved, s.secondsSaved} {
			figures[k].Num[task] = x
		}
	}
	out := Saved{CallingTurns: sum.turnsSaved, LLMCalls: sum.llmSaved, Tokens: sum.tokensSaved, USD: sum.usdSaved, Seconds: sum.secondsSaved, Intervals: map[string]stat.Interval{}}
	for k, interval := range stat.Intervals(figures, stat.Options{Seed: r.options.Seed}) {
		out.Intervals[SavedMetrics[k]] = interval
	}
	return out
}

// ForVerdict are the techniques that a verdict is told beside: nothing, and parallel
// calls.
func ForVerdict() []Technique { return []Technique{none, batch} }

// Batch returns what parallel calls alone would save, nil if that was not measured.
func (r *Result) Batch() *Outcome {
	i := slices.IndexFunc(r.Techniques, func(o Outcome) bool { return o.Name == batch.Name })
	if i < 0 {
		return nil
	}
	return &r.Techniques[i]
}

// Best returns the technique to recommend, nil if none saves anything: with
// SelectNet the one that saves most money, or tokens where nothing has a price, and
// else the one that saves most calling turns, wrong calls taken off. Each stands in
// for the other where it finds none. What is not replayed and combinations are none
// to recommend.
func (r *Result) Best(by Selection) *Outcome {
	var turns, worth *Outcome
	for i := range r.Techniques {
		o := &r.Techniques[i]
		if o.Name == awoPaper.Name || o.Name == all.Name {
			continue
		}
		if saved := o.CallingTurnsSaved - o.Wrong; saved > 0 && (turns == nil || saved > turns.CallingTurnsSaved-turns.Wrong) {
			turns = o
		}
		if o.Pays() && (worth == nil || o.Cheaper(worth)) {
			worth = o
		}
	}
	if turns == nil || by == SelectNet && worth != nil {
		return worth
	}
	return turns
}

// Pays reports whether money is saved, or tokens where nothing has a price.
func (o *Outcome) Pays() bool { return o.Cheaper(&Outcome{USD: o.USD}) }

// Cheaper reports whether more money is saved than by another outcome on the same
// traces, or more tokens where nothing has a price or it is the same.
func (o *Outcome) Cheaper(than *Outcome) bool {
	if o.USD > 0 && o.USDSaved != than.USDSaved {
		return o.USDSaved > than.USDSaved
	}
	return o.TokensSaved > than.TokensSaved
}
