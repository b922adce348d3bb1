package trace

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
)

// byWayOfATIF writes a trajectory, checks what is written, and reads it again.
func byWayOfATIF(t testing.TB, tr *Trajectory) (*Trajectory, []byte) {
	t.Helper()
	line, err := AppendATIF([]byte("before\n"), tr)
	if err != nil {
		t.Fatal(err)
	}
	line, ok := bytes.CutPrefix(line, []byte("before\n"))
	if !ok {
		t.Fatal("what stood before is gone")
	}
	if err := checkATIF(line); err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	return decodeOne(t, &formatATIF, string(line)), line
}

// checkRoundTrip checks that a trajectory survives ATIF, and that writing what
// was read gives the same bytes.
func checkRoundTrip(t testing.TB, tr *Trajectory) {
	t.Helper()
	again, line := byWayOfATIF(t, tr)
	if got, want := depict(again), depict(tr); got != want {
		t.Fatalf("got\n%s\nwant\n%s\nby way of\n%s", got, want, line)
	}
	for i := range tr.Calls {
		a, b := &tr.Calls[i], &again.Calls[i]
		if a.Args.Form == FormJSON && b.Args.Form != FormJSON || a.Turn != b.Turn || a.AfterUser != b.AfterUser {
			t.Fatalf("call %d: %+v, want %+v", i, b, a)
		}
	}
	second, line2 := byWayOfATIF(t, again)
	if !bytes.Equal(line, line2) {
		t.Fatalf("written again:\n%s\nwant\n%s", line2, line)
	}
	if depict(second) != depict(tr) {
		t.Fatal("the second time something is lost")
	}
}

// drawRaw draws a text in one of the forms that decoders give; absent too, but
// not empty unless allowed.
func drawRaw(t *rapid.T, label string, empty bool) Raw {
	texts := []string{"text", "line\n\"quoted\" é’😀", `{"looks":"like JSON"}`, "\x00", "‹v1›", "\u2028"}
	if empty {
		texts = append(texts, "")
	}
	text := rapid.SampledFrom(texts).Draw(t, label)
	switch rapid.SampledFrom([]Form{FormNone, FormJSON, FormString, FormText, FormParts}).Draw(t, label+" form") {
	case FormJSON:
		return JSONOf([]byte(rapid.SampledFrom([]string{`{"a": [1, 2.50]}`, `[1,"x"]`, `12`, `true`, `"\u00e9\n"`, "{\n}"}).Draw(t, label+" JSON")))
	case FormString:
		return quoted(text)
	case FormText:
		return TextOf(text)
	case FormParts:
		return Raw{Form: FormParts, Data: []byte(rapid.SampledFrom([]string{
			`[{"type":"text","text":"a"}, {"text":"b","type":"text"}]`,
			`[{"type":"image","source":{"media_type":"image/png","path":"x.png"}},{"type":"text","text":"a"}]`,
			`[{"type":"image_url","image_url":{"url":"data:"}}]`,
			`["plain", {"type":"text","text":"b","cache_control":{}}]`,
		}).Draw(t, label+" parts"))}
	}
	return Raw{}
}

func drawTime(t *rapid.T, label string) time.Time {
	return rapid.SampledFrom([]time.Time{{}, time.Unix(1764684246, 448688000).UTC(), time.Unix(1764684247, 0).UTC(), time.Unix(1764684247, 123456789).UTC()}).Draw(t, label)
}

func drawFloat(t *rapid.T, label string) *float64 {
	if rapid.Bool().Draw(t, label+" is there") {
		f := rapid.SampledFrom([]float64{0, 1, -0.5, 0.1, 1e-9, 1e22, 0.0097}).Draw(t, label)
		return &f
	}
	return nil
}

