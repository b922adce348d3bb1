// Package corpus keeps the trajectories that are mined.
//
// In come trajectories, out go runs: each is a trajectory with its values parsed, the flow of
// its values from call to call, and what rules make of its calls, filled once and never changed.
// In memory are at most so many trajectories as Options say; of more, whole tasks are taken in
// the order of a hash, so that what is kept depends neither on the order of the input nor on its
// division into files. It reads no files and mines nothing.
package corpus

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"iter"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Run is a trajectory to mine. Nobody changes it, and several may read it.
type Run struct {
	*trace.Trajectory
	Flow  *dataflow.Flow // where the arguments of its calls could have come from
	Marks []merge.Mark   // of its calls under the rules; nil without rules
}

// Options say what is kept. The zero value is the default.
type Options struct {
	Rules   *rules.Set // nil for none
	Most    int        // trajectories; 0 means DefaultMost
	Bytes   int64      // of memory, about; 0 means DefaultBytes
	Workers int        // at once; 0 and 1 are the same
}

// Defaults of Options, and how many trajectories of one task are kept.
const (
	DefaultMost  = 5000
	DefaultBytes = 1 << 30
	mostOfTask   = 200
)

// Corpus is what was kept, and of how much.
type Corpus struct {
	Runs                []*Run
	Trajectories, Tasks int // that were seen
	Kept                int // tasks
}

// IsWhole reports whether all that was seen is kept.
func (c *Corpus) IsWhole() bool { return len(c.Runs) == c.Trajectories }

// All yields the trajectories, as those do that read them.
func (c *Corpus) All() iter.Seq2[*trace.Trajectory, error] { return Each(c.Runs) }

// Each yields the trajectories of runs, as those do that read them.
func Each(runs []*Run) iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		for _, r := range runs {
			if !yield(r.Trajectory, nil) {
				return
			}
		}
	}
}

// Links returns the links between the calls of runs.
func Links(runs []*Run) *dataflow.Set {
	links := dataflow.NewLinks()
	for _, r := range runs {
		links.Add(r.Flow)
	}
	return links.Set()
}

// Sampler takes trajectories one after the other. It belongs to one goroutine.
type Sampler struct {
	options Options
	tasks   map[hash]*task // all that were seen; without runs where these are not kept
	kept    []*task        // by rank, the highest first
	seen    int
	count   int   // trajectories kept
	bytes   int64 // of memory that they will take, about
	lists   map[hash][]trace.ToolDef

	limit     hash // the lowest rank for which there is no room, if there is any
	isLimited bool
}

type hash = [sha256.Size]byte

// task is the trajectories of one task.
type task struct {
	rank  hash
	seen  int
	runs  []entry
	isOut bool // there is no room for it
}

// entry is a trajectory that is kept, for now.
type entry struct {
	t       *trace.Trajectory
	number  int // in the order of the input
	bytes   int64
	content hash // once there are more than mostOfTask
}

// NewSampler returns a sampler that has seen nothing.
func NewSampler(o Options) *Sampler {
	o.Most, o.Bytes, o.Workers = cmp.Or(o.Most, DefaultMost), cmp.Or(o.Bytes, DefaultBytes), max(o.Workers, 1)
	return &Sampler{options: o, tasks: map[hash]*task{}, lists: map[hash][]trace.ToolDef{}}
}

// Load keeps what from yields. The error is that of from.
func Load(from iter.Seq2[*trace.Trajectory, error], o Options) (*Corpus, error) {
	s := NewSampler(o)
	for t, err := range from {
		if err != nil {
			return nil, err
		}
		s.Add(t)
	}
	return s.Corpus(), nil
}

// Add shows the sampler a trajectory, of which it keeps a copy, or nothing.
func (s *Sampler) Add(t *trace.Trajectory) {
	s.seen++
	rank := sha256.Sum256([]byte(t.TaskKey()))
	k := s.tasks[rank]
	if k == nil {
		k = &task{rank: rank}
		if k.isOut = s.isLimited && bytes.Compare(rank[:], s.limit[:]) > 0; !k.isOut {
			at, _ := slices.BinarySearchFunc(s.kept, k, higher)
			s.kept = slices.Insert(s.kept, at, k)
		}
		s.tasks[rank] = k
	}
	k.seen++
	if k.isOut {
		return
	}
	e := entry{t: t.Own(s.tools(t.Tools)), number: s.seen, bytes: memoryOf(t)}
	k.runs = append(k.runs, e)
	s.count, s.bytes = s.count+1, s.bytes+e.bytes
	if len(k.runs) > mostOfTask {
		s.thin(k)
	}
	for len(s.kept) > 1 && (s.count > s.options.Most || s.bytes > s.options.Bytes) {
		s.drop()
	}
}

