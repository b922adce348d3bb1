package worth

import (
	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// programRow is what programs save at one bound, if their texts are shorter or longer than is
// assumed.
type programRow struct {
	Bound        string      `json:"bound"` // lower or upper
	Texts        float64     `json:"texts"` // how long programs are, of what is assumed
	Programs     int         `json:"programs"`
	Calls        int         `json:"calls"` // in them
	Loops        int         `json:"loops"`
	Extra        int         `json:"extra_reads"`  // that nobody asked for
	WrongWrites  int         `json:"wrong_writes"` // usual writes that were not recorded: charged nowhere, because a program can ask first
	TurnsSaved   int         `json:"calling_turns_saved"`
	CallsSaved   int         `json:"llm_calls_saved"`
	TokensSaved  stat.Figure `json:"tokens_saved"`
	CostSavedUSD stat.Figure `json:"cost_saved_usd"`
	SecondsSaved stat.Figure `json:"model_seconds_saved"`
}

// limitRow is why calling turns stay with programs.
type limitRow struct {
	Limit      backtest.Limit `json:"limit"`
	Doc        string         `json:"doc"`
	Lower      int            `json:"calling_turns_lower"`
	LowerShare stat.Figure    `json:"share_lower"`
	Upper      int            `json:"calling_turns_upper"`
	UpperShare stat.Figure    `json:"share_upper"`
}

var limitWords = map[backtest.Limit]string{
	backtest.LimitDecision: "the model has to say which call is next, or what it takes",
	backtest.LimitWrite:    "a write comes before it",
	backtest.LimitUnknown:  "a result or arguments are not recorded",
	backtest.LimitBegins:   "nothing comes before it, or a user message, a failed call or a repeated one",
}

// programs adds what programs save, where both bounds were measured.
func (f *BacktestFindings) programs(out *Backtest) {
	var bounds []*backtest.Outcome
	for i := range f.result.Techniques {
		if o := &f.result.Techniques[i]; o.Programs != nil {
			bounds = append(bounds, o)
		}
	}
	if len(bounds) != 2 {
		return
	}
	lower, upper := bounds[0], bounds[1]
	for i := range out.Techniques {
		if t := &out.Techniques[i]; t.Technique == lower.Name || t.Technique == upper.Name {
			t.Lower, t.Upper = &lower.CallingTurnsSaved, &upper.CallingTurnsSaved
		}
	}
	for i, o := range bounds {
		p := o.Programs
		for _, texts := range []float64{0.5, 1, 2} {
			more := 1 - texts
			out.Programs = append(out.Programs, programRow{
				Bound: [...]string{"lower", "upper"}[i], Texts: texts, Programs: p.Programs, Calls: p.Calls, Loops: p.Loops, Extra: p.Extra, WrongWrites: p.WrongWrites,
				TurnsSaved: o.CallingTurnsSaved, CallsSaved: o.LLMCallsSaved, SecondsSaved: f.known(o, "model_seconds_saved", o.SecondsSaved),
				TokensSaved:  f.known(o, "tokens_saved", float64(o.TokensSaved)+more*float64(p.Overhead.Tokens())),
				CostSavedUSD: f.known(o, "cost_saved_usd", o.USDSaved+more*p.Overhead.USD),
			})
		}
	}
	share := func(n int) stat.Figure {
		if lower.CallingTurns == 0 {
			return stat.Unknown(noTestTurns)
		}
		return stat.Known(float64(n) / float64(lower.CallingTurns))
	}
	for i, limit := range backtest.Limits {
		low, high := lower.Programs.Limits[i], upper.Programs.Limits[i]
		out.Limits = append(out.Limits, limitRow{limit, limitWords[limit], low, share(low), high, share(high)})
	}
}

// programTables show what programs save, and what limits that.
func programTables(out Backtest) []report.Block {
	saved := report.TableOf("programs", "Held out: one program for several calls, by how long its text is", out.Programs, []report.Column{
		{Key: "bound", Words: true},
		{Key: "texts", Title: "length of texts", Digits: 1},
		{Key: "programs"},
		{Key: "calls", Title: "calls in them"},
		{Key: "extra_reads", Title: "extra reads"},
		{Key: "calling_turns_saved", Title: "turns saved"},
		{Key: "tokens_saved", Title: "tokens saved", Digits: report.Whole},
		{Key: "cost_saved_usd", Title: "saved", Unit: "USD", Digits: 4},
	})
	saved.Note("A program takes 150 tokens, 20 for each call in its text and 40 for a loop, times the length. Lower: the next call is the usual one, walks a list or has arguments that were known, is bound by links, and all results come back. Upper: as long as all arguments were known or stand in a result; only what is used later comes back.")
	limits := report.TableOf("program_limits", "Calling turns that stay with programs", out.Limits, []report.Column{
		{Key: "limit", From: "doc", Title: "because", Words: true},
		{Key: "calling_turns_lower", Title: "turns, lower bound"},
		{Key: "share_lower", Title: "share", Unit: "%"},
		{Key: "calling_turns_upper", Title: "turns, upper bound"},
		{Key: "share_upper", Title: "share", Unit: "%"},
	})
	return []report.Block{saved.IfAny(), limits.IfAny()}
}
