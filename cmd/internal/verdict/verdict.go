// Package verdict says what to do about an agent, and what that saves: as JSON, and in
// words that are the first line of `awo backtest`, `awo report` and `awo extract`.
//
// A back-test comes in, and the verdict of package backtest is in it; what the traces do
// not bear is null with a reason. It keeps nothing.
package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// JSON says what to do, and what that saves.
type JSON struct {
	backtest.Cell
	Objective string          `json:"objective"` // money, tokens, turns or time
	SavedJSON                 // used blindly
	Perfect   SavedJSON       `json:"perfect"`   // the same if meta-tools are chosen perfectly
	Reason    string          `json:"reason"`    // in words
	Tried     int             `json:"tried"`     // cells of the grid
	Parts     []backtest.Cell `json:"parts"`     // what the other parts chose for each part
	Hindsight BestJSON        `json:"hindsight"` // what saves most of all cells, chosen on the tasks that it is measured on
	Batch     *SavedJSON      `json:"batch"`     // what parallel calls alone would save at most; null if not measured

	unknown string // why there is none
}

// BestJSON is a cell, and what it saves.
type BestJSON struct {
	backtest.Cell
	SavedJSON
}

// SavedJSON is what something saves.
type SavedJSON struct {
	CallingTurnsSaved stat.Figure              `json:"calling_turns_saved"`
	LLMCallsSaved     stat.Figure              `json:"llm_calls_saved"`
	TokensSaved       stat.Figure              `json:"tokens_saved"`
	MoneySaved        stat.Figure              `json:"money_saved"` // USD
	SecondsSaved      stat.Figure              `json:"model_seconds_saved"`
	Intervals         map[string]stat.Interval `json:"intervals"`
}

// findings is a back-test.
type findings struct{ result *backtest.Result }

// Of returns the verdict of a back-test, nil if none was asked for.
func Of(r *backtest.Result) *JSON {
	v, f := r.Verdict, &findings{r}
	if v == nil || len(r.Techniques) == 0 {
		return nil
	}
	out := &JSON{
		Cell: v.Cell, Objective: string(v.Objective), Tried: v.Tried,
		Parts: v.Parts, Hindsight: BestJSON{v.Hindsight, f.saved(&v.Best, v.Unknown)},
	}
	blind, perfect := v.Blind, v.Perfect
	if v.Unknown == "" && v.Cell.Action == backtest.DoNothing {
		blind, perfect = backtest.Saved{}, backtest.Saved{}
	}
	out.SavedJSON, out.Perfect = f.saved(&blind, v.Unknown), f.saved(&perfect, v.Unknown)
	if b := f.result.Batch(); b != nil {
		s := f.saved(&backtest.Saved{
			CallingTurns: float64(b.CallingTurnsSaved), LLMCalls: float64(b.LLMCallsSaved), Tokens: float64(b.TokensSaved), USD: b.USDSaved, Seconds: b.SecondsSaved,
			Intervals: map[string]stat.Interval{
				"calling_turns_saved": b.Intervals["calling_turns_saved"], "llm_calls_saved": b.Intervals["llm_calls_saved"], "tokens_saved": b.Intervals["tokens_saved"],
				"money_saved": b.Intervals["cost_saved_usd"], "model_seconds_saved": b.Intervals["model_seconds_saved"],
			},
		}, "")
		out.Batch = &s
	}
	out.Reason, out.unknown = f.reason(v), v.Unknown
	return out
}

