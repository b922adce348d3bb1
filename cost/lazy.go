package cost

import (
	"slices"

	"github.com/awo-dev/awo/trace"
)

// Placement is where the definition of a tool goes when it is registered.
type Placement uint8

// The placements. The zero value is PlacementList.
const (
	// PlacementList adds it to the list of tools, which stands in front of the
	// context: everything that a cache holds is void for the next turn.
	PlacementList Placement = iota
	// PlacementResult appends it to the context as the result of tool_register:
	// what a cache holds stays good.
	PlacementResult
)

// String returns "list" or "result".
func (p Placement) String() string { return [...]string{"list", "result"}[p] }

// LazyOptions say how tools are registered. The zero value is EcoAct: one tool at
// a time, by its name alone, into the list of tools, and only what is used.
type LazyOptions struct {
	Placement Placement
	Batch     int     // tools that one registration may hold: those needed soonest; 0 and 1 are one
	Describe  bool    // the descriptions of all tools stand beside their names
	Search    int     // no names are in front: a search, as large as a registration, finds so many tools, the one needed and those behind it in the list
	Share     float64 // of the tools offered that get registered at least, used or not, evenly over the turns; 0: what is used
}

// Toolset is the tools offered in a trajectory, as tokens. Sums may be other than
// those of the tools at hand, to ask what more tools would cost.
type Toolset struct {
	Tools []Definition // by index, as LazyUse has them
	List  []trace.Name // their names; the zero Name where one stood before

	Count        float64 // tools offered
	Definitions  float64 // tokens of all definitions
	Names        float64
	Descriptions float64

	Register     int64   // tokens of the definition of tool_register
	Separator    float64 // tokens between two names of the list
	Call         int64   // output tokens of a registration of one tool, without its name
	Acknowledged int64   // tokens of the result of a registration, without a definition
}

// LazyUse says which tools the turns of a trajectory need.
type LazyUse struct {
	// Uses has the tools that each turn calls, as indices into Toolset.Tools, those
	// not offered left out; as many as the account has turns.
	Uses [][]int32
}

// LazyTotals is what a trajectory costs with lazy registration.
type LazyTotals struct {
	Totals
	Registrations int // turns that only register
	Registered    int // tools
	Unused        int // tools of these that were never called
}

// Lazy returns what the trajectory would have cost if only tool_register and the
// names of tools were in front of the context (EcoAct, section 2.2): the first use
// of a tool costs one extra turn, which reads the context as it then is, and
// from then on its definition is read on every turn. Everything else stays as
// recorded, so nothing is said about registrations that the model gets wrong.
//
// Where a turn has a cache (see Caching), what stood in the context before it is
// cached again, and the turn after a registration finds it void with
// PlacementList.
func (a *Account) Lazy(tools *Toolset, use LazyUse, o LazyOptions) LazyTotals {
	l := newLazyRun(a, tools, use, o)
	for i := range a.Turns {
		l.turn(i, l.needed(i, use))
	}
	for _, s := range l.state {
		if s == registered {
			l.out.Unused++
		}
	}
	return l.out
}

// newLazyRun returns a run before its first turn.
func newLazyRun(a *Account, tools *Toolset, use LazyUse, o LazyOptions) *lazyRun {
	l := &lazyRun{account: a, tools: tools, options: o, state: make([]toolState, len(tools.Tools))}
	l.front = float64(tools.Register)
	if o.Search == 0 {
		l.front += tools.Names + max(tools.Count-1, 0)*tools.Separator
	}
	if o.Describe {
		l.front += tools.Descriptions
	}
	for i := range a.Turns {
		l.caching = l.caching || a.Turns[i].Cached > 0
	}
	if o.Batch > 1 || o.Share > 0 {
		l.schedule(use)
	}
	return l
}

type toolState uint8

const (
	unregistered toolState = iota
	registered
	called
)

// lazyRun is one simulated trajectory.
type lazyRun struct {
	account *Account
	tools   *Toolset
	options LazyOptions
	state   []toolState
	caching bool
	out     LazyTotals

	front  float64 // tokens in front of the context
	extra  float64 // tokens that registrations added to it
	void   bool    // the cache of what was sent so far is void
	first  []int32 // tools in the order of their first use, for batches
	spare  []int32 // tools that are registered without need
	spares []int   // at which turn each
}

func (l *lazyRun) register(tool int32) {
	l.state[tool] = registered
	l.out.Registered++
}

