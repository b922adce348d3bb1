package dataflow

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/lookup"
	"github.com/awo-dev/awo/trace"
)

// walkedHow is what was used of one list.
type walkedHow uint8

const (
	walkedWhole walkedHow = iota
	walkedPrefix
	walkedSubset
	walkedOutside
)

// walk is a list while it is being walked.
type walk struct {
	nodes []trace.Value
	paged bool
	used  []uint64 // in order of first use
	seen  lookup.Table
}

// readList begins a new list, or, if nothing of the one before was used,
// continues that: its pages.
func (c *checking) readList(id int32, nodes []trace.Value) {
	w := c.walks[id]
	if w == nil || len(w.used) > 0 {
		c.endWalk(id)
		if w == nil {
			c.walking = append(c.walking, id)
		}
		c.walks[id] = &walk{nodes: nodes}
		return
	}
	if !w.paged { // the nodes are shared with the reading
		w.nodes, w.paged = slices.Clone(w.nodes), true
	}
	w.nodes = append(w.nodes, nodes...)
}

// use notes the use of a value after a list.
func (w *walk) use(k *Link, recorded *trace.Value) {
	h := jsonvalue.Hash(recorded)
	if i := slices.IndexFunc(w.nodes, func(n trace.Value) bool { return k.gives(&n, recorded) }); i >= 0 {
		h = jsonvalue.Hash(&w.nodes[i])
	}
	if next := int32(len(w.used)); w.seen.Insert(h, next) == next {
		w.used = append(w.used, h)
	}
}

// endWalk counts a list that is done with, if anything was used after it.
func (c *checking) endWalk(id int32) {
	if w := c.walks[id]; w != nil && len(w.used) > 0 {
		v := &c.votes[c.voted[id]-1]
		v.lists = append(v.lists, w.summary())
	}
	c.walks[id] = nil
}

// summary says how the list was walked. Elements that are equal count once.
func (w *walk) summary() walkedHow {
	nodes := make([]uint64, 0, len(w.nodes))
	var position lookup.Table
	for i := range w.nodes {
		h, next := jsonvalue.Hash(&w.nodes[i]), int32(len(nodes))
		if position.Insert(h, next) == next {
			nodes = append(nodes, h)
		}
	}
	inside, inOrder := 0, true
	for i, h := range w.used {
		if position.Find(h) >= 0 {
			inside++
		}
		inOrder = inOrder && i < len(nodes) && h == nodes[i]
	}
	switch {
	case inside < len(w.used):
		return walkedOutside
	case inOrder && inside == len(nodes):
		return walkedWhole
	case inOrder:
		return walkedPrefix
	}
	return walkedSubset
}
