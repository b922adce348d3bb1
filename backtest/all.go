package backtest

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/trace"
)

// all reads ahead, offers those of the meta-tools of patterns that add to what that saves,
// makes calls by inertia, and registers the tools: each call is in a
// meta-tool, or made without the model, or answered ahead, or none of these.
var all = Technique{
	Name: "all", Doc: "patterns and inertia together, each call attributed to one, prefetch for the calls that are left, and tools that are registered",
	Parts: []string{patterns.Name, inertial.Name, readAhead.Name, register.Name}, ways: patterns.ways,
	Train: func(p *Part) Trained {
		tools := *patterns.offer
		tools.beside = learn.DefaultThreshold
		return p.together(combination{tools: p.offered(tools), habits: p.trainHabits(), reader: p.trainReader(readings{}), lazily: true})
	},
}

// allParts is how many techniques all has.
const allParts = 4

const (
	partReads = 2 // that of prefetch

	// needsNoChoice prefers a read ahead where it saves as much as a meta-tool, which an
	// agent must choose.
	needsNoChoice = 1e-6
)

// together is a set of meta-tools beside a predictor, and tools that are registered.
type together struct {
	combination
	meter *cost.Meter
	lists map[*trace.ToolDef][]trace.ToolDef // of tools, with the meta-tools behind them
	room  trace.Trajectory                   // that left returns
}

// combination is what is put together.
type combination struct {
	tools  *toolset
	reader *reader
	habits *habits // nil for none
	lazily bool    // tools are registered
}

// together returns a combination, the same for the same parts. Parts that it has not do
// nothing.
func (p *Part) together(of combination) *together {
	if b := p.combined[of]; b != nil {
		return b
	}
	b := &together{combination: of, meter: p.meter}
	if b.tools == nil {
		b.tools = &toolset{}
	}
	if b.reader == nil {
		b.reader = &reader{meter: p.meter}
	}
	if p.combined == nil {
		p.combined = map[combination]*together{}
	}
	p.combined[of] = b
	return b
}

// share is a part of the calls of a trajectory that one technique could take.
type share struct {
	span    replay.Span // of calls
	removed []int
	part    int     // of the technique, as an index into its Parts
	tool    int     // of a meta-tool
	calls   [][]int // of a meta-tool, by step; nil for a call that inertia makes
}

// Find takes, of the places of meta-tools, the calls that inertia would make and the
// turns that reads ahead would save alone, those that save most turns together and share
// no call; of meta-tools and inertia, meta-tools where it is the same. Then it reads ahead
// beside the meta-tools and inertia that were taken. A part of the calls that a gate lets through is let through by it too: no
// call is made that inertia alone would not make.
func (b *together) Find(c *Case) *Finding {
	f, shares := b.find(c)
	f.Blind = b.blindly(c, shares, f.Wrong)
	return f
}

// find returns what Find does but for blind use, and the shares that it chose from.
func (b *together) find(c *Case) (*Finding, []share) {
	places := b.tools.places(c)
	f := cover(places)
	f.Used, f.Removed = false, nil
	var shares []share
	for i := range places {
		p := &places[i]
		if !p.Replay.Saves {
			continue
		}
		o := p.Replay.Occurrence
		shares = append(shares, share{replay.Span{Begin: o.First(), End: o.Last() + 1, Worth: float64(len(p.Removed))}, p.Removed, 0, p.Tool, o.Calls})
	}
	var avoided []bool
	wrong := 0
	if b.habits != nil {
		avoided, wrong = c.avoided, c.wrong
	}
	for call, is := range avoided {
		if !is {
			continue
		}
		if turn := turnAvoided(c.Trajectory, call); turn >= 0 {
			shares = append(shares, share{span: replay.Span{Begin: call, End: call + 1, Worth: 1}, removed: []int{turn}, part: 1})
		}
	}
	alone := b.reader.Find(c)
	for _, turn := range alone.Removed {
		t := &c.Trajectory.Turns[turn]
		shares = append(shares, share{span: replay.Span{Begin: t.FirstCall, End: t.FirstCall + t.NumCalls, Worth: 1 + needsNoChoice}, part: partReads})
	}
	slices.SortStableFunc(shares, func(x, y share) int {
		return cmp.Or(cmp.Compare(x.span.Begin, y.span.Begin), cmp.Compare(x.part, y.part))
	})
	spans := make([]replay.Span, len(shares))
	for i := range shares {
		spans[i] = shares[i].span
	}
	chosen, _ := replay.Best(spans)
	for _, i := range chosen {
		f.shares = append(f.shares, shares[i])
	}
	b.settle(c, f, wrong)
	return f, shares
}

