package cost

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// TestPlaceholders tells counts that cannot be from small ones.
func TestPlaceholders(t *testing.T) {
	turn := func(output int64, text string, args string) *trace.Trajectory {
		run := &trace.Trajectory{Turns: []trace.Turn{{Text: trace.TextOf(text), Usage: trace.Usage{Known: true, Input: 10, Output: output}}}}
		if args != "" {
			run.Turns[0].NumCalls = 1
			run.Calls = []trace.Call{{Tool: trace.Intern("write"), Args: trace.JSONOf([]byte(args))}}
		}
		return run
	}
	long := strings.Repeat("word ", 400)
	for name, test := range map[string]struct {
		run  *trace.Trajectory
		want Placeholders
	}{
		"one for a long text": {turn(1, long, ""), Placeholders{1, 1, 2000}},
		"one for a long call": {turn(3, "", `{"text":"`+long+`"}`), Placeholders{1, 3, 2011}},
		"as it should be":     {turn(500, long, ""), Placeholders{}},
		"one for a word":      {turn(1, "Done, all of it.", ""), Placeholders{}},
		"none recorded":       {&trace.Trajectory{Turns: []trace.Turn{{Text: trace.TextOf(long)}}}, Placeholders{}},
	} {
		var got Placeholders
		if got.Add(test.run); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