// drawTrajectory draws a trajectory as decoders build them.
func drawTrajectory(t *rapid.T) *Trajectory {
	text := func(label string) string {
		return rapid.SampledFrom([]string{"", "x", "airline/0", "é \"q\"\n", "unknown"}).Draw(t, label)
	}
	b := newBuilder(0)
	tr := b.t
	tr.ID = rapid.SampledFrom([]string{"id", "7/2", "f.jsonl:3"}).Draw(t, "id")
	tr.Session, tr.Continued, tr.Task, tr.Trial = text("session"), text("continued"), text("task"), text("trial")
	tr.Agent, tr.Model = text("agent"), text("model")
	tr.Parent = Parent{Trajectory: text("parent"), Call: text("parent call")}
	tr.Outcome = rapid.SampledFrom([]Outcome{OutcomeUnknown, OutcomeSuccess, OutcomeFailure}).Draw(t, "outcome")
	tr.Score = drawFloat(t, "score")
	tr.Start, tr.End = drawTime(t, "start"), drawTime(t, "end")
	for i := range rapid.IntRange(0, 2).Draw(t, "tools") {
		tr.Tools = append(tr.Tools, ToolDef{
			Name: Intern(fmt.Sprint("tool", i)), Description: drawRaw(t, "description", true).simple(), Input: drawRaw(t, "input", true).simple(),
			Output: drawRaw(t, "output", true).simple(), Annotations: drawRaw(t, "annotations", true).simple(),
		})
	}
	ids := []string{"", "1", "1", "2", "call_0", "call_1"}
	for range rapid.IntRange(0, 12).Draw(t, "events") {
		switch rapid.IntRange(0, 7).Draw(t, "event") {
		case 0:
			m := b.message(RoleUser, drawRaw(t, "user", false))
			m.Time = drawTime(t, "said")
		case 1:
			b.message(RoleSystem, drawRaw(t, "system", false))
		case 2:
			turn := b.turn()
			turn.Text, turn.Thought = drawRaw(t, "answer", false), drawRaw(t, "thought", false)
			turn.Start, turn.End = drawTime(t, "turn start"), drawTime(t, "turn end")
			if model := text("turn model"); model != tr.Model {
				turn.Model = model
			}
			if rapid.Bool().Draw(t, "usage") {
				n := func(label string) int64 { return rapid.Int64Range(0, 1<<40).Draw(t, label) }
				turn.Usage = Usage{Known: true, Input: n("in"), CachedInput: n("cached"), CacheWrite: n("written"), Output: n("out"), Reasoning: n("thought")}
			}
			turn.Usage.CostUSD = drawFloat(t, "cost")
		case 3, 4, 5:
			args := rapid.SampledFrom([]Raw{
				JSONOf([]byte(`{"b": 1, "a": {"c": [1.0]}}`)), quoted(`{"a":"x"}`), TextOf(`{"a":"x"}`), JSONOf([]byte(`[1]`)), quoted(`"x"`), quoted("no JSON \x01"),
				TextOf("free"), quoted(""),
				{},
				JSONOf([]byte(`{"_raw":"x"}`)), JSONOf([]byte(`{"a":1,"a":2}`)), JSONOf([]byte(`null`)), quoted(`"{\"a\":1}"`),
			}).Draw(t, "args")
			origin := rapid.SampledFrom([]Origin{OriginModel, OriginModel, OriginCode, OriginInertial, OriginMetaTool}).Draw(t, "origin")
			add := b.call
			if rapid.IntRange(0, 3).Draw(t, "outside") == 0 {
				add = b.callOutsideTurns
			}
			if n := len(tr.Turns); n > 0 && tr.Turns[n-1].FirstCall+tr.Turns[n-1].NumCalls != len(tr.Calls) {
				add = b.callOutsideTurns // the calls of a turn are adjacent
			}
			c := add(rapid.SampledFrom(ids).Draw(t, "call id"), Intern(rapid.SampledFrom([]string{"f", "get_é"}).Draw(t, "tool")), args, origin)
			c.Status = rapid.SampledFrom([]Status{StatusUnknown, StatusOK, StatusFailed}).Draw(t, "status")
			c.Error = drawRaw(t, "error", false)
			c.Start, c.End = drawTime(t, "call start"), drawTime(t, "call end")
			for range rapid.IntRange(0, 2).Draw(t, "context") {
				c.Context = append(c.Context, ContextValue{Name: text("context name"), Value: text("context value")})
			}
		default:
			b.namedResult(nil, drawRaw(t, "result", true))
		}
	}
	b.odd(CodeResultDetached, rapid.IntRange(0, 1).Draw(t, "oddity"))
	return b.finish()
}

