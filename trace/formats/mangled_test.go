package formats_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
	"github.com/awo-dev/awo/trace/formats/openai"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

func openAIChatSeeds() []string {
	return []string{
		`{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1,\"a\":2}"}},{"id":"1","type":"custom","custom":{"name":"g","input":"x"}}]},{"role":"tool","tool_call_id":"1","content":"r"},{"role":"tool","tool_call_id":"9","content":null}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}]}`,
		`[{"role":"user","content":"a"},{"role":"assistant","content":"b","function_call":{"name":"f","arguments":"no"}},{"role":"function","name":"f","content":"c"}]`,
		`{"request":{"model":"m","messages":[{"role":"user","content":"a"}]},"response":{"id":"i","created":1719875141,"choices":[{"message":{"role":"assistant","content":"b"}},{}],"usage":{"prompt_tokens":1,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}}}`,
		`{"response":"{\"choices\":[{\"message\":{\"refusal\":\"\\ud800\"}}]}","request":"{\"messages\":[7,{\"role\":\"x\"}]}"}`,
		`{"messages":[],"messages":[{"role":"user","role":"tool","content":"`, `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"\q"}}]}]}`,
		`{"messages":[{"role":"user","content":"\ud83d\ude00 é"}],"functions":[{"name":"f","parameters":{}}],"body":{"messages":[]}}`,
	}
}

func FuzzDecodeOpenAIChat(f *testing.F) { formattest.FuzzDecoder(f, &openai.Chat, openAIChatSeeds()) }

func tauBenchSeeds() []string {
	return []string{
		`{"task_id":0,"reward":1.0,"info":{"task":{}},"traj":[{"role":"user","content":"a"},{"content":null,"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"f"},"id":"c","type":"function"}]},{"role":"tool","tool_call_id":"c","name":"f","content":"Error: x"}],"trial":3}`,
		`{"task_id":"x","reward":1e400,"traj":[],"traj":null}`, `{"traj":{}}`, `[]`, `{"task_id":-0,"reward":`,
	}
}

func FuzzDecodeTauBench(f *testing.F) {
	formattest.FuzzDecoder(f, formattest.Format("tau-bench"), tauBenchSeeds())
}

func tau2Seeds() []string {
	return []string{
		`{"id":"s","task_id":"0","trial":1,"start_time":"2025-12-02T14:04:02.726730","end_time":"x","reward_info":{"reward":0.5},"messages":[{"role":"assistant","content":"Hi"},{"role":"user","content":"a","timestamp":"2025-12-02T14:04:04"},{"role":"assistant","content":null,"cost":0.5,"usage":{"completion_tokens":1,"prompt_tokens":2},"raw_data":{"message":{"reasoning_content":"h"}},"tool_calls":[{"id":"1","name":"f","arguments":{"a":1.0},"requestor":"assistant"},{"id":"2","name":"g","arguments":"x","requestor":"user"}]},{"role":"tool","tool_messages":[{"role":"tool","id":"1","content":"r","error":true,"requestor":"assistant"}]},{"role":"user","content":null,"tool_calls":[{"id":"u","name":"h","arguments":{}}]},{"role":"tool","id":"u","requestor":"user"}]}`,
		`{"messages":[{"role":"tool","tool_messages":[]},{"role":"tool"},{"role":"assistant","tool_calls":[{"name":"f"}]},{"role":"tool","content":[{"text":"x"}]}]}`,
		`{"messages":[1,{"role":"user"`, `{"id":5,"messages":null}`, `{"messages":[{"tool_messages":[{"tool_messages":[{"role":"tool"}]}]}]}`,
	}
}

func FuzzDecodeTau2(f *testing.F) { formattest.FuzzDecoder(f, formattest.Format("tau2"), tau2Seeds()) }

