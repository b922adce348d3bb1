package backtest

import (
	"cmp"
	"reflect"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/execute/replay"
	"github.com/awo-dev/awo/metatool"
)

// place is a replay.Place, as far as it is wanted here.
type place struct {
	tool, begin, end                    int
	removed                             []int
	exact, saves, notComparable, across bool
	calls                               calls
}

func placeOf(p *replay.Place) place {
	r := p.Replay
	return place{p.Tool, p.Begin, p.End, p.Removed, r.Exact, r.Saves, r.NotComparable, p.Across, calls{of: r.Occurrence.Calls}}
}

// calls are those of an occurrence by step, or a list that says them: of each step how many
// they are, and which.
type calls struct {
	of   [][]int
	flat []int
}

// occurrence returns the calls by step.
func (c calls) occurrence() replay.Occurrence {
	if c.of == nil {
		for rest := c.flat; len(rest) > 0; rest = rest[1+rest[0]:] {
			c.of = append(c.of, rest[1:1+rest[0]])
		}
	}
	return replay.Occurrence{Calls: c.of}
}

// len returns how many calls they are.
func (c calls) len() int {
	if c.of != nil {
		return replay.Occurrence{Calls: c.of}.Len()
	}
	n := 0
	for rest := c.flat; len(rest) > 0; rest = rest[1+rest[0]:] {
		n += rest[0]
	}
	return n
}

// moment is a replay.Moment, as far as it is wanted here.
type moment struct {
	tool, begin, end, call int
	followed               bool
	removed                []int // where the rest followed
	calls                  calls // where the rest followed

	known replay.Spent
	uses  *replay.Uses // that has to be asked what is spent; nil where it is known
	of    *replay.Moment
}

func momentOf(u *replay.Uses, m *replay.Moment) moment {
	out := moment{tool: m.Tool, begin: m.Begin, end: m.End, call: m.Call, followed: m.Followed, uses: u, of: m}
	if m.Followed {
		out.removed, out.calls = m.Removed(), calls{of: m.Calls()}
	}
	return out
}

// spent returns what the meta-tool does there that nobody asked for.
func (m *moment) spent() replay.Spent {
	if m.uses != nil {
		return m.uses.Spent(m.of)
	}
	return m.known
}

// uses are the places and the moments of a list of meta-tools in a trajectory, each in order
// of where they begin, then of the meta-tool.
type uses struct {
	places  []place
	moments []moment
	of      *replay.Uses // nil for what is remembered
}

func usesOf(u *replay.Uses) *uses {
	out := &uses{make([]place, len(u.Places)), make([]moment, len(u.Moments)), u}
	for i := range u.Places {
		out.places[i] = placeOf(&u.Places[i])
	}
	for i := range u.Moments {
		out.moments[i] = momentOf(u, &u.Moments[i])
	}
	return out
}

// plays remembers what meta-tools do in trajectories that are kept. Most folds compile the
// same ones: what one does in a trajectory is worked out once for all folds, while there is
// room to remember it.
type plays struct {
	tools   pool             // those of all folds
	finders []*replay.Finder // of those that each fold added
	of      []listed         // by number in tools
	tokens  []int64          // of definitions, by number in tools; those behind are not counted yet
	isFull  atomic.Bool      // there is no more room
}

// listed is a place in one of several lists.
type listed struct{ list, at int }

// add returns the numbers of meta-tools in p.tools, each of which a finder finds.
func (p *plays) add(tools []*metatool.Tool) []int {
	before := len(p.of)
	out := make([]int, len(tools))
	for i, t := range tools {
		n := p.tools.add(t)
		if n == len(p.of) {
			p.of = append(p.of, listed{len(p.finders), n - before})
		}
		out[i] = n
	}
	if added := p.tools.tools[before:]; len(added) > 0 {
		p.finders = append(p.finders, replay.NewFinder(added))
	}
	return out
}

// played is what the meta-tools of a finder do in a trajectory, without pointers for each of
// them: there are many, and the collector looks at pointers each time.
type played struct {
	places  []playedPlace
	moments []playedMoment
	numbers []int // lists in a row
}