// simple returns what tool definitions have: no content parts.
func (r Raw) simple() Raw {
	if r.Form == FormParts {
		r.Form = FormJSON
	}
	if r.Form == FormJSON && r.Data[0] == '"' {
		r.Form = FormString
	}
	return r
}

func TestATIFRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		checkRoundTrip(t, drawTrajectory(rt))
	})
}

// TestATIFOfFormats checks that what each format gives survives ATIF.
func TestATIFOfFormats(t *testing.T) {
	for _, record := range []struct {
		format *Format
		text   string
	}{
		{&formatOpenAIChat, `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"}],"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":1,\"a\":2}"}},{"id":"1","function":{"name":"g","arguments":"x"}}]},{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":"r"},{"type":"image_url","image_url":{}}]},{"role":"tool","tool_call_id":"1","content":null},{"role":"tool","tool_call_id":"9","content":"\ud800"},{"role":"user","content":[]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type": "object"}}}]}`},
		{&formatTauBench, `{"task_id":1,"trial":0,"reward":0.0,"traj":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}]}`},
		{&formatTau2, `{"id":"s","task_id":"0","trial":0,"reward_info":{"reward":1},"start_time":"2025-12-02T14:04:15.587","messages":[{"role":"user","content":"a","timestamp":"2025-12-02T14:04:15"},{"role":"assistant","content":null,"cost":0.1,"usage":{"prompt_tokens":1,"completion_tokens":2},"timestamp":"2025-12-02T14:04:16","tool_calls":[{"id":"c","name":"f","arguments":{}}]},{"role":"tool","id":"c","content":"r","error":true,"timestamp":"2025-12-02T14:04:17"}]}`},
	} {
		tr := decodeOne(t, record.format, record.text)
		if tr.ID == "" {
			tr.ID = "f:1" // as the Reader does
		}
		checkRoundTrip(t, tr)
	}
	if testing.Short() {
		return // long, and one trajectory at a time
	}
	for _, set := range recordedSets {
		t.Run(set.name, func(t *testing.T) {
			for _, tr := range decodeAll(t, set.format, sharedFile(t, set.path...), set.container) {
				checkRoundTrip(t, tr)
			}
		})
	}
}

