package toolgraph

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// Upkeep are the constants of the graph's evolution (section 3.2.4). The zero value is
// the default.
type Upkeep struct {
	Failure float64 // l of Equation 13, the weight of failures; 0 means .8
	Prune   float64 // score above which a tool is pruned; 0 means .7, as in the paper
	Grace   int     // calls below which a tool is not judged; 0 means 5
	Memory  float64 // h of Equation 14; 0 means .7
	Window  int     // days; 0 means 7
	Share   float64 // of the pruned tools that an update puts back; 0 means .1, as in the paper
	Seed    uint64
}

func (o Upkeep) filled() Upkeep {
	fill := func(x *float64, d float64) {
		if *x == 0 {
			*x = d
		}
	}
	fill(&o.Failure, .8)
	fill(&o.Prune, .7)
	fill(&o.Memory, .7)
	fill(&o.Share, .1)
	if o.Grace == 0 {
		o.Grace = 5
	}
	if o.Window == 0 {
		o.Window = 7
	}
	return o
}

// PruneScore returns Equation 13: l s(fail) + (1 - l) s(1/freq), s the logistic
// function, fail the share of failed calls, freq the calls as a share of those of the
// tool that is called most. It grows with failures and with rareness.
func PruneScore(fail, freq, l float64) float64 {
	s := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	rare := 1.0
	if freq > 0 {
		rare = s(1 / freq)
	}
	return float64(l*s(fail)) + float64((1-l)*rare)
}

// StepWeight returns Equation 14: h w + (1 - h) succeeded/of, where succeeded of the
// of successful calls of a tool in the window came right after another; w if there
// was none.
func StepWeight(w float64, succeeded, of int, h float64) float64 {
	if of == 0 {
		return w
	}
	return float64(h*w) + float64((1-h)*float64(succeeded)/float64(of))
}

// Changes is what an update did to a graph.
type Changes struct {
	Days        int      // by which edge weights were stepped; 0 if no trajectory has a time
	Stepped     int      // edges whose weight changed
	Pruned      []string // tools
	Failing     []string
	Reactivated []string
	Probed      []string // of the reactivated, those that chance put back
	New         []string // tools
	Untimed     bool     // some trajectories have no time; they are in no window
}

// Update returns the graph of everything that old and new trajectories show: counts
// are added, new tools are placed among the parameters and get edges from the
// predictor, weights of edges between tools are stepped by Equation 14, and tools are
// pruned and reactivated. It changes nothing of old; in holds what is new. Of tools
// that both define, the definition in in counts.
func Update(old *Graph, in Input, o Upkeep) (*Graph, Changes) {
	o = o.filled()
	fresh := in.Observed
	if fresh == nil {
		fresh = &Observed{}
	}
	merged := in
	merged.Catalog = old.catalogWith(in.Catalog)
	merged.Observed = old.observedWith(fresh)
	merged.Proofs = old.proofsWith(in.Proofs)
	merged.Links = append(old.given(), in.Links...)
	g := Build(merged)
	g.Trajectories = old.Trajectories + fresh.Trajectories
	g.Updated = old.Updated
	var c Changes
	for i := range g.Tools {
		if _, known := old.Find(g.Tools[i].Name); !known {
			c.New = append(c.New, g.Tools[i].Name)
		}
	}
	g.step(old, fresh, o, &c)
	g.prune(old, fresh, o, &c)
	return g, c
}

// step moves the weights of edges between tools by Equation 14, day by day.
func (g *Graph) step(old *Graph, fresh *Observed, o Upkeep, c *Changes) {
	before := map[Step]float64{}
	for _, e := range old.Follows {
		before[Step{old.Tools[e.From].Name, old.Tools[e.To].Name}] = e.Weight
	}
	days := slices.Sorted(maps.Keys(fresh.Days))
	if len(days) > 0 && days[0] == "" {
		c.Untimed = true
		days = days[1:]
	}
	if len(days) == 0 {
		// Without times there is no window: the weights stay what they were.
		for i := range g.Follows {
			e := &g.Follows[i]
			if w, ok := before[Step{g.Tools[e.From].Name, g.Tools[e.To].Name}]; ok && e.Kind != Given {
				e.Weight = w
			}
		}
		slices.SortFunc(g.Follows, byTarget)
		return
	}
	first, last := mustDay(days[0]), mustDay(days[len(days)-1])
	g.Updated = max(g.Updated, days[len(days)-1])
	c.Days = int(last.Sub(first).Hours()/24) + 1
	succeeded := map[Step]int{} // in the window
	into := map[string]int{}
	shift := func(day time.Time, sign int) {
		for s, n := range fresh.Days[day.Format(time.DateOnly)] {
			succeeded[s] += sign * n.Succeeded()
			into[s.To] += sign * n.Succeeded()
		}
	}
	weights := map[Step]float64{}
	maps.Copy(weights, before)
	byTo := map[string][]Step{}
	for i := range g.Follows {
		e := &g.Follows[i]
		s := Step{g.Tools[e.From].Name, g.Tools[e.To].Name}
		if _, ok := weights[s]; !ok {
			weights[s] = e.Prior
		}
		byTo[s.To] = append(byTo[s.To], s)
	}
	// A window that is empty changes nothing, so long gaps are passed over.
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		shift(day, 1)
		shift(day.AddDate(0, 0, -o.Window), -1)
		active := false
		for to, n := range into {
			if n == 0 {
				delete(into, to)
				continue
			}
			active = true
			for _, s := range byTo[to] {
				weights[s] = StepWeight(weights[s], succeeded[s], n, o.Memory)
			}
		}
		if !active {
			if next, ok := nextDay(days, day); ok {
				day = next.AddDate(0, 0, -1)
			}
		}
	}
	for i := range g.Follows {
		e := &g.Follows[i]
		if e.Kind == Given {
			continue
		}
		s := Step{g.Tools[e.From].Name, g.Tools[e.To].Name}
		w := rounded(min(1, weights[s]))
		if old, ok := before[s]; !ok || old != w {
			c.Stepped++
		}
		e.Weight = w
	}
	slices.SortFunc(g.Follows, byTarget)
}

