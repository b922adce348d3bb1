package execute_test

import (
	"reflect"
	"testing"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/replay"
)

// TestFinderEndsEarly has an agent that walks two of three orders, and goes on
// with one that is not in the list.
func TestFinderEndsEarly(t *testing.T) {
	list := `{"orders":[{"id":"a-1"},{"id":"b-2"},{"id":"c-3"}]}`
	run := recorded(
		call{"get_user", `{"user":"u-1"}`, list, 0, false, false},
		call{"get_order", `{"order":"a-1"}`, `{}`, 1, false, false},
		call{"get_order", `{"order":"b-2"}`, `{}`, 2, false, false},
		call{"get_order", `{"order":"z-9"}`, `{}`, 3, false, false},
	)
	// The third order of the list has no answer to replay: the outcome is partial.
	places := replay.NewFinder([]*metatool.Tool{orders(t)}).Find(run, nil)
	if len(places) != 1 {
		t.Fatalf("%d places, want 1", len(places))
	}
	p := places[0]
	if !p.Replay.Saves || p.Begin != 0 || p.End != 3 || !reflect.DeepEqual(p.Removed, []int{1, 2}) {
		t.Errorf("%+v, %+v", p, p.Replay)
	}
	// What a choice takes for exact a verification does, too, and the call after it is
	// no place of its own.
	v := replay.NewVerifier([]*metatool.Tool{orders(t)})
	v.Add(v.Check(run, nil))
	if got := v.Verifications()[0]; got.Occurrences != 1 || got.Exact != 1 || got.Saves != 1 || got.TurnsSaved != 2 || len(got.Disagreements) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestRemoved keeps turns with a call of their own outside.
func TestRemoved(t *testing.T) {
	run := recorded(
		call{"get_user", `{"user":"u-1"}`, `{"orders":[{"id":"a-1"},{"id":"b-2"}]}`, 0, false, false},
		call{"get_order", `{"order":"a-1"}`, `{}`, 1, false, false},
		call{"get_order", `{"order":"b-2"}`, `{}`, 2, false, false},
		call{"log", `{}`, `{}`, 2, false, false},
	)
	s := replay.NewSequence(run, nil)
	o, ok := s.At(orders(t), 0)
	if got := o.Removed(run); !ok || !reflect.DeepEqual(got, []int{1}) || o.TurnsSaved(run) != 1 {
		t.Errorf("removes %v, saves %d", got, o.TurnsSaved(run))
	}
}

// TestVerifierFailed has an agent that goes on after a call that failed: there is no
// place, and no disagreement.
func TestVerifierFailed(t *testing.T) {
	list := `{"orders":[{"id":"a-1"},{"id":"b-2"}]}`
	good := recorded(
		call{"get_user", `{"user":"u-1"}`, list, 0, false, false},
		call{"get_order", `{"order":"a-1"}`, `{}`, 1, false, false},
		call{"get_order", `{"order":"b-2"}`, `{}`, 2, false, false},
	)
	bad := recorded(
		call{"get_user", `{"user":"u-1"}`, list, 0, true, false},
		call{"get_order", `{"order":"a-1"}`, `{}`, 1, false, false},
		call{"get_order", `{"order":"b-2"}`, `{}`, 2, false, false},
	)
	v := replay.NewVerifier([]*metatool.Tool{orders(t)})
	v.Add(v.Check(good, nil))
	v.Add(v.Check(bad, nil))
	got := v.Verifications()[0]
	if a := got.Agreement(); got.Occurrences != 1 || got.Exact != 1 || a.Share != 1 || len(got.Disagreements) != 0 {
		t.Errorf("%+v, agreement %+v", got, a)
	}
}
