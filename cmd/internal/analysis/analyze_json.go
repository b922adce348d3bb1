package analysis

import (
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/process"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
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
		return order{*o, stat.NoEstimate(noHeldOut)}
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

// mergedSteps is the convergence of trajectories on the states of a merged
// graph (AWO, figure 1).
func mergedSteps(m *merge.Merged) []entropy.Step {
	walks := func(yield func([]uint32) bool) {
		var states []uint32
		for _, places := range m.Walks.All() {
			states = states[:0]
			for p := places[0]; p < places[1]; p++ {
				states = append(states, uint32(m.Graph.To(m.Walks.Edge(p))))
			}
			if !yield(states) {
				return
			}
		}
	}
	return append([]entropy.Step{}, entropy.Convergence(walks, convergenceMost)...)
}

// convergenceTables are the convergence by names, and with rules that on merged states.
func convergenceTables(f *findings) []report.Block {
	table := func(id, title string, steps []entropy.Step) *report.Table {
		t := report.TableOf(id, title, steps, []report.Column{
			{Key: "calls"}, {Key: "share", Unit: "%"}, {Key: "n", Title: "in it"}, {Key: "reached", Title: "that came so far"},
		})
		t.Most = 8
		return t
	}
	if f.merged == nil {
		return []report.Block{table("convergence", "", f.steps).Hidden()}
	}
	merged := table("convergence_merged", "How many trajectories are in the commonest state by the rules after so many calls", f.merged)
	merged.Note("Shares are of all trajectories with calls, those that ended earlier included; they are counts, not estimates. Calls are those that the rules leave.")
	return []report.Block{table("convergence", "How many trajectories have made the same calls", f.steps), merged}
}

type tool struct {
	Tool          string         `json:"tool"`
	Calls         int            `json:"calls"`
	Trajectories  int            `json:"trajectories"`
	OK            int            `json:"ok"`
	Failed        int            `json:"failed"`
	StatusUnknown int            `json:"status_unknown"`
	ErrorRate     stat.Estimate  `json:"error_rate"`
	NextBits      stat.Figure    `json:"next_bits"` // plug-in entropy of what follows it
	Latency       process.Spread `json:"latency_seconds"`
	Result        process.Spread `json:"result_bytes"`
	Turns         int            `json:"turns"`            // that call it
	TurnsUsage    int            `json:"turns_with_usage"` // of these
	InputTokens   stat.Figure    `json:"input_tokens_per_turn"`
	OutputTokens  stat.Figure    `json:"output_tokens_per_turn"`
}

// noUsage is why tokens of turns are not known.
const noUsage = "no tokens are recorded"

// tools returns what is known of each tool that a model called, most calls
// first.
func (f *findings) tools() []tool {
	next := map[string]stat.Figure{}
	for _, c := range entropy.Contexts(f.counts, entropy.ContextOptions{Top: 1}) {
		next[f.name(c.Symbols[0])] = stat.Known(c.Bits)
	}
	profiles := map[string]*completeness.ToolProfile{}
	for _, p := range f.profile.Tools() {
		profiles[p.Name] = p
	}
	var out []tool
	for _, s := range f.facts.Tools() {
		if s.Calls == 0 {
			continue
		}
		p := profiles[s.Name]
		one := tool{
			Tool: s.Name, Calls: s.Calls, Trajectories: s.Trajectories, OK: s.OK, Failed: s.Failed, StatusUnknown: s.StatusUnknown,
			ErrorRate: stat.ShareOf(s.Failed, s.Judged(), "the traces do not say which calls failed"), NextBits: stat.Unknown("nothing ever follows it"),
			Latency: process.SpreadOf(&p.Latency, float64(time.Second), "no times are recorded"), Result: process.SpreadOf(&p.Result, 1, "no result is recorded"),
			Turns: p.Turns, TurnsUsage: p.TurnsUsage, InputTokens: stat.Ratio(int(p.Input), p.TurnsUsage, noUsage), OutputTokens: stat.Ratio(int(p.Output), p.TurnsUsage, noUsage),
		}
		if bits, ok := next[s.Name]; ok {
			one.NextBits = bits
		}
		out = append(out, one)
	}
	return out
}

// toolTable is what is known of each tool: how often and how well it was called, and what its
// calls took, with columns for what some trace records.
func toolTable(f *findings) *report.Table {
	tools, unknown := f.tools(), 0
	result, latency, tokens := false, false, false
	for _, t := range tools {
		unknown += t.StatusUnknown
		result, latency, tokens = result || t.Result.N > 0, latency || t.Latency.N > 0, tokens || t.TurnsUsage > 0
	}
	table := report.TableOf("tools", "", tools, []report.Column{
		{Key: "tool", Max: 44},
		{Key: "calls"},
		{Key: "trajectories", Title: "in trajectories"},
		{Key: "error_rate", Title: "failed", Unit: "%"},
		{Key: "next_bits", Title: "bits after it", Digits: 2},
		{Key: "result_bytes_median", From: "result_bytes.median", Title: "result", Unit: "bytes", Hide: !result, Rank: 1},
		{Key: "result_bytes_p95", From: "result_bytes.p95", Title: "95 % below", Unit: "bytes", Hide: !result, Rank: 3},
		{Key: "latency_median", From: "latency_seconds.median", Title: "took", Unit: "s", Digits: 2, Hide: !latency, Rank: 1},
		{Key: "latency_p95", From: "latency_seconds.p95", Title: "95 % below", Unit: "s", Digits: 2, Hide: !latency, Rank: 3},
		{Key: "input_tokens", From: "input_tokens_per_turn", Title: "in a turn", Unit: "tokens", Hide: !tokens, Rank: 2},
		{Key: "output_tokens", From: "output_tokens_per_turn", Title: "out a turn", Unit: "tokens", Hide: !tokens, Rank: 2},
	})
	table.Most = cli.ToolsShown
	table.Note("Bits after it: plug-in entropy of the next tool, too low for tools with few calls. Tools that are called often and leave little open are where routines are.")
	table.NoteIf(result || latency, "Result and took are medians. Every later turn reads results again.")
	table.NoteIf(tokens, "Tokens are means over the model turns that call the tool; a turn that calls several counts for each of them.")
	table.NoteIf(unknown > 0, "%s of unknown status count neither as failed nor as successful.", cli.CountOf(unknown, "call"))
	return table.IfAny()
}
