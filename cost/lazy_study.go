package cost

import (
	"fmt"
	"math"
	"slices"

	"github.com/awo-dev/awo/trace"
)

// RegisterName is the name of the tool that registers others.
const RegisterName = "tool_register"

// RegisterDescription is what an agent is told about it.
const RegisterDescription = "Makes a tool available. The tools that exist are listed by name. Call this with the name of the one that is most useful now; the answer is its full definition, and from then on it can be called like any other."

// RegisterSchema is the JSON Schema of its arguments; the names of tools are no
// part of it, so that it is the same for every set of tools.
const RegisterSchema = `{"type":"object","properties":{"name":{"type":"string","description":"the name of the tool"}},"required":["name"],"additionalProperties":false}`

const (
	registerAnswer = "registered" // what stands for the result of a registration
	registerCall   = RegisterName + `{"name":""}`
)

// levelBounds are the tool counts that EcoAct reports by (Fig. 3): trajectories that
// offer at most so many tools; the last has no bound.
var levelBounds = [...]int{10, 20, math.MaxInt}

// levelNames name them.
var levelNames = [...]string{"0-10", "11-20", ">20"}

// LazyStudyOptions say which variants are simulated. The zero value is the default.
type LazyStudyOptions struct {
	Share float64 // of the tools that a variant registers at least; 0 means 0.3, as EcoAct observed (Fig. 4)
	Batch int     // tools that a variant registers at a time; 0 means 5
	Seed  uint64  // of the bootstrap
}

// LazyStudy simulates lazy registration on many trajectories: those that record
// the definitions of the tools offered. It keeps sums by task, O(tasks), and what
// LazyReport shows.
type LazyStudy struct {
	meter    *Meter
	options  LazyStudyOptions
	variants []lazyVariant

	pending []pendingLazy // whose tokens are to be fitted first
	tasks   map[string]int
	levels  [len(levelBounds)]lazySums
	all     lazySums
	even    []evenSums // by task
	parts   partSums
	growth  growthSums
	without int // trajectories with turns that record no definitions
	misfit  int // trajectories with an input smaller than their definitions
}

type lazyVariant struct {
	name    string
	doc     string
	options LazyOptions
}

type pendingLazy struct {
	task    int
	account *Account
	set     *Toolset
	first   []firstUse
}

// firstUse is the first turn that calls a tool: later ones change nothing.
type firstUse struct{ turn, tool int32 }

// use returns what the turns need.
func (p *pendingLazy) use() LazyUse {
	use := LazyUse{Uses: make([][]int32, len(p.account.Turns))}
	for _, f := range p.first {
		use.Uses[f.turn] = append(use.Uses[f.turn], f.tool)
	}
	return use
}

// firstUses returns the first turn of each tool that is called, in order.
func firstUses(use LazyUse) []firstUse {
	var out []firstUse
	for turn, tools := range use.Uses {
		for _, tool := range tools {
			if !slices.ContainsFunc(out, func(f firstUse) bool { return f.tool == tool }) {
				out = append(out, firstUse{int32(turn), tool})
			}
		}
	}
	return slices.Clip(out)
}

// lazySums are sums by task of one level.
type lazySums struct {
	trajectories int
	tools        int
	eager        Totals
	lazy         []LazyTotals
	byTask       map[int]*levelTask
}

type levelTask struct {
	eager Totals
	lazy  []Totals
}

// evenSums are the coefficients of cost eager - lazy = a + b tools, by task.
type evenSums struct{ tokensA, tokensB, usdA, usdB float64 }

// partSums are figures of the definitions.
type partSums struct {
	seen   map[trace.Name]bool
	tokens Definition // of the tools, each once

	turns          int
	offered, calls float64 // definition tokens a turn, summed: of the tools offered, and of those called
}

// maxSteps is how many steps the growth of the registered share is followed for.
const maxSteps = 32

type growthSums struct {
	share        [maxSteps + 1]float64
	trajectories [maxSteps + 1]int
	final        float64
	all          int
}

// NewLazyStudy returns an empty LazyStudy of accounts of m.
func NewLazyStudy(m *Meter, o LazyStudyOptions) *LazyStudy {
	if o.Share == 0 {
		o.Share = 0.3
	}
	if o.Batch == 0 {
		o.Batch = 5
	}
	s := &LazyStudy{meter: m, options: o, tasks: map[string]int{}, parts: partSums{seen: map[trace.Name]bool{}}}
	s.variants = []lazyVariant{
		{name: "single-list", doc: "one at a time, into the tool list"},
		{name: "single-result", doc: "one at a time, as a result", options: LazyOptions{Placement: PlacementResult}},
		{name: "batch-result", doc: fmt.Sprintf("up to %d at a time, as a result", o.Batch), options: LazyOptions{Placement: PlacementResult, Batch: o.Batch}},
		{name: "described-result", doc: "one at a time, descriptions shown", options: LazyOptions{Placement: PlacementResult, Describe: true}},
		{name: "share-result", doc: fmt.Sprintf("one at a time, at least %.0f %% of all", 100*o.Share), options: LazyOptions{Placement: PlacementResult, Share: o.Share}},
		{name: "tool-search", doc: fmt.Sprintf("a search finds up to %d, as a result", o.Batch), options: LazyOptions{Placement: PlacementResult, Search: o.Batch}},
	}
	return s
}

