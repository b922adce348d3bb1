package summary

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/varint"
)

// named are counts that others make of trajectories beside those of sequences: sums, and
// sets of different things, by name. What names mean is known to who counts and who
// reads; an option of the summary says that they were counted, and from what.
type named struct {
	sums map[string]int
	sets map[string]*Distinct
}

// AddN adds n to the sum of a name.
func (s *Summary) AddN(name string, n int) {
	if n == 0 {
		return
	}
	if s.named.sums == nil {
		s.named.sums = map[string]int{}
	}
	s.named.sums[name] += n
}

// Sum returns the sum of a name.
func (s *Summary) Sum(name string) int { return s.named.sums[name] }

// Sums yields the sums whose names begin with prefix, by what stands behind it, in order.
func (s *Summary) Sums(prefix string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.named.sums)) {
			if rest, ok := strings.CutPrefix(name, prefix); ok && !yield(rest, s.named.sums[name]) {
				return
			}
		}
	}
}

// Different returns what adds a hash to the set of a name.
func (s *Summary) Different(name string) func(hash uint64) { return s.set(name).Add }

// Distinct returns the set of a name, an empty one if there is none.
func (s *Summary) Distinct(name string) *Distinct {
	if d := s.named.sets[name]; d != nil {
		return d
	}
	return &Distinct{}
}

func (s *Summary) set(name string) *Distinct {
	if s.named.sets == nil {
		s.named.sets = map[string]*Distinct{}
	}
	if s.named.sets[name] == nil {
		s.named.sets[name] = &Distinct{}
	}
	return s.named.sets[name]
}

func (n *named) append(dst []byte) []byte {
	dst = appendCounts(dst, n.sums)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(n.sets)), func(name string) bool {
		count, _ := n.sets[name].Count()
		return count == 0
	})
	dst = varint.Append(dst, len(names))
	for _, name := range names {
		dst = n.sets[name].append(varint.AppendText(dst, name))
	}
	return dst
}

func (s *Summary) readNamed(d *decoder) {
	s.named.sums = d.counts("sums")
	before := ""
	for i := range d.Length(4) {
		name := d.Text()
		if i > 0 {
			d.ascending(strings.Compare(name, before), "sets")
		}
		before = name
		set := d.distinct()
		if len(set.kept) == 0 {
			d.Fail("a set")
			return
		}
		*s.set(name) = *set
	}
}

// merge adds the counts of another summary.
func (s *Summary) mergeNamed(o *Summary) {
	for name, n := range o.named.sums {
		s.AddN(name, n)
	}
	for name, set := range o.named.sets {
		s.set(name).Merge(set)
	}
}
