package replay_test

import (
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/replay"
)

// BenchmarkCheck replays the office's meta-tools in its runs. An operation is a
// call of the traces.
func BenchmarkCheck(b *testing.B) {
	set := officeRules(b)
	list := recordings.Read(b, officeFolder+"/trajectories.jsonl.gz")
	v := replay.NewVerifier(writtenAndRead(b, compiled(b, list, set, compile.Options{Algorithm: compile.Patterns})))
	rewriter := merge.NewRewriter(set, merge.Full(set), nil, nil)
	var marks [][]merge.Mark
	for _, one := range list {
		marks = append(marks, merge.Marks(one, rewriter.Rewrite(one)))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; {
		for i, one := range list {
			if n += max(len(one.Calls), 1); n > b.N {
				break
			}
			v.Check(one, marks[i])
		}
	}
}