func atifSeeds() []string {
	return []string{
		formattest.ATIFDocument(`"trajectory_id":"t","steps":[{"step_id":1,"timestamp":"2025-10-11T10:30:00Z","source":"user","message":"u"},{"step_id":2,"source":"agent","model_name":"m","message":[{"type":"text","text":"a"}],"reasoning_content":"r","tool_calls":[{"tool_call_id":"1","function_name":"f","arguments":{"a":1}},{"tool_call_id":"1","function_name":"g","arguments":{"_raw":"x"},"extra":{"awo":{"args":"raw","id":"","origin":"inertial","status":"failed","error":"[1]","error_form":"parts","start":"2025-10-11T10:30:00Z","context":[{"name":"url","value":"x"}]}}}],"observation":{"results":[{"source_call_id":"1","content":"{}","extra":{"awo":{"content":"json"}}},{"content":"x"}]},"metrics":{"prompt_tokens":1,"completion_tokens":2,"cost_usd":0.5,"extra":{"reasoning_tokens":1}}}],"extra":{"awo":{"task":"7","outcome":"success","score":1.0,"anomalies":{"result-orphan":1},"parent":{"trajectory":"p","call":"c"}}}`),
		formattest.ATIFDocument(`"steps":[{"source":"agent","message":"","llm_call_count":0,"tool_calls":[{"tool_call_id":"1","function_name":"f","arguments":{}}]},{"source":"user","message":"x","extra":{"awo":{"turn":1,"call":0,"message":"json"}}},{"source":"agent","message":"","extra":{"awo":{"turn":"unknown","timestamp":"end"}},"tool_calls":[{"tool_call_id":"2","function_name":"f","arguments":[]}]},{"source":"system","message":"","extra":{"awo":{"placeholder":true}}}]`),
		formattest.ATIFDocument(`"steps":[{"source":"agent","message":"","observation":{"results":[{"source_call_id":"1","subagent_trajectory_ref":[{"trajectory_id":"b"}]}]},"is_copied_context":true}],"subagent_trajectories":[{"schema_version":"ATIF-v1.7","trajectory_id":"b","agent":{},"steps":[]}]`),
		`{"schema_version":"ATIF-v1.0","steps":[`, `{"schema_version":"ATIF-","steps":5,"steps":[{}],"agent":{"extra":{"awo":{"unnamed":true}}}}`,
	}
}

func FuzzDecodeATIF(f *testing.F) { formattest.FuzzDecoder(f, &atif.Format, atifSeeds()) }

// TestDecodersOnMangled decodes documents that are JSON, but whose members are
// lost, doubled, exchanged or of other types.
func TestDecodersOnMangled(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and one decoder at a time")
	}
	r := rand.New(rand.NewPCG(11, 12))
	for _, test := range []struct {
		format *trace.Format
		seeds  []string
	}{
		{&openai.Chat, openAIChatSeeds()},
		{formattest.Format("tau-bench"), tauBenchSeeds()},
		{formattest.Format("tau2"), tau2Seeds()},
		{&atif.Format, atifSeeds()},
	} {
		t.Run(test.format.Name, func(t *testing.T) {
			var documents []trace.Value
			for _, seed := range test.seeds {
				if v, err := trace.ParseValue([]byte(seed)); err == nil {
					documents = append(documents, v)
				}
			}
			decoded := 0
			for range 4000 {
				v := documents[r.IntN(len(documents))]
				for range 1 + r.IntN(4) {
					v = mangle(r, v, documents)
				}
				text := v.AppendCanonical(nil)
				formattest.CheckDecoder(t, test.format, text)
				if _, err := test.format.Decode(trace.Record{Data: text}); err == nil {
					decoded++
				}
			}
			if decoded < 500 {
				t.Errorf("only %d of the documents were read", decoded)
			}
		})
	}
}

