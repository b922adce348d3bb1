package predict

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/trace"
)

// A MetaTool is several calls in one, offered but not called in the traces, which
// made its calls one by one.
type MetaTool struct {
	Name        trace.Name
	Description string
	First       trace.Name // tool of its first call
	Required    []string
	Effect      Effect
	Counts      Counts // occurrences of its calls, by how they ended
}

// Compose makes a meta-tool a node of the graph. It follows nothing and nothing
// follows it: the calls that it stands for were counted as what they were, and
// their probabilities stay as they are. Where traces call a tool of this name, it
// is a tool like any other.
func (g *Graph) Compose(t MetaTool) {
	g.Define(ToolInfo{Name: t.Name, Description: t.Description, Required: t.Required, Schema: true})
	g.Declare(t.Name, t.Effect)
	node := &g.tools[g.symbol(t.Name)]
	node.counts.Add(t.Counts)
	node.begin(t.First)
	g.symbol(t.First)
}

// begin notes the first call of a meta-tool; of several, as of shards that gave
// one name to two meta-tools, the first by name.
func (t *tool) begin(first trace.Name) {
	if first != noName && (t.first == noName || cmp.Compare(first.Value(), t.first.Value()) < 0) {
		t.first = first
	}
}

// meta reports whether the node is a meta-tool that no trace calls.
func (t *Tool) meta() bool { return t.First != noName && t.Calls == 0 }

// Outcome returns the symbol of what was called, 0 for a tool that is no outcome of
// the model: one that it does not know, or only as a meta-tool.
func (m *Model) Outcome(name trace.Name) uint32 {
	s := m.symbols[name]
	if m.tools[s].meta() {
		return NoneSymbol
	}
	return s
}

// noteMeta notes which symbols are meta-tools.
func (m *Model) noteMeta() {
	for s := 1; s < len(m.tools); s++ {
		if m.tools[s].meta() {
			m.meta = append(m.meta, uint32(s))
		}
	}
}

// MetaTools returns the meta-tools that may stand for what comes next, the likeliest
// first: how likely their first call is, times how many of its calls began an
// occurrence. It is no outcome beside that call, whose probability it shares.
func (p *Predictor) MetaTools(h *History, d *Decision) []Prediction {
	m := p.model
	if len(m.meta) == 0 {
		return nil
	}
	m.Distribution(m.ContextOf(d.State, h.Before(d.Before)), p.p)
	var out []Prediction
	for _, s := range m.meta {
		t := &m.tools[s]
		if p.options.Available != nil && !p.options.Available(t.Name) {
			continue
		}
		first := m.symbols[t.First]
		calls := float64(m.tools[first].Counts.Total())
		if share := float64(t.Counts.Total()); first != NoneSymbol && share > 0 && calls > 0 {
			out = append(out, Prediction{s, t.Name, p.p[first] * min(share/calls, 1)})
		}
	}
	slices.SortStableFunc(out, func(a, b Prediction) int { return cmp.Compare(b.Probability, a.Probability) })
	return out
}
