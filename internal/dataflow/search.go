package dataflow

import (
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/lookup"
	"github.com/awo-dev/awo/trace"
)

// readMessage looks for wants in a message.
func (c *collection) readMessage(i int) {
	m := &c.t.Messages[i]
	if m.Text.IsZero() {
		return
	}
	side := User
	switch {
	case m.Role == trace.RoleSystem:
		side = System
	case m.Turn == 0:
		side = Task
	}
	turn := int32(max(m.Turn, 0))
	c.source = origin{side: side, call: int32(i), turn: turn}
	c.give(side, noTool, turn)
	at := c.places.root(side, noTool)
	if at == 0 {
		c.noRoom()
		return
	}
	slot := c.slot(at)
	text := m.Text.Text()
	c.readText(text, slot)
	c.dateList, c.numList = c.dateList[:0], c.numList[:0]
	if !c.isKnowing || len(c.dates) > 0 {
		c.dateList = appendDates(c.dateList, text, c.tokens)
	}
	if !c.isKnowing || len(c.numbers) > 0 {
		c.numList = appendNumbers(c.numList, text, c.tokens)
	}
	for _, d := range c.dateList {
		for _, k := range d.mentionKeys() {
			c.keep(&c.words, &c.flow.words, slot, k)
		}
	}
	for _, n := range c.numList {
		c.keep(&c.words, &c.flow.words, slot, jsonvalue.HashNumber(n))
	}
	c.eachNormal(func(w int32) {
		if c.isKnowing || !c.wants[w].heldHere(slot, int32(i)) {
			c.note(w, found{slot: slot, relation: Normalized})
		}
	})
}

// heldHere reports whether a text was found to hold the want as it is.
func (w *want) heldHere(slot, call int32) bool {
	for _, r := range [...]Relation{Substring, Folded} {
		if i := w.place(slot, r); i >= 0 && w.found[i].call == call {
			return true
		}
	}
	return false
}

// readCall looks for wants in the result of a call, and in its arguments, which
// have been walked already.
func (c *collection) readCall(i int) {
	call := &c.calls[i]
	tool := nameOf(call.Tool)
	turn := int32(call.Turn) + 1
	c.source = origin{side: Input, call: int32(i), turn: turn}
	c.give(Input, tool, turn)
	c.readOwnArguments(i)
	if !call.HasResult {
		return
	}
	c.source.side = Output
	c.give(Output, tool, turn)
	var result *trace.Value
	if c.read != nil {
		result = c.read.Result(i)
	} else {
		result = &c.flow.values.results[i]
		*result = resultOf(call, &c.reader)
	}
	c.nested = 0
	c.walk(result, c.places.root(Output, tool))
}

func (c *collection) readOwnArguments(i int) {
	start := int32(0)
	if i > 0 {
		start = c.byCall[i-1]
	}
	for j := start; j < c.byCall[i]; j++ {
		a := &c.args[j]
		c.hold(a.slot, a.hash)
		if isEmpty(a.value) {
			continue
		}
		c.wants[a.want].passed = int32(i) + 1
		c.note(a.want, found{slot: a.slot, relation: Equal, levels: a.levels})
		if a.value.Kind == trace.String && len(a.value.Text) >= minText {
			c.source.seenOnly = true
			c.readText(a.value.Text, a.slot)
			c.source.seenOnly = false
		}
	}
}

// isEmpty reports whether a value comes from nowhere. Booleans are compared
// among arguments only, for the counting of AutoTool's Table 2.
func isEmpty(v *trace.Value) bool {
	switch v.Kind {
	case trace.Null:
		return true
	case trace.String:
		return v.Text == ""
	case trace.Array, trace.Object:
		return len(v.Elems)+len(v.Members) == 0
	}
	return false
}

// give notes from which turn on there is something on a side.
func (c *collection) give(side Side, tool trace.Name, turn int32) {
	k := toolKey{side, tool}
	if c.isKnowing || c.given[k] {
		return
	}
	if len(c.flow.given) == maxGiven {
		c.flow.dropped++
		return
	}
	if c.given == nil {
		c.given = map[toolKey]bool{}
	}
	c.given[k] = true
	c.flow.given = append(c.flow.given, given{side, tool, turn})
}

// walk looks for wants in a part of a result, and returns its hash.
func (c *collection) walk(v *trace.Value, at int32) uint64 {
	if at == 0 {
		c.noRoom()
		return jsonvalue.Hash(v)
	}
	var h uint64
	switch v.Kind {
	case trace.Array:
		h = jsonvalue.HashArray(len(v.Elems))
		if len(v.Elems) == 0 {
			return h
		}
		each := c.places.elements(at)
		for i := range v.Elems {
			c.push(at, i, v)
			h = jsonvalue.HashElement(h, c.walk(&v.Elems[i], each))
			c.pop()
		}
	case trace.Object:
		h = c.walkObject(v, at)
		if len(v.Members) == 0 {
			return h
		}
	default:
		h = jsonvalue.Hash(v)
		c.leaf(v, at, h)
		return h
	}
	slot := c.slot(at)
	c.hold(slot, h)
	if w := c.equal.Find(h); w >= 0 && jsonvalue.Equal(&c.wants[w].value, v) {
		c.note(w, found{slot: slot, relation: Equal, levels: [2]int32{-1, -1}})
	}
	return h
}

func (c *collection) walkObject(v *trace.Value, at int32) uint64 {
	h := jsonvalue.HashObject(len(v.Members))
	asMap := IsMap(v)
	for i := range v.Members {
		m := &v.Members[i]
		var nameHash, inner uint64
		if asMap {
			nameHash = jsonvalue.HashString(m.Name)
			c.push(at, i, v)
			inner = c.walk(&m.Value, c.places.elements(at))
			c.pop()
		} else {
			var next int32
			next, nameHash = c.places.member(at, i, m.Name)
			inner = c.walk(&m.Value, next)
		}
		// A name is no source, but whoever read the result knows it.
		if w := c.equal.Find(nameHash); w >= 0 {
			c.see(w)
		}
		h = jsonvalue.HashMember(h, m.Name, inner)
	}
	return h
}

