package dataflow

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// ChoiceKind says which of the values that a source holds an argument takes.
type ChoiceKind uint8

// The kinds of choices, the plainest first.
const (
	Only    ChoiceKind = iota // the source holds one value
	ByConst                   // of the element whose member Key equals Const
	ByArg                     // of the element whose member Key equals the argument From of the same call
	ByInput                   // of the element whose member Key equals the newest earlier argument From
	First                     // the first of the list
	Unused                    // the first of the list and its pages that this parameter has not had in this trajectory
	ByOpen                    // of the element that some value of the member Key singles out
	Each                      // any of the list and its pages: a call for each makes the recorded one among others
)

// String returns the kind in lower case, such as "by-const".
func (k ChoiceKind) String() string {
	return [...]string{"only", "by-const", "by-arg", "by-input", "first", "unused", "by-open", "each"}[k]
}

// Choice is one way to choose among the values of a source.
type Choice struct {
	Kind  ChoiceKind
	Step  int         // which [*] of the source's path is filtered
	Key   string      // the member that is compared
	Const trace.Value // ByConst
	From  Slot        // ByArg and ByInput: a parameter
}

// votes counts what told the chosen elements from their neighbours.
type votes struct {
	lists int32
	keys  map[keyName]*keyVotes
}

type keyName struct {
	step int
	name string
}

type keyVotes struct {
	count  int32
	consts map[uint64]*constVotes
	args   counter
	inputs counter
	more   bool // there were more constants than are kept
}

type constVotes struct {
	count int32
	value trace.Value
}

// add counts the keys of one use. global gives the slots of the flow their
// numbers. It returns how many more keys are kept; full says that there may be
// none.
func (v *votes) add(s *Source, global []int32, full bool) (more int) {
	if len(s.Positions) == 0 {
		return 0
	}
	v.lists++
	for i := range s.Keys {
		k := &s.Keys[i]
		name := keyName{k.Step, k.Name}
		kv := v.keys[name]
		if kv == nil {
			if len(v.keys) == maxKeyNames || full {
				continue
			}
			more++
			if v.keys == nil {
				v.keys = map[keyName]*keyVotes{}
			}
			kv = &keyVotes{consts: map[uint64]*constVotes{}}
			kv.args.limit, kv.inputs.limit = maxKeyValues, maxKeyValues
			v.keys[keyName{k.Step, strings.Clone(k.Name)}] = kv
		}
		kv.count++
		if k.Arg >= 0 && global[k.Arg] >= 0 {
			kv.args.add(uint64(global[k.Arg]))
		}
		if k.Input >= 0 && global[k.Input] >= 0 {
			kv.inputs.add(uint64(global[k.Input]))
		}
		kv.addConst(k.Value)
	}
	return more
}

func (v *keyVotes) addConst(value trace.Value) {
	h := jsonvalue.Hash(&value)
	c := v.consts[h]
	if c == nil {
		if len(v.consts) == maxKeyValues {
			v.more = true
			return
		}
		value.Text = strings.Clone(value.Text)
		c = &constVotes{value: value}
		v.consts[h] = c
	}
	c.count++
}

// Choices are only proposed here: a key that fits this share of the uses is
// worth judging on all of them.
const (
	minVoteShare = 0.5
	maxChoices   = 12
)

// propose returns the choices that the votes speak for.
func (v *votes) propose(slots []slotStat) []Choice {
	if v.lists == 0 {
		return []Choice{{Kind: Only}}
	}
	type ranked struct {
		Choice
		votes int32
	}
	var keyed []ranked
	add := func(c Choice, n int32) {
		if float64(n) >= minVoteShare*float64(v.lists) {
			keyed = append(keyed, ranked{c, n})
		}
	}
	for name, kv := range v.keys {
		c := Choice{Step: name.step, Key: name.name}
		for _, k := range kv.consts {
			c.Kind, c.Const = ByConst, k.value
			add(c, k.count)
		}
		c.Const = trace.Value{}
		for slot, n := range kv.args.counts {
			c.Kind, c.From = ByArg, slots[slot].slot
			add(c, n)
		}
		for slot, n := range kv.inputs.counts {
			c.Kind, c.From = ByInput, slots[slot].slot
			add(c, n)
		}
		c.Kind, c.From = ByOpen, Slot{}
		add(c, kv.count)
	}
	slices.SortFunc(keyed, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.votes, a.votes), a.compare(b.Choice)) })
	var choices []Choice
	for _, k := range keyed[:min(len(keyed), maxChoices)] {
		choices = append(choices, k.Choice)
	}
	choices = append(choices, Choice{Kind: First}, Choice{Kind: Unused}, Choice{Kind: Each})
	slices.SortFunc(choices, Choice.compare)
	return choices
}

// compare orders choices by kind, then by what they compare.
func (c Choice) compare(d Choice) int {
	return cmp.Or(cmp.Compare(c.Kind, d.Kind), cmp.Compare(c.Step, d.Step), cmp.Compare(c.Key, d.Key),
		cmp.Compare(c.Const.Kind, d.Const.Kind), cmp.Compare(c.Const.Text, d.Const.Text), compareBool(c.Const.Bool, d.Const.Bool),
		c.From.compare(d.From))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compare orders slots by tool, side and path.
func (s Slot) compare(t Slot) int {
	return cmp.Or(strings.Compare(s.ToolName(), t.ToolName()), cmp.Compare(s.Side, t.Side), strings.Compare(s.Path, t.Path))
}
