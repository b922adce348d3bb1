package agents

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/trace"
)

// run is a trajectory of a task that calls tools, and was offered some.
func run(task string, offered []string, called ...string) *trace.Trajectory {
	t := &trace.Trajectory{Task: task}
	for _, name := range offered {
		t.Tools = append(t.Tools, trace.ToolDef{Name: trace.Intern(name)})
	}
	for _, name := range called {
		t.Calls = append(t.Calls, trace.Call{Tool: trace.Intern(name)})
	}
	return t
}

// listOf finds agents with at least two tasks.
func listOf(runs []*trace.Trajectory) *List {
	var f Finder
	for _, t := range runs {
		f.Add(t)
	}
	return f.List(2)
}

func TestAgents(t *testing.T) {
	for name, c := range map[string]struct {
		runs []*trace.Trajectory
		of   []int    // agent of each run
		has  []string // tools of the agents, joined
	}{
		"calls that meet are of one agent": {
			[]*trace.Trajectory{run("1", nil, "a", "b"), run("2", nil, "b", "c"), run("3", nil, "c"), run("4", nil, "x", "y"), run("5", nil, "y")},
			[]int{0, 0, 0, 1, 1},
			[]string{"abc", "xy"},
		},
		"few tasks are one agent together": {
			[]*trace.Trajectory{run("1", nil, "a"), run("2", nil, "a"), run("3", nil, "x"), run("4", nil, "y")},
			[]int{0, 0, 1, 1},
			[]string{"a", "xy"},
		},
		"few tasks of all are one agent": {
			[]*trace.Trajectory{run("1", nil, "a"), run("1", nil, "b")}, []int{0, 0}, []string{"ab"},
		},
		"definitions that grow are of one agent": {
			[]*trace.Trajectory{run("1", []string{"a", "b", "think"}), run("2", []string{"a", "b", "c", "think"}), run("3", []string{"x", "y", "think"}), run("4", []string{"x", "y", "think"})},
			[]int{0, 0, 1, 1},
			[]string{"abcthink", "thinkxy"},
		},
		"calls belong to definitions that hold them": {
			[]*trace.Trajectory{run("1", []string{"a", "b"}), run("2", nil, "a"), run("3", nil, "x"), run("4", nil, "x")},
			[]int{0, 0, 1, 1},
			[]string{"ab", "x"},
		},
		"what is said of no tool is of the first": {
			[]*trace.Trajectory{run("1", nil), run("2", nil, "a"), run("3", nil, "a"), run("4", nil, "x"), run("5", nil, "x"), run("6", nil, "x")},
			[]int{0, 1, 1, 0, 0, 0},
			[]string{"x", "a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			list := listOf(c.runs)
			var of []int
			for _, r := range c.runs {
				of = append(of, list.Of(r))
			}
			var has []string
			for _, a := range list.Agents {
				all := ""
				for _, tool := range a.Tools {
					all += tool
				}
				has = append(has, all)
			}
			if !slices.Equal(of, c.of) || !slices.Equal(has, c.has) {
				t.Errorf("runs are of %v with tools %q, want %v with %q", of, has, c.of, c.has)
			}
		})
	}
}

// TestAgentsSeeWhatTheyCall: whatever the runs, each is of one agent that sees all of its
// tools, and the order of runs without definitions changes nothing of which belong together.
func TestAgentsSeeWhatTheyCall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h"})
		var runs []*trace.Trajectory
		for i := range rapid.IntRange(1, 12).Draw(t, "runs") {
			runs = append(runs, run(strconv.Itoa(i), nil, rapid.SliceOfN(tool, 1, 3).Draw(t, "calls")...))
		}
		list := listOf(runs)
		of := map[*trace.Trajectory]int{}
		for _, r := range runs {
			of[r] = list.Of(r)
			for i := range r.Calls {
				if !list.Agents[of[r]].Sees([]string{r.Calls[i].Tool.Value()}) {
					t.Fatalf("agent %d does not see %s", of[r], r.Calls[i].Tool.Value())
				}
			}
		}
		again := listOf(rapid.Permutation(runs).Draw(t, "order"))
		for _, x := range runs {
			for _, y := range runs {
				if (of[x] == of[y]) != (again.Of(x) == again.Of(y)) {
					t.Fatal("another order of runs makes other agents")
				}
			}
		}
	})
}
