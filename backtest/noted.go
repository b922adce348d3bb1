package backtest

import (
	"unsafe"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// What rules make of a trajectory is the same in each fold and reading: it is noted with the
// trajectory, under these keys, with the statuses that rules read from results.
type (
	marksKey    struct{} // of cases
	declaredKey struct{} // of Declarations
)

// notedMarks is what a labeller makes of the calls of a trajectory.
type notedMarks struct {
	marks    []merge.Mark
	statuses []trace.Status
}

// note notes marks of a trajectory, whose calls have their statuses.
func (n *notedMarks) note(t *trace.Trajectory) {
	n.statuses = statusesOf(t)
	t.Note(marksKey{}, n, int(unsafe.Sizeof(*n))+len(n.marks)*int(unsafe.Sizeof(merge.Mark{}))+len(n.statuses))
}

func statusesOf(t *trace.Trajectory) []trace.Status {
	out := make([]trace.Status, len(t.Calls))
	for i := range out {
		out[i] = t.Calls[i].Status
	}
	return out
}

func setStatuses(t *trace.Trajectory, statuses []trace.Status) {
	for i, s := range statuses {
		t.Calls[i].Status = s
	}
}

// declare adds a trajectory to declarations. Where they know all that they are to know, it
// only gets the statuses that rules read, if these are noted.
func declare(to Declarations, t *trace.Trajectory, isWhole bool) {
	statuses, noted := t.Noted(declaredKey{}).([]trace.Status)
	if isWhole && noted {
		setStatuses(t, statuses)
		return
	}
	if to.Add(t); !noted && t.IsNoted() {
		statuses = statusesOf(t)
		t.Note(declaredKey{}, statuses, len(statuses))
	}
}
