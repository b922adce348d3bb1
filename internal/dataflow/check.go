package dataflow

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/lookup"
	"github.com/awo-dev/awo/trace"
)

// Votes is how the rules of a Judge did on one trajectory.
type Votes struct{ rules []ruleVotes }

type ruleVotes struct {
	rule    int32
	choices []choiceVotes
	lists   []walkedHow
}

type choiceVotes struct {
	uses, agree         int32
	asked, given, right []uint64 // different values
}

// reading is the newest value of a source.
type reading struct {
	ok    bool
	value *trace.Value  // the whole result or arguments
	nodes []trace.Value // what the source's path selects in it
	call  int
}

// checking is the state of checking one trajectory.
type checking struct {
	j       *Judge
	t       *trace.Trajectory
	now     []reading    // by source
	voted   []int32      // by rule: its votes, from 1; 0 for none
	votes   []ruleVotes  // as they were met
	walks   []*walk      // by rule
	walking []int32      // rules that have walked
	used    lookup.Table // parameter and a value that it had
	reads   int          // calls that were read
	near    nearest

	reader trace.ValueReader
}

// nearest is what checking.nearest found last.
type nearest struct {
	param int32
	value uint64
	read  int
	call  int
}

// Check applies the rules to the model calls of t. It is pure.
func (j *Judge) Check(t *trace.Trajectory) *Votes {
	c := &checking{j: j, t: t, now: make([]reading, len(j.sources)), voted: make([]int32, len(j.rules)), walks: make([]*walk, len(j.rules))}
	arguments := make([]trace.Value, len(t.Calls))
	for first := 0; first < len(t.Calls); {
		end := first + 1
		for end < len(t.Calls) && t.Calls[end].Turn == t.Calls[first].Turn {
			end++
		}
		for i := first; i < end; i++ {
			arguments[i], _ = argumentsOf(&t.Calls[i], &c.reader)
			if t.Calls[i].Origin == trace.OriginModel {
				c.use(&t.Calls[i], &arguments[i])
			}
		}
		for i := first; i < end; i++ {
			c.read(i, &arguments[i])
		}
		first = end
	}
	return c.finish()
}

// read takes the results and arguments of a call as the newest of their
// sources.
func (c *checking) read(i int, arguments *trace.Value) {
	c.reads++
	call := &c.t.Calls[i]
	tool := nameOf(call.Tool)
	c.readSide(Input, tool, i, arguments)
	if !call.HasResult || len(c.j.byTool[toolKey{Output, tool}]) == 0 {
		return
	}
	result := resultOf(call, &c.reader)
	c.readSide(Output, tool, i, &result)
}

// resultOf returns the result of a call, as a string if it is no JSON.
func resultOf(call *trace.Call, r *trace.ValueReader) trace.Value {
	if v, ok := r.Result(call); ok {
		return v
	}
	return trace.Value{Kind: trace.String, Text: call.Result.Text()}
}

func (c *checking) readSide(side Side, tool trace.Name, call int, v *trace.Value) {
	for _, id := range c.j.byTool[toolKey{side, tool}] {
		nodes := slices.DeleteFunc(c.j.sources[id].path.Eval(*v), func(n trace.Value) bool { return isEmpty(&n) })
		if len(nodes) > 0 {
			c.now[id] = reading{true, v, nodes, call}
			for _, r := range c.j.readers[id] {
				if c.j.rules[r].lists {
					c.readList(r, nodes)
				}
			}
		}
	}
}

// use applies the rules for the parameters of a call.
func (c *checking) use(call *trace.Call, arguments *trace.Value) {
	tool := nameOf(call.Tool)
	for _, id := range c.j.byParam[tool] {
		r := &c.j.rules[id]
		from := &c.now[r.source]
		if !from.ok {
			continue
		}
		if c.voted[id] == 0 {
			c.votes = append(c.votes, ruleVotes{rule: id, choices: make([]choiceVotes, len(r.choices))})
			c.voted[id] = int32(len(c.votes))
		}
		v := &c.votes[c.voted[id]-1]
		visit(r.to, *arguments, nil, func(recorded trace.Value, positions []int) {
			if isEmpty(&recorded) {
				return
			}
			if !c.isFromElsewhere(id, &recorded) {
				c.apply(v, r, from, &recorded, arguments, positions)
			}
		})
	}
	for _, p := range c.j.params[tool] {
		visit(p.path, *arguments, nil, func(recorded trace.Value, _ []int) {
			c.used.Insert(usedKey(p.number, jsonvalue.Hash(&recorded)), 0)
		})
	}
}

// usedKey is the key of a value that a parameter had.
func usedKey(param int32, value uint64) uint64 { return jsonvalue.Mix(value, uint64(param)+1) }

// isFromElsewhere reports whether a value is not in the source of a rule, but in
// that of another accepted one, which is nearer: then it says nothing about the
// rule. The entry of a person is opened after a search for the name, and after
// a ticket that names the person; the one is no disagreement with the other.
func (c *checking) isFromElsewhere(id int32, recorded *trace.Value) bool {
	r := &c.j.rules[id]
	return c.nearest(r, recorded) > c.now[r.source].call && !c.holds(id, recorded)
}

