package mcp_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// said is a message of a session at so many milliseconds, as a relay records it.
func said(session string, ms int, direction, message string) string {
	return fmt.Sprintf(`{"time":%q,"session":%q,"direction":%q,"peer":"agent","message":{"jsonrpc":"2.0",%s}}`,
		time.UnixMilli(1_767_348_000_000+int64(ms)).UTC().Format(time.RFC3339Nano), session, direction, message)
}

func asks(session string, ms, id int, tool string) string {
	return said(session, ms, "client", fmt.Sprintf(`"id":%d,"method":"tools/call","params":{"name":%q}`, id, tool))
}

func answers(session string, ms, id int) string {
	return said(session, ms, "server", fmt.Sprintf(`"id":%d,"result":{"content":[{"type":"text","text":"%d"}]}`, id, id))
}

func TestTurnGap(t *testing.T) {
	for _, test := range []struct {
		name  string
		gap   time.Duration
		turns string // by call
		lines []string
	}{
		{"one after the other", 100 * time.Millisecond, "0 1", []string{asks("s", 0, 1, "a"), answers("s", 10, 1), asks("s", 110, 2, "b"), answers("s", 120, 2)}},
		{"soon after", 100 * time.Millisecond, "0 0", []string{asks("s", 0, 1, "a"), answers("s", 10, 1), asks("s", 109, 2, "b"), answers("s", 120, 2)}},
		{"soon after, another gap", 50 * time.Millisecond, "0 1", []string{asks("s", 0, 1, "a"), answers("s", 10, 1), asks("s", 109, 2, "b"), answers("s", 120, 2)}},
		{"at once, gap 0", 0, "0 1", []string{asks("s", 0, 1, "a"), answers("s", 10, 1), asks("s", 10, 2, "b")}},
		{"overlapping", 100 * time.Millisecond, "0 0 0", []string{asks("s", 0, 1, "a"), asks("s", 5000, 2, "b"), answers("s", 6000, 2), asks("s", 8000, 3, "c"), answers("s", 9000, 1), answers("s", 9000, 3)}},
		{"never answered", 100 * time.Millisecond, "0 1", []string{asks("s", 0, 1, "a"), asks("s", 5000, 2, "b"), answers("s", 6000, 2)}},
		{"an id twice", 100 * time.Millisecond, "0 0 1", []string{asks("s", 0, 1, "a"), asks("s", 10, 1, "b"), answers("s", 20, 1), answers("s", 30, 1), asks("s", 500, 1, "c"), answers("s", 510, 1)}},
		{"the clock goes back", 100 * time.Millisecond, "0 1 1", []string{asks("s", 9000, 1, "a"), answers("s", 9010, 1), asks("s", 10, 2, "b"), asks("s", 20, 3, "c"), answers("s", 30, 2), answers("s", 40, 3)}},
		{"it goes back in a call", 100 * time.Millisecond, "0 0 1", []string{asks("s", 9000, 1, "a"), asks("s", 10, 2, "b"), answers("s", 20, 2), answers("s", 30, 1), asks("s", 9500, 3, "c")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "log.jsonl")
			formattest.WriteFile(t, file, strings.Join(test.lines, "\n")+"\n")
			r, err := trace.Open([]string{file}, trace.Options{Formats: formats.WithTurnGap(test.gap)})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for x, err := range r.All() {
				if err != nil {
					t.Fatal(err)
				}
				var turns []string
				for i := range x.Calls {
					turns = append(turns, fmt.Sprint(x.Calls[i].Turn))
				}
				if got := strings.Join(turns, " "); got != test.turns || x.Anomalies.ByCode[trace.CodeTurnsAssumed] != len(x.Turns) {
					t.Errorf("turns %s, want %s; %v", got, test.turns, x.Anomalies.ByCode)
				}
				formattest.CheckConsistent(t, x)
			}
		})
	}
}

// TestInterleaved reads two sessions whose lines stand between each other in one file.
func TestInterleaved(t *testing.T) {
	all := formattest.ReadText(t, "log.jsonl",
		asks("one", 0, 1, "a"), asks("two", 1, 1, "x"), answers("two", 500, 1), asks("two", 900, 2, "y"), answers("one", 901, 1), asks("one", 1500, 2, "b"), answers("one", 1501, 9))
	if len(all) != 2 {
		t.Fatalf("%d sessions", len(all))
	}
	formattest.WantLines(t, "the calls of one", formattest.Brief(all[0]), []string{"a@0 ok 1", "b@1 unknown -"})
	formattest.WantLines(t, "the calls of two", formattest.Brief(all[1]), []string{"x@0 ok 1", "y@1 unknown -"})
	if n := all[0].Anomalies.ByCode[trace.CodeOrphanResult]; n != 1 {
		t.Errorf("%d results answer nothing, want 1", n)
	}
}

