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
// of an application takes its access token, and some of them few tasks use, and a
// task names the folder, whatever is moved there. The
// parameters of one name together must pass the same test, with as many trials
// as the one that has most, and the link's own chance must be below 1 %.
func (l *Links) pool(s *Set, order []int32, tried map[int32]int) {
	members := map[poolKey][]int32{} // numbers of links
	for n := range s.Links {
		if k := &s.Links[n]; k.Relation == Equal && !k.From.Side.text() || k.Relation == Substring && k.From.Side.text() {
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
	p := pooled{values: map[uint64]*hitValue{}, asked: map[uint64]int{}, held: map[uint64]int{}, words: map[uint64]int{}}
	most := 0
	for _, number := range list {
		k := &l.links[order[number]]
		p.add(k, l.trial(k.key.source, k.key.param), l.context(k.key))
		most = max(most, tried[k.key.param])
	}
	if len(p.values) < minValues || p.all == 0 {
		return false
	}
	q := p.chanceEqual
	if s.Links[list[0]].Relation != Equal {
		q = p.chanceText
	}
	return log10Tail(p.trials, float64(p.found)/float64(p.all), q()) < log10Limit(most)
}

// pooled is the evidence for parameters of one name together.
type pooled struct {
	found, all  int
	trials      int // of the parameter that has most
	n, more     int // trajectories from the first hits on, and those in which the source may have held anything
	wordN       int // the same where words are needed
	wordMore    int
	values      map[uint64]*hitValue
	asked, held map[uint64]int
	words       map[uint64]int
}

// add adds the evidence for one link.
func (p *pooled) add(k *linkStat, t *trial, c *context) {
	p.found, p.all = p.found+int(k.found), p.all+t.asked.total
	p.trials = max(p.trials, int(t.trajectories))
	p.n, p.more = p.n+int(t.trajectories-c.before), p.more+int(c.full+c.values.floor)
	p.wordN, p.wordMore = p.wordN+int(t.trajectories-c.beforeWord), p.wordMore+int(c.full+c.words.floor)
	for v, hit := range k.values {
		if p.values[v] == nil {
			p.values[v] = &hitValue{form: hit.form, words: hit.words}
		}
		p.values[v].trajectories += hit.trajectories
	}
	for v, count := range t.asked.counts {
		p.asked[v] += int(count)
	}
	for v, count := range c.values.counts {
		p.held[v] += int(count)
	}
	for w, count := range c.words.counts {
		p.words[w] += int(count)
	}
}

// chanceEqual returns q for equal values.
func (p *pooled) chanceEqual() float64 {
	q, kept := 0.0, 0
	for _, v := range slices.Sorted(maps.Keys(p.asked)) {
		q += float64(p.asked[v]) / float64(p.all) * min(1, float64(p.held[v]+p.more)/float64(p.n))
		kept += p.asked[v]
	}
	return min(1, q+float64(p.all-kept)/float64(p.all)) // what is not kept is taken to be held always
}

// chanceText returns q for values that texts hold, as context.held bounds it.
func (p *pooled) chanceText() float64 {
	q, total := 0.0, 0
	for _, v := range slices.Sorted(maps.Keys(p.values)) {
		hit := p.values[v]
		held, sum := p.wordN, 0
		for _, w := range hit.words {
			held, sum = min(held, p.words[w]+p.wordMore), sum+p.words[w]+p.wordMore
		}
		if hit.form == Normalized { // in one of its forms
			held = sum
		}
		q += float64(hit.trajectories) * min(1, float64(held)/float64(p.wordN))
		total += int(hit.trajectories)
	}
	return min(1, q/float64(max(total, 1)))
}
