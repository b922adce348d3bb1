package dataflow

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// resolve makes the uses of a call from what was found before its turn.
func (c *collection) resolve(i int) {
	start := int32(0)
	if i > 0 {
		start = c.byCall[i-1]
	}
	args := c.args[start:c.byCall[i]]
	for j := range args {
		a := &args[j]
		if !a.model {
			return
		}
		w := &c.wants[a.want]
		u := Use{
			Call: i, Param: int(a.slot), Positions: c.positions(a.levels), Kind: a.value.Kind, Whole: a.whole,
			Value: a.hash, Short: isShort(a.value), empty: isEmpty(a.value), Seen: w.seen,
		}
		if !isEmpty(a.value) && !c.isKnowing {
			if !a.whole {
				c.countSame(a, nameOf(c.calls[i].Tool))
			}
			if a.value.Kind != trace.Bool {
				u.Sources = c.sources(w, args, j)
			}
		}
		c.flow.Uses = append(c.flow.Uses, u)
	}
}

// countSame counts the earlier calls of other tools with an argument of the
// same value.
func (c *collection) countSame(a *argument, tool trace.Name) {
	for k := range c.wants[a.want].found {
		f := &c.wants[a.want].found[k]
		if s := &c.flow.Slots[f.slot]; f.relation != Equal || s.Side != Input || s.Tool == tool {
			continue
		}
		if c.pairs == nil {
			c.pairs = map[[2]int32]int32{}
		}
		c.pairs[[2]int32{a.slot, f.slot}] += f.calls
	}
}

func (c *collection) positions(levels [2]int32) []int {
	if levels[0] == levels[1] {
		return nil
	}
	positions := make([]int, 0, levels[1]-levels[0])
	for _, l := range c.arena[levels[0]:levels[1]] {
		positions = append(positions, int(l.position))
	}
	return positions
}

// candidate is a source before it is written out.
type candidate struct {
	*found
	value    uint64
	template string
	part     int
}

// sources returns the sources of the argument args[j], best first.
func (c *collection) sources(w *want, args []argument, j int) []Source {
	var list []candidate
	for k := range w.found {
		f := &w.found[k]
		list = append(list, candidate{found: f, value: heldHash(w, f.relation)})
	}
	if args[j].value.Kind == trace.String {
		list = c.appendParts(list, w)
	}
	slices.SortStableFunc(list, c.compare)
	list = list[:min(len(list), maxSources)]
	sources := make([]Source, len(list))
	keyed := 0
	for k := range list {
		f := &list[k]
		s := Source{
			Slot: int(f.slot), Relation: f.relation, Call: int(f.call), Calls: int(f.calls), Echo: f.echo,
			Positions: c.positions(f.levels), Before: f.before, After: f.after,
			Template: f.template, Part: f.part, value: f.value,
		}
		if f.relation.toText() {
			s.words = wordsOf(w, f.relation)
		}
		if f.levels[0] < f.levels[1] && !f.relation.toText() && keyed < maxKeyed && c.flow.Slots[f.slot].Side == Output {
			keyed++
			s.Keys = c.keys(f, args, j)
		}
		sources[k] = s
	}
	return sources
}

// wordsOf returns the hashes that a text holds which holds the want: of all its
// words, or, for what is written in another way, of one of its normal forms.
func wordsOf(w *want, r Relation) []uint64 {
	if r == Normalized {
		if d, ok := dateOf(w.text); ok {
			keys := d.wantKeys()
			return keys[:]
		}
		canonical, _ := numberOf(w.text)
		return []uint64{jsonvalue.HashNumber(canonical)}
	}
	words := make([]uint64, len(w.phrase))
	for i, t := range w.phrase {
		words[i] = t.hash
	}
	return words
}

// compare orders sources: the closer relation first, then results, arguments,
// results that repeat arguments, and messages, then the nearest, then the
// plainest path.
func (c *collection) compare(a, b candidate) int {
	x, y := &c.flow.Slots[a.slot], &c.flow.Slots[b.slot]
	return cmp.Or(
		cmp.Compare(a.relation.tier(), b.relation.tier()),
		cmp.Compare(rank(x.Side, a.echo), rank(y.Side, b.echo)),
		cmp.Compare(b.call, a.call),
		cmp.Compare(a.relation, b.relation),
		cmp.Compare(a.levels[1]-a.levels[0], b.levels[1]-b.levels[0]),
		cmp.Compare(len(x.Path), len(y.Path)),
		cmp.Compare(a.slot, b.slot),
	)
}

func rank(s Side, echo bool) int {
	if echo {
		return 2*int(Input) + 1
	}
	return 2 * int(s)
}

// appendParts appends the sources of the pieces of a text argument: each piece
// by itself, with all else fixed, and all pieces that fit side by side
// together.
func (c *collection) appendParts(list []candidate, w *want) []candidate {
	if len(w.parts) == 0 {
		return list
	}
	slices.SortFunc(w.parts, comparePart)
	w.parts = slices.Compact(w.parts)
	text := w.value.Text
	var cover []part
	end, pieces := int32(0), 0
	for _, p := range w.parts {
		if !c.hasEqual(p.want) {
			continue
		}
		if pieces++; pieces > maxPieces {
			c.flow.dropped++
			break
		}
		if p.start >= end {
			cover = append(cover, p)
			end = p.end
		}
		list = c.appendPart(list, p, text[:p.start]+jsonpath.Hole+text[p.end:], 0)
	}
	if len(cover) < 2 {
		return list
	}
	var skeleton strings.Builder
	end = 0
	for _, p := range cover {
		skeleton.WriteString(text[end:p.start])
		skeleton.WriteString(jsonpath.Hole)
		end = p.end
	}
	skeleton.WriteString(text[end:])
	for i, p := range cover {
		list = c.appendPart(list, p, skeleton.String(), i)
	}
	return list
}