// Add simulates t, whose account is a. What was only counted in a is simulated
// when Report is called, which the account is kept for.
func (s *LazyStudy) Add(t *trace.Trajectory, a *Account) {
	if len(t.Turns) == 0 {
		return
	}
	if len(t.Tools) == 0 {
		s.without++
		return
	}
	set, index := s.toolset(t.Tools)
	use := LazyUse{Uses: make([][]int32, len(t.Turns))}
	for i := range t.Calls {
		c := &t.Calls[i]
		tool, offered := index[c.Tool]
		if c.Origin == trace.OriginModel && offered && c.Turn >= 0 && c.Turn < len(t.Turns) && !slices.Contains(use.Uses[c.Turn], tool) {
			use.Uses[c.Turn] = append(use.Uses[c.Turn], tool)
		}
	}
	task, known := s.tasks[t.TaskKey()]
	if !known {
		task = len(s.tasks)
		s.tasks[t.TaskKey()] = task
		s.even = append(s.even, evenSums{})
	}
	s.describe(t.Tools, set, use, a)
	p := pendingLazy{task, a, set, firstUses(use)}
	if a.Estimated() > 0 {
		s.pending = append(s.pending, p)
		return
	}
	s.simulate(p)
}

// toolset returns the tokens of a list of tools, and where each stands in it.
func (s *LazyStudy) toolset(tools []trace.ToolDef) (*Toolset, map[trace.Name]int32) {
	return s.meter.Toolset(tools)
}

// describe adds the figures that depend on definitions alone.
func (s *LazyStudy) describe(tools []trace.ToolDef, set *Toolset, use LazyUse, a *Account) {
	for i, d := range set.Tools {
		if !s.parts.seen[tools[i].Name] {
			s.parts.seen[tools[i].Name] = true
			s.parts.tokens.Name += d.Name
			s.parts.tokens.Description += d.Description
			s.parts.tokens.Parameters += d.Parameters
		}
	}
	registered := map[int32]bool{}
	s.growth.all++
	for i, called := range use.Uses {
		s.parts.turns++
		s.parts.offered += float64(a.DefinitionsAt(i))
		for _, tool := range called {
			registered[tool] = true
			s.parts.calls += float64(set.Tools[tool].Tokens())
		}
		if i < maxSteps {
			s.growth.share[i+1] += float64(len(registered)) / set.Count
			s.growth.trajectories[i+1]++
		}
	}
	s.growth.final += float64(len(registered)) / set.Count
}

// simulate runs all variants on one trajectory.
func (s *LazyStudy) simulate(p pendingLazy) {
	a := p.account
	if a.Misfits() {
		s.misfit++
		return
	}
	eager, lazy := a.Total(), make([]LazyTotals, len(s.variants))
	for i, v := range s.variants {
		lazy[i] = a.Lazy(p.set, p.use(), v.options)
	}
	level := slices.IndexFunc(levelBounds[:], func(bound int) bool { return len(p.set.Tools) <= bound })
	s.levels[level].add(p, eager, lazy)
	s.all.add(p, eager, lazy)
	s.even[p.task].add(&p, p.use())
}

func (s *lazySums) add(p pendingLazy, eager Totals, lazy []LazyTotals) {
	if s.byTask == nil {
		s.byTask, s.lazy = map[int]*levelTask{}, make([]LazyTotals, len(lazy))
	}
	k := s.byTask[p.task]
	if k == nil {
		k = &levelTask{lazy: make([]Totals, len(lazy))}
		s.byTask[p.task] = k
	}
	s.trajectories++
	s.tools += len(p.set.Tools)
	s.eager.Add(eager)
	k.eager.Add(eager)
	for i := range lazy {
		s.lazy[i].Totals.Add(lazy[i].Totals)
		s.lazy[i].Registrations += lazy[i].Registrations
		s.lazy[i].Registered += lazy[i].Registered
		s.lazy[i].Unused += lazy[i].Unused
		k.lazy[i].Add(lazy[i].Totals)
	}
}

// add adds what a trajectory says about the number of tools at which lazy
// registration (EcoAct, as a result) begins to pay. With tools of the mean size of
// those offered both costs are linear in their number, so two numbers give the line.
func (e *evenSums) add(p *pendingLazy, use LazyUse) {
	at := func(tools float64) (tokens, usd float64) {
		set := *p.set
		share := tools / p.set.Count
		set.Count, set.Names, set.Definitions, set.Descriptions = tools, share*set.Names, share*set.Definitions, share*set.Descriptions
		lazy := p.account.Lazy(&set, use, LazyOptions{Placement: PlacementResult})
		more := p.account.Without(nil, int64(math.Round((share-1)*float64(p.account.Definitions))))
		return float64(more.Tokens() - lazy.Tokens()), more.USD - lazy.USD
	}
	// Far apart, because tokens are rounded.
	low, high := p.set.Count, 100*p.set.Count
	t1, u1 := at(low)
	t2, u2 := at(high)
	e.tokensB += (t2 - t1) / (high - low)
	e.tokensA += t1 - low*(t2-t1)/(high-low)
	e.usdB += (u2 - u1) / (high - low)
	e.usdA += u1 - low*(u2-u1)/(high-low)
}