func mustDay(text string) time.Time {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic("toolgraph: a day that Observe wrote does not parse: " + text)
	}
	return day
}

// nextDay returns the first of the days behind a day.
func nextDay(days []string, day time.Time) (time.Time, bool) {
	i, _ := slices.BinarySearch(days, day.Format(time.DateOnly)+"\x00")
	if i == len(days) {
		return time.Time{}, false
	}
	return mustDay(days[i]), true
}

// prune judges every tool by Equation 13 and puts some of the pruned ones back.
func (g *Graph) prune(old *Graph, fresh *Observed, o Upkeep, c *Changes) {
	most := 0
	for i := range g.Tools {
		most = max(most, g.Tools[i].Counts.Calls())
	}
	sole := g.soleProducers()
	var pruned []int
	for i := range g.Tools {
		t := &g.Tools[i]
		before := Active
		if j, ok := old.Find(t.Name); ok {
			before = old.Tools[j].State
		}
		t.State = Active
		calls := t.Counts.Calls()
		if calls < o.Grace || PruneScore(failShare(t.Counts), float64(calls)/float64(max(1, most)), o.Failure) <= o.Prune {
			if before == Pruned {
				c.Reactivated = append(c.Reactivated, t.Name)
			}
			continue
		}
		switch {
		case fresh.Calls[t.Name].OK > 0 && before == Pruned:
			c.Reactivated = append(c.Reactivated, t.Name) // it works again
		case sole[i]:
			t.State = Failing
			if before != Failing {
				c.Failing = append(c.Failing, t.Name)
			}
		default:
			t.State = Pruned
			if before == Pruned {
				pruned = append(pruned, i)
			} else {
				c.Pruned = append(c.Pruned, t.Name)
			}
		}
	}
	for _, i := range g.probed(pruned, o) {
		g.Tools[i].State = Active
		c.Reactivated = append(c.Reactivated, g.Tools[i].Name)
		c.Probed = append(c.Probed, g.Tools[i].Name)
	}
	slices.Sort(c.Reactivated)
}

// failShare returns the failed calls as a share of those of known status.
func failShare(c Counts) float64 {
	if known := c.OK + c.Failed; known > 0 {
		return float64(c.Failed) / float64(known)
	}
	return 0
}

// soleProducers returns the tools without which a required parameter has no
// producer.
func (g *Graph) soleProducers() map[int]bool {
	required := map[int]bool{}
	needs := map[[2]int]bool{} // tool and parameter
	for _, c := range g.Consumes {
		if c.Required {
			required[c.Param] = true
			needs[[2]int{c.Tool, c.Param}] = true
		}
	}
	by := map[int][]int{}
	for _, p := range g.Produces {
		// What needs the parameter gives it to nobody who lacks it.
		if required[p.Param] && !needs[[2]int{p.Tool, p.Param}] && !slices.Contains(by[p.Param], p.Tool) {
			by[p.Param] = append(by[p.Param], p.Tool)
		}
	}
	out := map[int]bool{}
	for _, tools := range by {
		if len(tools) == 1 {
			out[tools[0]] = true
		}
	}
	return out
}

// probed returns the share of pruned tools that this update puts back: those with
// the lowest hash of seed, name and day, so that another day tries others.
func (g *Graph) probed(pruned []int, o Upkeep) []int {
	n := int(math.Ceil(o.Share * float64(len(pruned))))
	hash := func(i int) uint64 {
		h := fnv.New64a()
		h.Write([]byte(strconv.FormatUint(o.Seed, 10) + "\x00" + g.Tools[i].Name + "\x00" + g.Updated))
		return mix(h.Sum64(), 0)
	}
	pruned = slices.Clone(pruned)
	slices.SortFunc(pruned, func(a, b int) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), cmp.Compare(a, b)) })
	pruned = pruned[:min(n, len(pruned))]
	slices.Sort(pruned)
	return pruned
}
