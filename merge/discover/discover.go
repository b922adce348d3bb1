// Package discover lets a language model propose rules, and the traces decide (AWO,
// appendix C, whose loop has no test of what the model says).
//
// Trajectories come in, and something that answers questions. In every round the model
// is told what is known: tools, their schemas, examples of runs without values, the
// rules so far, figures, and what was refused and why. It answers with rules in the
// language of package rules. Each is parsed, tried on the traces, and accepted or
// refused with a reason, which the next round begins with. The rules of an answer are
// judged together. What goes out is a [Result]: the accepted rules, and every round.
//
// The tasks are dealt into two parts. Examples are of the first alone; the cost of the
// next call and the turns saved, by which rules are judged, are those of the second.
// Nothing that the model says does anything but become a rule: names, descriptions,
// policies, files to include and rules that show values are refused or dropped.
//
// It keeps tool names, arguments and the beginnings of results of all trajectories. It asks no
// model itself; package llm does.
package discover

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/awo-dev/awo/internal/llm"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// Options are the choices of a Discoverer. The zero value is the default.
type Options struct {
	Rules *rules.Set // to go on from; nil for none

	Rounds    int                               // at most; 0 means 5
	MaxTokens int64                             // of questions and answers together; 0 for no limit
	Cost      func(input, output int64) float64 // of an exchange; nil if it is not known
	MaxCost   float64                           // of all exchanges; 0 for no limit
	Progress  func(round int, asked llm.Answer) // is told of every answer; may be nil

	Sample     int     // runs that a round shows; 0 means 8
	ShowValues bool    // of arguments, to the model
	Seed       uint64  // of the parts and of the samples
	Tolerance  float64 // share of contradictions that a rule may have; 0 means 0.01
	Folds      int     // of the cost of the next call; 0 means 10
	Threshold  int     // of the meta-tools whose turns are counted; 0 means 5
}

// Discoverer keeps trajectories to try rules on. It is not safe for concurrent use.
type Discoverer struct {
	options Options
	base    *rules.Set
	kept    []*trace.Trajectory

	labels  *merge.Labels
	steps   *merge.Rewriter // without rules, to name calls and to learn of tools
	catalog *merge.Catalog

	shown, held []*trace.Trajectory
	set         *rules.Set // the rules so far
	now         Figures
	refused     []Refusal // of all rounds
	ids         map[string]bool
}

// Figures are what a set of rules comes to.
type Figures struct {
	States     int         `json:"states"`               // of the tasks that examples are taken from
	HeldStates int         `json:"held_out_states"`      // of the held-out tasks
	Bits       stat.Figure `json:"held_out_bits"`        // of the next call given the state, on the held-out tasks; unknown with fewer than two
	TurnsSaved int         `json:"held_out_turns_saved"` // by meta-tools of the held-out tasks, an upper bound

	shownBits float64 // of the other tasks
	tried     map[*rules.Rule]tried
}

// tried is what the traces say of one rule.
type tried struct {
	share  float64 // of its checks, contradicted; what is not known is 0
	checks int
	states int // joined
}

// Graph is what AWO's table 6 tells of the graph of all runs, before and after a round.
type Graph struct {
	stategraph.Statistics
	MeanInDegree float64 `json:"mean_in_degree"`
	Branching    float64 `json:"branching"` // states that one leads to, of those that lead on
}

// Accepted is a rule that the traces support, with the figures of all accepted rules
// without it and with it.
type Accepted struct {
	Rule           *rules.Rule `json:"-"`
	ID             string      `json:"id"`
	Line           string      `json:"rule"` // on one line
	Checks         int         `json:"checks"`
	Contradictions int         `json:"contradictions"`
	Before         Figures     `json:"before"` // the others alone
	After          Figures     `json:"after"`
}

// Refusal is a proposal that came to nothing.
type Refusal struct {
	Rule   string `json:"rule"` // as it was understood, on one line; empty if it was not
	Reason string `json:"reason"`
}

// Tokens are those of questions and of answers.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
}

// Round is one question and what came of it.
type Round struct {
	Tokens   Tokens     `json:"tokens"`
	Graph    Graph      `json:"graph"` // with the rules accepted so far
	Accepted []Accepted `json:"accepted"`
	Refused  []Refusal  `json:"refused"`
}

// Result is what a model and the traces made.
type Result struct {
	Rules          []*rules.Rule // accepted, those to go on from not among them
	Rounds         []Round
	Before, After  Figures
	Graph          Graph // before the first round
	Shown, HeldOut int   // trajectories of the two parts
	Tokens         Tokens
	Cost           stat.Figure // dollars
	Stopped        string      // why
}

// New returns a discoverer that has seen nothing.
func New(o Options) *Discoverer {
	o.Rounds, o.Sample, o.Folds, o.Threshold = cmp.Or(o.Rounds, 5), cmp.Or(o.Sample, 8), cmp.Or(o.Folds, 10), cmp.Or(o.Threshold, 5)
	if o.Tolerance <= 0 {
		o.Tolerance = 0.01
	}
	d := &Discoverer{options: o, base: o.Rules, labels: &merge.Labels{}, catalog: merge.NewCatalog(o.Rules), ids: map[string]bool{}}
	if d.base == nil {
		d.base = &rules.Set{}
	}
	d.steps = merge.NewRewriter(nil, merge.Full(nil), d.labels, d.catalog)
	return d
}