// hasEqual reports whether a want was found as a value by itself.
func (c *collection) hasEqual(w int32) bool {
	return slices.ContainsFunc(c.wants[w].found, func(f found) bool { return f.relation <= Coerced })
}

// appendPart appends the best sources of one piece.
func (c *collection) appendPart(list []candidate, p part, template string, n int) []candidate {
	w := &c.wants[p.want]
	start := len(list)
	for k := range w.found {
		if w.found[k].relation > Coerced {
			continue
		}
		f := w.found[k]
		held := heldHash(w, f.relation)
		f.relation = Template
		list = append(list, candidate{found: &f, value: held, template: template, part: n})
	}
	if len(list) > start+maxOfPiece {
		slices.SortStableFunc(list[start:], c.compare)
		list = list[:start+maxOfPiece]
	}
	return list
}

// heldHash returns the hash of the value that the source of a want held: the
// want's own, or that of its twin.
func heldHash(w *want, r Relation) uint64 {
	switch {
	case r != Coerced:
		return w.hash
	case w.value.Kind == trace.Number:
		return jsonvalue.HashString(jsonvalue.Number(w.value.Text))
	}
	return jsonvalue.HashNumber(w.value.Text)
}

// keys returns the members that single the found element out of each list on
// the way to it.
func (c *collection) keys(f *candidate, args []argument, j int) []Key {
	var keys []Key
	for _, l := range c.arena[f.levels[0]:f.levels[1]] {
		element := elementOf(l.list, int(l.position))
		if element.Kind != trace.Object || len(l.list.Elems)+len(l.list.Members) > maxElements {
			continue
		}
		for m := range element.Members[:min(len(element.Members), maxMembers)] {
			member := &element.Members[m]
			if !isKey(&member.Value) || !isUnique(l.list, int(l.position), m) {
				continue
			}
			h := jsonvalue.Hash(&member.Value)
			if h == f.value {
				continue // chosen by itself
			}
			k := Key{Step: int(l.step), Name: member.Name, Value: member.Value, Arg: -1, Input: -1}
			for o := range args {
				if args[o].hash == h && args[o].slot != args[j].slot && c.beside(&args[o], &args[j]) {
					k.Arg = int(args[o].slot)
					break
				}
			}
			k.Input = c.newestInput(h)
			keys = append(keys, k)
		}
	}
	return keys
}

// beside reports whether two arguments of a call are in the same element of
// every list that both are in.
func (c *collection) beside(a, b *argument) bool {
	x, y := c.arena[a.levels[0]:a.levels[1]], c.arena[b.levels[0]:b.levels[1]]
	for i := range min(len(x), len(y)) {
		if x[i].list != y[i].list {
			break
		}
		if x[i].position != y[i].position {
			return false
		}
	}
	return true
}

func elementOf(list *trace.Value, i int) *trace.Value {
	if list.Kind == trace.Array {
		return &list.Elems[i]
	}
	return &list.Members[i].Value
}

func isKey(v *trace.Value) bool {
	switch v.Kind {
	case trace.Number, trace.Bool:
		return true
	case trace.String:
		return v.Text != "" && len(v.Text) <= maxKeyText
	}
	return false
}

// isUnique reports whether no other element of the list has the m-th member of
// one with the same value.
func isUnique(list *trace.Value, position, m int) bool {
	member := &elementOf(list, position).Members[m]
	for i := range len(list.Elems) + len(list.Members) {
		if i == position {
			continue
		}
		element := elementOf(list, i)
		if m < len(element.Members) && element.Members[m].Name == member.Name { // most often
			if jsonvalue.Equal(&element.Members[m].Value, &member.Value) {
				return false
			}
		} else if v, ok := element.Lookup(member.Name); ok && jsonvalue.Equal(&v, &member.Value) {
			return false
		}
	}
	return true
}

// newestInput returns the slot of the newest earlier argument with a value, or
// -1.
func (c *collection) newestInput(h uint64) int {
	id := c.equal.Find(h)
	if id < 0 {
		return -1
	}
	best, call := -1, int32(-1)
	for k := range c.wants[id].found {
		f := &c.wants[id].found[k]
		if f.relation == Equal && f.call > call && c.flow.Slots[f.slot].Side == Input {
			best, call = int(f.slot), f.call
		}
	}
	return best
}

// finish fills in what Links needs of the trajectory as a whole.
func (c *collection) finish() {
	for slot := range c.isFull {
		c.flow.full = append(c.flow.full, slot)
	}
	slices.Sort(c.flow.full)
	for k, n := range c.pairs {
		c.flow.same = append(c.flow.same, samePair{k[0], k[1], n})
	}
	slices.SortFunc(c.flow.same, func(a, b samePair) int {
		return cmp.Or(cmp.Compare(a.param, b.param), cmp.Compare(a.source, b.source))
	})
}