// saved returns figures, each null with a reason where it is not known.
func (f *findings) saved(s *backtest.Saved, unknown string) SavedJSON {
	figure := func(metric string, v float64, i stat.Interval) (stat.Figure, stat.Interval) {
		why := cmp.Or(unknown, f.lacks(metric))
		if why != "" {
			return stat.Unknown(why), stat.NoInterval(why)
		}
		if s.Intervals == nil {
			i = stat.NoInterval("nothing is done")
		}
		return stat.Known(v), i
	}
	out := SavedJSON{Intervals: map[string]stat.Interval{}}
	for _, m := range []struct {
		to           *stat.Figure
		name, metric string
		v            float64
	}{
		{&out.CallingTurnsSaved, "calling_turns_saved", "calling_turns_saved", s.CallingTurns},
		{&out.LLMCallsSaved, "llm_calls_saved", "llm_calls_saved", s.LLMCalls},
		{&out.TokensSaved, "tokens_saved", "tokens_saved", s.Tokens},
		{&out.MoneySaved, "money_saved", "cost_saved_usd", s.USD},
		{&out.SecondsSaved, "model_seconds_saved", "model_seconds_saved", s.Seconds},
	} {
		*m.to, out.Intervals[m.name] = figure(m.metric, m.v, s.Intervals[m.name])
	}
	return out
}

// lacks returns why a metric is not known, "" if it is.
func (f *findings) lacks(metric string) string {
	all := &f.result.Techniques[0]
	switch {
	case f.result.TestTasks == 0:
		return "no task in the test part"
	case metric == "calling_turns_saved" && all.CallingTurns == 0:
		return "no calling turn in the test part"
	case metric != "calling_turns_saved" && all.LLMCalls == 0:
		return "no trajectory records model turns"
	case metric == "cost_saved_usd" && f.result.Unpriced >= f.result.LLMTurns:
		return "no turn has a price"
	case metric == "model_seconds_saved" && all.Seconds == 0:
		return "no turn records when it began and ended"
	case metric == "model_seconds_saved" && lazily(f.result):
		return "how long a registration would take is not recorded"
	}
	return ""
}

// lazily reports whether the verdict on one of the agents is to register tools when they
// are needed.
func lazily(r *backtest.Result) bool {
	return r.Verdict.Cell.Options.Lazily || slices.ContainsFunc(r.Agents, func(a backtest.AgentResult) bool { return lazily(a.Result) })
}

// cellWords say what a cell does.
func cellWords(c *backtest.Cell) string {
	var words []string
	if c.Action == backtest.DoByAgent {
		words = append(words, "do what pays for each agent, which is not the same for all")
	}
	if c.Options.Select != "" {
		tools := fmt.Sprintf("offer meta-tools (--select %s --threshold %d", c.Options.Select, c.Options.Threshold)
		if c.Options.MaxTools > 0 {
			tools += fmt.Sprintf(" --max-tools %d", c.Options.MaxTools)
		}
		words = append(words, tools+")")
	}
	if c.Options.Use > 0 {
		words = append(words, fmt.Sprintf("read ahead where a value is used with a probability of at least %g", c.Options.Use))
	}
	switch {
	case c.Action == backtest.DoRegister:
		words = append(words, "register tools when they are needed, and from the start where that pays (awo register)")
	case c.Options.Lazily:
		words = append(words, "register tools when they are needed")
	}
	return strings.Join(words, ", and ")
}

// objectiveWords are what an objective weighs.
var objectiveWords = map[backtest.Objective]string{
	backtest.ObjectiveMoney: "money", backtest.ObjectiveTokens: "tokens", backtest.ObjectiveTurns: "calling turns", backtest.ObjectiveTime: "model time",
}

// amount says how much of an objective is saved, with its interval.
func (f *findings) amount(s *backtest.Saved, o backtest.Objective) string {
	all := &f.result.Techniques[0]
	with := func(metric string, v float64, of string) string {
		whole := func(v float64) string { return report.Grouped(int(math.Round(v))) }
		text := whole(v)
		if i := s.Intervals[metric]; i.Known() {
			text += fmt.Sprintf(" (95 %% %s to %s)", whole(i.Lo), whole(i.Hi))
		}
		return text + of
	}
	switch o {
	case backtest.ObjectiveMoney:
		i := s.Intervals["money_saved"]
		words := cli.Amounts(s.USD, i.Lo, i.Hi, all.USD)
		if i.Known() {
			return fmt.Sprintf("%s (95 %% %s to %s) of %s USD", words[0], words[1], words[2], words[3])
		}
		return fmt.Sprintf("%s of %s USD", words[0], words[3])
	case backtest.ObjectiveTokens:
		return with("tokens_saved", s.Tokens, fmt.Sprintf(" of %s tokens", report.Grouped(int(all.Tokens))))
	case backtest.ObjectiveTime:
		return with("model_seconds_saved", s.Seconds, fmt.Sprintf(" of %s seconds", report.Grouped(int(math.Round(all.Seconds)))))
	}
	return with("calling_turns_saved", s.CallingTurns, fmt.Sprintf(" of %s", cli.CountOf(all.CallingTurns, "calling turn")))
}

