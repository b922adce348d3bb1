package predict

import (
	"math"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// A meta-tool changes no probability, is named where its first call is likely, and
// survives the file; a tool of its name that is called is like any other.
func TestMetaToolsAreNodes(t *testing.T) {
	plain := graphOf(3, trajectoryOf("a", "a", "b", "c"), trajectoryOf("b", "a", "b", "c", "a", "b"))
	g := plain.Clone()
	g.Compose(MetaTool{Name: trace.Intern("a_then_b"), Description: "Both.", First: trace.Intern("a"), Required: []string{"x"}, Effect: EffectReads, Counts: Counts{OK: 2, Failed: 1}})
	was, m := plain.Model(ModelOptions{}), g.Model(ModelOptions{})
	s, err := Read("x", m.AppendSnapshot(nil, g))
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*Model{"compiled": m, "read": s.Model} {
		p, q := make([]float64, was.Alphabet()), make([]float64, m.Alphabet())
		calls := []trace.Name{trace.Intern("b"), trace.Intern("c")}
		was.Distribution(was.ContextOf(0, calls), p)
		m.Distribution(m.ContextOf(0, calls), q)
		for i := range was.Tools() {
			tool := was.Tools()[i].Name
			if a, b := p[was.Symbol(tool)], q[m.Symbol(tool)]; math.Abs(a-b) > 1e-15 {
				t.Errorf("%s: %s has probability %v, without the meta-tool %v", name, tool.Value(), b, a)
			}
		}
		if got := q[m.Symbol(trace.Intern("a_then_b"))]; got != 0 {
			t.Errorf("%s: the meta-tool is an outcome of probability %v", name, got)
		}
		h := NewHistory(trajectoryOf("x", "b", "c"))
		d := h.Now()
		predictor := NewPredictor(m, PredictorOptions{})
		got := predictor.MetaTools(h, &d)
		m.Distribution(m.ContextOf(d.State, h.Before(d.Before)), q)
		want := q[m.Symbol(trace.Intern("a"))] * 3 / 3 // every call of a begins an occurrence
		if len(got) != 1 || got[0].Tool.Value() != "a_then_b" || math.Abs(got[0].Probability-want) > 1e-15 {
			t.Errorf("%s: %v, and its first call has probability %v", name, got, want)
		}
		for _, x := range predictor.Offers(h, &d, m.Alphabet()) {
			if x.Symbol == got[0].Symbol && x.Probability != 0 {
				t.Errorf("%s: the meta-tool is offered as an outcome", name)
			}
		}
		none := NewPredictor(m, PredictorOptions{Available: func(n trace.Name) bool { return n.Value() != "a_then_b" }})
		if got := none.MetaTools(h, &d); got != nil {
			t.Errorf("%s: %v, though it is not available", name, got)
		}
	}
	h := NewHistory(trajectoryOf("x"))
	d := h.Now()
	g.Merge(graphOf(3, trajectoryOf("c", "a_then_b", "c")))
	if got := NewPredictor(g.Model(ModelOptions{}), PredictorOptions{}).MetaTools(h, &d); got != nil {
		t.Errorf("%v, though traces call it", got)
	}
}
