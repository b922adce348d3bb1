package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// fuzzed reads trajectories out of lines: "tool|arguments|result", where a tool
// that begins with * runs in the turn of the call before it, one with ! fails,
// and one with ? comes after the user says what it is called with. A line
// without | is what the user says; "---" begins another trajectory.
func fuzzed(text string) []*trace.Trajectory {
	var list []*trace.Trajectory
	one := &trace.Trajectory{ID: "0"}
	for line := range strings.SplitSeq(text, "\n") {
		parts := strings.SplitN(line, "|", 3)
		switch {
		case line == "---":
			list = append(list, one)
			one = &trace.Trajectory{ID: fmt.Sprint(len(list)), Task: fmt.Sprint(len(list) / 2)}
		case len(parts) < 3:
			one.Messages = append(one.Messages, trace.Message{Role: trace.RoleUser, Text: trace.TextOf(line), Turn: len(one.Turns), Call: len(one.Calls)})
		default:
			c := trace.Call{Args: trace.JSONOf([]byte(parts[1])), HasResult: parts[2] != "", Status: trace.StatusOK}
			if c.Result = trace.JSONOf([]byte(parts[2])); !strings.HasPrefix(parts[2], "{") && !strings.HasPrefix(parts[2], "[") {
				c.Result = trace.TextOf(parts[2])
			}
			tool, parallel := strings.CutPrefix(parts[0], "*")
			tool, failed := strings.CutPrefix(tool, "!")
			tool, c.AfterUser = strings.CutPrefix(tool, "?")
			if failed {
				c.Status = trace.StatusFailed
			}
			c.Tool = trace.Intern(tool)
			if !parallel || len(one.Turns) == 0 {
				one.Turns = append(one.Turns, trace.Turn{FirstCall: len(one.Calls)})
			}
			one.Turns[len(one.Turns)-1].NumCalls++
			c.Turn = len(one.Turns) - 1
			one.Calls = append(one.Calls, c)
		}
		if len(list) >= 20 || len(one.Calls) >= 40 {
			break
		}
	}
	return append(list, one)
}

// FuzzCompile compiles arbitrary trajectories, each as often as a chain must
// occur, with both algorithms and with and without rules: nothing panics, it
// ends soon, what is offered is read back as it was written, and a replay makes
// no more of its places than there are.
func FuzzCompile(f *testing.F) {
	f.Add("look at u-17\nuser|{\"id\":\"u-17\"}|{\"orders\":[\"o-1111\",\"o-2222\"],\"mail\":\"a@example.org\"}\norder|{\"o\":\"o-1111\"}|{\"sum\":1}\norder|{\"o\":\"o-2222\"}|{\"sum\":2}\nmail|{\"to\":\"a@example.org\",\"text\":\"Re: o-1111\"}|sent", uint8(14))
	f.Add("a|{}|[{\"app\":\"mail\",\"password\":\"m-4242\"},{\"app\":\"files\",\"password\":\"f-7777\"}]\nb|{\"password\":\"m-4242\",\"user\":\"x\"}|{\"token\":\"t-98765\"}\n*c|{\"token\":\"t-98765\"}|{}", uint8(20))
	f.Add("$inputs.x|{\"$steps.a\":\"{$inputs.b}\"}|{\"${x}\":\"{{y}}\",\"a\\nb\":[[1],[2,3]]}\n../../x|{\"\":\"{{y}}\",\"a'b\":[1]}|null", uint8(6))
	f.Add("a|not json|x\na||\na|[1]|[1]\n?a|{\"a\":{\"b\":[{\"c\":1}]}}|\"{\\\"q\\\":1}\"\n!a|{\"q\":1}|error\n---\na|{\"a\":null}|{}", uint8(5))
	f.Add("\n\n---\n---\na|{\"a\":1e999,\"a\":2}|{\"a\":\"\\ud800\",\"b\":1E400}\nb|{\"a\":\"\\ud800\",\"b\":12345678901234567890}|{}", uint8(9))
	set := recordings.Parse(f, "reads.json", []byte(`{"version": 1, "rules": [{"id": "reads", "kind": "effect", "match": {"tool": "*"}, "effect": "accessor", "values": "allow"}]}`))
	f.Fuzz(func(t *testing.T, text string, times uint8) {
		if len(text) > 4096 {
			return
		}
		begin := time.Now()
		var list []*trace.Trajectory
		for n := range int(times)%20 + 1 {
			for _, one := range fuzzed(strings.ReplaceAll(text, "#", fmt.Sprintf("%03d", n*7))) {
				one.ID, one.Task = fmt.Sprint(len(list)), fmt.Sprint(n)
				list = append(list, one)
			}
		}
		for _, algorithm := range []compile.Algorithm{compile.AWO, compile.Patterns} {
			for _, rules := range []bool{false, true} {
				some := set
				if !rules {
					some = nil
				}
				c := compiled(t, list, some, compile.Options{Algorithm: algorithm, Extract: candidate.Options{Threshold: 2}, Bind: bind.Options{Threshold: 2}})
				tools := writtenAndRead(t, c)
				for _, v := range replayed(tools, list, some) {
					if v.Exact > v.Occurrences || v.Saves > v.Exact || v.Known > v.Occurrences || v.Trajectories > len(list) {
						t.Fatalf("%+v", v)
					}
				}
				for _, tool := range tools {
					for _, one := range list[:1] {
						execute.Run(t.Context(), tool, trace.NewObject(), replay.NewRecordings(one, 0), execute.Options{})
					}
				}
			}
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Fatalf("%d bytes took %s", len(text), took)
		}
	})
}
