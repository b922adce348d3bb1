package merge

import (
	"fmt"
	"slices"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
)

// Join is a way in which histories become one state.
type Join uint8

// The ways in which histories are joined.
const (
	JoinCalls     Join = 1 << iota // calls that were recorded differently are one step
	JoinOrder                      // the same steps were made in another order
	JoinUnchanged                  // a call left the state as it was
	JoinInherited                  // all of that happened at earlier states
)

// joinNames are the words for the ways, in their order.
var joinNames = [...]string{"calls", "order", "unchanged", "inherited"}

// Names returns the words for the ways in a set of them.
func (j Join) Names() []string {
	names := []string{}
	for i, name := range joinNames {
		if j&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Reasons say of every state of a graph whether executions came to it with
// different histories of recorded calls, and which rules made these one state.
//
// Whether there are several is exact. The rules are named where histories meet:
// each way into a state is compared with the first one.
//   - From the same state by another recorded call: named are the rules that
//     changed the label of either call, or left its arguments out of a comparison.
//   - From another state: the first histories of both, back to where they parted.
//     Of calls that only one of them has, the rules that changed them; of reads,
//     the effect rules; of writes, if they come in another order, the domain and
//     commute rules.
//   - A call that leaves the state as it was: the rules that say so, those that
//     changed its label, and for a repeated write those that let it look past what
//     came in between.
//
// A state with several histories and no such reason of its own has them from
// earlier states. Rules may be named that others would have made up for.
//
// They take 56 bytes a state, some 40 for each edge that comes from another state
// than the first, and one list for each different set of rules.
type Reasons struct {
	set    *rules.Set
	states []stateReasons
	sets   setTable
}

type stateReasons struct {
	history hash128.Hash // of the first execution that came here
	raw     uint64       // of its last step
	from    stategraph.StateID
	label   Label // of its last step
	way     wayID
	own     [3]uint32 // sets of the rules that joined histories here, by way
	join    Join
}

// wayID numbers what the rules had to do with one step.
type wayID uint32

// way is what the rules had to do with one step, as sets of rules.
type way struct {
	changed  uint32 // rules that changed the label, or which arguments count
	moved    uint32 // rules that let it change places
	accessor bool
}

// RuleReasons counts the states at which one rule joined histories.
type RuleReasons struct {
	Rule   string   `json:"rule"` // "failed:" is the policy for failed calls
	Kind   string   `json:"kind"` // "" for the policy
	States int      `json:"states"`
	Joins  []string `json:"joins"` // calls, order or unchanged
}

// Several reports whether the state has several histories.
func (r *Reasons) Several(s stategraph.StateID) bool { return r.states[s].join != 0 }

// Join returns in which ways the histories of a state became one.
func (r *Reasons) Join(s stategraph.StateID) Join { return r.states[s].join }

// Rules returns the ids of the rules that joined histories at the state itself,
// in file order, the policy for failed calls last as "failed:".
func (r *Reasons) Rules(s stategraph.StateID) []string {
	var list []int
	for _, own := range r.states[s].own {
		list = append(list, r.sets.lists[own]...)
	}
	slices.Sort(list)
	ids := []string{}
	for _, i := range slices.Compact(list) {
		ids = append(ids, r.id(i))
	}
	return ids
}

func (r *Reasons) id(i int) string {
	if i == len(r.set.Rules) {
		return "failed:"
	}
	return r.set.Rules[i].ID
}

// Totals returns how many states have several histories, and how many of those
// have inherited all of them.
func (r *Reasons) Totals() (several, inherited int) {
	for i := range r.states {
		if join := r.states[i].join; join != 0 {
			several++
			if join == JoinInherited {
				inherited++
			}
		}
	}
	return several, inherited
}

// ByRule returns the rules that joined histories at some state, in file order.
func (r *Reasons) ByRule() []RuleReasons {
	joins, states := make([]Join, len(r.set.Rules)+1), make([]int, len(r.set.Rules)+1)
	at := make([]int, len(states)) // the last state counted, plus one
	for i := range r.states {
		for way, own := range r.states[i].own {
			for _, rule := range r.sets.lists[own] {
				joins[rule] |= 1 << way
				if at[rule] != i+1 {
					at[rule] = i + 1
					states[rule]++
				}
			}
		}
	}
	var found []RuleReasons
	for i, n := range states {
		if n == 0 {
			continue
		}
		reason := RuleReasons{Rule: r.id(i), States: n, Joins: joins[i].Names()}
		if i < len(r.set.Rules) {
			reason.Kind = r.set.Rules[i].Kind.String()
		}
		found = append(found, reason)
	}
	return found
}

// setTable numbers sets of rules; 0 is the empty one.
type setTable struct {
	lists   [][]int
	numbers map[string]uint32
}

func (t *setTable) number(list []int) uint32 {
	if t.numbers == nil {
		t.numbers, t.lists = map[string]uint32{"[]": 0}, [][]int{nil}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	key := fmt.Sprint(list)
	n, known := t.numbers[key]
	if !known {
		n = uint32(len(t.lists))
		t.numbers[key] = n
		t.lists = append(t.lists, slices.Clone(list))
	}
	return n
}

func (t *setTable) union(sets ...uint32) uint32 {
	first := sets[0]
	if !slices.ContainsFunc(sets, func(s uint32) bool { return s != first }) {
		return first
	}
	var list []int
	for _, s := range sets {
		list = append(list, t.lists[s]...)
	}
	return t.number(list)
}
