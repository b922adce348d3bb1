package dataflow

import (
	"slices"

	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// walked is what was used of one list.
type walked struct {
	how   walkedHow
	extra int32 // elements that were not used
}

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
	seen  map[uint64]bool
}

// readList begins a new list, or, if nothing of the one before was used,
// continues that: its pages.
func (c *checking) readList(id int32, nodes []trace.Value) {
	w := c.walks[id]
	if w == nil || len(w.used) > 0 {
		c.endWalk(id)
		c.walks[id] = &walk{nodes: nodes, seen: map[uint64]bool{}}
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
	if !w.seen[h] {
		w.seen[h] = true
		w.used = append(w.used, h)
	}
}

// endWalk counts a list that is done with, if anything was used after it.
func (c *checking) endWalk(id int32) {
	if w := c.walks[id]; w != nil && len(w.used) > 0 {
		c.votes[id].lists = append(c.votes[id].lists, w.summary())
	}
	delete(c.walks, id)
}

// summary says how the list was walked. Elements that are equal count once.
func (w *walk) summary() walked {
	var nodes []uint64
	position := map[uint64]bool{}
	for i := range w.nodes {
		if h := jsonvalue.Hash(&w.nodes[i]); !position[h] {
			position[h] = true
			nodes = append(nodes, h)
		}
	}
	inside, inOrder := 0, true
	for i, h := range w.used {
		if position[h] {
			inside++
		}
		inOrder = inOrder && i < len(nodes) && h == nodes[i]
	}
	out := walked{how: walkedSubset, extra: int32(len(nodes) - inside)}
	switch {
	case inside < len(w.used):
		out.how = walkedOutside
	case inOrder && inside == len(nodes):
		out.how = walkedWhole
	case inOrder:
		out.how = walkedPrefix
	}
	return out
}
