package dataflow

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
)

// Verdict says whether a link is taken for a source.
type Verdict string

// The verdicts.
const (
	Accepted  Verdict = "accepted"
	Constant  Verdict = "constant"   // the parameter has one value only, which proves nothing
	FewValues Verdict = "few-values" // fewer than three different values came this way
	Chance    Verdict = "chance"     // equal values may be a coincidence
)

// Link is a source of a parameter, with the evidence for it over a corpus: that
// the argument To equals, holds or is told by what From held earlier in the
// trajectory. Template, Before, After and the constants of Choices are text of
// the traces, which may be secret.
type Link struct {
	From     Slot
	To       Slot
	Relation Relation
	Template string // Template: the argument, with a Hole for each of its parts
	Part     int    // Template: which part
	AsString bool   // Coerced: arguments are strings mostly, and numbers in the source
	Before   string // relations to texts: what stands before the value wherever it was found
	After    string // and behind it

	Verdict Verdict
	Trials  int     // trajectories that use To in a later turn than the first call (or message) of From
	Hits    int     // of these, trajectories with at least one use that has its value from there
	Uses    int     // uses that have
	Rate    float64 // share of the values of To in the trials (each once a trajectory) that were there
	Values  int     // different values that were there
	AtLeast bool    // there are more than Values
	Chance  float64 // q: what Rate would be if arguments and sources had nothing to do with each other
	Log10P  float64 // log10 P(Bin(Trials, Chance) >= Rate Trials)
	Limit   float64 // log10 of what it must stay below: 1e-3 / Tried
	Tried   int     // sources that were tried for this parameter
	Exact   bool    // Chance is exact; otherwise it is an upper bound
	Pooled  bool    // accepted with the evidence for the parameters of the same name of other tools

	Present bool // accepted because the parameter, which is optional, is used where the source holds its value

	// Choices are ways to choose among several values that are worth judging.
	Choices []Choice

	presence float64 // log10 of the chance that the source tells when the parameter is used; 0 if that is not known
}

// The guard's constants.
const (
	minValues    = 3
	significance = 1e-3
)

// Set is the links of a corpus. It is immutable.
type Set struct {
	Trajectories int
	Links        []Link // by parameter, then source; accepted or not
	Params       []ParamSources
	Dropped      int // places and sources beyond the bounds on memory

	index map[setKey]int32
	same  []SamePair
}

// setKey identifies a link.
type setKey struct {
	from, to Slot
	relation Relation
	part     int
	template string
}

// Set judges the links by what was added.
//
// A link is accepted if at least three different values came that way and it
// finds more of them than chance would: P(Bin(n, q) >= hits) < 1e-3 / sources
// tried. Every trajectory is one trial, in which one of the parameter's
// different values is drawn, so that hits is n times the share of values found;
// q = sum over v of p_arg(v) p_src(v), where p_arg(v) is the share of v among
// the values of the parameter in these trials and p_src(v) the share of the
// trials, from the first hit on, whose source holds v. For relations other than
// Equal p_arg is taken from the values found, which errs towards chance, and
// for texts p_src(v) is the share of those that hold v's rarest word.
//
// Three kinds of evidence help where a link's own values say too little: when an
// optional parameter is used at all (see absence), the same parameter of other
// tools (see pool), and names (see acceptNamed).
//
// Note: counting a trajectory as a hit when any of its values is found, against
// the sum of their chances, was tried first. The sum is so far above the chance
// of any when a list is walked whole that such links, the most useful ones,
// were refused.
func (l *Links) Set() *Set {
	s := &Set{Trajectories: l.trajectories, Dropped: l.dropped, index: map[setKey]int32{}}
	tried := l.tried()
	values := map[*trial][]uint64{}
	order := make([]int32, len(l.links))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return l.compare(&l.links[a].key, &l.links[b].key) })
	number := make([]int32, len(l.links)) // of l.links -> of s.Links
	for n, i := range order {
		k := &l.links[i]
		t := l.trial(k.key.source, k.key.param)
		if _, ok := values[t]; !ok {
			values[t] = t.asked.counts.sorted()
		}
		link := l.judge(k, t, tried[k.key.param], values[t])
		number[i] = int32(n)
		s.index[link.key()] = int32(n)
		s.Links = append(s.Links, link)
	}
	l.pool(s, order, tried)
	l.acceptNamed(s, order)
	l.reportParams(s, number)
	l.reportSame(s)
	return s
}

func (k *Link) key() setKey {
	return setKey{k.From, k.To, k.Relation, k.Part, k.Template}
}

// compare orders links by parameter, source, relation and template.
func (l *Links) compare(a, b *linkKey) int {
	return cmp.Or(
		l.slots[a.param].slot.compare(l.slots[b.param].slot),
		l.slots[a.source].slot.compare(l.slots[b.source].slot),
		cmp.Compare(a.relation, b.relation),
		cmp.Compare(a.template, b.template),
		cmp.Compare(a.part, b.part),
	)
}

// tried counts the sources that were tried for each parameter: those that held
// its value before a use at least once. Others could not be accepted.
func (l *Links) tried() map[int32]int {
	tried := map[int32]int{}
	for i := range l.links {
		tried[l.links[i].key.param]++
	}
	return tried
}

