package inertia

import "math"

// Trained is a graph in parts, by tasks, so that a model can be calibrated on
// tasks that it has not seen.
type Trained struct {
	parts []*Graph
	order int
}

// calibrationParts are the parts that tasks are dealt into for calibration.
const calibrationParts = 5

// NewTrained returns the graph of observations, in parts.
func NewTrained(order int, observations []*Observation, part func(task string) int) *Trained {
	t := &Trained{order: order}
	for range calibrationParts {
		t.parts = append(t.parts, NewGraph(order))
	}
	for _, o := range observations {
		t.parts[part(o.Task)].Add(o)
	}
	return t
}

// Graph returns the sum of the parts but one; -1 leaves none out.
func (t *Trained) Graph(without int) *Graph {
	g := NewGraph(t.order)
	for i, p := range t.parts {
		if i == without {
			continue
		}
		if err := g.Merge(p); err != nil {
			panic(err) // parts are of one order
		}
	}
	return g
}

// Calibrated returns the model of all parts, calibrated on each of them in turn by
// models of the others. Unless the options name an order, the order and whether
// states enter contexts are those that lose the least on the parts left out.
func (t *Trained) Calibrated(o ModelOptions, p PredictorOptions, histories []*History, part func(task string) int) *Model {
	if o.Order == 0 && !o.NoState && !o.Uniform {
		o = t.choose(o, histories, part)
	}
	full := t.Graph(-1).Model(o)
	var examples []Example
	for i := range t.parts {
		predictor := NewPredictor(t.Graph(i).Model(o), p)
		for _, h := range histories {
			if part(h.t.TaskKey()) == i {
				examples = predictor.examples(h, examples)
			}
		}
	}
	full.calibration = Calibrate(examples)
	return full
}

// choose returns the options under which models of the other parts lose the fewest
// bits on each part; of equal ones the longer contexts.
func (t *Trained) choose(o ModelOptions, histories []*History, part func(task string) int) ModelOptions {
	graphs := make([]*Graph, len(t.parts))
	for i := range t.parts {
		graphs[i] = t.Graph(i)
	}
	best, least := o, math.Inf(1)
	for _, noState := range []bool{false, true} {
		for order := t.order; order >= 1; order-- {
			try := o
			try.Order, try.NoState = order, noState
			bits := 0.0
			for i, g := range graphs {
				p := NewPredictor(g.Model(try), PredictorOptions{})
				for _, h := range histories {
					if part(h.t.TaskKey()) == i {
						bits += p.bits(h)
					}
				}
			}
			if bits < least {
				best, least = try, bits
			}
		}
	}
	return best
}

// bits returns what predicting the turns of a trajectory costs.
func (p *Predictor) bits(h *History) float64 {
	sum := 0.0
	decisions := h.Decisions()
	for i := range decisions {
		d := &decisions[i]
		if d.State == StateInside {
			continue
		}
		probability := p.model.Distribution(p.model.ContextOf(d.State, h.before(d.Before)), p.p)
		if s := p.model.Symbol(d.Next); d.None() || s != 0 {
			probability = p.p[s]
		}
		sum -= math.Log2(probability)
	}
	return sum
}

// Calibration returns how the model judges calls.
func (m *Model) Calibration() Calibration { return m.calibration }
