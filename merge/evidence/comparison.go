package evidence

import (
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Comparison is a counter-example in words: what was read, in what the two
// histories differ, and where the results do. Values are masked.
type Comparison struct {
	Read string // the call, as recorded

	// The calls that one history has and the other lacks; of reads in one
	// trajectory Second is what came between.
	First, Second []string

	// Writes that both histories have, in another order: what each made from the
	// first to the last difference. Nil if they are in the same order.
	FirstOrder, SecondOrder []string

	Results []string // the first paths at which the results differ
}

// Comparer compares what counter-examples are about. It is not safe for
// concurrent use.
type Comparer struct {
	rewriter *merge.Rewriter // without rules
	full     *merge.Rewriter
	masker   *merge.Masker
}

// Comparer returns a comparer of counter-examples. With showAll it hides no
// values.
func (out *Evidence) Comparer(showAll bool) *Comparer {
	labels := &merge.Labels{}
	return &Comparer{
		rewriter: merge.NewRewriter(nil, merge.Full(nil), labels, nil),
		full:     merge.NewRewriter(out.Set, merge.Full(out.Set), nil, nil),
		masker:   merge.NewMasker(labels, out.Catalog, showAll),
	}
}

// Compare says what a counter-example shows. one and other are the trajectories
// of its knowledge, read again. It returns false if they do not have these calls.
func (c *Comparer) Compare(x CounterExample, one, other *trace.Trajectory) (Comparison, bool) {
	if x.First.Call >= len(one.Calls) || x.Second.Call >= len(other.Calls) {
		return Comparison{}, false
	}
	var out Comparison
	read := c.labels(other, x.Second.Call, x.Second.Call+1)
	if len(read) == 0 {
		return Comparison{}, false
	}
	out.Read = c.masker.Label(read[0])
	if x.Check == CheckHistories {
		first, second := c.labels(one, 0, x.First.Call), c.labels(other, 0, x.Second.Call)
		out.First, out.Second = c.texts(less(first, second)), c.texts(less(second, first))
		first, second = c.writes(one, x.First.Call), c.writes(other, x.Second.Call)
		first, second = differing(less(first, less(first, second)), less(second, less(second, first)))
		out.FirstOrder, out.SecondOrder = c.texts(first), c.texts(second)
	} else {
		out.Second = c.texts(c.labels(other, x.First.Call+1, x.Second.Call))
	}
	a, _ := one.Calls[x.First.Call].ResultValue()
	b, _ := other.Calls[x.Second.Call].ResultValue()
	differences(a, b, "", &out.Results)
	return out, true
}

// labels are the calls from first to end-1 as they were recorded.
func (c *Comparer) labels(t *trace.Trajectory, first, end int) []merge.Label {
	var out []merge.Label
	for _, s := range c.rewriter.Rewrite(t) {
		if at := int(s.FirstCall); at >= first && at < end {
			out = append(out, s.Label())
		}
	}
	return out
}

// writes are the labels, as recorded, of the calls before end that write by the
// rules.
func (c *Comparer) writes(t *trace.Trajectory, end int) []merge.Label {
	isWrite := map[int32]bool{}
	for _, s := range c.full.Rewrite(t) {
		if s.Effect() == rules.Mutator && !s.Inserted {
			isWrite[s.FirstCall] = true
		}
	}
	var out []merge.Label
	for _, s := range c.rewriter.Rewrite(t) {
		if int(s.FirstCall) < end && isWrite[s.FirstCall] {
			out = append(out, s.Label())
		}
	}
	return out
}

// texts masks labels.
func (c *Comparer) texts(labels []merge.Label) []string {
	var out []string
	for _, l := range labels {
		out = append(out, c.masker.Label(l))
	}
	return out
}

// less returns the labels of a that b lacks, as multisets, in the order of a.
func less(a, b []merge.Label) []merge.Label {
	rest := slices.Clone(b)
	var out []merge.Label
	for _, l := range a {
		if i := slices.Index(rest, l); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		} else {
			out = append(out, l)
		}
	}
	return out
}

// differing returns what two rearrangements of the same labels have from the
// first to the last difference.
func differing(a, b []merge.Label) (onlyA, onlyB []merge.Label) {
	first, end := 0, len(a)
	for first < end && a[first] == b[first] {
		first++
	}
	for end > first && a[end-1] == b[end-1] {
		end--
	}
	return a[first:end], b[first:end]
}

// maxDifferences is how many paths are listed.
const maxDifferences = 3

// differences appends the paths at which two values differ. Names that may be
// data are left out of them.
func differences(a, b trace.Value, path string, out *[]string) {
	if len(*out) >= maxDifferences || a.Equal(b) {
		return
	}
	at := len(*out)
	switch {
	case a.Kind == trace.Object && b.Kind == trace.Object:
		var names []string
		for _, m := range slices.Concat(a.Members, b.Members) {
			names = append(names, m.Name)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			shown := name
			if !merge.LooksLikeName(name) {
				shown = "*"
			}
			inA, okA := a.Lookup(name)
			inB, okB := b.Lookup(name)
			if okA && okB {
				differences(inA, inB, strings.TrimPrefix(path+"."+shown, "."), out)
			} else if len(*out) < maxDifferences {
				*out = append(*out, strings.TrimPrefix(path+"."+shown, "."))
			}
		}
	case a.Kind == trace.Array && b.Kind == trace.Array && len(a.Elems) == len(b.Elems):
		for i := range a.Elems {
			differences(a.Elems[i], b.Elems[i], path+"["+strconv.Itoa(i)+"]", out)
		}
	}
	if len(*out) == at {
		if path == "" {
			path = "the whole"
		}
		*out = append(*out, path)
	}
}
