package merge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"pgregory.net/rapid"
)

// alphabet is a small random set of actions with what they depend on.
type alphabet struct {
	actions []*action
	classes *classes
	names   []string // of actions: equal ones loop over each other if they may
}

// drawAlphabet draws actions of all effects, some with domains, some on sides
// of commute rules. Every name has one loop rule, which ignores the part of the
// label after the colon.
func drawAlphabet(t *rapid.T, commutes bool) *alphabet {
	a := &alphabet{classes: newClasses()}
	in := rapid.IntRange
	for i := range in(2, 5).Draw(t, "actions") {
		name := fmt.Sprintf("w%d", in(0, 1).Draw(t, "name"))
		label := fmt.Sprintf("%s:%d", name, in(0, 2).Draw(t, "argument"))
		l := &action{label: Label(i), loop: -1, effect: rapid.SampledFrom([]rules.Effect{0, 0, 0, 0, 1, 2}).Draw(t, "effect")}
		l.text = labelText{hash: hash128.Of([]byte(label)), loops: []hash128.Hash{hash128.Of([]byte(name))}}
		l.domain = domainID(in(0, 2).Draw(t, "domain"))
		l.domainHash = uint64(l.domain) << 40
		if commutes {
			l.class = a.classes.number(rapid.SampledFrom([][]int{nil, {0}, {1}, {0, 1}, {2}, {3}, {1, 2}}).Draw(t, "sides"))
			l.classHash = uint64(l.class) << 20
		}
		if in(0, 3).Draw(t, "loop") > 0 {
			l.loop = 0
		}
		a.actions = append(a.actions, l)
		a.names = append(a.names, label)
	}
	return a
}

// identity tells actions apart as the state does: by label and by what they
// depend on.
func (a *alphabet) identity(i int) string {
	l := a.actions[i]
	return fmt.Sprintf("%s/%d/%v", a.names[i], l.domain, a.classes.sides[l.class])
}

// depend is the definition: two writes depend on each other unless their
// domains differ, or they are on the two sides of a commute rule. Equal actions
// always do.
func (a *alphabet) depend(i, j int) bool {
	if a.identity(i) == a.identity(j) {
		return true
	}
	x, y := a.actions[i], a.actions[j]
	if x.domain != 0 && y.domain != 0 && x.domain != y.domain {
		return false
	}
	for _, s := range a.classes.sides[x.class] {
		if slices.Contains(a.classes.sides[y.class], s^1) {
			return false
		}
	}
	return true
}

// foata is the normal form of a word of writes, computed as it is defined:
// blocks of the actions with nothing left before them that they depend on.
func (a *alphabet) foata(word []int) string {
	var blocks []string
	rest := slices.Clone(word)
	for len(rest) > 0 {
		var block []string
		var later []int
		for p, x := range rest {
			first := true
			for _, y := range rest[:p] {
				first = first && !a.depend(x, y)
			}
			if first {
				block = append(block, a.identity(x))
			} else {
				later = append(later, x)
			}
		}
		slices.Sort(block)
		blocks = append(blocks, strings.Join(block, "+"))
		rest = later
	}
	return strings.Join(blocks, " ")
}

// projections is the other normal form, for domains alone: for each domain the
// writes in it or in none.
func (a *alphabet) projections(word []int) string {
	var all []string
	for domain := domainID(0); domain <= 2; domain++ {
		var list []string
		for _, x := range word {
			if d := a.actions[x].domain; d == 0 || d == domain {
				list = append(list, a.identity(x))
			}
		}
		all = append(all, strings.Join(list, " "))
	}
	return strings.Join(all, " | ")
}

// loops reports whether an action after a word repeats the sole maximal write
// that it depends on, by looking at the whole dependence order.
func (a *alphabet) loops(word []int, x int) bool {
	if a.actions[x].loop < 0 {
		return false
	}
	n := len(word)
	below := make([][]bool, n) // below[i][j]: event j is below event i
	for i := range n {
		below[i] = make([]bool, n)
		for j := range i {
			if a.depend(word[i], word[j]) {
				below[i][j] = true
				for k := range j {
					below[i][k] = below[i][k] || below[j][k]
				}
			}
		}
	}
	maximal := -1
	for i, y := range word {
		if !a.depend(x, y) {
			continue
		}
		isMaximal := true
		for j, z := range word {
			if j > i && a.depend(x, z) && below[j][i] {
				isMaximal = false
			}
		}
		if isMaximal && maximal >= 0 {
			return false
		}
		if isMaximal {
			maximal = i
		}
	}
	return maximal >= 0 && name(a.names[word[maximal]]) == name(a.names[x])
}

func name(label string) string {
	name, _, _ := strings.Cut(label, ":")
	return name
}

// naiveHistory is a history as its definition has it.
type naiveHistory struct {
	reads map[string]bool
	word  []int
}

