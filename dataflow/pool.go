package dataflow

import (
	"maps"
	"slices"
)

// log10PoolP is log10 of what the chance of a link must stay below for the
// evidence of its pool to count.
const log10PoolP = -2

// poolKey is a source and the name of a parameter, whatever its tool.
type poolKey struct {
	from     Slot
	path     string
	relation Relation
}

// pool accepts links that have too little evidence of their own, but whose
// source gives the parameter of that name to the tools that have it: every tool
// of an application takes its access token, and some of them few tasks use. The
// parameters of one name together must pass the same test, with as many trials
// as the one that has most, and the link's own chance must be below 1 %.
func (l *Links) pool(s *Set, order []int32, tried map[int32]int) {
	members := map[poolKey][]int32{} // numbers of links
	for n := range s.Links {
		if k := &s.Links[n]; k.Relation == Equal && !k.From.Side.text() {
			at := poolKey{k.From, k.To.Path, k.Relation}
			members[at] = append(members[at], int32(n))
		}
	}
	for _, list := range members {
		if len(list) < 2 || !l.passesPooled(s, list, order, tried) {
			continue
		}
		for _, n := range list {
			if k := &s.Links[n]; k.Verdict != Accepted && k.Log10P < log10PoolP {
				k.Verdict, k.Pooled = Accepted, true
			}
		}
	}
}

// passesPooled reports whether the parameters of one name pass the test together.
func (l *Links) passesPooled(s *Set, list, order []int32, tried map[int32]int) bool {
	var found, all, trials, most int
	values, asked, held := map[uint64]bool{}, map[uint64]int{}, map[uint64]int{}
	n, more := 0, 0
	for _, number := range list {
		k := &l.links[order[number]]
		t := l.trial(k.key.source, k.key.param)
		c := &l.contexts[l.contextOf[pair{k.key.source, k.key.param}]]
		for v := range k.values {
			values[v] = true
		}
		found, all = found+int(k.found), all+t.asked.total
		trials, most = max(trials, int(t.trajectories)), max(most, tried[k.key.param])
		n, more = n+int(t.trajectories-c.before), more+int(c.full+c.values.floor)
		for v, count := range t.asked.counts {
			asked[v] += int(count)
		}
		for v, count := range c.values.counts {
			held[v] += int(count)
		}
	}
	if len(values) < minValues || all == 0 {
		return false
	}
	q, kept := 0.0, 0
	for _, v := range slices.Sorted(maps.Keys(asked)) {
		q += float64(asked[v]) / float64(all) * min(1, float64(held[v]+more)/float64(n))
		kept += asked[v]
	}
	q = min(1, q+float64(all-kept)/float64(all)) // what is not kept is taken to be held always
	return log10Tail(trials, float64(found)/float64(all), q) < log10Limit(most)
}