// settle adds up what the shares of a finding do, and what is read ahead beside them.
func (b *together) settle(c *Case, f *Finding, wrong int) {
	f.Attributed, f.Removed = make([]int, allParts), nil
	f.shares = slices.DeleteFunc(f.shares, func(s share) bool { return s.part == partReads })
	for i := range f.shares {
		f.Removed = append(f.Removed, f.shares[i].removed...)
		f.Attributed[f.shares[i].part] += len(f.shares[i].removed)
	}
	slices.Sort(f.Removed)
	f.Wrong = wrong
	f.Added = wrong + f.handBacks
	b.read(c, f)
	f.Used = len(f.Removed)+f.Wrong > 0 || f.Reading.Reads > 0
}

// blindly uses the meta-tools blindly, and does beside them what needs no choice: calls
// by inertia that no meta-tool makes, and reads ahead.
func (b *together) blindly(c *Case, shares []share, wrong int) *Blind {
	out := b.tools.blindly(c)
	used := len(out.shares)
	for _, s := range shares {
		inside := func(u share) bool { return u.span.Begin < s.span.End && s.span.Begin < u.span.End }
		if s.part == 1 && !slices.ContainsFunc(out.shares[:used], inside) {
			out.shares = append(out.shares, s)
		}
	}
	b.settle(c, &out.Finding, wrong)
	return out
}

// read adds what reading ahead saves of the turns that the other parts leave: the calls
// that they make are made as they are in the recording, and their answers are followed.
func (b *together) read(c *Case, f *Finding) {
	taken := make([]int, len(c.Trajectory.Calls))
	for i := range f.shares {
		f.shares[i].last(taken)
	}
	ahead := b.reader.find(c, taken, f.Removed)
	f.Reading = ahead.Reading
	f.Attributed[partReads] = len(ahead.Removed)
	f.Removed = append(f.Removed, ahead.Removed...)
	slices.Sort(f.Removed)
}

// last notes at the calls of a share the last of them, by number from 1.
func (s *share) last(taken []int) {
	if s.calls == nil {
		taken[s.span.Begin] = s.span.End
		return
	}
	for _, calls := range s.calls {
		for _, call := range calls {
			taken[call] = s.span.End
		}
	}
}

// take marks the calls of a share.
func (s *share) take(taken []bool) {
	if s.calls == nil {
		taken[s.span.Begin] = true
		return
	}
	for _, calls := range s.calls {
		for _, call := range calls {
			taken[call] = true
		}
	}
}

// Saving returns what the removed turns save, and what registering tools does on
// the turns that are left. Where nothing can be registered, the definitions of the
// meta-tools are read on every turn that is left.
func (b *together) Saving(c *Case, f *Finding) cost.Totals {
	if c.Account == nil {
		return cost.Totals{}
	}
	t, left := c.Trajectory, c.Account.Left(f.Removed)
	if !b.lazily || len(t.Tools) == 0 || len(left.Turns) == 0 || left.Misfits() {
		return b.tools.Saving(c, f).Less(b.reader.reading(c, f))
	}
	saved := (&lazyTools{b.meter}).Saving(&Case{Run: &corpus.Run{Trajectory: b.left(t, f)}, Account: left}, f)
	f.Added += f.Wrong + f.handBacks
	return c.Account.Total().Less(left.Total().Less(saved)).Less(b.reader.reading(c, f)).Less(f.inVain(c.Account))
}

// left returns what the model still calls: the calls on the turns that are left,
// without those within a meta-tool or by inertia, which need no definition. A
// meta-tool is called in the turn of its first call. What it returns is good until it is asked
// again.
func (b *together) left(t *trace.Trajectory, f *Finding) *trace.Trajectory {
	out := &b.room
	turns := len(t.Turns) - len(f.Removed)
	if cap(out.Turns) < turns {
		out.Turns = make([]trace.Turn, turns) // nobody asks what they say
	}
	*out = trace.Trajectory{ID: t.ID, Task: t.Task, Messages: t.Messages, Tools: b.offered(t.Tools), Turns: out.Turns[:turns], Calls: out.Calls[:0]}
	places := make([]int, len(t.Turns)) // of the turns among those left, -1 if removed
	for i, left := 0, 0; i < len(places); i++ {
		if _, gone := slices.BinarySearch(f.Removed, i); gone {
			places[i] = -1
			continue
		}
		places[i] = left
		left++
	}
	taken, instead := make([]bool, len(t.Calls)), map[int]int{}
	for i := range f.shares {
		s := &f.shares[i]
		s.take(taken)
		if s.calls != nil {
			instead[s.calls[0][0]] = len(t.Tools) + s.tool
		}
	}
	if f.Reading != nil {
		for _, call := range f.Reading.served {
			taken[call] = true
		}
	}
	for i := range t.Calls {
		call := trace.Call{Tool: t.Calls[i].Tool, Turn: t.Calls[i].Turn, Origin: t.Calls[i].Origin}
		if tool, is := instead[i]; is {
			call.Tool = out.Tools[tool].Name
		} else if taken[i] {
			continue
		}
		if call.Turn >= 0 && call.Turn < len(places) {
			call.Turn = places[call.Turn]
		}
		out.Calls = append(out.Calls, call)
	}
	return out
}

