package merge

import (
	"fmt"
	"slices"

	"github.com/awo-dev/awo/merge/internal/hash128"
)

// domainID numbers a domain of writes; 0 is no domain.
type domainID uint32

// domainHash stands for a domain in the keys of states. Keys are compared between sets of
// which one lacks a rule, and between processes, where numbers differ: they follow from
// what appeared first.
func domainHash(name string) uint64 {
	if name == "" {
		return 0
	}
	return hash128.Of([]byte(name)).Hi
}

// domains numbers the names of domains by first appearance.
type domains map[string]domainID

func (d domains) number(name string) domainID {
	id, known := d[name]
	if !known {
		id = domainID(len(d))
		d[name] = id
	}
	return id
}

// classID numbers a set of sides of commute rules that a write may be on; 0 is
// the empty one.
type classID uint32

// classes numbers the sets of sides and says which of them commute.
type classes struct {
	sides    [][]int
	numbers  map[string]classID
	commuted map[[2]classID]bool
}

func newClasses() *classes {
	return &classes{sides: [][]int{nil}, numbers: map[string]classID{"[]": 0}, commuted: map[[2]classID]bool{}}
}

// number numbers an ascending list of sides: 2i and 2i+1 are those of the i-th
// commute rule.
func (c *classes) number(sides []int) classID {
	if len(sides) == 0 {
		return 0
	}
	key := fmt.Sprint(sides)
	id, known := c.numbers[key]
	if !known {
		id = classID(len(c.sides))
		c.sides = append(c.sides, slices.Clone(sides))
		c.numbers[key] = id
	}
	return id
}

// commute reports whether some commute rule lets writes of the two classes
// change places: one is on the one side of it, the other on the other.
func (c *classes) commute(a, b classID) bool {
	if a == 0 || b == 0 {
		return false
	}
	key := [2]classID{min(a, b), max(a, b)}
	commutes, known := c.commuted[key]
	if !known {
		commutes = slices.ContainsFunc(c.sides[a], func(side int) bool { return slices.Contains(c.sides[b], side^1) })
		c.commuted[key] = commutes
	}
	return commutes
}

// interns number what steps share: domains and classes of commuting writes.
// Rewriters and Walkers of one Merger share them.
type interns struct {
	domains domains
	classes *classes
}

func newInterns() *interns { return &interns{domains{"": 0}, newClasses()} }
