package replay_test

import (
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// compiled makes meta-tools of trajectories.
func compiled(t testing.TB, list []*trace.Trajectory, set *rules.Set, o compile.Options) *compile.Compilation {
	t.Helper()
	c := compile.Run(corpus.Filled(list, corpus.Options{Rules: set}), set, o)
	return c
}

// writtenAndRead returns the meta-tools that are offered, as they are read from
// what is written of them.
func writtenAndRead(t testing.TB, c *compile.Compilation) []*metatool.Tool {
	t.Helper()
	var offered []*metatool.Tool
	for _, d := range c.Definitions {
		if d.Refusals == nil {
			offered = append(offered, &d.Tool)
		}
	}
	src := arazzo.Append(nil, offered)
	if len(offered) == 0 {
		return nil
	}
	read, err := arazzo.Parse(arazzo.File, src)
	if err != nil {
		t.Fatal(err)
	}
	if len(read) != len(offered) {
		t.Fatalf("%d meta-tools were written, %d are read", len(offered), len(read))
	}
	if again := arazzo.Append(nil, read); !slices.Equal(again, src) {
		t.Error("what is read is not what was written")
	}
	return read
}

// marker returns what gives the marks of calls under rules, nil without rules.
func marker(set *rules.Set) func(*trace.Trajectory) []merge.Mark {
	if set == nil {
		return func(*trace.Trajectory) []merge.Mark { return nil }
	}
	rewriter := merge.NewRewriter(set, merge.Full(set), nil, nil)
	return func(t *trace.Trajectory) []merge.Mark { return merge.Marks(t, rewriter.Rewrite(t)) }
}

// replayed replays meta-tools wherever trajectories made their calls.
func replayed(tools []*metatool.Tool, list []*trace.Trajectory, set *rules.Set) []*replay.Verification {
	v := replay.NewVerifier(tools)
	marks := marker(set)
	for _, one := range list {
		v.Add(v.Check(one, marks(one)))
	}
	return v.Verifications()
}
