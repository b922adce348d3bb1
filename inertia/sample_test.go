package inertia

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
)

func sampleIDs(s *Sample) []string {
	var ids []string
	for _, h := range s.Histories() {
		ids = append(ids, h.Trajectory().ID)
	}
	return ids
}

// Which trajectories are kept does not depend on the order in which they come, and
// what there is room for is a beginning of what there would be with more room.
func TestSampleIgnoresOrder(t *testing.T) {
	var all []*trace.Trajectory
	for i := range 300 {
		x := &trace.Trajectory{ID: fmt.Sprint("run-", i), Task: fmt.Sprint("task-", i/4)}
		x.Messages = []trace.Message{{Text: trace.TextOf(strings.Repeat("x", 1+i*7%900))}}
		all = append(all, x)
	}
	for _, room := range []struct{ most, bytes int }{{40, 1 << 30}, {1000, 30_000}, {1000, 1 << 30}} {
		var want []string
		for i := range 5 {
			s, wide := NewSample(7), NewSample(7)
			s.most, s.bytes = room.most, room.bytes
			for _, x := range all {
				s.Add(x)
				wide.Add(x)
			}
			got, whole := sampleIDs(s), sampleIDs(wide)
			if len(got) > room.most || s.size > room.bytes || len(got) == 0 {
				t.Fatalf("%+v: %d trajectories of %d bytes", room, len(got), s.size)
			}
			if !slices.Equal(got, whole[:len(got)]) {
				t.Errorf("%+v: no beginning of what there is with more room", room)
			}
			if i == 0 {
				want = got
			} else if !slices.Equal(got, want) {
				t.Errorf("%+v: another order gives another sample", room)
			}
			rand.New(rand.NewPCG(uint64(i), 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		}
	}
	s := NewSample(1)
	s.largest = 2000
	s.Add(&trace.Trajectory{ID: "giant", Messages: []trace.Message{{Text: trace.TextOf(strings.Repeat("x", 3000))}}})
	s.Add(&trace.Trajectory{ID: "other"})
	if got := sampleIDs(s); !slices.Equal(got, []string{"other"}) {
		t.Errorf("kept %v", got)
	}
	first, second := NewSample(1), NewSample(2)
	first.most, second.most = 50, 50
	for _, x := range all {
		first.Add(x)
		second.Add(x)
	}
	if slices.Equal(sampleIDs(first), sampleIDs(second)) {
		t.Error("seeds do not matter")
	}
}

// What is kept teaches and predicts as the trajectory does, and shares no memory
// with it.
func TestSampleKeepsWhatIsRead(t *testing.T) {
	x := walk(3)
	parts := trace.Raw{Data: []byte(`[{"type":"text","text":"{\"a\":1}"},{"type":"image","data":"AAAA"}]`), Form: trace.FormParts}
	x.Calls[0].Result, x.Calls[0].HasResult = parts, true
	x.Messages = append(x.Messages, trace.Message{Role: trace.RoleSystem, Text: trace.TextOf("You are user_77.")})
	var w Observer
	want := w.Observe(x)
	s := NewSample(1)
	s.Add(x)
	for i := range x.Calls {
		for _, r := range []trace.Raw{x.Calls[i].Args, x.Calls[i].Result} {
			clear(r.Data)
		}
	}
	y := s.Histories()[0].Trajectory()
	if got := w.Observe(y); !reflect.DeepEqual(got.Decisions, want.Decisions) || got.Task != want.Task || !reflect.DeepEqual(got.uses, want.uses) ||
		!reflect.DeepEqual(got.rules, want.rules) || !reflect.DeepEqual(got.sites, want.sites) {
		t.Errorf("what is kept teaches %+v, the trajectory %+v", got, want)
	}
	if got := y.Calls[0].Result.Text(); got != `{"a":1}` {
		t.Errorf("of content parts %q is kept", got)
	}
	if len(want.uses) == 0 {
		t.Fatal("the trajectory teaches nothing")
	}
}

// Definitions that are the same but for one byte are told apart, and few are kept.
func TestDefinitionsAreTold(t *testing.T) {
	var w Observer
	define := func(i int) *trace.Trajectory {
		schema := fmt.Sprintf(`{"type":"object","properties":{"p%d":{}},"required":["p%d"]}`, i, i)
		return &trace.Trajectory{Tools: []trace.ToolDef{{Name: trace.Intern("tool"), Input: trace.JSONOf([]byte(schema))}}}
	}
	for range 2 {
		for i := range 3 * knownLists {
			for range 2 {
				x := define(i)
				if got := w.Observe(x).Defined; len(got) != 1 || !slices.Equal(got[0].Required, []string{fmt.Sprint("p", i)}) {
					t.Fatalf("definition %d is read as %+v", i, got)
				}
				clear(x.Tools[0].Input.Data)
			}
		}
	}
	if w.known.lists.Len() != knownLists {
		t.Errorf("%d lists are remembered", w.known.lists.Len())
	}
}
