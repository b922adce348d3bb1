package inertia

import (
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// Lessons are what trajectories teach a model that is calibrated: their graph, in parts by
// tasks, and a sample of them.
//
// Lessons add up. Merging is associative and commutative, Lessons of no trajectory are
// neutral, and those of the parts of some trajectories, merged in any order, give the same
// bytes and the same model as those of all: counts are sums, and the sample is of the
// trajectories with the smallest hashes (see [Sample]), so that of a union is in those of
// its parts. What was written holds digests of the sampled trajectories, with none of their
// values, and names and counts.
//
// Memory, and the file, grow with contexts, days and links, which are habits, and not with
// calls; the sample is bounded.
type Lessons struct {
	order   int
	seed    uint64
	part    func(task string) int
	trained *Trained
	sample  *Sample
}

// NewLessons returns the lessons of no trajectory, for contexts of up to order calls; seed
// deals tasks into parts and draws the sample.
func NewLessons(order int, seed uint64) *Lessons {
	part := holdout.HashFolds(CalibrationParts, seed).Of
	return &Lessons{order: order, seed: seed, part: part, trained: NewTrained(order, nil, part), sample: NewSample(seed)}
}

// Add adds a trajectory and what it teaches.
func (l *Lessons) Add(t *trace.Trajectory, o *Observation) {
	l.trained.Add(o, l.part)
	l.sample.Add(t)
}

// Fits reports whether lessons are of contexts of the same length and of the same seed.
func (l *Lessons) Fits(o *Lessons) bool { return l.order == o.order && l.seed == o.seed }

// Merge adds lessons that fit, and that stay as they are.
func (l *Lessons) Merge(o *Lessons) {
	for i, g := range l.trained.parts {
		if err := g.Merge(o.trained.parts[i]); err != nil {
			panic(err) // lessons that fit are of one order
		}
	}
	l.sample.Merge(o.sample)
}

// Trained returns the graph in parts.
func (l *Lessons) Trained() *Trained { return l.trained }

// Model returns the model of all parts, calibrated on the sample, see
// [Trained.Calibrated]. Adapter rules read values, so with them the lessons must not have
// been read; it is false of those that were.
func (l *Lessons) Model(o ModelOptions, p PredictorOptions) (*Model, bool) {
	apart := make([][]*History, CalibrationParts)
	known := l.trained.Graph(-1).vocabulary()
	for _, x := range l.sample.sorted() {
		var h *History
		if p.Fill.Adapter == nil {
			h = readDigest(x.digested(), x.size, known)
		} else if x.trajectory != nil {
			h = NewHistory(x.trajectory)
		}
		if h == nil {
			return nil, false
		}
		apart[x.part] = append(apart[x.part], h)
	}
	return l.trained.calibrated(o, p, apart), true
}