func TestAppendATIF(t *testing.T) {
	b := newBuilder(0)
	b.t.ID, b.t.Model, b.t.Outcome, b.t.Task = "t1", "m", OutcomeSuccess, "7"
	score := 1.0
	b.t.Score = &score
	b.message(RoleUser, TextOf("Hi \"you\"")).Time = time.Date(2025, 12, 2, 14, 4, 6, 448688000, time.UTC)
	turn := b.turn()
	turn.Usage = Usage{Known: true, Input: 10, CachedInput: 4, Output: 3, Reasoning: 1}
	turn.Text = quoted("a")
	call := b.call("c", Intern("f"), quoted(`{"x": 1}`), OriginModel)
	call.Status = StatusOK
	b.call("c", Intern("g"), quoted(`oops`), OriginModel)
	b.result([]byte("c"), quoted("r"))
	b.result([]byte("x"), quoted("lost"))
	got, err := AppendATIF(nil, b.finish())
	want := `{"schema_version":"ATIF-v1.7","trajectory_id":"t1","agent":{"name":"unknown","version":"unknown","model_name":"m","extra":{"awo":{"unnamed":true}}},"steps":[` +
		`{"step_id":1,"timestamp":"2025-12-02T14:04:06.448688Z","source":"user","message":"Hi \"you\""},` +
		`{"step_id":2,"source":"agent","message":"a","tool_calls":[` +
		`{"tool_call_id":"c","function_name":"f","arguments":{"x":1},"extra":{"awo":{"status":"ok"}}},` +
		`{"tool_call_id":"call_0","function_name":"g","arguments":{"_raw":"oops"},"extra":{"awo":{"args":"raw","id":"c"}}}],` +
		`"observation":{"results":[{"source_call_id":"c","content":"r"}]},` +
		`"metrics":{"prompt_tokens":10,"completion_tokens":3,"cached_tokens":4,"extra":{"reasoning_tokens":1}}}],` +
		`"final_metrics":{"total_prompt_tokens":10,"total_completion_tokens":3,"total_cached_tokens":4,"total_steps":2},` +
		`"extra":{"awo":{"task":"7","outcome":"success","score":1.0,"oddities":{"args-not-json":1,"call-id-repeated":1,"result-orphan":1}}}}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
}

func TestATIFOfNothing(t *testing.T) {
	again, line := byWayOfATIF(t, &Trajectory{ID: "x"})
	if len(again.Messages)+len(again.Turns)+len(again.Calls) != 0 || again.Oddities.Total != 0 {
		t.Errorf("nothing became %s by way of %s", depict(again), line)
	}
}

// TestATIFLosses is about what cannot survive: it must not break the document.
func TestATIFLosses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	b := newBuilder(0)
	b.t.ID, b.t.Score = "a\xffb", &nan
	b.t.Start = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
	b.message(RoleUser, TextOf("\xff"))
	b.turn().Usage.CostUSD = &inf
	again, _ := byWayOfATIF(t, b.finish())
	if again.ID != "a\ufffdb" || again.Score != nil || !again.Start.IsZero() || again.Messages[0].Text.Text() != "\ufffd" || again.Turns[0].Usage.CostUSD != nil {
		t.Errorf("read again: %s", depict(again))
	}
}

func TestATIFInconsistent(t *testing.T) {
	calls := []Call{{Tool: Intern("f"), Turn: 0}, {Tool: Intern("f"), Turn: 0}}
	for _, tr := range []*Trajectory{
		{Calls: calls},
		{Calls: calls, Turns: []Turn{{NumCalls: 1}}},
		{Calls: calls, Turns: []Turn{{NumCalls: 3}}},
		{Calls: calls, Turns: []Turn{{FirstCall: 1, NumCalls: 1}}},
		{Calls: calls, Turns: []Turn{{NumCalls: 2}, {FirstCall: 1}}},
		{Calls: calls, Turns: []Turn{{NumCalls: 1}, {FirstCall: 1, NumCalls: 1}}},
		{Calls: calls, Turns: []Turn{{NumCalls: -1}}},
		{Turns: []Turn{{FirstCall: math.MaxInt, NumCalls: math.MaxInt}}},
	} {
		dst, err := AppendATIF([]byte("x"), tr)
		problem, ok := err.(*diag.Error)
		if !ok || problem.Code != CodeNotWritable || string(dst) != "x" {
			t.Errorf("%v: %q, %v", turnsOnly(tr), dst, err)
		}
	}
}

// TestATIFManyCalls writes and reads a turn with calls that have awkward ids.
func TestATIFManyCalls(t *testing.T) {
	b := newBuilder(0)
	b.t.ID = "many"
	b.turn()
	for i := range 3000 {
		id := ""
		if i%3 == 0 {
			id = fmt.Sprint("call_", 3000-i)
		}
		b.call(id, Intern("f"), JSONOf([]byte(`{}`)), OriginModel)
	}
	for i := range 1500 {
		b.namedResult(nil, TextOf(fmt.Sprint(i)))
	}
	checkRoundTrip(t, b.finish())
	if !strings.Contains(depict(b.t), `result "1499"`) {
		t.Error("results are missing")
	}
}
