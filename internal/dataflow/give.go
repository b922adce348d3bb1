package dataflow

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// give returns the values that a choice gives.
func (c *checking) give(id int32, r *rule, choice *ruleChoice, from *reading, key trace.Value, recorded *trace.Value) []trace.Value {
	switch choice.Kind {
	case First, ByConst:
		return choice.path.Eval(*from.value)
	case ByArg, ByInput:
		if key.Kind == trace.Array || key.Kind == trace.Object {
			return nil
		}
		return choice.path.Bind(key).Eval(*from.value)
	case ByOpen:
		return c.giveOpen(r, choice, from, recorded)
	case Each:
		return c.walks[id].nodes
	case Unused:
		nodes := c.walks[id].nodes
		for i := range nodes {
			if c.used.Find(usedKey(r.param, r.link.argumentHash(&nodes[i], recorded))) < 0 {
				return nodes[i : i+1]
			}
		}
		return nil
	}
	return from.nodes
}

// giveOpen returns the recorded value if some key singles out an element that
// gives it.
func (c *checking) giveOpen(r *rule, choice *ruleChoice, from *reading, recorded *trace.Value) []trace.Value {
	lists := choice.path[:choice.Step].Eval(*from.value)
	rest := choice.path[choice.Step+1:]
	keys := map[uint64]int{}
	var chosen []uint64
	for l := range lists {
		list := &lists[l]
		if list.Kind == trace.String {
			inner, ok := jsonpath.LookThrough(list.Text)
			if !ok {
				continue
			}
			list = &inner
		}
		for i := range len(list.Elems) + len(list.Members) {
			element := elementOf(list, i)
			key, ok := element.Lookup(choice.Key)
			if !ok || element.Kind != trace.Object {
				continue
			}
			h := jsonvalue.Hash(&key)
			keys[h]++
			if slices.ContainsFunc(rest.Eval(*element), func(n trace.Value) bool { return r.link.gives(&n, recorded) }) {
				chosen = append(chosen, h)
			}
		}
	}
	for _, h := range chosen {
		if keys[h] == 1 {
			return []trace.Value{*recorded}
		}
	}
	return nil
}

// gives reports whether a source's value gives the argument that was recorded.
func (k *Link) gives(held, recorded *trace.Value) bool {
	switch k.Relation {
	case Equal:
		return jsonvalue.Equal(held, recorded)
	case Coerced:
		return held.Kind != recorded.Kind && jsonvalue.SameText(held, recorded)
	case Template:
		piece, ok := pieceOf(k.Template, k.Part, recorded)
		return ok && jsonvalue.IsText(held) && jsonvalue.Text(held) == piece
	}
	return false
}

// argumentHash returns the hash of the argument that a source's value gives.
func (k *Link) argumentHash(held, recorded *trace.Value) uint64 {
	if k.Relation == Coerced && held.Kind == trace.Number {
		return jsonvalue.HashString(jsonvalue.Number(held.Text))
	}
	if k.Relation == Coerced {
		return jsonvalue.HashNumber(held.Text)
	}
	if k.gives(held, recorded) {
		return jsonvalue.Hash(recorded)
	}
	return jsonvalue.Hash(held)
}

// pieceOf returns what stands in a hole of the template in a recorded argument,
// each hole taken as short as what follows it allows.
func pieceOf(template string, part int, recorded *trace.Value) (string, bool) {
	if recorded.Kind != trace.String {
		return "", false
	}
	fixed := strings.Split(template, jsonpath.Hole)
	rest, ok := strings.CutPrefix(recorded.Text, fixed[0])
	if !ok || len(fixed) < 2 {
		return "", false
	}
	last := len(fixed) - 1
	if rest, ok = strings.CutSuffix(rest, fixed[last]); !ok {
		return "", false
	}
	for i := 1; i < last; i++ {
		piece, after, ok := strings.Cut(rest, fixed[i])
		if !ok {
			return "", false
		}
		if i-1 == part {
			return piece, true
		}
		rest = after
	}
	return rest, part == last-1
}
