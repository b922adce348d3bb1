package predict

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// The parts that tasks are dealt into for calibration, and the bounds of what it is done
// on: trajectories, and bytes of one of them.
const (
	parts       = 2
	maxExamined = 2000
	maxBytes    = 4 << 20
)

// A Learner gathers what trajectories teach: their graph, in parts by tasks, so that a
// model can be calibrated on tasks that it has not seen.
//
// It keeps a copy of what predictions read of at most 2,000 trajectories: those with the
// smallest hashes of seed, task and ID. The result does not depend on the order in which
// trajectories come.
type Learner struct {
	order    int
	seed     uint64
	parts    [parts]*Graph
	examined []examined
	most     int                // trajectories that are examined
	beyond   *[sha256.Size]byte // ranks from here on are not; nil while all are
}

// examined is a trajectory to calibrate on.
type examined struct {
	rank       [sha256.Size]byte
	part       int // of its task
	trajectory *trace.Trajectory
}

// NewLearner returns the learner of contexts of up to order calls, 0 for [DefaultOrder].
func NewLearner(order int, seed uint64) *Learner {
	l := &Learner{order: order, seed: seed, most: maxExamined}
	for i := range l.parts {
		l.parts[i] = NewGraph(order)
	}
	return l
}

// Add adds a trajectory and what it teaches.
func (l *Learner) Add(t *trace.Trajectory, o *Observation) {
	task := append(binary.LittleEndian.AppendUint64(nil, l.seed), o.Task...)
	dealt := sha256.Sum256(task)
	part := int(binary.LittleEndian.Uint64(dealt[:]) % parts)
	l.parts[part].Add(o)
	size := 0
	for i := range t.Calls {
		size += len(t.Calls[i].Args.Data) + len(t.Calls[i].Result.Data)
	}
	if size > maxBytes {
		return
	}
	name := append(append(task, 0), t.ID...)
	for i := range t.Calls {
		name = append(append(name, 0), t.Calls[i].Args.Data...)
	}
	rank := sha256.Sum256(name)
	if l.beyond != nil && bytes.Compare(rank[:], l.beyond[:]) >= 0 {
		return
	}
	if l.examined = append(l.examined, examined{rank, part, predictable(t)}); len(l.examined) >= 2*l.most {
		l.cut()
	}
}

// cut sorts the trajectories that are examined, and leaves out those beyond the bound.
func (l *Learner) cut() {
	slices.SortFunc(l.examined, func(a, b examined) int { return bytes.Compare(a.rank[:], b.rank[:]) })
	if len(l.examined) > l.most {
		first := l.examined[l.most].rank
		l.beyond = &first
		clear(l.examined[l.most:])
		l.examined = l.examined[:l.most]
	}
}

// Graph returns the graph of all trajectories.
func (l *Learner) Graph() *Graph { return l.without(-1) }

// without returns the graph of all parts but one.
func (l *Learner) without(part int) *Graph {
	g := NewGraph(l.order)
	for i, p := range l.parts {
		if i == part {
			continue
		}
		if err := g.Merge(p); err != nil {
			panic(err) // parts are of one order
		}
	}
	return g
}

// Calibration judges calls that models of all parts but one would make in the part left
// out.
func (l *Learner) Calibration(o ModelOptions, p PredictorOptions) Calibration {
	l.cut()
	var examples [parts][]Example
	stat.Run(p.Each, parts, func(part int) {
		predictor := NewPredictor(l.without(part).Model(o), p)
		for _, x := range l.examined {
			if x.part == part {
				examples[part] = predictor.examples(NewHistory(x.trajectory), examples[part])
			}
		}
	})
	return Calibrate(slices.Concat(examples[:]...))
}

// Model returns the model of all trajectories, calibrated on tasks held out.
func (l *Learner) Model(o ModelOptions, p PredictorOptions) *Model {
	return l.Graph().Model(o).Calibrated(l.Calibration(o, p))
}

// predictable returns what predictions read of a trajectory, in memory of its own, so that
// no block of a file is held for the sake of one of its records.
func predictable(t *trace.Trajectory) *trace.Trajectory {
	raw := func(r trace.Raw) trace.Raw { return trace.Raw{Data: bytes.Clone(r.Data), Form: r.Form} }
	out := &trace.Trajectory{ID: strings.Clone(t.ID), Task: strings.Clone(t.TaskKey()), Messages: slices.Clone(t.Messages), Calls: slices.Clone(t.Calls)}
	for i := range t.Turns {
		out.Turns = append(out.Turns, trace.Turn{FirstCall: t.Turns[i].FirstCall, NumCalls: t.Turns[i].NumCalls})
	}
	for i := range out.Messages {
		m := &out.Messages[i]
		*m = trace.Message{Role: m.Role, Turn: m.Turn, Call: m.Call, Text: m.Text}
		if m.Role == trace.RoleUser {
			m.Text = raw(m.Text)
		} else {
			m.Text = trace.Raw{}
		}
	}
	for i := range out.Calls {
		c := &out.Calls[i]
		*c = trace.Call{
			Tool: c.Tool, Turn: c.Turn, HasResult: c.HasResult, Status: c.Status, Origin: c.Origin, AfterUser: c.AfterUser,
			Args: raw(c.Args), Result: raw(c.Result),
		}
	}
	return out
}
