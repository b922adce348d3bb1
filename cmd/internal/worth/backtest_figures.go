package worth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/internal/stat"
)

// Backtest is what a back-test found: the figures of `awo backtest` and the rows of its tables.
type Backtest struct {
	BacktestFigures
	Techniques   []Technique
	Programs     []programRow
	Limits       []limitRow
	Interactions []interaction
	Agents       []recommend.Agent // of which all is the sum; empty where there is one

	Recommended *recommend.Result // nil if it was not asked for
}

// BacktestFigures are those of `awo backtest`; docs/backtest.md describes them.
type BacktestFigures struct {
	Input          cli.InputJSON      `json:"input"`
	Split          splitFigures       `json:"split"`
	Recommendation *recommend.Figures `json:"recommendation"` // what to do; null if it was not asked for
	Unknown        []string           `json:"unknown"`        // what the traces do not say, and what follows
}

type splitFigures struct {
	By           string `json:"by"`
	Folds        int    `json:"folds"` // parts compiled and tested
	TrainTasks   int    `json:"train_tasks"`
	TestTasks    int    `json:"test_tasks"`
	Trajectories int    `json:"test_trajectories"`
	Unused       int    `json:"unused_trajectories"` // on neither side
}

// Technique is what a technique would have done in the test part. Savings are
// upper bounds.
type Technique struct {
	Technique         string      `json:"technique"`
	Doc               string      `json:"doc"`
	LLMCalls          int         `json:"llm_calls"` // recorded
	LLMCallsSaved     int         `json:"llm_calls_saved"`
	CallingTurns      int         `json:"calling_turns"` // recorded
	CallingTurnsSaved int         `json:"calling_turns_saved"`
	Lower             *int        `json:"calling_turns_saved_lower"` // the bracket of programs; null for other techniques
	Upper             *int        `json:"calling_turns_saved_upper"`
	Share             stat.Figure `json:"calling_turns_saved_share"`
	Utilisation       stat.Figure `json:"utilisation"`
	Tokens            stat.Figure `json:"tokens"` // recorded, or estimated
	TokensSaved       stat.Figure `json:"tokens_saved"`
	CostUSD           stat.Figure `json:"cost_usd"`
	CostSavedUSD      stat.Figure `json:"cost_saved_usd"`
	StepsBefore       stat.Figure `json:"steps_before"` // model calls of a trajectory with an occurrence
	StepsAfter        stat.Figure `json:"steps_after"`
	Seconds           stat.Figure `json:"model_seconds"`
	SecondsSaved      stat.Figure `json:"model_seconds_saved"`
	Places            int         `json:"places"` // where a meta-tool would save a turn; they overlap
	Exact             int         `json:"exact"`
	Known             int         `json:"inputs_known"`
	NotComparable     int         `json:"not_comparable"`    // places beside these: the recording lacks a result
	Moments           int         `json:"moments"`           // at which a first call is made, and a meta-tool could be used
	Precision         stat.Figure `json:"precision"`         // of them, the share at which the rest followed
	Blind             *blindJSON  `json:"blind"`             // null where no meta-tools are offered
	Wrong             int         `json:"wrong_calls"`       // made without the model, and not recorded
	MetaTools         float64     `json:"meta_tools"`        // mean over the parts
	AntiMetaTools     float64     `json:"anti_meta_tools"`   // rejected because they fail more often than their parts or cost more than they save
	DefinitionTokens  float64     `json:"definition_tokens"` // of them together

	ReadsJSON

	Intervals map[string]stat.Interval `json:"intervals"`
	Notes     []string                 `json:"notes"`
}

// blindJSON is what is saved if meta-tools are used at every moment.
type blindJSON struct {
	CallingTurnsSaved int                      `json:"calling_turns_saved"`
	LLMCallsSaved     int                      `json:"llm_calls_saved"` // uses that end early are charged
	ExtraReads        int                      `json:"extra_reads"`     // that nobody asked for there
	ExtraWrites       int                      `json:"extra_writes"`
	TokensSaved       stat.Figure              `json:"tokens_saved"`
	MoneySaved        stat.Figure              `json:"money_saved"` // USD
	Intervals         map[string]stat.Interval `json:"intervals"`
}

// ReadsJSON is what was read ahead, zeros for techniques that do not.
type ReadsJSON struct {
	Ahead  int     `json:"reads_ahead"`
	Used   int     `json:"reads_used"`   // they answered a call that the agent made in the recording
	Second int     `json:"second_level"` // of these: read after an answer that was itself read ahead
	InVain int     `json:"reads_wasted"` // all others, stale ones too
	Stale  int     `json:"stale"`        // asked for when something may have changed them
	Rules  float64 `json:"rules"`        // mean over the parts
}

