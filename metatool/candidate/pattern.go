package candidate

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// MaxPatternSteps is the largest number of steps of a pattern.
const MaxPatternSteps = 12

// Patterns finds chains that recur wherever they start: steps that call the same
// tools and take their arguments from the same places of each other's results.
// Algorithm 1 binds chains to states instead, and misses what many different
// histories lead to.
//
// First, consecutive calls of one tool whose argument walks a list of one
// earlier result become one step. Then, from every step on, the steps that
// follow are read as symbols: the tool, and for each argument the accepted link
// to an earlier step of the same pattern that gives it, else that it comes from
// outside. A pattern ends before
//
//   - a user message, a barrier or a cut,
//   - a call that failed, or that rules inserted or joined with others,
//   - a call that it already holds, with the same arguments, and any other call that
//     repeats one of the trajectory with nothing changed between,
//   - an argument from outside that was not known before the pattern began
//     (see [dataflow.Flow.KnownBefore]), unless all calls of the tool have the
//     same value there, and nothing told it; links that cannot be bound (Judge) count as outside.
//
// A meta-tool that held such a step could not be called, however often its
// calls are made in a row.
//
// Last, the pattern of 2 to [MaxPatternSteps] steps with the largest gain over
// its occurrences, in T trajectories at least, becomes one step everywhere, from
// left to right; then the next one, which may contain it, until none gains
// anything. Gain is in calling turns, or what Options.Gain says. Every pattern
// is looked at, and not only pairs that grow (Re-Pair): of k parallel calls no
// two save a turn, but a pattern that ends with all of them saves theirs.
//
// Symbols may be called concurrently, Add by one goroutine in the order of the
// walks. Memory is 12 bytes a step on top of the walks, and what differs between
// steps; 8 more for each turn with Options.Gain. Extraction needs 22 bytes more a
// step, and some 50 for every pattern that T trajectories have.
type Patterns struct {
	merged  *merge.Merged
	set     *dataflow.Set
	options Options

	tools  []patternTool // by number
	toolOf []int32       // label -> tool, or noSymbol
	linkOf map[*dataflow.Link]int32
	usable []bool // by link: whether it may ever be bound
	// constant are the parameters that have one value in all calls.
	constant map[dataflow.Slot]bool

	schemas *dataflow.Schemas

	judgments []dataflow.Judgment
	judged    bool

	signatures []signature
	known      map[string]int32 // encoded signature -> number
	buffer     []byte

	// By step, in the order of the walks.
	symbol     []int32 // index into signatures, or noSymbol
	place      []place // the first place of the walks that the step stands for
	trajectory []uint32

	worth   []int64 // by calling turn, if a gain is given
	offsets []int   // by trajectory: where its turns begin in worth
	next    int     // the trajectory that Add expects
}

// place is a merge.Place in half the memory.
type place uint32

// noSymbol marks a step that no pattern contains.
const noSymbol int32 = -1

// patternTool is what tells tools apart in symbols.
type patternTool struct {
	tool                 trace.Name
	name                 string
	readOnly, idempotent bool
}

// NewPatterns returns a finder of patterns in the walks of a merged graph, which
// must have been kept, with the links of the same trajectories.
func NewPatterns(m *merge.Merged, set *dataflow.Set, o Options) *Patterns {
	p := &Patterns{
		merged: m, set: set, options: o,
		linkOf: make(map[*dataflow.Link]int32, len(set.Links)), usable: make([]bool, len(set.Links)),
		known: map[string]int32{}, constant: map[dataflow.Slot]bool{}, schemas: &dataflow.Schemas{},
	}
	for i := range set.Links {
		k := &set.Links[i]
		p.linkOf[k] = int32(i)
		p.usable[i] = mayBind(k)
	}
	for i := range set.Params {
		if s := &set.Params[i]; s.Values == 1 && !s.AtLeast {
			p.constant[s.Param] = true
		}
	}
	if n := m.Walks.Trajectories(); n > 0 {
		_, end := m.Walks.Of(n - 1)
		p.symbol, p.place, p.trajectory = make([]int32, 0, end), make([]place, 0, end), make([]uint32, 0, end)
	}
	numbers := map[patternTool]int32{}
	p.toolOf = make([]int32, m.Labels.Len())
	for l := range p.toolOf {
		label := merge.Label(l)
		tool, sole := m.Labels.Tool(label)
		if p.toolOf[l] = noSymbol; !sole || !m.Labels.HasArgs(label) {
			continue
		}
		readOnly := m.Labels.ReadOnly(label) || o.Reads != nil && o.Reads(tool)
		t := patternTool{tool, m.Labels.Name(label), readOnly, readOnly || m.Labels.Idempotent(label)}
		id, ok := numbers[t]
		if !ok {
			id = int32(len(p.tools))
			numbers[t] = id
			p.tools = append(p.tools, t)
		}
		p.toolOf[l] = id
	}
	return p
}

// mayBind reports whether a link could give an argument: it must be accepted, or
// refused only as a coincidence that a key may prove to be none.
func mayBind(k *dataflow.Link) bool {
	if k.From.Side != dataflow.Output && k.From.Side != dataflow.Input || k.Relation > dataflow.Template {
		return false
	}
	if k.Verdict == dataflow.Accepted {
		return true
	}
	if k.Verdict == dataflow.Chance {
		for i := range k.Choices {
			if kind := k.Choices[i].Kind; kind == dataflow.ByArg || kind == dataflow.ByInput {
				return true
			}
		}
	}
	return false
}

// Judge tells which links give the recorded values, and how an element is
// chosen: what cannot be bound ends a pattern. Without it every accepted link is
// taken for one that can be. It must be called before Extraction, if at all.
func (p *Patterns) Judge(judgments []dataflow.Judgment) {
	p.judgments, p.judged = judgments, true
}

// WithThreshold returns a finder of the same patterns with another threshold, which shares
// all that was read.
func (p *Patterns) WithThreshold(threshold int) *Patterns {
	out := *p
	out.options.Threshold, out.offsets = threshold, slices.Clip(p.offsets)
	return &out
}