// nearest returns the last call whose result holds a value by an accepted link
// to the parameter of a rule, -1 if none does. It remembers the last answer,
// because the rules of a parameter come one after the other.
func (c *checking) nearest(r *rule, recorded *trace.Value) int {
	n := &c.near
	if h := jsonvalue.Hash(recorded); n.param != r.param+1 || n.value != h || n.read != c.reads {
		*n = nearest{param: r.param + 1, value: h, read: c.reads, call: -1}
		for _, id := range c.j.byParam[r.link.To.Tool] {
			o := &c.j.rules[id]
			if o.param == r.param && o.link.From.Side == Output && o.link.Verdict == Accepted &&
				c.now[o.source].ok && c.now[o.source].call > n.call && c.holds(id, recorded) {
				n.call = c.now[o.source].call
			}
		}
	}
	return n.call
}

// holds reports whether the source of a rule gives a value, in any element.
func (c *checking) holds(id int32, recorded *trace.Value) bool {
	r, from := &c.j.rules[id], &c.now[c.j.rules[id].source]
	gives := func(n trace.Value) bool { return r.link.gives(&n, recorded) }
	if w := c.walks[id]; w != nil && slices.ContainsFunc(w.nodes, gives) {
		return true
	}
	return from.ok && slices.ContainsFunc(from.nodes, gives)
}

// apply compares what each choice of a rule gives with what was recorded.
func (c *checking) apply(v *ruleVotes, r *rule, from *reading, recorded, arguments *trace.Value, positions []int) {
	for i := range r.choices {
		choice := &r.choices[i]
		votes := &v.choices[i]
		key, ok := c.keyOf(r, choice, arguments, positions)
		if !ok {
			continue // nothing to compare the key with: no use of this choice
		}
		votes.uses++
		given := c.give(v.rule, r, choice, from, key, recorded)
		right := slices.ContainsFunc(given, func(g trace.Value) bool { return r.link.gives(&g, recorded) })
		if len(given) > 1 && choice.Kind != Each && choice.Kind != ByOpen {
			right = false
		}
		if right {
			votes.agree++
		}
		switch choice.Kind {
		case ByConst, ByArg, ByInput:
			votes.note(r, given, recorded, right)
		case Each:
			c.walks[v.rule].use(r.link, recorded)
		}
	}
}

// note keeps values for the chance guard.
func (v *choiceVotes) note(r *rule, given []trace.Value, recorded *trace.Value, right bool) {
	asked := jsonvalue.Hash(recorded)
	if right {
		v.right = appendNew(v.right, asked)
	}
	for i := range given {
		// What the value gives as an argument, so that both sides are comparable.
		if r.link.gives(&given[i], recorded) {
			v.given = appendNew(v.given, asked)
		} else {
			v.given = appendNew(v.given, jsonvalue.Hash(&given[i]))
		}
	}
	v.asked = appendNew(v.asked, asked)
}

// maxNoted is how many values of one trajectory are kept for the chance guard.
const maxNoted = 256

func appendNew(list []uint64, h uint64) []uint64 {
	if len(list) >= maxNoted || slices.Contains(list, h) {
		return list
	}
	return append(list, h)
}

// keyOf returns what a choice compares keys with.
func (c *checking) keyOf(r *rule, choice *ruleChoice, arguments *trace.Value, positions []int) (trace.Value, bool) {
	switch choice.Kind {
	case ByArg:
		if keys := beside(choice.from, *arguments, r.to, positions); len(keys) == 1 {
			return keys[0], true
		}
		return trace.Value{}, false
	case ByInput:
		if low := c.now[choice.low]; low.ok && len(low.nodes) == 1 {
			return low.nodes[0], true
		}
		return trace.Value{}, false
	}
	return trace.Value{}, true
}

func (c *checking) finish() *Votes {
	for _, id := range c.walking {
		c.endWalk(id)
	}
	slices.SortFunc(c.votes, func(a, b ruleVotes) int { return cmp.Compare(a.rule, b.rule) })
	return &Votes{c.votes}
}

// visit calls do for the nodes that p, the path of an Input slot, selects in v,
// with the position of the element at each [*]. In such paths [*] is never a
// member of a record, which would be a place of its own, and JSON text in a
// string is not looked through.
func visit(p jsonpath.Path, v trace.Value, positions []int, do func(node trace.Value, positions []int)) {
	for len(p) > 0 && p[0].Kind == jsonpath.Member {
		m, ok := v.Lookup(p[0].Name)
		if !ok || v.Kind != trace.Object {
			return
		}
		v, p = m, p[1:]
	}
	if len(p) == 0 {
		do(v, positions)
		return
	}
	if v.Kind == trace.String || p[0].Kind == jsonpath.Each && v.Kind == trace.Object && !IsMap(&v) {
		return
	}
	nodes := p[0].AppendSelected(nil, &v)
	for i := range nodes {
		if p[0].Kind == jsonpath.Each {
			visit(p[1:], nodes[i], append(positions[:len(positions):len(positions)], i), do)
		} else {
			visit(p[1:], nodes[i], positions, do)
		}
	}
}

// beside returns the nodes that p selects in v next to the node that another
// path selects with these positions: as far as both go the same way, in the
// same elements.
func beside(p jsonpath.Path, v trace.Value, other jsonpath.Path, positions []int) []trace.Value {
	nodes := []trace.Value{v}
	together := true
	for i := range p {
		together = together && i < len(other) && p[i].Kind == other[i].Kind && p[i].Name == other[i].Name && p[i].Index == other[i].Index
		var next []trace.Value
		for j := range nodes {
			next = p[i].AppendSelected(next, &nodes[j])
		}
		if together && p[i].Kind == jsonpath.Each && len(positions) > 0 {
			if positions[0] >= len(next) {
				return nil
			}
			next, positions = next[positions[0]:positions[0]+1], positions[1:]
		}
		nodes = next
	}
	return nodes
}