// mangle returns a value with one change somewhere in it. The members of its
// objects need not be in order any more.
func mangle(r *rand.Rand, v trace.Value, others []trace.Value) trace.Value {
	children := len(v.Elems) + len(v.Members)
	if children > 0 && r.IntN(8) > 0 {
		i := r.IntN(children)
		if i < len(v.Elems) {
			v.Elems = slices.Clone(v.Elems)
			v.Elems[i] = mangle(r, v.Elems[i], others)
		} else {
			i -= len(v.Elems)
			v.Members = slices.Clone(v.Members)
			v.Members[i].Value = mangle(r, v.Members[i].Value, others)
		}
		return v
	}
	strange := []trace.Value{
		{},
		{Kind: trace.Bool},
		{Kind: trace.Bool, Bool: true},
		{Kind: trace.Number, Text: "0"},
		{Kind: trace.Number, Text: "-1"},
		{Kind: trace.Number, Text: "1e400"},
		{Kind: trace.Number, Text: "99999999999999999999"},
		{Kind: trace.String},
		{Kind: trace.String, Text: "1"},
		{Kind: trace.String, Text: "user"},
		{Kind: trace.String, Text: "{\"a\":1}"},
		{Kind: trace.String, Text: "assistant"},
		{Kind: trace.Array},
		{Kind: trace.Object},
		{Kind: trace.String, Text: "unknown"},
		{Kind: trace.Array, Elems: []trace.Value{{Kind: trace.String, Text: "x"}}},
		{Kind: trace.Number, Text: "1.5"},
		{Kind: trace.String, Text: "json"},
	}
	switch n := r.IntN(6); {
	case n == 0 && len(v.Elems) > 0:
		i := r.IntN(len(v.Elems))
		v.Elems = slices.Delete(slices.Clone(v.Elems), i, i+1)
	case n == 1 && len(v.Elems) > 0:
		v.Elems = append(slices.Clone(v.Elems), v.Elems[r.IntN(len(v.Elems))])
	case n == 2 && len(v.Members) > 0:
		i := r.IntN(len(v.Members))
		v.Members = slices.Delete(slices.Clone(v.Members), i, i+1)
	case n == 3 && len(v.Members) > 0:
		m := v.Members[r.IntN(len(v.Members))]
		m.Value = mangle(r, m.Value, others)
		v.Members = append(slices.Clone(v.Members), m) // twice
	case n == 4:
		other := others[r.IntN(len(others))]
		for len(other.Elems)+len(other.Members) > 0 && r.IntN(4) > 0 {
			if len(other.Elems) > 0 {
				other = other.Elems[r.IntN(len(other.Elems))]
			} else {
				other = other.Members[r.IntN(len(other.Members))].Value
			}
		}
		return other
	default:
		return strange[r.IntN(len(strange))]
	}
	return v
}

// TestDecodersWithinBounds decodes records that are made to be slow or deep.
func TestDecodersWithinBounds(t *testing.T) {
	many := func(n int, separator string, item func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = item(i)
		}
		return strings.Join(items, separator)
	}
	const n = 20000
	deep := strings.Repeat(`{"schema_version":"ATIF-v1.7","trajectory_id":"x","steps":[],"subagent_trajectories":[`, 400) + strings.Repeat("]}", 400)
	for _, test := range []struct {
		name   string
		format *trace.Format
		text   string
	}{
		{"a step with many calls and results", &atif.Format, formattest.ATIFDocument(`"steps":[{"source":"agent","message":"","tool_calls":[` +
			many(n, ",", func(int) string { return `{"tool_call_id":"1","function_name":"f","arguments":{}}` }) + `],"observation":{"results":[` +
			many(n, ",", func(i int) string { return []string{`{"source_call_id":"1"}`, `{"source_call_id":"2"}`, `{}`}[i%3] }) + `]}}]`)},
		{"many references to many sub-agents", &atif.Format, formattest.ATIFDocument(`"trajectory_id":"t","steps":[{"source":"agent","message":"","tool_calls":[{"tool_call_id":"1","function_name":"f","arguments":{}}],"observation":{"results":[{"source_call_id":"1","subagent_trajectory_ref":[` +
			many(n, ",", func(i int) string { return `{"trajectory_id":"` + strings.Repeat("x", i%50) + `"}` }) + `]}]}}],"subagent_trajectories":[` +
			many(n, ",", func(int) string { return `{"schema_version":"ATIF-v1.7","trajectory_id":"y","steps":[]}` }) + `]`)},
		{"sub-agents of sub-agents", &atif.Format, deep},
		{"many members of arguments", &openai.Chat, `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{` +
			many(n, ",", func(i int) string { return `"` + strings.Repeat("k", i%700) + `":1` }) + `}}}]}]}`},
		{"deep arguments", &openai.Chat, `{"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":` +
			strings.Repeat(`{"b":1,"a":`, 900) + "1" + strings.Repeat("}", 900) + `}}]}]}`},
		{"many tools of many names", formattest.Format("tau-bench"), `{"traj":[{"role":"assistant","tool_calls":[` +
			many(n, ",", func(i int) string {
				return `{"function":{"name":"` + strings.Repeat("n", i%300) + `x","arguments":"{}"}}`
			}) + `]}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			fragments, err := test.format.Decode(trace.Record{Data: []byte(test.text), File: "f", Line: 1, Col: 1})
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			// Nothing takes more than its place in the model, and the growth of slices.
			if times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(test.text)); times > 40 {
				t.Errorf("%d bytes took %.0f times their size", len(test.text), times)
			} else {
				t.Logf("%d bytes took %.1f times their size", len(test.text), times)
			}
			for _, fragment := range fragments {
				if _, err := atif.Append(nil, fragment.Trajectory); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
