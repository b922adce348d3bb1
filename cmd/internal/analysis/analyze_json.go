package analysis

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// figures are those of `awo analyze`.
type figures struct {
	Input     cli.InputJSON     `json:"input"`
	Summaries int               `json:"summaries,omitempty"` // that were read in place of traces
	HMax      stat.Figure       `json:"h_max_bits"`
	H1Paper   stat.Figure       `json:"h1_paper_bits"`
	Selection entropy.Selection `json:"selection"`
	HeldOut   *entropy.HeldOut  `json:"held_out"`
	Verdict   entropy.Verdict   `json:"verdict"`
	Sources   *sourceTotals     `json:"sources,omitempty"` // with --sources
}

// order is an order with its held-out loss.
type order struct {
	entropy.Order
	HeldOut stat.Estimate `json:"held_out_bits"`
}

// successor is what came next after a context.
type successor struct {
	Context      []string      `json:"context"`
	N            uint64        `json:"n"`             // how often the context occurs
	ContextShare float64       `json:"context_share"` // of the windows of its length
	Bits         float64       `json:"bits"`          // plug-in, of the context
	Tool         string        `json:"tool"`
	Count        uint64        `json:"count"`
	Share        stat.Estimate `json:"share"` // a bootstrap over tasks
}

type topShares struct {
	K      int                `json:"k"`
	Shares []entropy.TopShare `json:"shares"`
}

type variant struct {
	Tools        []string `json:"tools"`
	Trajectories int      `json:"trajectories"`
	Share        float64  `json:"share"` // of the trajectories with calls
}

type group struct {
	Group        string      `json:"group"`
	Trajectories int         `json:"trajectories"`
	Calls        int         `json:"calls"`
	H0           stat.Figure `json:"h0_bits"`
	H1           stat.Figure `json:"h1_bits"`
}

type shift struct {
	Groups [2]string `json:"groups"`
	entropy.Difference
}

// figures returns what stands in no table.
func (f *findings) figures(in *cli.Intake) figures {
	a := &f.analysis
	out := figures{Input: in.JSON(), Summaries: in.Summaries(), HMax: a.HMax, H1Paper: a.H1Paper, Selection: a.Selection, HeldOut: a.HeldOut, Verdict: a.Verdict}
	if f.sources != nil {
		out.Sources = &f.sources.sourceTotals
	}
	return out
}

// successors returns what came next after each context.
func (f *findings) successors() (rows []successor) {
	for _, c := range f.contexts {
		for _, s := range c.Next {
			row := successor{Context: f.names(c.Symbols), N: c.N, ContextShare: c.Share, Bits: c.Bits, Tool: f.name(s.Symbol), Count: s.N}
			if row.Share = (stat.Estimate{Figure: stat.Known(s.Share), Interval: s.Interval}); !f.intervals {
				row.Share.Interval = stat.NoInterval(tooManyContexts)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// variantsMost is how many variants are listed: most are seen once.
const variantsMost = 100

// noHeldOut is why a held-out loss is not known.
const noHeldOut = "a held-out loss needs at least two tasks with calls"

// orders returns each order with its held-out loss.
func (f *findings) orders() []order {
	return cli.Map(f.analysis.Orders, func(o *entropy.Order) order {
		if h, ok := f.heldOut(o.K); ok {
			return order{*o, stat.Estimate{Figure: h.Bits, Interval: h.Interval}}
		}
		return order{*o, stat.Estimate{Figure: stat.Unknown(noHeldOut), Interval: stat.NoInterval(noHeldOut)}}
	})
}

// commonest returns the commonest sequences of tools, of so many trajectories with calls.
func (f *findings) commonest(calling int) []variant {
	return cli.Map(f.variants[:min(len(f.variants), variantsMost)], func(v *trace.Variant) variant {
		return variant{f.names(v.Tools), v.Trajectories, float64(v.Trajectories) / float64(calling)}
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