// piece is a part of played.numbers.
type piece struct{ from, to int32 }

type playedPlace struct {
	tool, begin, end                    int32
	removed, calls                      piece
	exact, saves, notComparable, across bool
}

type playedMoment struct {
	tool, begin, end, call int32
	removed, calls, spent  piece // spent by step
	reads, writes          int32
	followed, handedBack   bool
}

// size returns about how many bytes it takes.
func (p *played) size() int {
	return int(unsafe.Sizeof(*p)) + len(p.places)*int(unsafe.Sizeof(playedPlace{})) + len(p.moments)*int(unsafe.Sizeof(playedMoment{})) + len(p.numbers)*int(unsafe.Sizeof(0))
}

// note adds a list.
func (p *played) note(list []int) piece {
	from := len(p.numbers)
	p.numbers = append(p.numbers, list...)
	return piece{int32(from), int32(len(p.numbers))}
}

func (p *played) noteCalls(c calls) piece {
	from := len(p.numbers)
	for _, step := range c.of {
		p.numbers = append(append(p.numbers, len(step)), step...)
	}
	return piece{int32(from), int32(len(p.numbers))}
}

func (p *played) at(x piece) []int { return p.numbers[x.from:x.to:x.to] }

// play works out what the meta-tools of a finder do in a trajectory that records usage or
// does not: only where it does it is asked what they spend.
func play(f *replay.Finder, c *Case, paid bool) *played {
	u := f.Use(c.Trajectory, c.Marks)
	out := &played{places: make([]playedPlace, len(u.Places)), moments: make([]playedMoment, len(u.Moments))}
	for i := range u.Places {
		p := placeOf(&u.Places[i])
		out.places[i] = playedPlace{
			int32(p.tool), int32(p.begin), int32(p.end), out.note(p.removed), out.noteCalls(p.calls), p.exact, p.saves, p.notComparable, p.across,
		}
	}
	for i := range u.Moments {
		m := momentOf(u, &u.Moments[i])
		one := playedMoment{tool: int32(m.tool), begin: int32(m.begin), end: int32(m.end), call: int32(m.call), followed: m.followed}
		one.removed, one.calls = out.note(m.removed), out.noteCalls(m.calls)
		if paid {
			s := m.spent()
			one.spent, one.reads, one.writes, one.handedBack = out.note(s.ByStep), int32(s.Reads), int32(s.Writes), s.HandedBack
		}
		out.moments[i] = one
	}
	out.numbers = slices.Clone(out.numbers)
	return out
}

// recall returns what the meta-tools of a finder do in the trajectory of a case; nil if that
// is not remembered. It works it out, if that is wanted, while there is room.
func (p *plays) recall(f *replay.Finder, c *Case, paid, works bool) *played {
	if known, is := c.Trajectory.Noted(f).(*played); is {
		return known
	}
	if !works || p.isFull.Load() {
		return nil
	}
	out := play(f, c, paid)
	if !c.Trajectory.Note(f, out, out.size()) {
		p.isFull.Store(true)
	}
	return out
}

// finder finds what a list of meta-tools does in trajectories.
type finder struct {
	tools  []*metatool.Tool
	own    *replay.Finder
	shared *plays  // nil where nothing is shared
	works  bool    // what is not remembered yet is worked out to be; else what is spent is asked
	at     [][]int // by list of shared, and number there: the place in this list, -1 for none
	number []int   // in shared, by place in this list
}

func newFinder(tools []*metatool.Tool, shared *plays, works bool) *finder {
	f := &finder{tools: tools, own: replay.NewFinder(tools), shared: shared, works: works}
	if shared == nil {
		return f
	}
	f.number = shared.add(tools)
	f.at = make([][]int, len(shared.finders))
	for i, n := range f.number {
		p := shared.of[n]
		for len(f.at[p.list]) <= p.at {
			f.at[p.list] = append(f.at[p.list], -1)
		}
		f.at[p.list][p.at] = i
	}
	return f
}

