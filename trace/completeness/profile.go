package completeness

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/awo-dev/awo/trace"
)

// Profile collects what the calls of each tool took: time, room and tokens. It
// is O(tools) in memory and not safe for concurrent use. Only calls that a model
// decided on are in it. The zero value is ready to use.
type Profile struct {
	tools map[trace.Name]*ToolProfile
}

// ToolProfile is what the calls of one tool took.
type ToolProfile struct {
	Name    string
	Latency Distribution // nanoseconds, of calls whose start and end are recorded
	Result  Distribution // bytes of the result's text, of calls that have one

	Turns      int   // that call it at least once; 0 where turns are not recorded
	TurnsUsage int   // of these, with recorded tokens
	Input      int64 // tokens of these
	Output     int64
}

// Add counts the calls of one trajectory.
func (p *Profile) Add(t *trace.Trajectory) {
	if p.tools == nil {
		p.tools = map[trace.Name]*ToolProfile{}
	}
	for i := range t.Calls {
		call := &t.Calls[i]
		if call.Origin != trace.OriginModel {
			continue
		}
		tool := p.tools[call.Tool]
		if tool == nil {
			tool = &ToolProfile{Name: call.Tool.Value()}
			p.tools[call.Tool] = tool
		}
		if took := call.End.Sub(call.Start); !call.Start.IsZero() && !call.End.IsZero() && took >= 0 {
			tool.Latency.Add(uint64(took))
		}
		if call.HasResult {
			tool.Result.Add(uint64(call.Result.TextLen()))
		}
		if call.Turn >= 0 && call.Turn < len(t.Turns) && firstOfTurn(t.Calls, i) {
			tool.addTurn(&t.Turns[call.Turn])
		}
	}
}

// AddSums adds what the calls of a tool took in other traces.
func (p *Profile) AddSums(o *ToolProfile) {
	if p.tools == nil {
		p.tools = map[trace.Name]*ToolProfile{}
	}
	name := trace.Intern(o.Name)
	tool := p.tools[name]
	if tool == nil {
		tool = &ToolProfile{Name: o.Name}
		p.tools[name] = tool
	}
	for v, n := range o.Latency.All() {
		tool.Latency.AddN(v, n)
	}
	for v, n := range o.Result.All() {
		tool.Result.AddN(v, n)
	}
	tool.Turns += o.Turns
	tool.TurnsUsage += o.TurnsUsage
	tool.Input += o.Input
	tool.Output += o.Output
}

func (p *ToolProfile) addTurn(turn *trace.Turn) {
	p.Turns++
	if turn.Usage.Known {
		p.TurnsUsage++
		p.Input += turn.Usage.Input
		p.Output += turn.Usage.Output
	}
}

// firstOfTurn reports whether call i is the first of its tool in its turn; the
// calls of a turn are adjacent.
func firstOfTurn(calls []trace.Call, i int) bool {
	for j := i - 1; j >= 0 && calls[j].Turn == calls[i].Turn; j-- {
		if calls[j].Tool == calls[i].Tool && calls[j].Origin == trace.OriginModel {
			return false
		}
	}
	return true
}

// Tools returns the profiles by name.
func (p *Profile) Tools() []*ToolProfile {
	out := make([]*ToolProfile, 0, len(p.tools))
	for _, tool := range p.tools {
		out = append(out, tool)
	}
	slices.SortFunc(out, func(a, b *ToolProfile) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Distribution is the distribution of a magnitude. Values below 256 are kept as
// they are, larger ones to 8 binary digits, so that a quantile is at most 0.4 %
// off and memory does not grow with the number of values. The zero value is
// empty.
type Distribution struct {
	n      int
	counts map[uint64]int
}

// Add counts a value.
func (d *Distribution) Add(v uint64) { d.AddN(v, 1) }

// AddN counts a value n times.
func (d *Distribution) AddN(v uint64, n int) {
	if d.counts == nil {
		d.counts = map[uint64]int{}
	}
	d.n += n
	d.counts[v&^(width(v)-1)] += n
}

// All yields the values that are kept with how often each was counted, the smallest
// first. What AddN makes of them is the same distribution.
func (d *Distribution) All() iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		for _, key := range slices.Sorted(maps.Keys(d.counts)) {
			if !yield(key, d.counts[key]) {
				return
			}
		}
	}
}

// width is how many values around v count as one.
func width(v uint64) uint64 { return 1 << max(bits.Len64(v)-8, 0) }

// N returns how many values there are.
func (d *Distribution) N() int { return d.n }

// Quantile returns the smallest value that at least the share p of the values
// do not exceed (the nearest rank), NaN if there are none.
func (d *Distribution) Quantile(p float64) float64 {
	if d.n == 0 {
		return math.NaN()
	}
	keys := make([]uint64, 0, len(d.counts))
	for key := range d.counts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	rank := max(int(math.Ceil(p*float64(d.n))), 1)
	for _, key := range keys {
		if rank -= d.counts[key]; rank <= 0 {
			return float64(key) + float64(width(key)-1)/2
		}
	}
	return float64(keys[len(keys)-1])
}