// interaction is what techniques save together beyond the sum of what each
// saves.
type interaction struct {
	Technique         string                   `json:"technique"`  // the combination
	Techniques        []string                 `json:"techniques"` // its parts
	Attributed        []attributedJSON         `json:"attributed"` // every turn that the combination saves, to one part
	CallingTurnsSaved int                      `json:"calling_turns_saved"`
	LLMCallsSaved     int                      `json:"llm_calls_saved"`
	TokensSaved       stat.Figure              `json:"tokens_saved"`
	CostSavedUSD      stat.Figure              `json:"cost_saved_usd"`
	Intervals         map[string]stat.Interval `json:"intervals"`
	Notes             []string                 `json:"notes"`
}

type attributedJSON struct {
	Technique         string `json:"technique"`
	CallingTurnsSaved int    `json:"calling_turns_saved"`
}

// Backtest returns the result. Call it when everything is read.
func (f *BacktestFindings) Backtest(in *cli.Intake) Backtest {
	r := f.result
	out := Backtest{
		BacktestFigures: BacktestFigures{Input: in.JSON(), Split: splitFigures{string(r.By), r.Folds, r.TrainTasks, r.TestTasks, r.Trajectories, r.Unused}, Unknown: f.unknown()},
		Techniques:      cli.Map(r.Techniques, f.technique), Interactions: cli.Map(r.Interactions, f.interaction),
		Agents: recommend.AgentsOf(r, f.options.IsFixed), Recommended: recommend.Of(r, f.options.IsFixed),
	}
	f.programs(&out)
	if out.Recommended != nil {
		out.Recommendation = &out.Recommended.Figures
	}
	return out
}

func (f *BacktestFindings) technique(o *backtest.Outcome) Technique {
	t := Technique{
		Technique: o.Name, Doc: o.Doc, LLMCalls: o.LLMCalls, LLMCallsSaved: o.LLMCallsSaved,
		CallingTurns: o.CallingTurns, CallingTurnsSaved: o.CallingTurnsSaved, Share: stat.Unknown(noTestTurns),
		Utilisation: f.known(o, "utilisation", o.Utilisation),
		Tokens:      stat.Unknown(noTokens), TokensSaved: f.known(o, "tokens_saved", float64(o.TokensSaved)), CostUSD: stat.Unknown(NoPrices), CostSavedUSD: f.known(o, "cost_saved_usd", o.USDSaved),
		StepsBefore: stat.Finite(o.StepsBefore, noneUsed), StepsAfter: stat.Finite(o.StepsAfter, noneUsed),
		Seconds: stat.Unknown(noTimes), SecondsSaved: f.known(o, "model_seconds_saved", o.SecondsSaved),
		Places: o.Places, Exact: o.Exact, Known: o.Known, Wrong: o.Wrong, MetaTools: o.MetaTools, AntiMetaTools: o.AntiMetaTools, DefinitionTokens: o.DefinitionTokens,
		NotComparable: o.NotComparable, Precision: stat.Unknown(noMoments),
		Intervals: map[string]stat.Interval{}, Notes: slices.Clone(o.Notes),
	}
	f.blind(&t, o)
	if strings.HasPrefix(o.Name, "prefetch") || o.Name == "all" {
		r := &o.Reading
		t.ReadsJSON = ReadsJSON{int(math.Round(r.Reads)), int(r.Used), int(r.Second), int(math.Round(r.InVain())), int(r.Stale), o.Rules}
	}
	if o.CallingTurns > 0 {
		t.Share = stat.Known(float64(o.CallingTurnsSaved) / float64(o.CallingTurns))
	}
	if o.LLMCalls > 0 {
		t.Tokens = stat.Known(float64(o.Tokens))
		if f.result.Unpriced < f.result.LLMTurns {
			t.CostUSD = stat.Known(o.USD)
		}
	}
	if o.Seconds > 0 {
		t.Seconds = stat.Known(o.Seconds)
	}
	for _, metric := range backtest.Metrics {
		t.Intervals[metric] = f.interval(o, metric)
	}
	switch {
	case o.Wrong > 0:
		t.Notes = append(t.Notes, fmt.Sprintf("%s made without the model that no agent made, and charged: the model calls saved are less by them", cli.CountOf(o.Wrong, "wrong call")))
	case o.Name == "inertia" && o.CallingTurnsSaved == 0:
		t.Notes = append(t.Notes, "no call is likely enough to be right")
	}
	switch {
	case o.Name == "inertia" && o.CallingTurnsSaved > 0:
		t.Notes = append(t.Notes, "an upper bound: what an agent does after a wrong call may differ from what was recorded, and what comes before a right one may too")
	case o.Programs != nil:
	case strings.HasPrefix(o.Name, "prefetch") && o.CallingTurnsSaved > 0:
		t.Notes = append(t.Notes, "needs no choice of the agent and no definition; an upper bound all the same: what an agent does that is told more may differ from what was recorded")
	case o.Name == "all" && o.CallingTurnsSaved > 0:
		t.Notes = append(t.Notes, "an upper bound: an agent must choose the meta-tools, and what it then does, or does after a wrong call, may differ from what was recorded; published adoption concerns the turns attributed to patterns alone")
	case o.CallingTurnsSaved > 0:
		t.Notes = append(t.Notes, "an upper bound: an agent must choose the meta-tool, and what it then does may differ from what was recorded")
	}
	return t
}