// higher orders tasks by rank, the highest first.
func higher(a, b *task) int { return bytes.Compare(b.rank[:], a.rank[:]) }

// drop gives up the task of the highest rank.
func (s *Sampler) drop() {
	k := s.kept[0]
	for i := range k.runs {
		s.count, s.bytes = s.count-1, s.bytes-k.runs[i].bytes
	}
	k.runs, k.isOut, s.limit, s.isLimited = nil, true, k.rank, true
	s.kept = slices.Delete(s.kept, 0, 1)
}

// thin takes from a task the trajectory with the highest hash of its content.
func (s *Sampler) thin(k *task) {
	last := 0
	for i := range k.runs {
		if e := &k.runs[i]; e.content == (hash{}) {
			e.content = contentOf(e.t)
		}
		if compare(&k.runs[i], &k.runs[last]) > 0 {
			last = i
		}
	}
	s.count, s.bytes = s.count-1, s.bytes-k.runs[last].bytes
	k.runs = slices.Delete(k.runs, last, last+1)
}

// compare orders the trajectories of a task by content; those of equal content by ID.
func compare(a, b *entry) int {
	return cmp.Or(bytes.Compare(a.content[:], b.content[:]), cmp.Compare(a.t.ID, b.t.ID), cmp.Compare(a.number, b.number))
}

// contentOf returns the hash of what was called and answered.
func contentOf(t *trace.Trajectory) hash {
	h := sha256.New()
	var room []byte
	for i := range t.Calls {
		c := &t.Calls[i]
		room = room[:0]
		if c.Tool != (trace.Name{}) {
			room = append(room, c.Tool.Value()...)
		}
		room = c.AppendCanonicalArgs(append(room, 0))
		h.Write(append(append(room, 0), c.Result.Data...))
	}
	return hash(h.Sum(nil))
}

// memoryOf returns about how many bytes a trajectory takes as a run.
func memoryOf(t *trace.Trajectory) int64 {
	n := 2048 + 128*len(t.Turns)
	for i := range t.Messages {
		n += len(t.Messages[i].Text.Data)
	}
	for i := range t.Calls {
		n += 2048 + 8*(len(t.Calls[i].Args.Data)+len(t.Calls[i].Result.Data))
	}
	return int64(n)
}

// tools returns a list of definitions that is kept once.
func (s *Sampler) tools(list []trace.ToolDef) []trace.ToolDef {
	if len(list) == 0 {
		return list
	}
	h := sha256.New()
	for i := range list {
		d := &list[i]
		h.Write(append([]byte(d.Name.Value()), 0))
		for _, r := range [...]trace.Raw{d.Description, d.Input, d.Output, d.Annotations} {
			h.Write(append([]byte{byte(r.Form)}, r.Data...))
		}
		if d.Deferred {
			h.Write([]byte{1})
		}
	}
	key := hash(h.Sum(nil))
	if s.lists[key] == nil {
		s.lists[key] = trace.OwnTools(list)
	}
	return s.lists[key]
}

// Corpus ends sampling: it fills the runs, in the order of the ranks of their tasks and then of
// their content, so that nothing that is mined depends on the order of the input.
func (s *Sampler) Corpus() *Corpus {
	out := &Corpus{Trajectories: s.seen, Tasks: len(s.tasks), Kept: len(s.kept)}
	var list []entry
	for _, k := range slices.Backward(s.kept) {
		for i := range k.runs {
			k.runs[i].content = contentOf(k.runs[i].t)
		}
		slices.SortFunc(k.runs, func(a, b entry) int { return compare(&a, &b) })
		list = append(list, k.runs...)
	}
	s.tasks, s.kept, s.lists = nil, nil, nil
	out.Runs = fill(list, &s.options)
	return out
}

// fill works out of trajectories what mining asks for.
func fill(list []entry, o *Options) []*Run {
	var collector dataflow.Collector
	var rewriter *merge.Rewriter
	if o.Rules != nil {
		rewriter = merge.NewRewriter(o.Rules, merge.Full(o.Rules), &merge.Labels{}, nil)
	}
	runs := make([]*Run, 0, len(list))
	for r := range par.Map(o.Workers, slices.Values(list), func(e entry) *Run {
		e.t.Parse()
		return &Run{Trajectory: e.t, Flow: collector.Collect(e.t)}
	}) {
		if rewriter != nil {
			r.Marks = merge.Marks(r.Trajectory, rewriter.Rewrite(r.Trajectory))
		}
		runs = append(runs, r)
	}
	return runs
}

// Filled returns runs of copies of trajectories, all of them in their order.
func Filled(list []*trace.Trajectory, o Options) []*Run {
	entries := make([]entry, len(list))
	for i, t := range list {
		entries[i] = entry{t: t.Own(t.Tools)}
	}
	o.Workers = max(o.Workers, 1)
	return fill(entries, &o)
}
