package inertia

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/elementary"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// Trained is a graph in parts, by tasks, so that a model can be calibrated on
// tasks that it has not seen.
type Trained struct {
	parts []*Graph
	order int
}

// CalibrationParts are the parts that tasks are dealt into for calibration.
const CalibrationParts = 5

// NewTrained returns the graph of observations, in parts.
func NewTrained(order int, observations []*Observation, part func(task string) int) *Trained {
	t := &Trained{order: order}
	for range CalibrationParts {
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
	apart := make([][]*History, len(t.parts))
	for _, h := range histories {
		i := part(h.t.TaskKey())
		apart[i] = append(apart[i], h)
	}
	return t.calibrated(o, p, apart)
}

// calibrated is Calibrated with the histories by part. The parts are independent pieces of
// work.
func (t *Trained) calibrated(o ModelOptions, p PredictorOptions, apart [][]*History) *Model {
	each := func(n int, do func(i int)) { stat.Run(p.Each, n, do) }
	graphs := make([]*Graph, len(t.parts)) // of the other parts
	each(len(graphs), func(i int) { graphs[i] = t.Graph(i) })
	if o.Order == 0 && !o.NoState && !o.Uniform {
		o = t.choose(o, graphs, apart, each)
	}
	examples := make([][]Example, len(graphs))
	each(len(graphs), func(i int) {
		predictor := NewPredictor(graphs[i].Model(o), p)
		for _, h := range apart[i] {
			examples[i] = predictor.examples(h, examples[i])
			h.forget()
		}
	})
	full := t.Graph(-1).Model(o)
	full.calibration = Calibrate(slices.Concat(examples...))
	return full
}

// choose returns the options under which models of the other parts lose the fewest
// bits on each part; of equal ones the longer contexts. Nothing is filled in, so the
// models have no rules.
func (t *Trained) choose(o ModelOptions, graphs []*Graph, apart [][]*History, each func(n int, do func(i int))) ModelOptions {
	var tries []ModelOptions
	for _, noState := range []bool{false, true} {
		for order := t.order; order >= 1; order-- {
			try := o
			try.Order, try.NoState = order, noState
			tries = append(tries, try)
		}
	}
	lost := make([][]float64, len(graphs)) // by part: of each try each history
	each(len(graphs), func(i int) {
		for _, try := range tries {
			m := graphs[i].contexts(try)
			for _, h := range apart[i] {
				lost[i] = append(lost[i], m.bits(h))
			}
		}
	})
	best, least := o, math.Inf(1)
	for k, try := range tries {
		bits := 0.0
		for i := range lost { // in one order, on which sums of fractions depend
			n := len(apart[i])
			for _, b := range lost[i][k*n : (k+1)*n] {
				bits += b
			}
		}
		if bits < least {
			best, least = try, bits
		}
	}
	return best
}

// bits returns what predicting the turns of a trajectory costs.
func (m *Model) bits(h *History) float64 {
	sum := 0.0
	decisions := h.decisions()
	for i := range decisions {
		d := &decisions[i]
		if d.State == StateInside {
			continue
		}
		outcome := m.Outcome(d.Next)
		if !d.None() && outcome == NoneSymbol {
			outcome = unknownSymbol
		}
		sum -= elementary.Log2(m.probability(m.ContextOf(d.State, h.Before(d.Before)), outcome))
	}
	return sum
}

// Calibration returns how the model judges calls.
func (m *Model) Calibration() Calibration { return m.calibration }

// Add adds an observation to the part of its task.
func (t *Trained) Add(o *Observation, part func(task string) int) { t.parts[part(o.Task)].Add(o) }

// Parts returns the graphs of the parts.
func (t *Trained) Parts() []*Graph { return t.parts }

// Options returns the options that make a model like m.
func (m *Model) Options() ModelOptions {
	return ModelOptions{Order: m.Info.Order, HalfLife: m.Info.HalfLife, NoState: m.Info.NoState}
}

// Compare orders options.
func (o ModelOptions) Compare(p ModelOptions) int {
	return cmp.Or(cmp.Compare(o.Order, p.Order), cmp.Compare(o.HalfLife, p.HalfLife), cmp.Compare(flag(o.NoState), flag(p.NoState)), cmp.Compare(flag(o.Uniform), flag(p.Uniform)))
}

// Effects returns what the model's tools are declared to do.
func (m *Model) Effects() Effects {
	return func(name trace.Name) Effect { return m.tools[m.symbols[name]].Effect }
}

// Offered returns the tools that a trajectory offers, nil if that is not recorded.
func Offered(t *trace.Trajectory) func(trace.Name) bool {
	if len(t.Tools) == 0 {
		return nil
	}
	offered := make(map[trace.Name]bool, len(t.Tools))
	for i := range t.Tools {
		offered[t.Tools[i].Name] = true
	}
	return func(n trace.Name) bool { return offered[n] }
}

// String returns "unknown", "reads" or "writes".
func (e Effect) String() string { return [...]string{"unknown", "reads", "writes"}[e] }

// Day returns the day of the newest trajectory, as 2006-01-02; "" if no time is
// recorded.
func (i ModelInfo) Day() string {
	if i.Newest == 0 {
		return ""
	}
	return time.Unix(int64(i.Newest)*86400, 0).UTC().Format(time.DateOnly)
}

// Followers is a context and what followed it.
type Followers struct {
	State string     `json:"state"` // such as "user+failed"; "" is none of them, "any" the empty context
	Calls []string   `json:"calls"` // newest first; "^" is the start of a trajectory
	Next  []Follower `json:"next"`
}

// A Follower is what followed a context; the tool "" is a turn without a call.
type Follower struct {
	Tool string `json:"tool"`
	Counts
	Share float64 `json:"share"` // given by this context alone
}

// Walk yields every context, breadth first.
func (m *Model) Walk() iter.Seq[Followers] {
	return func(yield func(Followers) bool) {
		parent := make([]uint32, len(m.backoff))
		for n := range m.backoff {
			for c := m.childFrom[n]; c < m.childFrom[n+1]; c++ {
				parent[c] = uint32(n)
			}
		}
		for n := range m.backoff {
			f := Followers{State: "any"}
			for at := uint32(n); at != 0; at = parent[at] {
				symbol := m.childState[at-1]
				switch {
				case parent[at] == 0:
					f.State = State(symbol).String()
				case symbol == startSymbol:
					f.Calls = append(f.Calls, "^")
				default:
					f.Calls = append(f.Calls, nameText(m.tools[symbol].Name))
				}
			}
			slices.Reverse(f.Calls)
			from, to := m.cellsOf(uint32(n))
			for i := from; i < to; i++ {
				f.Next = append(f.Next, Follower{nameText(m.tools[m.cellNext[i]].Name), m.cellScore[i], m.cellShare[i]})
			}
			if !yield(f) {
				return
			}
		}
	}
}

// String returns the names of the states that hold, joined by "+".
func (s State) String() string {
	var parts []string
	for i, name := range [...]string{"user", "failed", "parallel", "inside"} {
		if s&(1<<i) != 0 {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, "+")
}
