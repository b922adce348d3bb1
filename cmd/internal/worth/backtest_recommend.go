package worth

import (
	"fmt"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// single is the technique that saves most, chosen in hindsight.
type single struct {
	Technique string    `json:"technique"` // none for doing nothing
	Threshold int       `json:"threshold"`
	Select    string    `json:"select"`
	Reason    string    `json:"reason"`
	Cheapest  *cheapest `json:"cheapest"` // what saves most money, or tokens without a price; null if nothing does
}

// cheapest is a technique.
type cheapest struct {
	Technique    string      `json:"technique"`
	TurnsSaved   int         `json:"calling_turns_saved"`
	TokensSaved  stat.Figure `json:"tokens_saved"`
	CostSavedUSD stat.Figure `json:"cost_saved_usd"`
}

// options are what is recommended and its options, none for what needs no compiler.
func (r *single) options() string {
	if r.Technique == "batch" {
		return "batch, which is parallel tool calls and nothing to compile"
	}
	return fmt.Sprintf("%s, --threshold %d, --select %s", r.Technique, r.Threshold, r.Select)
}

// inHindsight says which technique saves most, and which saves most money.
func (f *BacktestFindings) inHindsight() single {
	out := single{Technique: "none", Threshold: f.options.Threshold, Select: f.options.Select}
	if f.best == nil {
		out.Reason = "no technique saves a calling turn or a token on tasks that it was not compiled from"
		return out
	}
	out.Technique = f.best.Name
	out.Reason = f.reason()
	if c, words := f.cheapest(); c != nil {
		out.Cheapest = c
		if c.Technique != out.Technique {
			out.Reason += "; " + words
		}
	}
	return out
}

// reason says why the best technique is recommended.
func (f *BacktestFindings) reason() string {
	switch {
	case f.options.Select == string(backtest.SelectNet) && f.best.Pays():
		return "of single techniques it saves most " + f.unit()
	case f.best.CallingTurnsSaved == 0:
		return "it saves no calling turn, but most " + f.unit()
	}
	text := "it saves most calling turns of those that are replayed"
	if f.best.Name == "batch" {
		text = "it saves most calling turns"
	}
	if i := f.best.Intervals["calling_turns_saved"]; i.Known() {
		text += fmt.Sprintf(": %s, 95 %% interval %s to %s", report.Grouped(f.best.CallingTurnsSaved), report.Grouped(int(i.Lo)), report.Grouped(int(i.Hi)))
	}
	if f.best.Wrong > 0 {
		text += fmt.Sprintf(", and %s taken off", cli.CountOf(f.best.Wrong, "wrong call"))
	}
	switch {
	case f.best.USD > 0 && f.best.USDSaved < 0:
		text += "; by money it costs more than it saves, so register its definitions lazily or take fewer"
	case f.best.USD <= 0 && f.best.TokensSaved < 0:
		text += "; its definitions cost more tokens than it saves, so register them lazily or take fewer"
	}
	return text
}

// unit is what is weighed: money, or tokens where nothing has a price.
func (f *BacktestFindings) unit() string {
	if f.best.USD > 0 {
		return "money"
	}
	return "tokens"
}

// cheapest returns what saves most money of all that was tried, combinations too,
// and says so; nil if nothing saves any.
func (f *BacktestFindings) cheapest() (*cheapest, string) {
	var best *backtest.Outcome
	for i := range f.result.Techniques {
		o := &f.result.Techniques[i]
		if o.Name != "awo-paper" && o.Pays() && (best == nil || o.Cheaper(best)) {
			best = o
		}
	}
	if best == nil {
		return nil, ""
	}
	t := f.technique(best)
	at := &cheapest{best.Name, t.CallingTurnsSaved, t.TokensSaved, t.CostSavedUSD}
	if usd, ok := t.CostSavedUSD.Value(); ok {
		return at, fmt.Sprintf("most money is saved by %s: %s of %s USD", best.Name, cli.Dollars(usd), cli.Dollars(best.USD))
	}
	return at, fmt.Sprintf("most tokens are saved by %s: %s of %s", best.Name, cli.Grouped(best.TokensSaved), cli.Grouped(best.Tokens))
}