// judge gives a link its verdict. asked are the values of the trials, in order.
func (l *Links) judge(k *linkStat, t *trial, tried int, asked []uint64) Link {
	source, param := &l.slots[k.key.source], &l.slots[k.key.param]
	c := l.context(k.key)
	link := Link{
		From: source.slot, To: param.slot, Relation: k.key.relation, Template: k.key.template, Part: int(k.key.part),
		Before: k.around.before, After: k.around.after,
		Trials: int(t.trajectories), Hits: int(k.hits), Uses: int(k.uses),
		Rate:   float64(k.found) / float64(max(t.asked.total, 1)),
		Values: len(k.values), AtLeast: k.more, Tried: max(tried, 1),
		Choices: k.choices.propose(l.slots), AsString: k.key.relation == Coerced && 2*k.strings >= k.uses,
	}
	if k.key.relation == Equal {
		link.Chance, link.Exact = c.chanceEqual(t, asked)
	} else {
		link.Chance, link.Exact = c.chanceOther(t, k)
	}
	link.Log10P = log10Tail(link.Trials, link.Rate, link.Chance)
	link.Limit = log10Limit(link.Tried)
	switch {
	case len(param.asked.counts) == 1 && param.asked.exact():
		link.Verdict = Constant
	case link.Values < minValues:
		link.Verdict = FewValues
	case !link.passes():
		link.Verdict = Chance
	default:
		link.Verdict = Accepted
	}
	if q, log10P, ok := l.present(k, &link, t); ok && link.Verdict != Accepted {
		link.presence = log10P
		if log10P < link.Limit {
			link.Verdict, link.Chance, link.Log10P, link.Present = Accepted, q, log10P, true
		}
	}
	return link
}

// passes reports whether chance does not explain the link.
func (k *Link) passes() bool { return k.Log10P < k.Limit }

// log10Tail returns log10 P(Bin(n, q) >= rate n). Between whole numbers it is
// interpolated.
func log10Tail(n int, rate, q float64) float64 {
	whole, part := math.Modf(min(rate*float64(n)+1e-9, float64(n)))
	tail := stat.LogTail(n, int(whole), q)
	if next := stat.LogTail(n, int(whole)+1, q); part > 1e-6 && !math.IsInf(tail, -1) && !math.IsInf(next, -1) {
		tail += part * (next - tail)
	}
	return tail / math.Ln10
}

func log10Limit(tried int) float64 { return math.Log10(significance / float64(max(tried, 1))) }

// chanceEqual returns q for equal values, and whether it is exact.
func (c *context) chanceEqual(t *trial, asked []uint64) (float64, bool) {
	n, all := float64(t.trajectories-c.before), float64(max(t.asked.total, 1))
	more := c.full + c.values.floor
	q := 0.0
	for _, v := range asked {
		q += float64(t.asked.most(v)) / all * min(1, float64(c.values.counts[v]+more)/n)
	}
	if t.asked.floor > 0 {
		q += c.chanceRest(t, asked, n, all, more)
	}
	return min(1, q), t.asked.exact() && more == 0
}

// chanceRest bounds what values of a parameter that are not kept add to q: any
// of them was asked for at most floor times.
func (c *context) chanceRest(t *trial, asked []uint64, n, all float64, more int32) float64 {
	kept, others := 0, 0
	for _, count := range t.asked.counts {
		kept += int(count)
	}
	for _, count := range c.values.counts {
		others += int(count)
	}
	for _, v := range asked {
		others -= int(c.values.counts[v])
	}
	return float64(t.asked.floor)/all*float64(others)/n + float64(t.asked.total-kept)/all*min(1, float64(more)/n)
}

// chanceOther returns q for the other relations, and whether it is exact.
func (c *context) chanceOther(t *trial, k *linkStat) (float64, bool) {
	n := float64(t.trajectories - c.before)
	if k.key.relation.toText() {
		n = float64(t.trajectories - c.beforeWord)
	}
	q, total := 0.0, 0
	for _, v := range slices.Sorted(maps.Keys(k.values)) {
		hit := k.values[v]
		q += float64(hit.trajectories) * min(1, (c.held(v, hit, n)+float64(c.full))/n)
		total += int(hit.trajectories)
	}
	exact := c.full == 0 && c.values.exact() && c.words.exact() && !k.more
	return min(1, q/float64(max(total, 1))), exact
}

// held bounds from above in how many of n trajectories the source held a value.
func (c *context) held(value uint64, hit *hitValue, n float64) float64 {
	if !hit.form.toText() {
		return float64(c.values.most(value))
	}
	if hit.form == Normalized { // in one of its forms
		held := 0
		for _, w := range hit.words {
			held += c.words.most(w)
		}
		return float64(held)
	}
	held := n
	for _, w := range hit.words {
		held = min(held, float64(c.words.most(w))) // at most as often as its rarest word
	}
	return held
}

// Link returns the link that a source of a use is evidence for, nil if there is none.
func (s *Set) Link(f *Flow, u *Use, source *Source) *Link {
	k := setKey{f.Slots[source.Slot], f.Slots[u.Param], source.Relation.merged(), source.Part, source.Template}
	if i, ok := s.index[k]; ok {
		return &s.Links[i]
	}
	return nil
}

// Best returns the best source of a use whose link is accepted, and that link,
// among results and arguments of the calls from the one numbered from on, and,
// if from is 0, messages. It returns nil if there is none.
func (s *Set) Best(f *Flow, u *Use, from int) (*Source, *Link) {
	for i := range u.Sources {
		source := &u.Sources[i]
		if from > 0 && (f.Slots[source.Slot].Side.text() || source.Call < from) {
			continue
		}
		if link := s.Link(f, u, source); link != nil && link.Verdict == Accepted {
			return source, link
		}
	}
	return nil, nil
}

// Accepted returns the accepted links of a parameter, in the order of Links.
func (s *Set) Accepted(to Slot) []*Link {
	var links []*Link
	first, _ := slices.BinarySearchFunc(s.Links, to, func(k Link, to Slot) int { return k.To.compare(to) })
	for i := first; i < len(s.Links) && s.Links[i].To == to; i++ {
		if s.Links[i].Verdict == Accepted {
			links = append(links, &s.Links[i])
		}
	}
	return links
}
