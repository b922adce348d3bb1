package build

import (
	"bytes"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// waitingCalls finds the calls that have no result yet. Its zero value knows all
// calls of a trajectory; with from set, only those from that index on.
//
// Usually few calls wait and looking through them is quickest. Where many do
// (results lost, or a hostile trace) they are indexed, so that a trajectory takes
// time linear in its length.
type waitingCalls struct {
	from  int // no call before it waits
	ids   waitingIndex[string]
	names waitingIndex[trace.Name]
}

// FewWaiting is how many calls are looked through without an index.
const FewWaiting = 48

// WithID returns the index of the oldest call that waits and has an id, -1 if
// there is none.
func (w *waitingCalls) WithID(calls []trace.Call, id []byte) int {
	w.Oldest(calls)
	if len(calls)-w.from <= FewWaiting {
		for i := w.from; i < len(calls); i++ {
			if calls[i].ID == string(id) && !calls[i].HasResult {
				return i
			}
		}
		return -1
	}
	w.ids.grow(calls, w.from, func(c *trace.Call) string { return c.ID })
	return w.ids.oldest(calls, string(id))
}

// ofTool returns the index of the oldest call that waits and is of a tool, -1 if
// there is none.
func (w *waitingCalls) ofTool(calls []trace.Call, tool trace.Name) int {
	w.Oldest(calls)
	if len(calls)-w.from <= FewWaiting {
		for i := w.from; i < len(calls); i++ {
			if calls[i].Tool == tool && !calls[i].HasResult {
				return i
			}
		}
		return -1
	}
	w.names.grow(calls, w.from, func(c *trace.Call) trace.Name { return c.Tool })
	return w.names.oldest(calls, tool)
}

// Oldest returns the index of the oldest call that waits, -1 if there is none.
func (w *waitingCalls) Oldest(calls []trace.Call) int {
	for w.from < len(calls) && calls[w.from].HasResult {
		w.from++
	}
	if w.from == len(calls) {
		return -1
	}
	return w.from
}

// waitingIndex chains the calls that have the same key, oldest first.
type waitingIndex[K comparable] struct {
	first map[K]int // the oldest that may wait
	last  map[K]int
	next  []int // by call, less base: the next of its chain
	base  int   // the first call that is indexed
}

// grow indexes the calls that have come since the last time.
func (x *waitingIndex[K]) grow(calls []trace.Call, from int, key func(*trace.Call) K) {
	if x.first == nil {
		x.first, x.last, x.base = map[K]int{}, map[K]int{}, from
	}
	for i := x.base + len(x.next); i < len(calls); i++ {
		x.next = append(x.next, -1)
		k := key(&calls[i])
		if last, ok := x.last[k]; ok {
			x.next[last-x.base] = i
		}
		if first, ok := x.first[k]; !ok || first < 0 {
			x.first[k] = i
		}
		x.last[k] = i
	}
}

// oldest returns the oldest call of a chain that waits, -1 if there is none, and
// forgets those before it.
func (x *waitingIndex[K]) oldest(calls []trace.Call, k K) int {
	i, ok := x.first[k]
	if !ok {
		return -1
	}
	for i >= 0 && calls[i].HasResult {
		i = x.next[i-x.base]
	}
	x.first[k] = i
	return i
}

// seenIDs knows the ids of the calls of a trajectory.
type seenIDs struct {
	few  []string
	many map[string]struct{}
}

// repeats adds an id and returns whether it was there before.
func (s *seenIDs) repeats(id string) bool {
	if s.many != nil {
		n := len(s.many)
		s.many[id] = struct{}{}
		return len(s.many) == n
	}
	for _, seen := range s.few {
		if seen == id {
			return true
		}
	}
	if s.few = append(s.few, id); len(s.few) > FewWaiting {
		s.many = make(map[string]struct{}, 2*FewWaiting)
		for _, seen := range s.few {
			s.many[seen] = struct{}{}
		}
		s.few = nil
	}
	return false
}

// countDuplicates passes over the value that c stands on and returns how many
// members in it have the name of one before them.
func countDuplicates(c *jsonscan.Cursor) int {
	n := 0
	if c.Array() {
		for c.Element() {
			n += countDuplicates(c)
		}
		return n
	}
	if !c.Object() {
		c.Skip()
		return 0
	}
	var room [8][]byte
	few, many := room[:0], map[string]struct{}(nil)
	for c.Member() {
		key := c.Key()
		switch {
		case many != nil:
			before := len(many)
			many[string(key)] = struct{}{}
			if len(many) == before {
				n++
			}
		case slices.ContainsFunc(few, func(k []byte) bool { return bytes.Equal(k, key) }):
			n++
		default:
			if few = append(few, key); len(few) > FewWaiting {
				many = make(map[string]struct{}, 2*FewWaiting)
				for _, k := range few {
					many[string(k)] = struct{}{}
				}
			}
		}
		n += countDuplicates(c)
	}
	return n
}
