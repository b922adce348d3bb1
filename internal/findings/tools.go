package findings

import (
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/trace"
)

// Recommended is the turns that a recommendation would do without, which Seen.Without adds:
// no finding, and charged with what no finding would do without.
const Recommended Code = "recommended"

// comesLast are codes that others come before, whatever they are worth.
var comesLast = map[Code]int{Recommended: 1}

// Without says that a recommendation would do without turns of the trajectory.
func (s *Seen) Without(turns []int) {
	if len(turns) > 0 {
		s.hits = append(s.hits, hit{code: Recommended, count: len(turns), turns: turns})
	}
}

// ToolCharge is what turns cost that call a tool, "" for turns without a call. A turn with
// several calls is shared equally among them.
type ToolCharge struct {
	Tool        string
	USD, Tokens float64
}

// toolCharges is what turns cost that the same findings would do without.
type toolCharges struct {
	keys  []hitKey
	tools map[trace.Name]*ToolCharge
}

// chargeTools notes what a turn costs by tool.
func (f *Finder) chargeTools(t *trace.Trajectory, turn int, keys []hitKey, c ToolCharge) {
	if !f.options.Tools {
		return
	}
	name := joined(keys)
	o := f.byTool[name]
	if o == nil {
		if o = (&toolCharges{keys: keys, tools: map[trace.Name]*ToolCharge{}}); f.byTool == nil {
			f.byTool = map[string]*toolCharges{}
		}
		f.byTool[name] = o
	}
	n := t.Turns[turn].NumCalls
	called := []trace.Name{{}}
	if n > 0 {
		called = called[:0]
		for i := range n {
			called = append(called, t.Calls[t.Turns[turn].FirstCall+i].Tool)
		}
	}
	for _, tool := range called {
		sum := o.tools[tool]
		if sum == nil {
			if len(o.tools) >= MaxTools {
				continue
			}
			sum = &ToolCharge{Tool: nameOf(tool)}
			o.tools[tool] = sum
		}
		sum.USD += c.USD / float64(len(called))
		sum.Tokens += c.Tokens / float64(len(called))
	}
}

// chargeCache notes what a cache would save, by the tools of the turns.
func (f *Finder) chargeCache(t *trace.Trajectory, account *cost.Account, cache *cost.Cache) {
	code := BrokenCache
	if cache.Off {
		code = NoCache
	}
	for i := range account.Turns {
		if saved := account.Turn(i).Paid - cache.Turn(account, i).Paid; saved > 0 {
			f.chargeTools(t, i, []hitKey{{code: code}}, ToolCharge{USD: saved})
		}
	}
}

// toolsOf returns the charges of findings by tool: turns of several findings go to the first
// of them.
func (f *Finder) toolsOf(keys []hitKey) map[hitKey][]ToolCharge {
	sums := map[hitKey]map[string]ToolCharge{}
	for _, name := range slices.Sorted(maps.Keys(f.byTool)) { // in order, as sums of money depend on it
		o := f.byTool[name]
		first := slices.IndexFunc(keys, func(key hitKey) bool { return slices.Contains(o.keys, key) })
		if first < 0 {
			continue
		}
		sum := sums[keys[first]]
		if sum == nil {
			sum = map[string]ToolCharge{}
			sums[keys[first]] = sum
		}
		for _, c := range o.tools {
			was := sum[c.Tool]
			sum[c.Tool] = ToolCharge{c.Tool, was.USD + c.USD, was.Tokens + c.Tokens}
		}
	}
	out := map[hitKey][]ToolCharge{}
	for key, sum := range sums {
		out[key] = slices.SortedFunc(maps.Values(sum), func(a, b ToolCharge) int { return strings.Compare(a.Tool, b.Tool) })
	}
	return out
}
