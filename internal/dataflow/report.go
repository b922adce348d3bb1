package dataflow

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
)

// Class is where the values of a parameter come from.
type Class string

// The classes, in the order of reports.
const (
	ClassOutput   Class = "output"   // an earlier result, by an accepted link
	ClassInput    Class = "input"    // an earlier argument, by an accepted link
	ClassTask     Class = "task"     // the first user message, by an accepted link
	ClassUser     Class = "user"     // a later user message, by an accepted link
	ClassSystem   Class = "system"   // the system prompt, by an accepted link
	ClassConstant Class = "constant" // nothing of these, and (nearly) always the same value
	ClassUnknown  Class = "unknown"  // nothing of these
)

var classes = [...]Class{ClassOutput, ClassInput, ClassTask, ClassUser, ClassSystem, ClassConstant, ClassUnknown}

// ParamSources is where the values of one parameter come from.
type ParamSources struct {
	Param        Slot
	Uses         int
	Trajectories int
	Values       int  // different values
	AtLeast      bool // there are more than Values

	// Shares are of the uses, one a class; of each use the best accepted source
	// counts.
	Shares []ClassShare
	// Never is the uses whose value had not been seen anywhere in the trajectory.
	Never stat.Proportion
	// Sources are the accepted links that are the best source of some use.
	Sources []SourceShare
	// Unattributed uses have so unusual a list of possible sources that there
	// was no room to keep it; they are in no share.
	Unattributed int
	Tried        int // sources tried
	Rejected     int // links with hits that the chance guard does not accept
}

// ClassShare is the share of a class.
type ClassShare struct {
	Class Class
	stat.Proportion
}

// SourceShare is the share of one accepted link.
type SourceShare struct {
	Link *Link
	stat.Proportion
}

// constantShare is the share of trajectories with one value from which on a
// parameter counts as constant, if they are at least minConstant.
const (
	constantShare = 0.95
	minConstant   = 5
)

// reportParams fills s.Params. number maps links to s.Links.
func (l *Links) reportParams(s *Set, number []int32) {
	byParam := map[int32][]*pattern{}
	for i := range l.patterns {
		p := &l.patterns[i]
		byParam[p.param] = append(byParam[p.param], p)
	}
	tried, rejected := map[Slot]int{}, map[Slot]int{}
	for i := range s.Links {
		tried[s.Links[i].To] = s.Links[i].Tried
		if s.Links[i].Verdict != Accepted {
			rejected[s.Links[i].To]++
		}
	}
	for i := range l.slots {
		slot := &l.slots[i]
		if slot.used == 0 {
			continue
		}
		p := ParamSources{
			Param: slot.slot, Uses: slot.used, Trajectories: slot.trajectories,
			Values: len(slot.asked.counts), AtLeast: !slot.asked.exact(),
			Never: stat.Share(slot.never, slot.used), Unattributed: l.overflow[int32(i)],
			Tried: tried[slot.slot], Rejected: rejected[slot.slot],
		}
		counts, links := map[Class]int{}, map[int32]int{}
		for _, q := range byParam[int32(i)] {
			best := bestOf(q.links, number, s)
			if best < 0 {
				counts[slot.otherwise()] += q.count
				continue
			}
			counts[classOf(s.Links[best].From.Side)] += q.count
			links[best] += q.count
		}
		p.share(s, counts, links)
		s.Params = append(s.Params, p)
	}
	slices.SortFunc(s.Params, func(a, b ParamSources) int { return a.Param.compare(b.Param) })
}

// bestOf returns the first accepted link of a list, or -1.
func bestOf(links, number []int32, s *Set) int32 {
	for _, id := range links {
		if s.Links[number[id]].Verdict == Accepted {
			return number[id]
		}
	}
	return -1
}

func classOf(s Side) Class { return classes[s] }

// otherwise is the class of uses without an accepted source.
func (s *slotStat) otherwise() Class {
	for _, n := range s.asked.counts {
		if n >= minConstant && float64(n) >= constantShare*float64(s.trajectories) {
			return ClassConstant
		}
	}
	return ClassUnknown
}

// share fills in the shares.
func (p *ParamSources) share(s *Set, counts map[Class]int, links map[int32]int) {
	n := p.Uses - p.Unattributed
	for _, c := range classes {
		p.Shares = append(p.Shares, ClassShare{c, stat.Share(counts[c], n)})
	}
	for id, count := range links {
		p.Sources = append(p.Sources, SourceShare{&s.Links[id], stat.Share(count, n)})
	}
	slices.SortFunc(p.Sources, func(a, b SourceShare) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Link.From.compare(b.Link.From),
			cmp.Compare(a.Link.Relation, b.Link.Relation), cmp.Compare(a.Link.Template, b.Link.Template), cmp.Compare(a.Link.Part, b.Link.Part))
	})
}

// SamePair is one row of AutoTool's Table 2: how often an argument had the
// value of an earlier argument of another tool.
type SamePair struct {
	To    Slot    // the parameter
	From  Slot    // the parameter of the earlier call
	Count int     // pairs of a use and an earlier call
	Share float64 // of all such pairs of To
}

// AutoTool returns the parameter sources as AutoTool (arXiv 2511.14650, Table
// 2) counts them: every earlier call of another tool counts, not the nearest
// alone, and nothing guards against coincidence. By parameter, the most frequent
// first.
func (s *Set) AutoTool() []SamePair { return slices.Clone(s.same) }

func (l *Links) reportSame(s *Set) {
	total := map[int32]int{}
	for k, n := range l.same {
		total[k.a] += n
	}
	for k, n := range l.same {
		s.same = append(s.same, SamePair{l.slots[k.a].slot, l.slots[k.b].slot, n, float64(n) / float64(total[k.a])})
	}
	slices.SortFunc(s.same, func(a, b SamePair) int {
		return cmp.Or(a.To.compare(b.To), cmp.Compare(b.Count, a.Count), a.From.compare(b.From))
	})
}
