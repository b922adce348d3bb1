// Package filter chooses which trajectories of a stream go on: by an
// expression, a time range, a seeded sample, or once each.
//
// A stream of trajectories and problems comes in and goes out; problems pass
// unchanged. Expressions and time ranges keep nothing, Dedupe keeps 16 bytes a
// trajectory, Sample keeps the trajectories of the sample. Nothing is changed
// in a trajectory, and Counts says how many were left out for which reason.
package filter

import (
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"iter"
	"slices"
	"time"

	"github.com/awo-dev/awo/trace"
)

// Options are the filters; the zero value lets everything pass. They apply in
// the order of the fields.
type Options struct {
	Where  *Expression // nil: no condition
	Since  time.Time   // first recorded time at or after; zero: no bound
	Until  time.Time   // first recorded time before; zero: no bound
	Dedupe bool        // of trajectories with the same content only the first
	Sample int         // at most that many, chosen by Seed; 0: all
	Seed   uint64
}

// IsZero reports whether the options let everything pass.
func (o Options) IsZero() bool {
	return o.Where == nil && o.Since.IsZero() && o.Until.IsZero() && !o.Dedupe && o.Sample == 0
}

// Counts is how many trajectories were left out, by reason.
type Counts struct {
	Where     int `json:"where,omitempty"`     // the expression was false
	Time      int `json:"time,omitempty"`      // outside the range
	Untimed   int `json:"untimed,omitempty"`   // no time recorded, so not known to be inside
	Duplicate int `json:"duplicate,omitempty"` // the same content came before
	Sample    int `json:"sample,omitempty"`    // not in the sample
}

// Total returns how many trajectories were left out.
func (c Counts) Total() int { return c.Where + c.Time + c.Untimed + c.Duplicate + c.Sample }

// Apply yields the trajectories of in that pass, in input order, and every
// error. counts is complete when the loop has ended. An expression that fails
// on a trajectory is an error that ends the stream.
func Apply(in iter.Seq2[*trace.Trajectory, error], o Options, counts *Counts) iter.Seq2[*trace.Trajectory, error] {
	if o.IsZero() {
		return in
	}
	passing := func(yield func(*trace.Trajectory, error) bool) {
		seen := map[[16]byte]struct{}{}
		for t, err := range in {
			if err != nil || t == nil {
				if !yield(t, err) {
					return
				}
				continue
			}
			ok, err := o.passes(t, seen, counts)
			if err != nil {
				yield(nil, err)
				return
			}
			if ok && !yield(t, nil) {
				return
			}
		}
	}
	if o.Sample <= 0 {
		return passing
	}
	return sample(passing, o.Sample, o.Seed, counts)
}

func (o Options) passes(t *trace.Trajectory, seen map[[16]byte]struct{}, counts *Counts) (bool, error) {
	if o.Where != nil {
		ok, err := o.Where.Holds(t)
		if err != nil {
			return false, err
		}
		if !ok {
			counts.Where++
			return false, nil
		}
	}
	if !o.Since.IsZero() || !o.Until.IsZero() {
		switch at := t.Started(); {
		case at.IsZero():
			counts.Untimed++
			return false, nil
		case at.Before(o.Since), !o.Until.IsZero() && !at.Before(o.Until):
			counts.Time++
			return false, nil
		}
	}
	if o.Dedupe {
		key := contentKey(t)
		if _, ok := seen[key]; ok {
			counts.Duplicate++
			return false, nil
		}
		seen[key] = struct{}{}
	}
	return true, nil
}

// contentKey identifies what happened in a trajectory: what was said, called
// and returned, not when, under which name or in which file.
func contentKey(t *trace.Trajectory) [16]byte {
	h := sha256.New()
	var scratch []byte
	message := 0
	said := func(call int) {
		for ; message < len(t.Messages) && t.Messages[message].Call <= call; message++ {
			m := &t.Messages[message]
			writePart(h, byte('m'), []byte{byte(m.Role)})
			writePart(h, byte('t'), []byte(m.Text.Text()))
		}
	}
	for i := range t.Calls {
		said(i)
		c := &t.Calls[i]
		scratch = c.AppendCanonicalArgs(scratch[:0])
		writePart(h, byte('c'), []byte(c.Tool.Value()))
		writePart(h, byte('a'), scratch)
		writePart(h, byte('r'), []byte(c.Result.Text()))
		writePart(h, byte('s'), []byte{byte(c.Status), byte(c.Origin)})
	}
	said(len(t.Calls))
	for i := range t.Turns {
		writePart(h, byte('x'), []byte(t.Turns[i].Text.Text()))
	}
	var key [16]byte
	copy(key[:], h.Sum(nil))
	return key
}

// writePart hashes a tagged piece with its length, so that no two sequences of
// pieces run together into the same bytes.
func writePart(h hash.Hash, tag byte, b []byte) {
	var head [9]byte
	head[0] = tag
	binary.LittleEndian.PutUint64(head[1:], uint64(len(b)))
	h.Write(head[:])
	h.Write(b)
}

// sample keeps the n trajectories with the smallest keys. A key depends on the
// seed and on the place in the input, so a sample is the same on every run, and
// a larger one contains a smaller one of the same seed.
func sample(in iter.Seq2[*trace.Trajectory, error], n int, seed uint64, counts *Counts) iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		var kept largestFirst
		place := uint64(0)
		for t, err := range in {
			if err != nil || t == nil {
				if !yield(t, err) {
					return
				}
				continue
			}
			d := draw{key: mix(seed, place), place: place, trajectory: t}
			place++
			if len(kept) < n {
				heap.Push(&kept, d)
				continue
			}
			counts.Sample++
			if d.key < kept[0].key {
				kept[0] = d
				heap.Fix(&kept, 0)
			}
		}
		slices.SortFunc(kept, func(a, b draw) int { return int(int64(a.place) - int64(b.place)) })
		for _, d := range kept {
			if !yield(d.trajectory, nil) {
				return
			}
		}
	}
}

// draw is a trajectory of the sample with what decides whether it stays.
type draw struct {
	key, place uint64
	trajectory *trace.Trajectory
}

// largestFirst is a heap of draws with the largest key on top.
type largestFirst []draw

func (h largestFirst) Len() int           { return len(h) }
func (h largestFirst) Less(i, j int) bool { return h[i].key > h[j].key }
func (h largestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *largestFirst) Push(x any)        { *h = append(*h, x.(draw)) }
func (h *largestFirst) Pop() any {
	last := len(*h) - 1
	d := (*h)[last]
	*h = (*h)[:last]
	return d
}

// mix hashes a place with a seed (the finaliser of SplitMix64, Steele et al.
// 2014): neighbouring places get unrelated keys.
func mix(seed, place uint64) uint64 {
	z := seed + (place+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