func (a *alphabet) enter(h *naiveHistory, x int, policy rules.ReadPolicy) {
	switch l := a.actions[x]; l.effect {
	case rules.Accessor:
		entry := a.names[x]
		if l.loop >= 0 {
			entry = name(entry)
		}
		if policy == rules.ReadsAfterWrite {
			entry = fmt.Sprintf("%s after %d", entry, len(h.word))
		}
		h.reads[entry] = true
	case rules.Mutator:
		if !a.loops(h.word, x) {
			h.word = append(h.word, x)
		}
	}
}

func (h *naiveHistory) key(normal string) string {
	var reads []string
	for r := range h.reads {
		reads = append(reads, r)
	}
	slices.Sort(reads)
	return strings.Join(reads, ",") + " ; " + normal
}

// drawWords draws words over the alphabet, many of them rearrangements of each
// other, so that states meet.
func drawWords(t *rapid.T, actions int) [][]int {
	words := make([][]int, rapid.IntRange(1, 10).Draw(t, "words"))
	for i := range words {
		if i > 0 && rapid.Bool().Draw(t, "rearranged") {
			words[i] = rapid.Permutation(words[i-1]).Draw(t, "word")
			continue
		}
		words[i] = rapid.SliceOfN(rapid.IntRange(0, actions-1), 0, 6).Draw(t, "word")
	}
	return words
}

// TestStatesAgreeWithNormalForms is the whole definition of a state: two
// histories are one state exactly if their reads and the normal forms of their
// writes are equal.
func TestStatesAgreeWithNormalForms(t *testing.T) {
	for _, commutes := range []bool{false, true} {
		t.Run(fmt.Sprintf("commute=%t", commutes), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				a := drawAlphabet(t, commutes)
				set := &rules.Set{StateReads: rapid.SampledFrom([]rules.ReadPolicy{rules.ReadsAnyTime, rules.ReadsAfterWrite}).Draw(t, "reads")}
				strategy := Strategy{kinds: ^kindSet(0)}
				if !commutes {
					strategy.kinds &^= kindOf(rules.KindCommute)
				}
				w := newWalker(set, strategy, &interns{domains{"": 0}, a.classes}, 0, 0)
				numbers := map[string]stategraph.StateID{}
				for _, word := range drawWords(t, len(a.actions)) {
					steps := make([]Step, len(word))
					for i, x := range word {
						steps[i] = Step{action: a.actions[x]}
					}
					h := &naiveHistory{reads: map[string]bool{}}
					numbers[h.key("")] = stategraph.Root
					for i, got := range w.Walk(steps, nil) {
						a.enter(h, word[i], set.StateReads)
						normal := a.foata(h.word)
						key := h.key(normal)
						if !commutes {
							// Both normal forms have to tell the same apart.
							if other := h.key(a.projections(h.word)); normal != "" {
								key = other
							}
						}
						want, known := numbers[key]
						if !known {
							want = stategraph.StateID(len(numbers))
							numbers[key] = want
						}
						if got.To != want {
							t.Fatalf("word %v, step %d: state %d, want %d for %q", word, i, got.To, want, key)
						}
					}
				}
				if w.States() != len(numbers) {
					t.Fatalf("%d states, want %d", w.States(), len(numbers))
				}
			})
		})
	}
}

// TestNormalFormsAgree holds the model against itself: projections and Foata's
// form tell the same words apart where only domains speak.
func TestNormalFormsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAlphabet(t, false)
		words := drawWords(t, len(a.actions))
		for _, u := range words {
			for _, v := range words {
				if (a.foata(u) == a.foata(v)) != (a.projections(u) == a.projections(v)) {
					t.Fatalf("%v and %v: %q, %q but %q, %q", u, v, a.foata(u), a.foata(v), a.projections(u), a.projections(v))
				}
			}
		}
	})
}

// TestManyPartsAreFound passes the number of parts that are looked through one
// by one.
func TestManyPartsAreFound(t *testing.T) {
	var forward, backward history
	forward.reset()
	backward.reset()
	const n = 40
	for i := range n {
		for _, h := range []*history{&forward, &backward} {
			d := domainID(i + 1)
			if h == &backward {
				d = domainID(n - i)
			}
			h.write(&action{loop: -1}, partKey{domain: d}, hash128.Of([]byte{byte(d)}))
		}
	}
	if forward.key() != backward.key() {
		t.Error("writes of different domains do not commute")
	}
	forward.write(&action{loop: -1}, partKey{}, hash128.Hash{})
	forward.write(&action{loop: -1}, partKey{domain: 3}, hash128.Hash{})
	backward.write(&action{loop: -1}, partKey{domain: 3}, hash128.Hash{})
	backward.write(&action{loop: -1}, partKey{}, hash128.Hash{})
	if forward.key() == backward.key() {
		t.Error("a write without a domain commutes with one that has one")
	}
	forward.reset()
	fresh := history{}
	fresh.reset()
	if forward.key() != fresh.key() || len(forward.byPart) != 0 {
		t.Error("a history is not as new after reset")
	}
}
