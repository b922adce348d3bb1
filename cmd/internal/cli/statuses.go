package cli

import (
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// knownStatuses are how the calls of all trajectories of a reading ended, a byte a call,
// so that later readings of the same traces need not look into results for it.
type knownStatuses struct {
	kinds   []endingKind
	numbers map[endingKind]uint8
	calls   []uint8 // numbers of kinds, in the order of the reading
	tooMany bool    // kinds: nothing is known
	isWhole bool    // a reading was noted to its end
	as      readAs  // which
}

// readAs says which calls a reading has, and what they have their statuses from.
type readAs struct {
	statuses        *merge.Statuses
	expand, follows bool
}

// endingKind is a status, and what it was read from.
type endingKind struct {
	status trace.Status
	from   string
}

// begin forgets what was noted.
func (k *knownStatuses) begin(as readAs) {
	*k = knownStatuses{numbers: map[endingKind]uint8{}, as: as}
}

// note notes the statuses of the calls of the next trajectory.
func (k *knownStatuses) note(t *trace.Trajectory) {
	for i := range t.Calls {
		kind := endingKind{t.Calls[i].Status, t.Calls[i].StatusFrom}
		n, is := k.numbers[kind]
		if !is {
			if len(k.kinds) > 0xff {
				k.tooMany = true
				return
			}
			n = uint8(len(k.kinds))
			k.numbers[kind], k.kinds = n, append(k.kinds, kind)
		}
		k.calls = append(k.calls, n)
	}
}

// end says that all was noted.
func (k *knownStatuses) end() { k.isWhole = !k.tooMany }

// give gives the calls of a trajectory the statuses that were noted for it, whose first
// call is number first. It reports whether they were.
func (k *knownStatuses) give(t *trace.Trajectory, first int) bool {
	if !k.isWhole || first+len(t.Calls) > len(k.calls) {
		return false
	}
	for i := range t.Calls {
		kind := k.kinds[k.calls[first+i]]
		t.Calls[i].Status, t.Calls[i].StatusFrom = kind.status, kind.from
	}
	return true
}
