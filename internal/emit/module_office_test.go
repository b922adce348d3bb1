package emit_test

import (
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

const officeFolder = "../../testdata/office/"

// office returns the recorded trajectories of the office and the meta-tools that
// are found in them.
func office(t *testing.T, algorithm compile.Algorithm) ([]*trace.Trajectory, []*bind.Definition) {
	t.Helper()
	set := recordings.Rules(t, officeFolder+"rules.yaml")
	list := recordings.Read(t, officeFolder+"trajectories.jsonl.gz")
	c := compile.Run(corpus.Filled(list, corpus.Options{Rules: set}), set, compile.Options{Algorithm: algorithm})
	return list, slices.DeleteFunc(c.Definitions, func(d *bind.Definition) bool { return d.Refusals != nil })
}

// TestModulesInTheOffice runs the emitted modules wherever an agent of the office
// made the calls of a meta-tool, over a tool server that answers from the
// recordings.
func TestModulesInTheOffice(t *testing.T) {
	for _, algorithm := range []compile.Algorithm{compile.AWO, compile.Patterns} {
		list, tools := office(t, algorithm)
		all := programs(t, tools)
		ran, done, unknown := 0, 0, 0
		looked := make([]*metatool.Tool, len(tools))
		for i, tool := range tools {
			looked[i] = &tool.Tool
		}
		finder := replay.NewFinder(looked)
		for _, one := range list {
			finder.Occurrences(one, nil, func(n int, o replay.Occurrence) {
				tool := tools[n]
				inputs, missing := replay.Inputs(&tool.Tool, one, o)
				if missing != "" {
					unknown++ // and must be refused by all
				}
				s := session{
					tool: tool, inputs: inputs, options: execute.Options{MaxCalls: 1000, SkipFailedReads: ran%2 == 0},
					caller: func() execute.Caller { return replay.NewRecordings(one, o.First()) },
				}
				want, same := s.compare(t, all)
				if !same {
					t.Fatalf("at call %d of %s", o.First(), one.ID)
				}
				if ran++; !slices.Contains([]string{"", "handed-back"}, stateOf(t, want)) {
					done++
				}
			})
		}
		t.Logf("%s: %d meta-tools at %d places, %d of them to the end; at %d an input is not known", algorithm, len(tools), ran, done, unknown)
		if ran < 200 || done*2 < ran {
			t.Errorf("%s: only %d places, %d to the end", algorithm, ran, done)
		}
	}
}

func stateOf(t *testing.T, outcome string) string {
	t.Helper()
	v, err := trace.ParseValue([]byte(outcome))
	if err != nil {
		t.Fatal(err)
	}
	state, _ := v.Lookup("state")
	return state.Text
}
