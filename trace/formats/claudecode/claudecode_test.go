package claudecode_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/claudecode"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// line writes a line of a session; rest holds further members.
func line(kind, uuid, parent string, second int, rest string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"sessionId":"s","timestamp":"2026-01-02T10:00:%02dZ",%s}`, kind, uuid, parent, second, rest)
}

func piece(id string, output int, block string) string {
	return fmt.Sprintf(`"message":{"id":%q,"role":"assistant","model":"claude-x","content":[%s],"usage":{"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":7,"output_tokens":%d}}`, id, block, output)
}

func answer(id, text string, failed bool) string {
	return fmt.Sprintf(`"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q,"is_error":%v}]}`, id, text, failed)
}

func use(id, name string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{"n":1}}`, id, name)
}

func TestClaudeCode(t *testing.T) {
	session := []string{
		`{"type":"file-history-snapshot","messageId":"m0","snapshot":{}}`,
		line("user", "u1", "", 1, `"message":{"role":"user","content":"do it"}`),
		// One response on three lines, two parallel calls, whose results hang on
		// different lines.
		line("assistant", "a1", "u1", 2, piece("msg1", 5, `{"type":"thinking","thinking":"hm"}`)),
		line("assistant", "a2", "a1", 3, piece("msg1", 5, use("t1", "Read"))),
		line("progress", "p1", "a2", 3, `"data":{"type":"hook"}`),
		line("assistant", "a3", "p1", 4, piece("msg1", 90, use("t2", "Bash"))),
		line("user", "r1", "a2", 5, answer("t1", "text", false)),
		line("user", "r2", "a3", 6, answer("t2", "no such file", true)),
		// A branch that was taken back.
		line("assistant", "b1", "r2", 7, piece("msg2", 8, use("t9", "Write"))),
		line("user", "b2", "b1", 8, answer("t9", "written", false)),
		// What came instead.
		line("assistant", "a4", "r2", 9, piece("msg3", 8, use("t3", "Task"))),
		line("user", "r3", "a4", 14, `"toolUseResult":{"agentId":"abc"},`+answer("t3", "done", false)),
		// The sub-agent, and a line that stands twice.
		strings.Replace(line("user", "x1", "", 10, `"isSidechain":true,"message":{"role":"user","content":"sub"}`), `"sessionId"`, `"agentId":"abc","sessionId"`, 1),
		strings.Replace(line("assistant", "x2", "x1", 11, `"isSidechain":true,`+piece("msg4", 2, use("t4", "Grep"))), `"sessionId"`, `"agentId":"abc","sessionId"`, 1),
		line("user", "r3", "a4", 14, answer("t3", "done", false)),
		line("user", "m1", "r3", 15, `"isMeta":true,"message":{"role":"user","content":"a caveat"}`),
		line("assistant", "a5", "m1", 16, `"isApiErrorMessage":true,"message":{"id":"e","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API error"}]}`),
		line("user", "u2", "a5", 17, `"message":{"role":"user","content":[{"type":"text","text":"go on"}]}`),
		line("assistant", "a6", "u2", 18, piece("msg5", 4, `{"type":"text","text":"finished"}`)),
	}
	file := filepath.Join(t.TempDir(), "s.jsonl")
	formattest.WriteFile(t, file, strings.Join(session, "\n")+"\n")
	got := formattest.ReadFiles(t, file)
	if len(got) != 2 {
		t.Fatalf("%d trajectories, want the session and its sub-agent", len(got))
	}
	run, sub := got[0], got[1]
	tools := func(x *trace.Trajectory) (names []string) {
		for _, c := range x.Calls {
			names = append(names, fmt.Sprintf("%s@%d %s %s", c.Tool.Value(), c.Turn, c.Status, c.Result.Text()))
		}
		return names
	}
	if want := []string{"Read@0 ok text", "Bash@0 failed no such file", "Task@1 ok done"}; !slices.Equal(tools(run), want) {
		t.Errorf("calls are %q, want %q", tools(run), want)
	}
	if len(run.Turns) != 3 || run.Turns[0].NumCalls != 2 {
		t.Errorf("turns are %+v, want 3, the first with 2 calls", run.Turns)
	}
	if u := run.Turns[0].Usage; u.Input != 50 || u.CachedInput != 40 || u.CacheWrite != 7 || u.Output != 90 {
		t.Errorf("usage of the first turn is %+v, want the largest output once, and input with what was cached", u)
	}
	if run.Turns[0].Thought.Text() != "hm" || run.Turns[2].Text.Text() != "finished" {
		t.Errorf("thought %q and last text %q", run.Turns[0].Thought.Text(), run.Turns[2].Text.Text())
	}
	var said []string
	for _, m := range run.Messages {
		said = append(said, fmt.Sprint(m.Role, " ", m.Text.Text()))
	}
	if want := []string{"0 do it", "1 a caveat", "0 go on"}; !slices.Equal(said, want) {
		t.Errorf("messages are %q, want %q", said, want)
	}
	if run.Model != "claude-x" || run.ID != "s" || run.Source.Line != 2 {
		t.Errorf("model %q, id %q, source %v", run.Model, run.ID, run.Source)
	}
	want := diag.Counts{}
	want.AddN(build.CodeBranchAbandoned, 2)
	want.AddN(build.CodeLineCopied, 1)
	want.AddN(build.CodeMessageSynthetic, 1)
	if fmt.Sprint(run.Anomalies) != fmt.Sprint(want) {
		t.Errorf("anomalies are %v, want %v", run.Anomalies, want)
	}
	if (sub.Parent != trace.Parent{Trajectory: "s", Call: "t3"}) || sub.ID != "s/abc" || len(sub.Calls) != 1 {
		t.Errorf("the sub-agent %q has parent %+v and %d calls", sub.ID, sub.Parent, len(sub.Calls))
	}
}

func TestClaudeStreamJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.jsonl")
	formattest.WriteFile(t, file, strings.Join([]string{
		`{"type":"system","subtype":"init","session_id":"q","model":"claude-x"}`,
		`{"type":"assistant","session_id":"q","parent_tool_use_id":null,` + piece("m1", 3, use("toolu_1", "Task")) + `}`,
		`{"type":"assistant","session_id":"q","parent_tool_use_id":"toolu_1",` + piece("m2", 3, use("toolu_2", "Read")) + `}`,
		`{"type":"user","session_id":"q","parent_tool_use_id":"toolu_1",` + answer("toolu_2", "x", false) + `}`,
		`{"type":"user","session_id":"q","parent_tool_use_id":null,` + answer("toolu_1", "y", false) + `}`,
		`{"type":"result","subtype":"success","session_id":"q"}`,
	}, "\n"))
	got := formattest.ReadFiles(t, file)
	if len(got) != 2 || len(got[0].Calls) != 1 || len(got[1].Calls) != 1 {
		t.Fatalf("%d trajectories, want one with the call of each agent", len(got))
	}
	if (got[1].Parent != trace.Parent{Trajectory: "q", Call: "toolu_1"}) {
		t.Errorf("parent is %+v", got[1].Parent)
	}
	if !got[0].Calls[0].HasResult || !got[1].Calls[0].HasResult {
		t.Error("a result went to the other agent")
	}
}

// TestClaudeCodeRecorded compares with counts that were made by hand with
// another program: distinct message ids, their largest output, distinct calls.
func TestClaudeCodeRecorded(t *testing.T) {
	files, err := filepath.Glob(recordings.Recorded(t, "claude-code/*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][5]int{ // turns, output tokens, calls, user messages, failed calls
		"258c7280-ae70-4798-800f-63464d01a85d":                 {152, 38899, 186, 2, 7},
		"258c7280-ae70-4798-800f-63464d01a85d/a881341":         {3, 3, 2, 1, 0},
		"258c7280-ae70-4798-800f-63464d01a85d/acompact-fffbd0": {1, 6, 0, 1, 0},
		"55604662-cf2a-4331-851a-ec234028f8ca":                 {1, 13, 2, 1, 2},
		"491e126e-1e71-469c-ade2-fcc8af567c74":                 {12, 1586, 16, 2, 0},
		"d6e0bada-1959-4eec-a9d2-0bfade768d8f":                 {4, 212, 6, 2, 0},
	}
	for _, x := range formattest.ReadFiles(t, files...) {
		var got [5]int
		got[0], got[2] = len(x.Turns), len(x.Calls)
		for _, turn := range x.Turns {
			got[1] += int(turn.Usage.Output)
		}
		for _, m := range x.Messages {
			if m.Role == trace.RoleUser {
				got[3]++
			}
		}
		for _, c := range x.Calls {
			if c.Status == trace.StatusFailed {
				got[4]++
			}
			if !c.HasResult {
				t.Errorf("%s: a call without a result", x.ID)
			}
		}
		if got != want[x.ID] {
			t.Errorf("%s: turns, output, calls, user messages, failed are %v, want %v", x.ID, got, want[x.ID])
		}
		delete(want, x.ID)
		formattest.RoundTrip(t, x)
	}
	if len(want) > 0 {
		t.Errorf("not read: %v", want)
	}
}

func FuzzClaudeCode(f *testing.F) {
	formattest.FuzzFormat(f, &claudecode.Format,
		line("user", "u1", "", 1, `"message":{"role":"user","content":"do it"}`)+"\n"+line("assistant", "a1", "u1", 2, piece("m", 5, use("t1", "Read"))),
		line("assistant", "a1", "a1", 2, piece("m", 5, use("t1", "Read"))),
		line("user", "a", "b", 1, `"isSidechain":true,"message":{}`)+"\n"+line("user", "b", "a", 1, `"isSidechain":true,"message":{}`),
		line("user", "u1", "", 1, `"message":{"role":"user","content":"do it"}`)+"\n"+strings.Join(resumed("n", true, line("user", "u1", "", 1, `"message":{"role":"user","content":"do it"}`), line("assistant", "a1", "u1", 2, piece("m", 5, use("t1", "Read")))), "\n"),
	)
}

// BenchmarkClaudeCode reads sessions of 50 responses on 151 lines each, one of ten
// of which was resumed under another id.
func BenchmarkClaudeCode(b *testing.B) {
	var all []string
	for i := range 40 {
		session := func(kind, uuid, parent string, second int, rest string) string {
			return strings.Replace(line(kind, fmt.Sprintf("%d-%s", i, uuid), fmt.Sprintf("%d-%s", i, parent), second%60, rest), `"sessionId":"s"`, fmt.Sprintf(`"sessionId":"s%d"`, i), 1)
		}
		lines := []string{strings.Replace(session("user", "u", "", 0, fmt.Sprintf(`"message":{"role":"user","content":"do %d"}`, i)), fmt.Sprintf(`"parentUuid":"%d-"`, i), `"parentUuid":null`, 1)}
		last := "u"
		for n := range 50 {
			a, c, r := fmt.Sprint("a", n), fmt.Sprint("c", n), fmt.Sprint("r", n)
			lines = append(lines,
				session("assistant", a, last, n, piece(fmt.Sprint("m", n), 5, `{"type":"text","text":"`+strings.Repeat("what is next ", 20)+`"}`)),
				session("assistant", c, a, n, piece(fmt.Sprint("m", n), 9, use(fmt.Sprint("t", n), "Read"))),
				session("user", r, c, n, `"toolUseResult":{"file":"x"},`+answer(fmt.Sprint("t", n), strings.Repeat("a line of a file\n", 60), false)))
			last = r
		}
		all = append(all, lines...)
		if i%10 == 0 {
			for _, l := range lines {
				all = append(all, strings.Replace(l, `"sessionId":"s`, `"sessionId":"resumed`, 1))
			}
		}
	}
	file := filepath.Join(b.TempDir(), "all.jsonl")
	text := strings.Join(all, "\n")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if got := formattest.ReadFile(b, file, "claude-code", trace.Options{Workers: 1}); len(got) != 40 {
			b.Fatalf("%d trajectories, want 40", len(got))
		}
	}
}