// maxLists is how many lists of tools are remembered.
const maxLists = 64

// offered returns the tools of a list and the meta-tools behind them. Trajectories of a
// corpus share their lists, so that one is known by where it is.
func (b *together) offered(tools []trace.ToolDef) []trace.ToolDef {
	switch {
	case len(b.tools.definitions) == 0:
		return tools
	case len(tools) == 0:
		return b.tools.definitions
	}
	first := &tools[0]
	if len(b.lists[first]) != len(tools)+len(b.tools.definitions) {
		if b.lists == nil || len(b.lists) == maxLists {
			b.lists = map[*trace.ToolDef][]trace.ToolDef{}
		}
		b.lists[first] = slices.Concat(tools, b.tools.definitions)
	}
	return b.lists[first]
}

// Summary says what the parts have learnt.
func (b *together) Summary() Learnt {
	l := b.tools.Summary()
	l.Rules = len(b.reader.set.Rules)
	l.Notes = append(append(slices.Clone(l.Notes), b.reader.notes...), "wrong calls are all those of inertia alone, also where a meta-tool is used instead", "tools and meta-tools are registered on the turns that are left; where no definitions of tools are recorded nothing is registered, and definitions of meta-tools are read on every turn")
	return l
}

// Interaction is what a combination saves beyond the sum of what each of its parts
// saves alone, of either sign: negative where the parts would save the same.
type Interaction struct {
	Technique  string
	Parts      []string
	Attributed []int // calling turns of the combination, by part

	CallingTurnsSaved, LLMCallsSaved int
	TokensSaved                      int64
	USDSaved                         float64

	Intervals map[string]stat.Interval // by metric; see InteractionMetrics
}

// InteractionMetrics are the figures of an Interaction that have an interval.
var InteractionMetrics = []string{"calling_turns_saved", "llm_calls_saved", "tokens_saved", "cost_saved_usd"}

// interact adds the interactions of the combinations all of whose parts were
// measured.
func (r *run) interact(f *intervals) {
	place := map[string]int{}
	for i, t := range r.options.Techniques {
		place[t.Name] = i
	}
	for whole, technique := range r.options.Techniques {
		var parts []int
		for _, name := range technique.Parts {
			if i, ok := place[name]; ok {
				parts = append(parts, i)
			}
		}
		if len(parts) == 0 || len(parts) < len(technique.Parts) || len(r.out.Techniques) == 0 {
			continue
		}
		o := r.out.Techniques[whole]
		x := Interaction{
			Technique: technique.Name, Parts: slices.Clone(technique.Parts), Attributed: make([]int, len(parts)), Intervals: map[string]stat.Interval{},
			CallingTurnsSaved: o.CallingTurnsSaved, LLMCallsSaved: o.LLMCallsSaved, TokensSaved: o.TokensSaved, USDSaved: o.USDSaved,
		}
		for _, i := range parts {
			p := &r.out.Techniques[i]
			x.CallingTurnsSaved -= p.CallingTurnsSaved
			x.LLMCallsSaved -= p.LLMCallsSaved
			x.TokensSaved -= p.TokensSaved
			x.USDSaved -= p.USDSaved
		}
		if whole < len(r.all) {
			copy(x.Attributed, r.all[whole].attributed)
		}
		for k, m := range []int{1, 0, 2, 3} { // in the order of InteractionMetrics
			more := make([]float64, len(r.sums))
			for task := range r.sums {
				more[task] = measures[m].saved(r.sums[task].at(whole))
				for _, i := range parts {
					more[task] -= measures[m].saved(r.sums[task].at(i))
				}
			}
			f.want(stat.ClusterRatio{Num: more}, x.Intervals, InteractionMetrics[k])
		}
		r.out.Interactions = append(r.out.Interactions, x)
	}
}
