package candidate

import (
	"cmp"
	"container/heap"
	"slices"
)

// seedHeap orders the links that may be seeds, the first one on top.
type seedHeap struct {
	x     *extractor
	links []linkID
}

func (h *seedHeap) Len() int { return len(h.links) }

func (h *seedHeap) Less(i, j int) bool {
	a, b := &h.x.links[h.links[i]], &h.x.links[h.links[j]]
	if a.weight != b.weight {
		return a.weight > b.weight
	}
	return cmp.Or(
		cmp.Compare(h.x.distances.of[a.from], h.x.distances.of[b.from]),
		slices.Compare(a.ranks, b.ranks),
		cmp.Compare(a.from, b.from),
		cmp.Compare(a.to, b.to),
	) < 0
}

func (h *seedHeap) Swap(i, j int) {
	h.links[i], h.links[j] = h.links[j], h.links[i]
	h.x.links[h.links[i]].heap, h.x.links[h.links[j]].heap = i, j
}

// remove takes a link out, if it is there. As a heap can put right one change at
// a time, links are taken out before anything changes that their order is made
// of, and put in again afterwards.
func (h *seedHeap) remove(id linkID) {
	if at := h.x.links[id].heap; at >= 0 {
		heap.Remove(h, at)
	}
}

// insert puts a link in, if it may be a seed and is not there.
func (h *seedHeap) insert(id linkID) {
	l := &h.x.links[id]
	if l.heap < 0 && !l.exhausted && l.weight >= h.x.threshold {
		heap.Push(h, id)
	}
}

func (h *seedHeap) Push(id any) {
	h.x.links[id.(linkID)].heap = len(h.links)
	h.links = append(h.links, id.(linkID))
}

func (h *seedHeap) Pop() any {
	last := len(h.links) - 1
	id := h.links[last]
	h.links = h.links[:last]
	h.x.links[id].heap = -1
	return id
}