// TestManyOpenCalls reads calls that all wait at once, a tenth of them for more input; if
// one were searched for among the others, it would not end before tests time out.
func TestManyOpenCalls(t *testing.T) {
	const n = 100_000
	lines := make([]string, 0, 4*n)
	for i := range n {
		lines = append(lines, asks("s", i, i, "a"))
	}
	for i := range n / 10 {
		lines = append(lines, said("s", n+i, "server", fmt.Sprintf(`"id":%d,"result":{"resultType":"input_required","requestState":"x"}`, i)))
	}
	for i := range n / 10 {
		lines = append(lines, said("s", 2*n+i, "client", fmt.Sprintf(`"id":%d,"method":"tools/call","params":{"name":"a","requestState":"x"}`, n+i)))
	}
	for i := n / 10; i < n+n/10; i++ {
		lines = append(lines, answers("s", 3*n+i, i))
	}
	file := filepath.Join(t.TempDir(), "log.jsonl")
	formattest.WriteFile(t, file, strings.Join(lines, "\n")+"\n")
	all := formattest.ReadFiles(t, file)
	if len(all) != 1 || len(all[0].Calls) != n || len(all[0].Turns) != 1 {
		t.Fatalf("%d trajectories", len(all))
	}
	for i := range all[0].Calls {
		if c := &all[0].Calls[i]; !c.HasResult {
			t.Fatalf("call %d has no result", i)
		}
	}
}

// TestExpand reads a meta-tool's call as its steps, made one by one.
func TestExpand(t *testing.T) {
	x := formattest.ReadFiles(t, filepath.Join("testdata", "mcp", "relay.jsonl"))[0]
	if r := x.Relay; r == nil || r.Arm != trace.ArmTreated || r.Share != 0.5 || r.Seed != 7 || !slices.Equal(r.MetaTools, []string{"find_and_read"}) || !slices.Equal(r.Prefetch, []string{"p1"}) {
		t.Errorf("the relay says %+v", x.Relay)
	}
	if n := x.Expand(); n != 1 {
		t.Errorf("%d calls of meta-tools, want 1", n)
	}
	formattest.CheckConsistent(t, x)
	formattest.CheckRoundTrip(t, x)
	var calls []string
	for i := range x.Calls {
		c := &x.Calls[i]
		calls = append(calls, fmt.Sprintf("%s@%d %s %s %v", c.Tool.Value(), c.Turn, c.Origin, c.By, c.AfterUser))
	}
	formattest.WantLines(t, "the calls", calls, []string{
		"find@0 model  false", "files_read@0 prefetch p1 false", "notes_read@0 model  false", "find@0 model  false",
		"find@1 model find_and_read true", "files_read@2 model find_and_read false", "files_read@3 model  false", "find@4 model  false", "find@5 model  false",
	})
	if slices.ContainsFunc(x.Tools, func(d trace.ToolDef) bool { return d.Name.Value() == "find_and_read" }) {
		t.Error("the meta-tool is still offered")
	}
	if m := x.Messages[1]; m.Turn != 1 || m.Call != 4 {
		t.Errorf("the second message stands at %d/%d", m.Turn, m.Call)
	}
	if n := x.Expand(); n != 0 {
		t.Errorf("the second time %d", n)
	}
}

// TestExpandBesideOthers unfolds a meta-tool that was called in one turn with others.
func TestExpandBesideOthers(t *testing.T) {
	step := func(ms, id int, tool string) string {
		return strings.Replace(asks("s", ms, id, tool), `"peer":"agent"`, `"peer":"upstream:x","within":{"request":2,"as":"meta-tool","by":"m"}`, 1)
	}
	x := formattest.ReadText(t, "log.jsonl", asks("s", 0, 1, "a"), asks("s", 1, 2, "m"), asks("s", 2, 3, "b"), step(3, 1, "p"), step(4, 2, "q"),
		answers("s", 5, 1), answers("s", 6, 2), answers("s", 7, 3), asks("s", 900, 4, "c"))[0]
	x.Expand()
	formattest.CheckConsistent(t, x)
	formattest.WantLines(t, "the calls", formattest.Brief(x), []string{"a@0 ok 1", "p@1 unknown -", "q@2 unknown -", "b@3 ok 3", "c@4 unknown -"})
}

// TestRelayLine: what a relay lists by itself are definitions like those that the agent
// asked for, and a recording that says so is incomplete.
func TestRelayLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.jsonl")
	formattest.WriteFile(t, file, `{"time":"2026-01-02T10:00:00Z","session":"s","direction":"server","peer":"agent","answered_by":"awo","awo":{"version":"v1","incomplete":true },"message":{"jsonrpc":"2.0","result":{"tools":[{"name":"a","annotations":{"readOnlyHint":true}}]}}}
`+asks("s", 0, 1, "a")+"\n"+answers("s", 10, 1)+"\n")
	r, err := trace.Open([]string{file}, trace.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for x, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if len(x.Tools) != 1 || !strings.Contains(x.Tools[0].Annotations.Text(), "readOnlyHint") || len(x.Calls) != 1 || fmt.Sprint(x.Anomalies.ByCode) != "map[recording-incomplete:1 turns-assumed:1]" {
			t.Errorf("%d definitions, %d calls, anomalies %v", len(x.Tools), len(x.Calls), x.Anomalies.ByCode)
		}
	}
	if n != 1 {
		t.Errorf("%d trajectories", n)
	}
}
