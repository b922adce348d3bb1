package backtest

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/agents"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace/holdout"
)

// Options say how Run works. The zero value is the default.
type Options struct {
	Rules   *rules.Set // nil for none
	Compile compile.Options
	Choose  ChooseOptions

	By    SplitBy
	Folds int     // of SplitFolds; 0 means DefaultFolds
	Share float64 // that is tested on otherwise; 0 means DefaultShare
	Seed  uint64  // of the split and of the bootstrap

	Techniques []Technique       // nil: Techniques
	Recommend  *RecommendOptions // nil: nothing is recommended

	// AgentTasks is from how many tasks on an agent is compiled and tested apart from
	// others: it alone pays for what it is offered. 0 means DefaultAgentTasks, a negative
	// number takes all for one agent.
	AgentTasks int

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

	// DefaultAgentTasks are the tasks that an interval needs at least.
	DefaultAgentTasks = stat.MinClusters
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

	Techniques     []Outcome
	Interactions   []Interaction   // of the combinations all of whose parts were measured
	Recommendation *Recommendation // nil where none was asked for; of several agents that of the dearest

	Agents []AgentResult // of which this is the sum; nil where there is one agent
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

	NotComparable int // places beside these: the recording lacks a result there

	Blind BlindOutcome // of techniques that offer meta-tools

	// Wrong is how many calls would have been made without the model that were not.
	Wrong int

	Reading  Reading   // what was read ahead, summed up
	Programs *Programs // what programs did; nil for other techniques

	// Means over the splits.
	MetaTools        float64
	Rules            float64 // by which reads are made ahead
	AntiMetaTools    float64 // that were left out; see Left.IsAnti
	DefinitionTokens float64

	Intervals map[string]stat.Interval // by metric, as Metrics names them
	Notes     []string
}

// BlindOutcome is what a technique would have done if its meta-tools were used
// blindly, whenever their first call is wanted; see Blind.
type BlindOutcome struct {
	Known                            bool // the technique offers meta-tools
	LLMCallsSaved, CallingTurnsSaved int
	TokensSaved                      int64
	USDSaved                         float64
	Use
	Reads, Writes float64 // that were not asked for there

	// Intervals are those of calling_turns_saved, calling_turns_saved_share,
	// llm_calls_saved, tokens_saved, cost_saved_usd and precision.
	Intervals map[string]stat.Interval
}

// Metrics are the figures with an interval. Shares are of what was recorded.
var Metrics = []string{
	"llm_calls_saved", "llm_calls_saved_share", "calling_turns_saved", "calling_turns_saved_share",
	"tokens_saved", "tokens_saved_share", "cost_saved_usd", "cost_saved_share", "utilisation",
	"model_seconds_saved", "model_seconds_saved_share",
}

// Run splits the traces, lets every technique learn from the one part, and adds up
// what it would have done in the other.
func Run(runs []*corpus.Run, o Options) (*Result, error) {
	r, err := perform(runs, o)
	if err != nil {
		return nil, err
	}
	return r.out, nil
}

func perform(runs []*corpus.Run, o Options) (*run, error) {
	o.Folds, o.Share = cmp.Or(o.Folds, DefaultFolds), cmp.Or(o.Share, DefaultShare)
	o.By = cmp.Or(o.By, SplitAuto)
	if o.Techniques == nil {
		o.Techniques = Techniques
	}
	if o.Meter == nil {
		o.Meter = cost.NewMeter(cost.Options{})
	}
	if o.Progress == nil {
		o.Progress = func(int, int, string) {}
	}
	o.AgentTasks = cmp.Or(o.AgentTasks, DefaultAgentTasks)
	r := newRun(runs, o)
	if err := r.survey(); err != nil {
		return nil, err
	}
	if r.agents != nil && len(r.agents.Agents) > 1 {
		if err := r.apart(); err != nil {
			return nil, err
		}
	} else {
		r.waysOf()
		r.test()
	}
	r.finish()
	if r.parts == nil {
		if err := r.recommend(); err != nil {
			return nil, err
		}
	}
	o.Progress(r.steps, r.steps, "done")
	return r, nil
}

func newRun(runs []*corpus.Run, o Options) *run {
	return &run{runs: runs, options: o, out: &Result{}, tasks: map[string]int{}, columns: slices.Clone(o.Techniques), waysFrom: len(o.Techniques)}
}

// test compiles and tests every split.
func (r *run) test() {
	r.steps = len(r.splits) * (len(r.columns) + 2)
	for _, split := range r.splits {
		r.fold(split)
	}
}

// run is a back-test under way.
type run struct {
	runs    []*corpus.Run
	options Options
	out     *Result
	splits  []holdout.Split
	fit     *cost.Fit

	done, steps int

	columns  []Technique // those of Options, then one for each way
	ways     []Way
	waysFrom int  // the first column of a way
	offers   bool // some trajectory records the definitions of the tools offered

	turns, unpriced int     // model turns, and those of them without a price
	tokens          float64 // of definitions that a turn reads, the mean over turns

	agent      string       // the key of the one that it is of, "" for all
	everywhere *Asked       // how often all agents ask again; nil where there is one
	agents     *agents.List // nil where all are taken for one
	parts      []*run       // of each of several agents

	tasks  map[string]int // those that were tested on, numbered
	sums   []columnSums   // by task
	part   int            // that is tested on, from 1
	partOf []int          // by task
	all    []totals       // by column

	isAgain bool    // another deal of the folds
	without []Turns // the turns that go, by way; nil unless asked for
}

func (r *run) progress(next string) {
	r.options.Progress(r.done, r.steps, next)
	r.done++
}