// definitionTokens returns the tokens of the definition of a meta-tool of the list, which are
// counted once for all that share them.
func (f *finder) definitionTokens(meter *cost.Meter, place int) int64 {
	if f.shared == nil {
		return definitionTokens(meter, f.tools[place])
	}
	n, p := f.number[place], f.shared
	for len(p.tokens) <= n {
		p.tokens = append(p.tokens, definitionTokens(meter, p.tools.tools[len(p.tokens)]))
	}
	return p.tokens[n]
}

// use returns what the meta-tools do in a trajectory.
func (f *finder) use(c *Case) *uses {
	if out := f.recall(c); out != nil {
		return out
	}
	return usesOf(f.own.Use(c.Trajectory, c.Marks))
}

// begun returns where the meta-tools were begun; uses are those of the trajectory.
func (f *finder) begun(c *Case, uses *uses) []replay.Begun {
	if uses.of != nil {
		return uses.of.Begun()
	}
	return f.own.Begun(c.Trajectory, c.Marks)
}

// recall returns what is remembered; nil if that is not all.
func (f *finder) recall(c *Case) *uses {
	if f.shared == nil || !c.Trajectory.IsNoted() {
		return nil
	}
	paid := recordsUsage(c.Trajectory)
	if !paid && !f.works {
		return nil
	}
	parts := make([]*played, len(f.at))
	for list, at := range f.at {
		if at == nil {
			continue
		}
		if parts[list] = f.shared.recall(f.shared.finders[list], c, paid, f.works); parts[list] == nil {
			return nil
		}
	}
	out := &uses{}
	for list, p := range parts {
		if p == nil {
			continue
		}
		here := func(tool int32) int {
			if int(tool) >= len(f.at[list]) {
				return -1
			}
			return f.at[list][tool]
		}
		for i := range p.places {
			if x := &p.places[i]; here(x.tool) >= 0 {
				out.places = append(out.places, place{
					here(x.tool), int(x.begin), int(x.end), p.at(x.removed), x.exact, x.saves, x.notComparable, x.across, calls{flat: p.at(x.calls)},
				})
			}
		}
		for i := range p.moments {
			if x := &p.moments[i]; here(x.tool) >= 0 {
				out.moments = append(out.moments, moment{
					tool: here(x.tool), begin: int(x.begin), end: int(x.end), call: int(x.call), followed: x.followed,
					removed: p.at(x.removed), calls: calls{flat: p.at(x.calls)},
					known: replay.Spent{Reads: int(x.reads), Writes: int(x.writes), ByStep: p.at(x.spent), HandedBack: x.handedBack},
				})
			}
		}
	}
	slices.SortFunc(out.places, func(a, b place) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.tool, b.tool)) })
	slices.SortFunc(out.moments, func(a, b moment) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.tool, b.tool)) })
	return out
}

// pool is the meta-tools of all ways of compiling and choosing, each once: several ways
// mostly give the same, and where they occur is looked for once for all.
type pool struct {
	tools  []*metatool.Tool
	byName map[string][]int
	shared *plays  // nil where nothing is shared with other pools
	finder *finder // nil while tools are added
}

// add returns the number of a meta-tool in the pool.
func (p *pool) add(t *metatool.Tool) int {
	for _, i := range p.byName[t.Name] {
		if p.tools[i] == t || sameTool(p.tools[i], t) {
			return i
		}
	}
	if p.byName == nil {
		p.byName = map[string][]int{}
	}
	p.byName[t.Name] = append(p.byName[t.Name], len(p.tools))
	p.tools = append(p.tools, t)
	p.finder = nil
	return len(p.tools) - 1
}

func sameTool(a, b *metatool.Tool) bool {
	return a.Description == b.Description && reflect.DeepEqual(a.Steps, b.Steps) && reflect.DeepEqual(a.Inputs, b.Inputs) && slices.Equal(a.Output.Steps, b.Output.Steps)
}

// find returns the finder of all. Somebody has to have asked before several do at once.
func (p *pool) find() *finder {
	if p.finder == nil {
		p.finder = newFinder(p.tools, p.shared, false)
	}
	return p.finder
}
