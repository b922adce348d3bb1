package atif_test

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// drawRaw draws a text in one of the forms that decoders give; absent too, but
// not empty unless allowed.
func drawRaw(t *rapid.T, label string, empty bool) trace.Raw {
	texts := []string{"text", "line\n\"quoted\" é’😀", `{"looks":"like JSON"}`, "\x00", "‹v1›", "\u2028"}
	if empty {
		texts = append(texts, "")
	}
	text := rapid.SampledFrom(texts).Draw(t, label)
	switch rapid.SampledFrom([]trace.Form{trace.FormNone, trace.FormJSON, trace.FormString, trace.FormText, trace.FormParts}).Draw(t, label+" form") {
	case trace.FormJSON:
		return trace.JSONOf([]byte(rapid.SampledFrom([]string{`{"a": [1, 2.50]}`, `[1,"x"]`, `12`, `true`, `"\u00e9\n"`, "{\n}"}).Draw(t, label+" JSON")))
	case trace.FormString:
		return formattest.TextToken(text)
	case trace.FormText:
		return trace.TextOf(text)
	case trace.FormParts:
		return trace.Raw{Form: trace.FormParts, Data: []byte(rapid.SampledFrom([]string{
			`[{"type":"text","text":"a"}, {"text":"b","type":"text"}]`,
			`[{"type":"image","source":{"media_type":"image/png","path":"x.png"}},{"type":"text","text":"a"}]`,
			`[{"type":"image_url","image_url":{"url":"data:"}}]`,
			`["plain", {"type":"text","text":"b","cache_control":{}}]`,
		}).Draw(t, label+" parts"))}
	}
	return trace.Raw{}
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
func drawTrajectory(t *rapid.T) *trace.Trajectory {
	text := func(label string) string {
		return rapid.SampledFrom([]string{"", "x", "airline/0", "é \"q\"\n", "unknown"}).Draw(t, label)
	}
	b := build.New(0)
	tr := b.Trajectory
	tr.ID = rapid.SampledFrom([]string{"id", "7/2", "f.jsonl:3"}).Draw(t, "id")
	tr.Session, tr.Continued, tr.Task, tr.Trial = text("session"), text("continued"), text("task"), text("trial")
	tr.Agent, tr.Model = text("agent"), text("model")
	tr.Parent = trace.Parent{Trajectory: text("parent"), Call: text("parent call")}
	tr.Outcome = rapid.SampledFrom([]trace.Outcome{trace.OutcomeUnknown, trace.OutcomeSuccess, trace.OutcomeFailure}).Draw(t, "outcome")
	tr.Score = drawFloat(t, "score")
	tr.Start, tr.End = drawTime(t, "start"), drawTime(t, "end")
	for i := range rapid.IntRange(0, 2).Draw(t, "tools") {
		tr.Tools = append(tr.Tools, trace.ToolDef{
			Name: trace.Intern(fmt.Sprint("tool", i)), Description: simple(drawRaw(t, "description", true)), Input: simple(drawRaw(t, "input", true)),
			Output: simple(drawRaw(t, "output", true)), Annotations: simple(drawRaw(t, "annotations", true)), Deferred: rapid.Bool().Draw(t, "deferred"),
		})
	}
	ids := []string{"", "1", "1", "2", "call_0", "call_1"}
	for range rapid.IntRange(0, 12).Draw(t, "events") {
		switch rapid.IntRange(0, 7).Draw(t, "event") {
		case 0:
			m := b.Message(trace.RoleUser, drawRaw(t, "user", false))
			m.Time = drawTime(t, "said")
		case 1:
			b.Message(trace.RoleSystem, drawRaw(t, "system", false))
		case 2:
			turn := b.Turn()
			turn.Text, turn.Thought = drawRaw(t, "answer", false), drawRaw(t, "thought", false)
			turn.Start, turn.End = drawTime(t, "turn start"), drawTime(t, "turn end")
			if model := text("turn model"); model != tr.Model {
				turn.Model = model
			}
			if rapid.Bool().Draw(t, "usage") {
				n := func(label string) int64 { return rapid.Int64Range(0, 1<<40).Draw(t, label) }
				turn.Usage = trace.Usage{Known: true, Input: n("in"), CachedInput: n("cached"), CacheWrite: n("written"), Output: n("out"), Reasoning: n("thought")}
			}
			turn.Usage.CostUSD = drawFloat(t, "cost")
		case 3, 4, 5:
			args := rapid.SampledFrom([]trace.Raw{
				trace.JSONOf([]byte(`{"b": 1, "a": {"c": [1.0]}}`)), formattest.TextToken(`{"a":"x"}`), trace.TextOf(`{"a":"x"}`), trace.JSONOf([]byte(`[1]`)), formattest.TextToken(`"x"`), formattest.TextToken("no JSON \x01"),
				trace.TextOf("free"), formattest.TextToken(""),
				{},
				trace.JSONOf([]byte(`{"_raw":"x"}`)), trace.JSONOf([]byte(`{"a":1,"a":2}`)), trace.JSONOf([]byte(`null`)), formattest.TextToken(`"{\"a\":1}"`),
			}).Draw(t, "args")
			origin := rapid.SampledFrom([]trace.Origin{trace.OriginModel, trace.OriginModel, trace.OriginCode, trace.OriginInertial, trace.OriginMetaTool, trace.OriginPrefetch}).Draw(t, "origin")
			add := b.Call
			if rapid.IntRange(0, 3).Draw(t, "outside") == 0 {
				add = b.CallOutsideTurns
			}
			if n := len(tr.Turns); n > 0 && tr.Turns[n-1].FirstCall+tr.Turns[n-1].NumCalls != len(tr.Calls) {
				add = b.CallOutsideTurns // the calls of a turn are adjacent
			}
			c := add(rapid.SampledFrom(ids).Draw(t, "call id"), trace.Intern(rapid.SampledFrom([]string{"f", "get_é"}).Draw(t, "tool")), args, origin)
			c.Status = rapid.SampledFrom([]trace.Status{trace.StatusUnknown, trace.StatusOK, trace.StatusFailed}).Draw(t, "status")
			c.By = rapid.SampledFrom([]string{"", "", "find_and_read"}).Draw(t, "by")
			c.AnsweredBy = rapid.SampledFrom([]trace.Origin{trace.OriginModel, trace.OriginMetaTool, trace.OriginPrefetch}).Draw(t, "answered by")
			c.Error = drawRaw(t, "error", false)
			c.Start, c.End = drawTime(t, "call start"), drawTime(t, "call end")
			for range rapid.IntRange(0, 2).Draw(t, "context") {
				c.Context = append(c.Context, trace.ContextValue{Name: text("context name"), Value: text("context value")})
			}
		default:
			b.NamedResult(nil, drawRaw(t, "result", true))
		}
	}
	b.Anomaly(build.CodeResultDetached, rapid.IntRange(0, 1).Draw(t, "anomaly"))
	return b.Finish()
}

// simple returns what tool definitions have: no content parts.
func simple(r trace.Raw) trace.Raw {
	if r.Form == trace.FormParts {
		r.Form = trace.FormJSON
	}
	if r.Form == trace.FormJSON && r.Data[0] == '"' {
		r.Form = trace.FormString
	}
	return r
}