// blind says what blind use of the meta-tools comes to.
func (f *BacktestFindings) blind(t *Technique, o *backtest.Outcome) {
	b := &o.Blind
	t.Intervals["precision"] = stat.NoInterval(noMoments)
	if !b.Known {
		return
	}
	t.Moments, t.Blind = b.Moments, &blindJSON{
		CallingTurnsSaved: b.CallingTurnsSaved, LLMCallsSaved: b.LLMCallsSaved, ExtraReads: int(math.Round(b.Reads)), ExtraWrites: int(math.Round(b.Writes)),
		TokensSaved: f.known(o, "tokens_saved", float64(b.TokensSaved)), MoneySaved: f.known(o, "cost_saved_usd", b.USDSaved),
		Intervals: map[string]stat.Interval{},
	}
	if b.Moments > 0 {
		t.Precision = stat.Known(float64(b.Followed) / float64(b.Moments))
		t.Intervals["precision"] = b.Intervals["precision"]
	}
	for json, metric := range map[string]string{"calling_turns_saved": "", "llm_calls_saved": "", "tokens_saved": "", "money_saved": "cost_saved_usd"} {
		metric = cmp.Or(metric, json)
		i := b.Intervals[metric]
		if why := f.lacks(o, metric); why != "" {
			i = stat.NoInterval(why)
		}
		t.Blind.Intervals[json] = i
	}
}

// interaction says what a combination saves beyond its parts.
func (f *BacktestFindings) interaction(x *backtest.Interaction) interaction {
	out := interaction{
		Technique: x.Technique, Techniques: x.Parts,
		CallingTurnsSaved: x.CallingTurnsSaved, LLMCallsSaved: x.LLMCallsSaved,
		TokensSaved: stat.Unknown(noTokens), CostSavedUSD: stat.Unknown(NoPrices),
		Intervals: map[string]stat.Interval{},
		Notes: []string{
			"what " + x.Technique + " saves, less the sum of what its parts save alone: negative where both would save the same turn",
			"wrong calls are charged to the combination as to inertia alone, so that they are not in the interaction",
		},
	}
	for i, turns := range x.Attributed {
		out.Attributed = append(out.Attributed, attributedJSON{x.Parts[i], turns})
	}
	if f.result.LLMTurns > 0 {
		out.TokensSaved = stat.Known(float64(x.TokensSaved))
		if f.result.Unpriced < f.result.LLMTurns {
			out.CostSavedUSD = stat.Known(x.USDSaved)
		}
	}
	if len(f.result.Techniques) > 0 {
		all := backtest.Outcome{Name: x.Technique, LLMCalls: f.result.Techniques[0].LLMCalls, CallingTurns: f.result.Techniques[0].CallingTurns, Intervals: x.Intervals}
		for _, metric := range backtest.InteractionMetrics {
			out.Intervals[metric] = f.interval(&all, metric)
		}
	}
	return out
}

// unknown says in sentences what the traces do not say, and what follows.
func (f *BacktestFindings) unknown() []string {
	r, out := f.result, []string{}
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if r.NoTurns > 0 {
		say("%s with calls of which the model turn is not recorded: no turn is saved there, and what they cost is not known.", cli.CountOf(r.NoTurns, "trajectory"))
	}
	if r.NoUsage > 0 {
		say("%s without recorded usage: tokens are o200k counts of what is recorded, scaled where other turns have usage; system prompts and definitions that are not recorded are not in them.", cli.CountOf(r.NoUsage, "trajectory"))
	}
	switch {
	case r.NoTools > 0 && r.NoTools == r.Trajectories:
		say("%s without the definitions of the tools offered: what registering tools would save is not known.", cli.CountOf(r.NoTools, "trajectory"))
	case r.NoTools > 0:
		say("%s without the definitions of the tools offered: what registering tools would save there is not known, and counts as nothing.", cli.CountOf(r.NoTools, "trajectory"))
	}
	if r.Unpriced > 0 {
		say("%s without a price: in the tokens, not in the money. --prices can add them.", cli.CountOf(r.Unpriced, "turn"))
	}
	if 0 < r.TestTasks && r.TestTasks < fewTasks {
		say("Intervals are a bootstrap over only %s, and are too narrow.", cli.CountOf(r.TestTasks, "task"))
	}
	return out
}
