package replay_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// The recorded traces are kept beside the project.

// reads declares what the recorded shops and airlines read.
const reads = `{"version": 1, "rules": [
	{"id": "reads", "kind": "effect", "match": {"tool": ["get_*", "find_*", "list_*", "search_*", "calculate"]}, "effect": "accessor"},
	{"id": "notes", "kind": "effect", "match": {"tool": "think"}, "effect": "annotator"}
]}`

// walks reports whether a meta-tool looks something up with one tool, and then
// calls another for each element of a list in the result.
func walks(tool *metatool.Tool, first, each string) bool {
	return slices.ContainsFunc(tool.Steps, func(s metatool.Step) bool {
		return s.Tool == each && s.Each != nil && s.Each.Kind == metatool.BindStep && tool.Steps[s.Each.Step].Tool == first
	})
}

// divided returns the trajectories of four fifths of the tasks, and the rest.
func divided(list []*trace.Trajectory, seed uint64) (train, test []*trace.Trajectory) {
	split := holdout.ByTask(0.2, seed)
	for _, one := range list {
		if split.Of(one) == holdout.Train {
			train = append(train, one)
		} else {
			test = append(test, one)
		}
	}
	return train, test
}

// lookUps are recorded sets in which agents look up a user, and then what the
// user has one by one.
var lookUps = []struct{ file, first, each string }{
	{"tau2/airline_azure-gpt-4o.json", "get_user_details", "get_reservation_details"},
	{"taubench/gpt-4o-airline.json", "get_user_details", "get_reservation_details"},
	{"tau2/retail_gpt-4.1.json", "get_user_details", "get_order_details"},
	{"tau2/retail_toolorchestra-gpt-5.json", "get_user_details", "get_order_details"},
}

// TestHeldOutFanOut compiles recorded sets on four fifths of the tasks and
// replays on the rest: looking up a user and then each of that user's
// reservations or orders is one meta-tool, and does there what agents did.
// One split tests on few tasks, so there are five.
func TestHeldOutFanOut(t *testing.T) {
	for _, set := range lookUps {
		t.Run(filepath.Base(set.file), func(t *testing.T) {
			list := recordings.Read(t, recordings.Recorded(t, set.file))
			rules := recordings.Parse(t, "reads.json", []byte(reads))
			places, exact, saves, turns, extra := 0, 0, 0, 0, 0.0
			allPlaces, allExact := 0, 0
			for seed := range uint64(5) {
				train, test := divided(list, seed+1)
				c := compiled(t, train, rules, compile.Options{Algorithm: compile.Patterns})
				found := false
				for _, v := range replayed(writtenAndRead(t, c), test, rules) {
					allPlaces, allExact = allPlaces+v.Occurrences, allExact+v.Exact
					if !walks(v.Tool, set.first, set.each) {
						continue
					}
					found = true
					a := v.Agreement()
					t.Logf("split %d: %s: %d of %d places exact (%.3f [%.3f, %.3f]) in %d of %d runs, %d save %d turns, %.2f extra reads (95th percentile %d)", seed+1,
						v.Tool.Name, v.Exact, v.Occurrences, a.Share, a.Interval.Lo, a.Interval.Hi, v.Trajectories, len(test), v.Saves, v.TurnsSaved, v.ExtraMean, v.ExtraP95)
					for _, d := range v.Disagreements {
						t.Logf("  %s: call %d, step %d: %s %s", d.Trajectory, d.Call, d.Step, d.Code, d.Argument)
					}
					places, exact, saves, turns = places+v.Occurrences, exact+v.Exact, saves+v.Saves, turns+v.TurnsSaved
					extra += v.ExtraMean * float64(v.Exact)
				}
				if !found {
					t.Errorf("split %d: %s and %s of each are no meta-tool", seed+1, set.first, set.each)
				}
			}
			agreement := stat.Share(exact, places)
			t.Logf("%d of %d places exact (%.3f [%.3f, %.3f]), %d with known inputs save %d turns, %.2f extra reads; all meta-tools %d of %d",
				exact, places, agreement.Share, agreement.Interval.Lo, agreement.Interval.Hi, saves, turns, extra/float64(max(exact, 1)), allExact, allPlaces)
			if places < 10 || agreement.Share < 0.95 {
				t.Errorf("%d of %d held-out places agree", exact, places)
			}
			if share := float64(saves) / float64(places); share < 0.95 {
				t.Errorf("the inputs were known at %d of %d places", saves, places)
			}
		})
	}
}

// TestHeldOutWithoutRules: tools whose names say that they read are taken at
// their word, so the lists are walked without any rule, and agree. Where they are
// not, a call may write, and agents do not read all of every list: the refusal
// says so, and what is offered instead agrees.
func TestHeldOutWithoutRules(t *testing.T) {
	for _, set := range lookUps {
		t.Run(filepath.Base(set.file), func(t *testing.T) {
			train, test := divided(recordings.Read(t, recordings.Recorded(t, set.file)), 1)
			for _, assumed := range []bool{true, false} {
				c := compiled(t, train, nil, compile.Options{Algorithm: compile.Patterns, DeclaredReads: !assumed})
				refused := slices.ContainsFunc(c.Definitions, func(d *bind.Definition) bool {
					return walks(&d.Tool, set.first, set.each) && slices.ContainsFunc(d.Refusals, func(r bind.Refusal) bool {
						return r.Code == "fan-out-partial" && d.Steps[r.Step].Tool == set.each
					})
				})
				if refused == assumed {
					t.Errorf("assumed to read: %v; walking %s after %s is refused: %v", assumed, set.each, set.first, refused)
				}
				places, exact, offered := 0, 0, false
				for _, v := range replayed(writtenAndRead(t, c), test, nil) {
					places, exact = places+v.Occurrences, exact+v.Exact
					offered = offered || walks(v.Tool, set.first, set.each)
				}
				if offered != assumed {
					t.Errorf("assumed to read: %v; walking %s after %s is offered: %v", assumed, set.each, set.first, offered)
				}
				agreement := stat.Share(exact, places)
				t.Logf("assumed to read: %v; %d of %d places exact (%.3f [%.3f, %.3f])", assumed, exact, places, agreement.Share, agreement.Interval.Lo, agreement.Interval.Hi)
				if places == 0 && assumed || places > 0 && agreement.Share < 0.95 {
					t.Errorf("assumed to read: %v; %d of %d held-out places agree", assumed, exact, places)
				}
			}
		})
	}
}
