package summary

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/varint"
)

// MaxDistinct is up to how many different things a Distinct counts exactly.
const MaxDistinct = 1 << 16

// DistinctError is how far, as a share of it, an estimate of a Distinct is from the truth
// in 95 of 100 cases: 1.96 standard errors of the estimate, which are 1/sqrt(k-2).
var DistinctError = 1.96 / math.Sqrt(MaxDistinct-2)

// Distinct counts different things by 64-bit hashes, which are taken for random. It keeps
// the smallest MaxDistinct of them: up to so many, it counts exactly; beyond, the
// largest of them says how thinly hashes are strewn, and with that how many there are
// (Bar-Yossef and others, Counting Distinct Elements in a Data Stream, 2002; the unbiased
// form of Beyer and others, On Synopses for Distinct-Value Estimation, 2007).
//
// The smallest hashes of a union are the smallest of those of its parts, so merging is
// associative and commutative. The zero value is empty.
type Distinct struct {
	kept    []uint64 // ascending, all different
	fresh   []uint64 // added since, in any order
	skipped bool     // a hash beyond those that are kept was there
	limit   int      // in place of MaxDistinct, for tests; 0 for that
}

// freshRoom is how many hashes are added before they are sorted in.
const freshRoom = 4096

func (d *Distinct) max() int {
	if d.limit > 0 {
		return d.limit
	}
	return MaxDistinct
}

// Add adds a thing by its hash.
func (d *Distinct) Add(hash uint64) {
	if d.skipped && hash > d.kept[len(d.kept)-1] {
		return
	}
	if d.fresh = append(d.fresh, hash); len(d.fresh) >= freshRoom+len(d.kept)/4 {
		d.settle()
	}
}

// settle sorts in what was added.
func (d *Distinct) settle() {
	if len(d.fresh) == 0 {
		return
	}
	slices.Sort(d.fresh)
	merged := make([]uint64, 0, len(d.kept)+len(d.fresh))
	a, b := d.kept, slices.Compact(d.fresh)
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			merged, a = append(merged, a[0]), a[1:]
		case a[0] > b[0]:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged, a, b = append(merged, a[0]), a[1:], b[1:]
		}
	}
	d.kept, d.fresh = append(append(merged, a...), b...), d.fresh[:0]
	if len(d.kept) > d.max() {
		d.kept, d.skipped = d.kept[:d.max()], true
	}
}

// Merge adds what o has seen.
func (d *Distinct) Merge(o *Distinct) {
	o.settle()
	d.settle()
	d.fresh = append(d.fresh, o.kept...)
	d.settle()
	d.skipped = d.skipped || o.skipped // then there were more than fit, here too
}

// Count returns how many different things were added, and whether that is exact; see
// DistinctError.
func (d *Distinct) Count() (n int, exact bool) {
	d.settle()
	if !d.skipped {
		return len(d.kept), true
	}
	k := len(d.kept)
	return int(math.Round(float64(k-1) / (float64(d.kept[k-1]) + 1) * math.Exp2(64))), false
}

func (d *Distinct) append(dst []byte) []byte {
	d.settle()
	more := 0
	if d.skipped {
		more = 1
	}
	dst = varint.Append(varint.Append(dst, more), len(d.kept))
	before := uint64(0)
	for _, h := range d.kept {
		dst = binary.AppendUvarint(dst, h-before)
		before = h
	}
	return dst
}

func (d *decoder) distinct() *Distinct {
	out := &Distinct{}
	more := d.Uint()
	n := d.Length(1)
	if more > 1 || n > MaxDistinct || more == 1 && n != MaxDistinct {
		d.Fail("a set")
		return out
	}
	out.skipped = more == 1
	out.kept = make([]uint64, 0, n)
	before := uint64(0)
	for i := range n {
		step := d.Uint()
		if i > 0 && step == 0 || before+step < before {
			d.Fail("the order of a set")
		}
		before += step
		out.kept = append(out.kept, before)
	}
	return out
}