// leaf looks for a scalar of a result among the wants.
func (c *collection) leaf(v *trace.Value, at int32, h uint64) {
	if v.Kind == trace.Null || v.Kind == trace.Bool || isEmpty(v) {
		return
	}
	slot := c.slot(at)
	c.hold(slot, h)
	here := found{slot: slot, levels: [2]int32{-1, -1}}
	whole := c.equal.Find(h)
	if whole < 0 && v.Kind == trace.String && c.pieceOf.Len() > 0 {
		whole = c.wantPiece(h, v.Text)
	}
	if whole >= 0 && jsonvalue.Equal(&c.wants[whole].value, v) {
		here.relation = Equal
		c.note(whole, here)
	}
	c.leafTwin(v, h, here)
	if v.Kind != trace.String || len(v.Text) < minText {
		return
	}
	c.readLeaf(v.Text, slot)
	if c.nested < bounds.TextInText {
		c.walkInner(v.Text, at)
	} else if _, ok := jsonpath.LookThrough(v.Text); ok {
		c.unread++
	}
}

// readLeaf looks for the words of wants in a text of a result.
func (c *collection) readLeaf(text string, slot int32) {
	c.readText(text, slot)
	c.dateList, c.numList = c.dateList[:0], c.numList[:0]
	if len(c.dates) > 0 {
		c.dateList = appendDates(c.dateList, text, c.tokens)
	}
	if len(c.numbers) > 0 {
		c.numList = appendNumbers(c.numList, text, c.tokens)
	}
	c.eachNormal(c.see)
}

// walkInner looks for wants in a text that is JSON itself.
func (c *collection) walkInner(text string, at int32) {
	read, ok := jsonpath.LookThrough(text)
	if !ok {
		return
	}
	inner := read // in memory of its own only where there is one
	c.nested++
	c.walk(&inner, at)
	c.nested--
}

// leafTwin looks for the number that a string spells, or the string that
// spells a number.
func (c *collection) leafTwin(v *trace.Value, h uint64, here found) {
	here.relation = Coerced
	twin := c.coerced.Find(h)
	if v.Kind == trace.Number && twin < 0 && c.pieceOf.Len() > 0 {
		twin = c.wantPiece(jsonvalue.HashString(jsonvalue.Text(v)), jsonvalue.Text(v))
	}
	if twin >= 0 && c.wants[twin].value.Kind != v.Kind && jsonvalue.SameText(&c.wants[twin].value, v) {
		c.note(twin, here)
	}
}

// hold notes that a slot held a value.
func (c *collection) hold(slot int32, h uint64) {
	c.keep(&c.contents, &c.flow.contents, slot, h)
}

// keep adds to what a slot held, once in a trajectory.
func (c *collection) keep(seen *lookup.Table, list *[]content, slot int32, h uint64) {
	if c.isKnowing {
		return
	}
	n := len(*list)
	if n >= bounds.Values {
		if c.isFull == nil {
			c.isFull = map[int32]bool{}
		}
		c.isFull[slot] = true
		return
	}
	if seen.Insert(jsonvalue.Mix(h, uint64(slot)+1), int32(n)) == int32(n) {
		*list = append(*list, content{slot, h})
	}
}

// eachNormal calls f for the wants that are the dates and numbers last read.
func (c *collection) eachNormal(f func(w int32)) {
	for _, d := range c.dateList {
		for _, key := range d.mentionKeys() {
			for _, w := range c.dates[key] {
				f(w)
			}
		}
	}
	for _, n := range c.numList {
		for _, w := range c.numbers[n] {
			f(w)
		}
	}
}

// see notes that a want is known from the current source.
func (c *collection) see(w int32) {
	if s := &c.wants[w].seen; s.Turn < 0 {
		c.wants[w].seenAt = c.at
		*s = Seen{int(c.source.turn), c.source.side}
	}
}

// note notes that the current source holds a want. Levels of -1 mean those of
// the walk.
func (c *collection) note(w int32, f found) {
	c.see(w)
	if c.isKnowing {
		return
	}
	want := &c.wants[w]
	f.call, f.calls = c.source.call, 1
	f.echo = c.source.side == Output && want.passed == f.call+1
	old := want.place(f.slot, f.relation)
	same := len(want.found) - want.texts
	if f.relation.toText() {
		same = want.texts
	}
	if old < 0 && same >= maxFound || old >= 0 && want.found[old].call == f.call {
		if old < 0 {
			c.flow.dropped++
		}
		return
	}
	if f.levels[0] < 0 {
		f.levels = c.keepLevels()
	}
	if old < 0 {
		want.found = append(want.found, f)
		if f.relation.toText() {
			want.texts++
		}
		return
	}
	f.calls += want.found[old].calls
	want.found[old] = f
}

// place returns the index in found for a slot and relation, or -1.
func (w *want) place(slot int32, r Relation) int {
	if len(w.found) < 16 {
		for i := range w.found {
			if w.found[i].slot == slot && w.found[i].relation == r {
				return i
			}
		}
		return -1
	}
	if w.slots == nil {
		w.slots = map[int32]int32{}
	}
	for i := len(w.slots); i < len(w.found); i++ {
		w.slots[w.found[i].slot<<3|int32(w.found[i].relation)] = int32(i)
	}
	if i, ok := w.slots[slot<<3|int32(r)]; ok {
		return int(i)
	}
	return -1
}