// reason says in words what the verdict is, and what it rests on.
func (f *findings) reason(v *backtest.Verdict) string {
	weighed := objectiveWords[v.Objective]
	text := ""
	switch {
	case v.Unknown != "":
		return fmt.Sprintf("there is no verdict: %s (%d) to say what would be saved", v.Unknown, f.result.TestTasks)
	case v.Cell.Action != backtest.DoNothing:
		second := backtest.ObjectiveTurns
		if v.Objective == second {
			second = backtest.ObjectiveMoney
			if f.lacks("cost_saved_usd") != "" {
				second = backtest.ObjectiveTokens
			}
		}
		text = fmt.Sprintf("%s. Used blindly it saves %s and %s", cellWords(&v.Cell), f.amount(&v.Blind, v.Objective), f.amount(&v.Blind, second))
		if v.Blind.LLMCalls < 0 { // turns that call are fewer, and others are more
			text += fmt.Sprintf(", but makes %s more, because registering a tool takes one", cli.CountOf(int(math.Round(-v.Blind.LLMCalls)), "model call"))
		}
		if v.Cell.Options.Select != "" || v.Cell.Action == backtest.DoByAgent && v.Perfect.CallingTurns != v.Blind.CallingTurns {
			text += fmt.Sprintf("; with meta-tools chosen perfectly %s and %s", f.amount(&v.Perfect, v.Objective), f.amount(&v.Perfect, second))
		}
	case v.Considered.Action != backtest.DoNothing:
		text = fmt.Sprintf("do nothing. By %s the best is to %s, which would save %s: that may be a loss", weighed, cellWords(&v.Considered), f.amount(&v.Blind, v.Objective))
	default:
		text = fmt.Sprintf("do nothing. By %s none of %s saves more than the choice of tasks leaves open", weighed, cli.CountOf(v.Tried, "way"))
	}
	if b := f.result.Batch(); b != nil && b.CallingTurnsSaved > 0 {
		s := backtest.Saved{CallingTurns: float64(b.CallingTurnsSaved), Tokens: float64(b.TokensSaved), USD: b.USDSaved, Seconds: b.SecondsSaved, Intervals: map[string]stat.Interval{}}
		for metric, from := range map[string]string{"money_saved": "cost_saved_usd", "tokens_saved": "tokens_saved", "calling_turns_saved": "calling_turns_saved", "model_seconds_saved": "model_seconds_saved"} {
			s.Intervals[metric] = b.Intervals[from]
		}
		saved := f.amount(&s, v.Objective)
		if b.CallingTurnsSaved > 0 && (v.Cell.Action == backtest.DoNothing || better(b, &v.Blind, v.Objective)) {
			text += fmt.Sprintf(". First see whether the agent can make parallel calls: with nothing compiled that would save at most %s", saved)
		}
	}
	return text
}

// better reports whether parallel calls save more than something.
func better(b *backtest.Outcome, than *backtest.Saved, o backtest.Objective) bool {
	switch o {
	case backtest.ObjectiveMoney:
		return b.USDSaved > than.USD
	case backtest.ObjectiveTokens:
		return float64(b.TokensSaved) > than.Tokens
	case backtest.ObjectiveTime:
		return b.SecondsSaved > than.Seconds
	}
	return float64(b.CallingTurnsSaved) > than.CallingTurns
}

// Words are the verdict as the first line of a result, "" without one.
func Words(v *JSON) report.Paragraph {
	if v == nil {
		return ""
	}
	return report.Paragraph("Verdict: " + v.Reason + ".")
}