// schedule finds the order of first uses, and which further tools are registered
// when, so that their share is reached.
func (l *lazyRun) schedule(use LazyUse) {
	seen := make([]bool, len(l.state))
	for _, tools := range use.Uses {
		for _, tool := range tools {
			if !seen[tool] {
				seen[tool] = true
				l.first = append(l.first, tool)
			}
		}
	}
	want := int(l.options.Share*float64(len(l.state))+0.5) - len(l.first)
	for tool := int32(0); int(tool) < len(l.state) && len(l.spare) < want; tool++ {
		if !seen[tool] && l.state[tool] == unregistered {
			l.spare = append(l.spare, tool)
		}
	}
	for i := range l.spare {
		l.spares = append(l.spares, i*len(l.account.Turns)/len(l.spare))
	}
}

// needed returns the tools that are to be registered before turn i, and marks
// those that it calls.
func (l *lazyRun) needed(i int, use LazyUse) []int32 {
	var out []int32
	for ; len(l.spares) > 0 && l.spares[0] <= i; l.spares, l.spare = l.spares[1:], l.spare[1:] {
		out = append(out, l.spare[0])
		l.register(l.spare[0])
	}
	if i >= len(use.Uses) {
		return out
	}
	missing := false
	for _, tool := range use.Uses[i] {
		if l.state[tool] == unregistered {
			missing = true
			out = append(out, tool)
			l.register(tool)
			out = l.neighbours(out, tool)
		}
		l.state[tool] = called
	}
	// A registration that is made anyway takes along what is needed soonest.
	if batch := max(l.options.Batch, 1); missing && batch > 1 {
		for _, tool := range l.first {
			if len(out)%batch == 0 {
				break
			}
			if l.state[tool] == unregistered {
				out = append(out, tool)
				l.register(tool)
			}
		}
	}
	return out
}

// neighbours registers what a search finds besides the tool that is needed, and appends it.
func (l *lazyRun) neighbours(out []int32, tool int32) []int32 {
	n := len(l.state)
	for i := 1; i < n && len(out)%max(l.options.Search, 1) != 0; i++ {
		if other := (int(tool) + i) % n; l.state[other] == unregistered {
			out = append(out, int32(other))
			l.register(int32(other))
		}
	}
	return out
}

// turn adds the registrations before turn i, and the turn.
func (l *lazyRun) turn(i int, needed []int32) {
	t := &l.account.Turns[i]
	definitions := l.account.DefinitionsAt(i)
	context := max(float64(t.Input)-float64(definitions), 0)
	known := -1.0 // tokens of the last request, whose context begins like this one's
	if t.Cached > 0 {
		known = max(float64(t.Cached)-float64(definitions), 0) + l.front + l.extra
	}
	for batch := range slices.Chunk(needed, max(l.options.Batch, l.options.Search, 1)) {
		output, named := float64(l.tools.Call), batch
		if l.options.Search > 0 {
			named = batch[:1] // who searches knows what is wanted, and not what else is found
		}
		for _, tool := range named {
			output += float64(l.tools.Tools[tool].Name)
		}
		l.out.Registrations++
		known = l.send(t, context, output, known)
		l.extra += output + float64(l.tools.Acknowledged)
		for _, tool := range batch {
			if tokens := float64(l.tools.Tools[tool].Tokens()); l.options.Placement == PlacementList {
				l.front += tokens
				l.void = true
			} else {
				l.extra += tokens
			}
		}
	}
	l.send(t, context, float64(t.Output), known)
}

// send adds one model turn that shares its context and price with t, and returns
// how many tokens the next request finds in the cache.
func (l *lazyRun) send(t *Turn, context, output, known float64) float64 {
	input := l.front + context + l.extra
	cached := max(min(known, input), 0)
	if l.void {
		cached = 0
	}
	l.void = false
	written := 0.0
	if fresh := t.Input - t.Cached; t.Write > 0 && fresh > 0 {
		written = (input - cached) * float64(t.Write) / float64(fresh)
	}
	as := Turn{Input: scaled(input), Cached: scaled(cached), Write: scaled(written), Hour: t.Hour, Output: scaled(output), Source: t.Source}
	as.Cached = min(as.Cached, as.Input)
	as.Write = min(as.Write, as.Input-as.Cached)
	one := as.one(l.account.meter.prices[t.price])
	l.out.Add(one)
	if !l.caching {
		return -1
	}
	return input
}