// Add keeps what is needed of a trajectory.
func (d *Discoverer) Add(t *trace.Trajectory) {
	d.steps.Rewrite(t)
	kept, _ := evidence.Keep(t, keptText)
	d.kept = append(d.kept, kept)
}

// keptText is how many bytes of every result are kept, for rules that look at results.
const keptText = 2 << 10

// patience is how many rounds in a row may come to nothing.
const patience = 2

// Run asks the model until a budget is spent or nothing gains. An error of the model
// ends it; what was accepted before is returned with it.
func (d *Discoverer) Run(ctx context.Context, model llm.Model) (*Result, error) {
	d.deal()
	d.set = new(*d.base)
	d.set.Rules = slices.Clone(d.base.Rules)
	for _, r := range d.set.Rules {
		d.ids[r.ID] = true
	}
	d.now = d.measure(d.set, true)
	out := &Result{Before: d.now, Graph: d.graph(), Shown: len(d.shown), HeldOut: len(d.held), Cost: stat.Unknown("no price is known for the model")}
	cost := 0.0
	if d.options.Cost != nil {
		out.Cost = stat.Known(cost)
	}
	idle := 0
	var err error
	for {
		if out.Stopped = d.spent(out, idle); out.Stopped != "" {
			break
		}
		var answer llm.Answer
		if answer, err = model.Ask(ctx, d.question(len(out.Rounds))); err != nil {
			out.Stopped = "the model gave no answer"
			break
		}
		out.Tokens.Input, out.Tokens.Output = out.Tokens.Input+answer.InputTokens, out.Tokens.Output+answer.OutputTokens
		if d.options.Cost != nil {
			cost += d.options.Cost(answer.InputTokens, answer.OutputTokens)
			out.Cost = stat.Known(cost)
		}
		round := Round{Tokens: Tokens{answer.InputTokens, answer.OutputTokens}}
		d.try(&round, answer.Text)
		round.Graph = d.graph()
		out.Rounds = append(out.Rounds, round)
		if d.options.Progress != nil {
			d.options.Progress(len(out.Rounds), answer)
		}
		idle++
		if len(round.Accepted) > 0 {
			idle = 0
		}
	}
	out.Rules, out.After = d.set.Rules[len(d.base.Rules):], d.now
	return out, err
}

// spent says which budget is spent, "" for none.
func (d *Discoverer) spent(out *Result, idle int) string {
	switch o := &d.options; {
	case idle >= patience:
		return fmt.Sprintf("%d rounds in a row gained nothing", patience)
	case len(out.Rounds) >= o.Rounds:
		return fmt.Sprintf("the budget of %d rounds is spent", o.Rounds)
	case o.MaxTokens > 0 && out.Tokens.Input+out.Tokens.Output >= o.MaxTokens:
		return fmt.Sprintf("the budget of %d tokens is spent", o.MaxTokens)
	case o.MaxCost > 0 && out.Cost.Float() >= o.MaxCost:
		return fmt.Sprintf("the budget of %g is spent", o.MaxCost)
	}
	return ""
}

// deal deals the tasks into those that the model sees examples of, two thirds, and
// those that it does not. With fewer than three tasks both are all.
func (d *Discoverer) deal() {
	var keys []string
	for _, t := range d.kept {
		keys = append(keys, t.TaskKey())
	}
	if len(slices.Compact(slices.Sorted(slices.Values(keys)))) < 3 {
		d.shown, d.held = d.kept, d.kept
		return
	}
	folds := holdout.NewFolds(keys, 3, d.options.Seed)
	for _, t := range d.kept {
		if folds.Of(t.TaskKey()) == 0 {
			d.held = append(d.held, t)
		} else {
			d.shown = append(d.shown, t)
		}
	}
}

// measure tries a set of rules on both parts; with checks, against what reads returned.
func (d *Discoverer) measure(set *rules.Set, checks bool) Figures {
	f := Figures{tried: map[*rules.Rule]tried{}}
	shown, held, merger := evidence.NewStateLoss(set), evidence.NewStateLoss(set), merge.NewMerger(set, merge.Options{})
	for _, t := range d.shown {
		shown.Add(t)
	}
	for _, t := range d.held {
		held.Add(t)
		merger.Add(t)
	}
	f.States, f.HeldStates, f.Bits = shown.States(), held.States(), stat.Finite(held.Bits(d.options.Folds, d.options.Seed), "a held-out loss needs two tasks with calls")
	f.shownBits = shown.Bits(d.options.Folds, d.options.Seed)
	f.TurnsSaved = candidate.Extract(merger.Merged(), candidate.Options{Threshold: d.options.Threshold}).TurnsSaved()
	if !checks {
		return f
	}
	e := evidence.NewExaminer(set, evidence.Options{Tolerance: d.options.Tolerance, Folds: d.options.Folds, Seed: d.options.Seed})
	for _, t := range d.kept {
		e.Add(t)
	}
	for _, r := range e.Evidence().Rules {
		seen := tried{checks: r.Checks, states: r.States}
		if r.Rate.N > 0 {
			seen.share = r.Rate.Share
		}
		f.tried[r.Rules[0]] = seen
	}
	return f
}

// graph returns the figures of the graph of all runs with the rules so far.
func (d *Discoverer) graph() Graph {
	merger := merge.NewMerger(d.set, merge.Options{NoWalks: true})
	for _, t := range d.kept {
		merger.Add(t)
	}
	s := merger.Merged().Graph.Statistics()
	return Graph{s, s.MeanInDegree(), s.Branching()}
}
