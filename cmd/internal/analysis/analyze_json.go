package analysis

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/comparing"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// JSON is the JSON of `awo analyze`; docs/artefacts.md describes it.
type JSON struct {
	Schema     string              `json:"schema"`
	Input      cli.InputJSON       `json:"input"`
	Summaries  int                 `json:"summaries,omitempty"` // that were read in place of traces
	Findings   []cli.Finding       `json:"findings"`
	HMax       stat.Figure         `json:"h_max_bits"`
	Orders     []orderJSON         `json:"orders"`
	H1Paper    stat.Figure         `json:"h1_paper_bits"`
	Tests      []entropy.Test      `json:"tests"`
	Selection  entropy.Selection   `json:"selection"`
	HeldOut    *entropy.HeldOut    `json:"held_out"`
	Verdict    entropy.Verdict     `json:"verdict"`
	Successors []contextJSON       `json:"successors"`
	TopShares  []topSharesJSON     `json:"top_shares"`
	Tools      []toolJSON          `json:"tools"`
	Habits     []habitJSON         `json:"habits"` // most certain first
	Variants   []variantJSON       `json:"variants"`
	Converge   []entropy.Step      `json:"convergence"`
	Merged     []entropy.Step      `json:"convergence_merged,omitempty"` // with --rules
	Rework     []reworkJSON        `json:"rework"`
	Sources    *sourcesJSON        `json:"sources,omitempty"` // with --sources
	Chains     []chainJSON         `json:"chains,omitempty"`  // with --chains
	Groups     []groupJSON         `json:"groups,omitempty"`
	Within     []entropy.Test      `json:"tests_within_groups,omitempty"`
	Shifts     []shiftJSON         `json:"differences,omitempty"`
	Backtest   *worth.BacktestJSON `json:"backtest,omitempty"`   // of awo report
	Cost       *worth.CostJSON     `json:"cost,omitempty"`       // of awo report
	Process    *ProcessJSON        `json:"process,omitempty"`    // of awo report
	Comparison *comparing.JSON     `json:"comparison,omitempty"` // of awo report
}

// orderJSON is an order with its held-out loss beside it.
type orderJSON struct {
	entropy.Order
	HeldOut  stat.Figure   `json:"held_out_bits"`
	Interval stat.Interval `json:"held_out_interval"`
}

type contextJSON struct {
	Context []string        `json:"context"`
	N       uint64          `json:"n"`
	Share   float64         `json:"share"`
	Bits    float64         `json:"bits"` // plug-in
	Top     []successorJSON `json:"top"`
}

type successorJSON struct {
	Tool  string  `json:"tool"`
	Count uint64  `json:"count"`
	Share float64 `json:"share"`
	// Interval is a bootstrap over tasks; null with fewer than five of them, and
	// where too many contexts are listed for intervals.
	Interval stat.Interval `json:"interval"`
}

type topSharesJSON struct {
	K      int                `json:"k"`
	Shares []entropy.TopShare `json:"shares"`
}

type variantJSON struct {
	Tools        []string `json:"tools"`
	Trajectories int      `json:"trajectories"`
	Share        float64  `json:"share"` // of the trajectories with calls
}

type reworkJSON struct {
	Kind         string   `json:"kind"`
	Tools        []string `json:"tools"`
	Occurrences  int      `json:"occurrences"`
	Trajectories int      `json:"trajectories"`
	Turns        int      `json:"calling_turns"`
	// Tokens are those of the turns that record them, input and output.
	TurnsUsage int         `json:"turns_with_usage"`
	Tokens     stat.Figure `json:"tokens"`
}

type groupJSON struct {
	Group        string      `json:"group"`
	Trajectories int         `json:"trajectories"`
	Calls        int         `json:"calls"`
	H0           stat.Figure `json:"h0_bits"`
	H1           stat.Figure `json:"h1_bits"`
}

type shiftJSON struct {
	Groups [2]string `json:"groups"`
	entropy.Difference
}

// analysisResult shapes the findings as JSON.
func analysisResult(in *cli.Intake, f *findings) JSON {
	a := &f.analysis
	out := JSON{
		Schema: "awo.analysis/v1", Input: in.JSON(), Summaries: in.Summaries(), Findings: in.Findings.List(), HMax: a.HMax, H1Paper: a.H1Paper, Tests: a.Tests,
		Selection: a.Selection, HeldOut: a.HeldOut, Verdict: a.Verdict, Converge: f.steps, Merged: f.merged, Habits: f.habits(), Within: f.within, Sources: f.sources, Chains: f.chains,
		Orders: f.orders(), Tools: f.tools(), Rework: f.reworked(), Groups: f.groups, Shifts: f.shifts, Variants: f.commonest(in.Tally.Trajectories-in.Tally.Empty, variantsMost),
	}
	for _, c := range f.contexts {
		context := contextJSON{Context: f.names(c.Symbols), N: c.N, Share: c.Share, Bits: c.Bits}
		for _, s := range c.Next {
			context.Top = append(context.Top, successorJSON{Tool: f.name(s.Symbol), Count: s.N, Share: s.Share, Interval: s.Interval})
		}
		out.Successors = append(out.Successors, context)
	}
	for i, shares := range f.topShares {
		out.TopShares = append(out.TopShares, topSharesJSON{K: i + 1, Shares: shares})
	}
	return out
}

// variantsMost is how many variants JSON lists: most are seen once.
const variantsMost = 100

// noHeldOut is why a held-out loss is not known.
const noHeldOut = "a held-out loss needs at least two tasks with calls"

// orders returns each order with its held-out loss.
func (f *findings) orders() []orderJSON {
	return cli.Map(f.analysis.Orders, func(order *entropy.Order) orderJSON {
		if h, ok := f.heldOut(order.K); ok {
			return orderJSON{*order, h.Bits, h.Interval}
		}
		return orderJSON{*order, stat.Unknown(noHeldOut), stat.NoInterval("no held-out loss, no interval")}
	})
}

// commonest returns the commonest sequences of tools, of so many trajectories with calls.
func (f *findings) commonest(calling, most int) []variantJSON {
	return cli.Map(f.variants[:min(len(f.variants), most)], func(v *trace.Variant) variantJSON {
		return variantJSON{f.names(v.Tools), v.Trajectories, float64(v.Trajectories) / float64(calling)}
	})
}

// heldOut returns the held-out loss of an order, if there is one.
func (f *findings) heldOut(k int) (entropy.HeldOutOrder, bool) {
	h := f.analysis.HeldOut
	if h == nil || h.N == 0 || k >= len(h.Orders) {
		return entropy.HeldOutOrder{}, false
	}
	return h.Orders[k], true
}

func (f *findings) name(symbol uint32) string { return f.corpus.Tools()[symbol].Value() }

func (f *findings) names(symbols []uint32) []string {
	out := make([]string, len(symbols))
	for i, s := range symbols {
		out[i] = f.name(s)
	}
	return out
}
