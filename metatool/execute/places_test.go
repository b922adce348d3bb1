package execute_test

import (
	"slices"
	"testing"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// TestPlacesThatCount: a repeated call is left out and credited nothing, a call that
// failed is in no place, and what lacks a result is counted apart.
func TestPlacesThatCount(t *testing.T) {
	list := `{"orders":[{"id":"a-1"},{"id":"b-2"}]}`
	user := func(turn int) call { return call{"get_user", `{"user":"u-1"}`, list, turn, false, false} }
	order := func(id string, turn int, failed bool) call {
		return call{"get_order", `{"order":"` + id + `"}`, `{}`, turn, failed, false}
	}
	write := func(turn int) call { return call{"update_user", `{"user":"u-1"}`, `{}`, turn, false, false} }
	for name, tc := range map[string]struct {
		calls   []call
		lost    int // the call whose result is not recorded, from 1
		places  int
		saved   int // turns of the first place
		missing int
	}{
		"as it should be":       {calls: []call{user(0), order("a-1", 1, false), order("b-2", 2, false)}, places: 1, saved: 2},
		"asked again inside":    {calls: []call{user(0), user(1), order("a-1", 2, false), order("b-2", 3, false)}, places: 1, saved: 2},
		"all again":             {calls: []call{user(0), order("a-1", 1, false), order("b-2", 2, false), user(3), order("a-1", 4, false), order("b-2", 5, false)}, places: 1, saved: 2},
		"again after a write":   {calls: []call{user(0), order("a-1", 1, false), write(2), user(3), order("a-1", 4, false)}, places: 2, saved: 1},
		"failed at the end":     {calls: []call{user(0), order("a-1", 1, true)}},
		"failed on the way":     {calls: []call{user(0), order("a-1", 1, false), order("b-2", 2, true)}, places: 1, saved: 1},
		"again after a failure": {calls: []call{user(0), order("a-1", 1, true), user(2), order("a-1", 3, false)}},
		"a result is missing":   {calls: []call{user(0), order("a-1", 1, false), order("b-2", 2, false)}, lost: 2, places: 1, missing: 1},
	} {
		t.Run(name, func(t *testing.T) {
			run := recorded(tc.calls...)
			if tc.lost > 0 {
				run.Calls[tc.lost-1].HasResult, run.Calls[tc.lost-1].Result = false, trace.Raw{}
			}
			tools := []*metatool.Tool{orders(t)}
			places := replay.NewFinder(tools).Find(run, nil)
			v := replay.NewVerifier(tools)
			v.Add(v.Check(run, nil))
			got := v.Verifications()[0]
			if len(places) != tc.places || got.Occurrences != tc.places-tc.missing || got.NotComparable != tc.missing {
				t.Fatalf("%d places, %d compared, %d not comparable", len(places), got.Occurrences, got.NotComparable)
			}
			if tc.missing > 0 {
				if places[0].Replay.Saves || places[0].Replay.Exact {
					t.Error("what was not compared counts")
				}
				return
			}
			if tc.places > 0 && (!places[0].Replay.Saves || len(places[0].Removed) != tc.saved) {
				t.Errorf("removes %v: %+v", places[0].Removed, places[0].Replay)
			}
		})
	}
}

// TestPlacesAcrossReads: reads of the agent's own may stand between the steps of a
// meta-tool, and nothing else; such places are no evidence of how often it is right.
func TestPlacesAcrossReads(t *testing.T) {
	list := `{"orders":[{"id":"a-1"},{"id":"b-2"}]}`
	user := call{"get_user", `{"user":"u-1"}`, list, 0, false, false}
	between := func(tool string) call { return call{tool, `{"about":"u-1"}`, `{"order":"c-3"}`, 1, false, false} }
	order := func(id string, turn int) call {
		return call{"get_order", `{"order":"` + id + `"}`, `{}`, turn, false, false}
	}
	failed, asked, leftOut := between("get_stock"), order("a-1", 2), orders(t)
	failed.failed, asked.afterUser, leftOut.Output.Steps = true, true, []int{1}
	for name, tc := range map[string]struct {
		calls   []call
		tool    *metatool.Tool
		removed []int // nil for no place
	}{
		"a read":                  {calls: []call{user, between("get_stock"), order("a-1", 2), order("b-2", 3)}, removed: []int{2, 3}},
		"two reads":               {calls: []call{user, between("get_stock"), between("list_shops"), order("a-1", 2)}, removed: []int{2}},
		"a value of the read":     {calls: []call{user, between("get_stock"), order("c-3", 2)}},
		"a write":                 {calls: []call{user, between("update_user"), order("a-1", 2)}},
		"nothing is known of it":  {calls: []call{user, between("stock"), order("a-1", 2)}},
		"a read that failed":      {calls: []call{user, failed, order("a-1", 2)}},
		"a user message":          {calls: []call{user, between("get_stock"), asked}},
		"a result it leaves out":  {calls: []call{user, between("get_stock"), order("a-1", 2)}, tool: leftOut},
		"in a turn with the read": {calls: []call{user, between("get_stock"), order("a-1", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			run, tool := recorded(tc.calls...), orders(t)
			if tc.tool != nil {
				tool = tc.tool
			}
			tools := []*metatool.Tool{tool}
			var removed []int
			places := replay.NewFinder(tools).Find(run, nil)
			for _, p := range places {
				if removed = p.Removed; !p.Across || !p.Replay.Saves || p.Begin != 0 || p.End != len(tc.calls) {
					t.Errorf("%+v: %+v", p, p.Replay)
				}
			}
			if !slices.Equal(removed, tc.removed) {
				t.Errorf("removes %v, want %v", removed, tc.removed)
			}
			if len(tc.removed) > 0 {
				uses := replay.NewFinder(tools).Use(run, nil, nil)
				if len(uses.Moments) != 1 || !uses.Moments[0].Followed {
					t.Errorf("moments %+v", uses.Moments)
				}
			}
			v := replay.NewVerifier(tools)
			v.Add(v.Check(run, nil))
			if n := v.Verifications()[0].Occurrences; n != 0 {
				t.Errorf("%d places are verified", n)
			}
		})
	}
}
