package copies

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

// recorded returns the trajectories of all formats that are among the data of tests.
func recorded(t testing.TB) []*trace.Trajectory {
	t.Helper()
	paths, err := filepath.Glob("../formats/*/testdata")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d folders of data: %v", len(paths), err)
	}
	if office := "../../testdata/office/trajectories.jsonl.gz"; exists(office) {
		paths = append(paths, office)
	}
	r, err := trace.Open(paths, trace.Options{Workers: 1, Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	var list []*trace.Trajectory
	for one := range r.All() {
		if one != nil { // what is wrong with files is of no interest here
			list = append(list, one)
		}
	}
	if len(list) < 100 {
		t.Fatalf("only %d trajectories were read", len(list))
	}
	return list
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestSet holds that copies are what was packed, of all formats, from memory and from the
// file, whether what repeats found a number or not.
func TestSet(t *testing.T) {
	list := append(recorded(t), full(), &trace.Trajectory{})
	for name, change := range map[string]func(*Set){
		"memory":  func(s *Set) { s.blocks.Room = 1 << 30 },
		"file":    func(s *Set) { s.blocks.Room = 0 },
		"both":    func(s *Set) { s.blocks.Room = 100 << 10 },
		"numbers": func(s *Set) { s.names.Most, s.tools.Most = 3, 3 },
		"lists":   func(s *Set) { s.lists = make([][]trace.ToolDef, setLists) },
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t.TempDir())
			defer s.Close()
			change(s)
			for _, one := range list {
				s.Add(s.Pack(one))
			}
			if !s.End() || s.Len() != len(list) {
				t.Fatalf("%d of %d were kept", s.Len(), len(list))
			}
			for range 2 {
				for i, want := range list {
					got, err := s.At(i)
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("%s: got %+v\nwant %+v", want.ID, got, want)
					}
				}
			}
		})
	}
}

// full is a trajectory in which every field says something.
func full() *trace.Trajectory {
	number, at := -1.5, time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	raw := func(s string) trace.Raw { return trace.TextOf(s) }
	tools := []trace.ToolDef{{Name: trace.Intern("a"), Description: raw("b"), Input: trace.JSONOf([]byte("{}")), Output: raw(""), Annotations: raw("d")}, {}}
	return &trace.Trajectory{
		ID: "id", Source: diag.Pos{File: "f", Line: 3, Col: 4}, Offset: -1, Format: "x", Session: "s", Parent: trace.Parent{Trajectory: "p", Call: "c"},
		Continued: "n", Task: "t", Trial: "2",
		Relay: &trace.Relay{Version: "1", Arm: trace.ArmControl, Unit: "day", UnitID: "u", Share: 0.1, Seed: 1 << 63, MetaTools: []string{"m", ""}, Prefetch: []string{}},
		Agent: "a", Model: "m", Outcome: trace.OutcomeFailure, Score: &number, Start: at, End: at.Add(time.Hour), Tools: tools,
		Turns: []trace.Turn{
			{FirstCall: 0, NumCalls: 1, Model: "n", Usage: trace.Usage{Known: true, Input: 1, CachedInput: 2, CacheWrite: 3, CacheWriteHour: 4, Output: -5, Reasoning: 6, CostUSD: &number}, Start: at, End: at, Text: raw("x"), Thought: raw("y")},
			{FirstCall: 1, Usage: trace.Usage{Known: true}},
		},
		Messages: []trace.Message{{Role: trace.RoleSystem, Text: raw("hello"), Turn: 1, Call: 1, Time: at}, {}},
		Calls: []trace.Call{
			{
				ID: "1", Tool: trace.Intern("a"), Turn: -1, Args: trace.JSONOf([]byte(`{"a":1}`)), Result: trace.Raw{Data: []byte(`"r"`), Form: trace.FormString}, HasResult: true,
				Status: trace.StatusFailed, StatusFrom: trace.ByRule, Error: raw("e"), Origin: trace.OriginPrefetch, By: "b", AnsweredBy: trace.OriginInertial, Attached: raw("at"),
				AfterUser: true, Start: at, End: at, Context: []trace.ContextValue{{Name: "url", Value: "v"}, {}},
			},
			{Context: []trace.ContextValue{{Name: "url"}}},
		},
		Anomalies: diag.Counts{Total: 3, ByCode: map[string]int{"a": 1, "b": 2}},
		Bounded:   []trace.LeftOut{{Bound: bounds.CallsBound, Count: 7}},
	}
}

// TestSetFull holds that a set without room for all keeps nothing.
func TestSetFull(t *testing.T) {
	s := New(t.TempDir())
	defer s.Close()
	s.blocks.Room, s.blocks.Most = 0, 1000
	for range 100 {
		s.Add(s.Pack(full()))
	}
	if s.End() || s.Len() != 0 {
		t.Errorf("%d copies are kept", s.Len())
	}
}

// TestSetOtherZone holds that what has no compact form is refused.
func TestSetOtherZone(t *testing.T) {
	s := New(t.TempDir())
	defer s.Close()
	one := full()
	one.Start = one.Start.In(time.FixedZone("", 3600))
	if s.Add(s.Pack(one)); s.End() {
		t.Error("a time of another zone is kept")
	}
}

// FuzzSet holds that bytes that no set wrote are refused or give some trajectory, and never
// panic.
func FuzzSet(f *testing.F) {
	s := New(f.TempDir())
	defer s.Close()
	f.Add(s.Pack(full()))
	f.Add(s.Pack(&trace.Trajectory{}))
	f.Add([]byte{})
	f.Fuzz(func(_ *testing.T, block []byte) { s.unpack(block) })
}
