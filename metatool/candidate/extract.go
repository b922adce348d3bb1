package candidate

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// DefaultThreshold is the threshold T of Options that say nothing else.
const DefaultThreshold = 5

// Options say how meta-tools are extracted. The zero value is the default.
type Options struct {
	// Threshold is T of Algorithm 1: how many trajectories must take an edge for
	// it to count. 0 means DefaultThreshold.
	Threshold int

	// AsPublished follows the paper exactly: user messages between calls
	// are ignored, and a chain may grow by an edge that many take, even if few of
	// them came along the chain. Barriers and cuts hold all the same.
	AsPublished bool

	// Gain is for Patterns: what it is worth not to make the turn of that number,
	// an index into Trajectory.Turns, in any unit, counted to nine decimal places.
	// nil counts every turn as 1. It must be pure.
	Gain func(t *trace.Trajectory, turn int) float64

	// Reads is for Patterns: tools that are taken to read only, beside those of
	// which the rules say so; nil for none. It must be pure.
	Reads func(tool trace.Name) bool
}

// MinSupport returns the threshold that holds.
func (o Options) MinSupport() int {
	if o.Threshold <= 0 {
		return DefaultThreshold
	}
	return o.Threshold
}

// Extraction is all meta-tools that were found, and what they add up to.
type Extraction struct {
	Options    Options
	Candidates []*Candidate // in the order in which they were found
	// Overlapping are, of Patterns, further ones that save as much by themselves; what
	// they save is no part of what all candidates together save. The best first.
	Overlapping []*Candidate

	Calls, CallsAfter int // recorded, and with every occurrence as one call
	Turns, TurnsAfter int // that hold a call, likewise
}

// TurnsSaved returns how many calling turns all candidates together save.
func (x *Extraction) TurnsSaved() int { return x.Turns - x.TurnsAfter }

// Candidate is a sequence of calls that could be a meta-tool.
type Candidate struct {
	Labels  []merge.Label // of the calls, in order; two at least. nil if Pattern says what they are
	Pattern []PatternStep // what the calls have in common where their labels differ; nil with Labels

	Support     int          // trajectories that it occurs in
	Occurrences []Occurrence // in order of trajectory, then place

	// TurnsSaved and CallsSaved are by how much the calling turns and the calls
	// become fewer when each occurrence is one call in the turn of its first one:
	// beyond what candidates found before save, unless it overlaps. Parallel calls save no
	// turn.
	TurnsSaved int
	CallsSaved int

	// Overlaps says that occurrences of candidates found before are counted here, too:
	// one of Extraction.Overlapping.
	Overlaps bool
}

// settle puts the occurrences in order and counts their trajectories.
func (c *Candidate) settle() {
	slices.SortFunc(c.Occurrences, func(a, b Occurrence) int { return cmp.Compare(a.First, b.First) })
	c.Support = 0
	last := -1
	for _, o := range c.Occurrences {
		if o.Trajectory != last {
			c.Support, last = c.Support+1, o.Trajectory
		}
	}
}

// Join returns the candidate with the occurrences and savings of another one, of
// which neither overlaps with its own.
func (c *Candidate) Join(other *Candidate) *Candidate {
	joined := *c
	joined.Occurrences = append(slices.Clone(c.Occurrences), other.Occurrences...)
	joined.settle()
	joined.TurnsSaved += other.TurnsSaved
	joined.CallsSaved += other.CallsSaved
	return &joined
}

// Len returns the number of steps.
func (c *Candidate) Len() int { return max(len(c.Labels), len(c.Pattern)) }

// PatternStep is a step of a pattern: calls of one tool whose arguments come
// from the same places.
type PatternStep struct {
	Tool trace.Name // that is called
	Name string     // what the rules call it, mostly the same
	// Each says that the step stands for consecutive calls whose arguments walk
	// one list of an earlier result (of one element, too), and which: the link
	// from the list to the argument.
	Each *dataflow.Link
	From int // with Each: the step in the pattern that gave the list, or -1 if it came from outside
	// Args are the other arguments that come from earlier steps of the pattern.
	Args []PatternArg
}

// PatternArg is an argument of a step that comes from an earlier one.
type PatternArg struct {
	Link *dataflow.Link // from the earlier step's result or arguments
	From int            // the earlier step
}

// Occurrence is one place where the calls of a candidate were made: consecutive
// steps of the walk of a trajectory, from First on. Each step of the candidate
// stands for one of them, or for as many as Counts says.
type Occurrence struct {
	Trajectory int
	First      merge.Place
	Counts     []int32 // by step of the candidate; nil if all are 1
}

// Extract runs Algorithm 1 on the walks of a merged graph, which must have been
// kept:
//
//  1. Seeds are the edges that at least T trajectories take, self-loops left
//     out: by weight, then nearness of their source to the root, then label,
//     source and target.
//  2. From the first seed a chain grows: from its end y to the child z for which
//     w(y,z) is more than half of what leaves y, and at least T, unless z is in
//     the chain. What leaves y counts all trajectories; w(y,z) those in which
//     nothing came between the call and the one before it that the model or the
//     user had to decide on: no user message, barrier or cut. Also, at least T
//     trajectories must follow the whole chain into z.
//  3. A chain of one step, or one that no trajectory follows whole, is no
//     meta-tool: its seed is not tried again. As printed in the paper the
//     algorithm would not end there.
//  4. Wherever the chain is followed whole it becomes one step, which later
//     chains may contain, and the walks are walked anew: until no seed is left.
//
// Equal sequences of calls from different states are one candidate.
func Extract(m *merge.Merged, o Options) *Extraction {
	x := newExtractor(m, o)
	x.run()
	result := &Extraction{
		Options: o, Candidates: x.found,
		Calls: m.Calls, CallsAfter: m.Calls, Turns: m.Turns, TurnsAfter: m.Turns,
	}
	for _, c := range x.found {
		c.settle()
		result.CallsAfter -= c.CallsSaved
		result.TurnsAfter -= c.TurnsSaved
	}
	return result
}

// sequenceKey identifies a sequence of labels.
func sequenceKey(labels []merge.Label) string {
	key := make([]byte, 0, 4*len(labels))
	for _, l := range labels {
		key = binary.LittleEndian.AppendUint32(key, uint32(l))
	}
	return string(key)
}

// Places returns how many steps of the walk an occurrence has.
func (c *Candidate) Places(o *Occurrence) int {
	n := 0
	for k := range c.Len() {
		n += o.Count(k)
	}
	return n
}

// Count returns how many steps of the walk a step of the candidate stands for.
func (o *Occurrence) Count(step int) int {
	if step < len(o.Counts) {
		return int(o.Counts[step])
	}
	return 1
}
