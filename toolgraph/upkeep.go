package toolgraph

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"time"
)

// The constants of the graph's evolution (section 3.2.4). The threshold and the chance are
// the paper's.
const (
	failureWeight = .5 // l of Equation 13, the weight of failures
	pruneAbove    = .7 // score above which a tool is pruned
	grace         = 5  // calls below which a tool is not judged
	memory        = .7 // h of Equation 14
	window        = 7  // days of Equation 14, and after which a call counts half in Equation 13
	probed        = .1 // chance of a pruned tool that an update puts it back
)

// PruneScore returns Equation 13: l s(failed/succeeded) + (1 - l) s(1/calls), s the
// logistic function. It grows with failures and with rareness. Its units are ours: with
// them and l = .5 each half alone can come to .75.
func PruneScore(r Recent, l float64) float64 {
	s := func(of, by float64) float64 {
		if of == 0 {
			return .5
		}
		return 1 / (1 + math.Exp(-of/by)) // 1 where by is 0
	}
	return float64(l*s(r.Failed, r.OK)) + float64((1-l)*s(1, r.Calls))
}

// Recent is what a tool did of late: how its calls ended, of which each counts half after
// ten more, and how many there were, of which each counts half after a week.
type Recent struct {
	OK     float64 `json:"ok"`
	Failed float64 `json:"failed"`
	Calls  float64 `json:"calls"`
}

// fade is by how much a call counts less after each further one.
var fade = math.Exp2(-1. / 10)

// add adds calls that were made in some order, which is the same as if each kind were
// spread evenly among them.
func (r *Recent) add(c Counts) {
	r.Calls += float64(c.Calls())
	if n := float64(c.OK + c.Failed); n > 0 {
		old := math.Pow(fade, n)
		each := (1 - old) / (1 - fade) / n
		r.OK, r.Failed = float64(r.OK*old)+float64(each*float64(c.OK)), float64(r.Failed*old)+float64(each*float64(c.Failed))
	}
}

// recall brings what the tools did of late up to the last day of what is new. Calls
// without a time pass no day.
func (g *Graph) recall(old *Graph, fresh *Observed) {
	recent := make([]Recent, len(g.Tools))
	for i := range g.Tools {
		if j, known := old.Find(g.Tools[i].Name); known {
			recent[i] = old.Tools[j].Recent
			if c := old.Tools[j].Counts; recent[i] == (Recent{}) { // of an older file
				recent[i].add(c)
			}
		}
	}
	g.Updated = old.Updated
	for _, day := range slices.Sorted(maps.Keys(fresh.Days)) {
		if day > g.Updated {
			if g.Updated != "" {
				passed := mustDay(day).Sub(mustDay(g.Updated)).Hours() / 24
				for i := range recent {
					recent[i].Calls *= math.Exp2(-passed / window)
				}
			}
			g.Updated = day
		}
		calls := map[string]Counts{}
		for s, n := range fresh.Days[day] {
			calls[s.To] = calls[s.To].plus(n)
		}
		for i := range recent {
			recent[i].add(calls[g.Tools[i].Name])
		}
	}
	for i, r := range recent {
		g.Tools[i].Recent = Recent{rounded(r.OK), rounded(r.Failed), rounded(r.Calls)}
	}
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
func Update(old *Graph, in Input) (*Graph, Changes) {
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
	g.recall(old, fresh)
	var c Changes
	for i := range g.Tools {
		if _, known := old.Find(g.Tools[i].Name); !known {
			c.New = append(c.New, g.Tools[i].Name)
		}
	}
	g.step(old, fresh, &c)
	g.prune(old, in.Seed, &c)
	return g, c
}

// step moves the weights of edges between tools by Equation 14, day by day.
func (g *Graph) step(old *Graph, fresh *Observed, c *Changes) {
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
	c.Days = int(last.Sub(first).Hours()/24) + 1
	succeeded := map[Step]int{} // in the window
	into := map[string]int{}
	shift := func(day time.Time, sign int) {
		for s, n := range fresh.Days[day.Format(time.DateOnly)] {
			if s.From == "" {
				continue // the first call of a trajectory comes after none
			}
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
		shift(day.AddDate(0, 0, -window), -1)
		active := false
		for to, n := range into {
			if n == 0 {
				delete(into, to)
				continue
			}
			active = true
			for _, s := range byTo[to] {
				weights[s] = StepWeight(weights[s], succeeded[s], n, memory)
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
func (g *Graph) prune(old *Graph, seed uint64, c *Changes) {
	sole := g.soleProducers()
	for i := range g.Tools {
		t := &g.Tools[i]
		before := Active
		if j, ok := old.Find(t.Name); ok {
			before = old.Tools[j].State
		}
		t.State = Active
		switch {
		case t.Counts.Calls() < grace || PruneScore(t.Recent, failureWeight) <= pruneAbove:
			if before == Pruned {
				c.Reactivated = append(c.Reactivated, t.Name)
			}
		case sole[i]:
			t.State = Failing
			if before != Failing {
				c.Failing = append(c.Failing, t.Name)
			}
		case before != Pruned:
			t.State = Pruned
			c.Pruned = append(c.Pruned, t.Name)
		case g.chance(t.Name, seed) < probed:
			c.Reactivated, c.Probed = append(c.Reactivated, t.Name), append(c.Probed, t.Name)
		default:
			t.State = Pruned
		}
	}
}

// chance returns a number from 0 to 1 that seed, name, day and count of trajectories
// decide, so that another update tries other tools.
func (g *Graph) chance(name string, seed uint64) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%s\x00%s\x00%d", seed, name, g.Updated, g.Trajectories)
	return float64(mix(h.Sum64(), 0)>>11) / (1 << 53)
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
