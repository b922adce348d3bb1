package merge

import (
	"slices"

	"github.com/awo-dev/awo/rules"
)

// Strategy says which kinds of rules apply: one row of the cumulative table.
type Strategy struct {
	Name     string // "disjoint", "prefix tree", "+effect", ...
	disjoint bool
	kinds    kindSet
}

// kindSet is a set of kinds of rules.
type kindSet uint32

// movingKinds are all kinds that change steps, in the order of their rows. Rows come
// in the order of AWO's Table 4; what prepares calls (status, drop, rename,
// fold, insert) follows, though its stages come first, so that the first rows
// show the traces as recorded. Barriers move no state and have no row; they are
// in every strategy. Neither has `values:`, which only shows values.
var movingKinds = [...]rules.Kind{
	rules.KindEffect, rules.KindRewrite, rules.KindDomain, rules.KindLoop,
	rules.KindDropArg, rules.KindStatus, rules.KindDrop, rules.KindRename, rules.KindFold, rules.KindInsert,
	rules.KindCommute, rules.KindState,
}

// MovingKinds returns the kinds of rules that can make histories one state.
func MovingKinds() []rules.Kind { return movingKinds[:] }

// alwaysRows is how many of movingKinds have a row even without a rule of the kind.
const alwaysRows = 4

func kindOf(k rules.Kind) kindSet {
	return 1 << (slices.Index(movingKinds[:], k) + 1)
}

func (s kindSet) has(k rules.Kind) bool {
	i := slices.Index(movingKinds[:], k)
	return i < 0 || s&(1<<(i+1)) != 0
}

// structural are the kinds that change which steps there are, textual those
// that change their labels.
var (
	structural = kindOf(rules.KindStatus) | kindOf(rules.KindDrop) | kindOf(rules.KindRename) | kindOf(rules.KindFold) | kindOf(rules.KindInsert)
	textual    = kindOf(rules.KindRewrite) | kindOf(rules.KindDropArg)
)

// Strategies returns the rows of the cumulative table for a set of rules, which
// may be nil: "disjoint" (executions share the root alone) and "prefix tree"
// without any rule; with rules also "+effect", "+rewrite", "+domain" and
// "+loop", then one row for each further kind that the set has rules of, in the
// order drop_arg, status, drop, rename, fold, insert, commute, state. Each row
// holds the rules of all rows before it. The last one is the full strategy.
//
// The policies of the set apply in every row, `state_reads` from "+effect" on.
func Strategies(set *rules.Set) []Strategy {
	rows := []Strategy{{Name: "disjoint", disjoint: true}, {Name: "prefix tree"}}
	if set == nil || len(set.Rules) == 0 {
		return rows
	}
	var kinds kindSet
	for i, k := range movingKinds {
		if i < alwaysRows || slices.ContainsFunc(set.Rules, func(r *rules.Rule) bool { return r.Kind == k }) {
			kinds |= kindOf(k)
			rows = append(rows, Strategy{Name: "+" + string(k), kinds: kinds})
		}
	}
	return rows
}

// Full returns the strategy in which all rules of the set apply.
func Full(set *rules.Set) Strategy {
	rows := Strategies(set)
	return rows[len(rows)-1]
}
