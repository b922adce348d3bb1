package gemini_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/gemini"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

const (
	geminiAsk     = `{"role":"user","parts":[{"text":"weather"},{"text":"please"}]}`
	geminiCalls   = `{"role":"model","parts":[{"text":"look","thought":true},{"text":"I will"},{"functionCall":{"name":"get","args":{"city":"A"}},"thoughtSignature":"x"},{"functionCall":{"name":"get","args":{"city":"B"}}},{"functionCall":{"id":"7","name":"now"}}]}`
	geminiAnswer1 = `{"role":"user","parts":[{"functionResponse":{"name":"get","response":{"output":"sun"}}},{"functionResponse":{"name":"get","response":{"error":"no such city"}}},{"functionResponse":{"id":"7","name":"now","response":{"result":5}}}]}`
	geminiTools   = `"systemInstruction":{"role":"user","parts":[{"text":"be brief"}]},"tools":[{"functionDeclarations":[{"name":"get","description":"d","parameters":{"type":"OBJECT"}},{"name":"now","parametersJsonSchema":{"type":"object"}}]}]`
)

func geminiReply(parts string) string {
	return `{"candidates":[{"content":{"role":"model","parts":` + parts + `},"finishReason":"STOP"},{"index":1}],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":10,"thoughtsTokenCount":5,"cachedContentTokenCount":40,"toolUsePromptTokenCount":3},"modelVersion":"gemini-x","createTime":"2026-01-02T10:00:00Z"}`
}

// TestGeminiPairs reads a log whose requests repeat the history.
func TestGeminiPairs(t *testing.T) {
	parts := `[{"text":"look","thought":true},{"text":"I "},{"text":"will"},{"functionCall":{"args":{"city":"A"},"name":"get"}},{"functionCall":{"name":"get","args":{"city":"B"}}},{"functionCall":{"id":"7","name":"now"}}]`
	got := formattest.ReadText(t, "log.jsonl",
		`{"request":{"contents":[`+geminiAsk+`],`+geminiTools+`},"response":`+geminiReply(parts)+`}`,
		`{"request":{"contents":[`+geminiAsk+`,`+geminiCalls+`,`+geminiAnswer1+`],`+geminiTools+`},"response":[`+geminiReply(`[{"text":"It is "}]`)+`,`+geminiReply(`[{"text":"sunny"}]`)+`]}`,
		`{"request":{"contents":[{"role":"user","parts":[{"text":"another"}]}]},"response":`+geminiReply(`[{"text":"yes"}]`)+`}`)
	if len(got) != 2 {
		t.Fatalf("%d trajectories, want 2", len(got))
	}
	x := got[0]
	formattest.WantLines(t, "calls", formattest.Brief(x), []string{"get@0 ok sun", "get@0 failed " + `{"error":"no such city"}`, "now@0 unknown 5"})
	formattest.WantLines(t, "messages", formattest.Sayings(x), []string{"system@0 be brief", "user@0 weather\nplease"})
	if len(x.Turns) != 2 || len(x.Tools) != 2 || x.Model != "gemini-x" || x.Tools[1].Input.IsZero() {
		t.Errorf("%d turns, %d tools, model %q", len(x.Turns), len(x.Tools), x.Model)
	}
	if u := x.Turns[0].Usage; u != (trace.Usage{Known: true, Input: 103, CachedInput: 40, Output: 15, Reasoning: 5}) {
		t.Errorf("usage is %+v", u)
	}
	if x.Turns[0].Text.Text() != "I will" || x.Turns[0].Thought.Text() != "look" || x.Turns[1].Text.Text() != "It is sunny" || formattest.Clock(x.Turns[1].End) != "2026-01-02T10:00:00Z" {
		t.Errorf("turns are %+v", x.Turns)
	}
	if x.Calls[1].Error.Text() != "no such city" || x.Anomalies.ByCode[build.CodeChoiceIgnored] != 3 || len(x.Anomalies.ByCode) != 1 {
		t.Errorf("error %q, anomalies %v", x.Calls[1].Error.Text(), x.Anomalies)
	}
}

func TestGeminiLayouts(t *testing.T) {
	list := geminiAsk + "," + geminiCalls + "," + geminiAnswer1 + `,{"role":"model","parts":[{"text":"sunny"}]}`
	snake := strings.NewReplacer("functionCall", "function_call", "functionResponse", "function_response", "systemInstruction", "system_instruction", "functionDeclarations", "function_declarations")
	for name, text := range map[string]string{
		"request":        `{"model":"models/m","contents":[` + list + `],` + geminiTools + `}`,
		"snake case":     snake.Replace(`{"contents":[` + list + `],` + geminiTools + `}`),
		"bare list":      `[` + list + `]`,
		"line of a list": `[` + list + `]` + "\n" + `[` + `{"role":"user","parts":[{"text":"other"}]}` + `]`,
		"indented list":  "[\n" + strings.ReplaceAll(list, `},{"role"`, "},\n{\"role\"") + "\n]",
		"lines":          strings.ReplaceAll(list, `},{"role"`, "}\n{\"role\""),
		"checkpoint":     `{"history":[` + list + `],"authType":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			x := formattest.ReadText(t, "c.json", text)[0]
			formattest.WantLines(t, "calls", formattest.Brief(x), []string{"get@0 ok sun", "get@0 failed " + `{"error":"no such city"}`, "now@0 unknown 5"})
			if x.Format != "gemini" || len(x.Turns) != 2 || len(x.Anomalies.ByCode) != 0 {
				t.Errorf("format %s, %d turns, anomalies %v", x.Format, len(x.Turns), x.Anomalies)
			}
		})
	}
}

// TestGeminiCode reads code that the interface ran, and arguments in pieces.
func TestGeminiCode(t *testing.T) {
	x := formattest.ReadText(t, "c.json", `{"contents":[`+geminiAsk+`]}`, geminiReply(`[{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_FAILED","output":"bad"}},{"functionCall":{"name":"f","partialArgs":[{"jsonPath":"$.a"}],"willContinue":true}},{"functionCall":{"willContinue":false}}]`))
	var all []string
	for _, one := range x {
		all = append(all, formattest.Brief(one)...)
	}
	formattest.WantLines(t, "calls", all, []string{"code_execution@0 failed bad", "f@0 unknown -"})
}

func TestGeminiRecorded(t *testing.T) {
	folder := recordings.Recorded(t, "formats/gemini-contents") + "/"
	got := formattest.ReadFiles(t, folder+"adk_multi_tool_call.jsonl")
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x := got[0]
	formattest.RoundTrip(t, x)
	output := int64(0)
	for _, turn := range x.Turns {
		output += turn.Usage.Output
	}
	if len(x.Turns) != 3 || len(x.Calls) != 2 || len(x.Messages) != 2 || len(x.Tools) != 1 || x.Turns[0].Usage.Output != 92 || x.Turns[0].Usage.Reasoning != 76 || x.Calls[1].Turn != 1 || !x.Calls[1].HasResult {
		t.Errorf("got\n%s", formattest.Depict(x))
	}
	// Nine answers without their requests: eight calls, and a text.
	got = formattest.ReadFiles(t, folder+"gemini_cli_multistep.responses.jsonl")
	if len(got) != 1 {
		t.Fatalf("%d trajectories, want 1", len(got))
	}
	x = got[0]
	formattest.RoundTrip(t, x)
	input := int64(0)
	for _, turn := range x.Turns {
		input += turn.Usage.Input
	}
	if len(x.Turns) != 9 || len(x.Calls) != 8 || len(x.Messages) != 0 || input != 1850 || x.Calls[7].Turn != 7 {
		t.Errorf("%d turns, %d calls, %d messages, %d tokens", len(x.Turns), len(x.Calls), len(x.Messages), input)
	}
}

func geminiCLIMessages(separator string) string {
	return strings.Join([]string{
		`{"id":"1","timestamp":"2026-01-02T10:00:01Z","type":"user","content":[{"text":"do it"}]}`,
		`{"id":"2","timestamp":"2026-01-02T10:00:02Z","type":"gemini","content":"looking","model":"gemini-x","thoughts":[{"subject":"plan","description":"look"}],"tokens":{"input":100,"output":10,"cached":40,"thoughts":5,"tool":3,"total":118},"toolCalls":[` +
			`{"id":"a","name":"read_file","args":{"p":1},"result":[{"functionResponse":{"id":"a","name":"read_file","response":{"output":"text"}}}],"status":"success","timestamp":"2026-01-02T10:00:03Z"},` +
			`{"id":"b","name":"shell","args":{},"result":[{"functionResponse":{"id":"b","name":"shell","response":{"error":"denied"}}}],"status":"error"},` +
			`{"id":"c","name":"shell","args":{},"result":null,"status":"cancelled","resultDisplay":"stopped"},` +
			`{"id":"d","name":"shell","args":{},"status":"executing"}]}`,
		`{"id":"3","timestamp":"2026-01-02T10:00:05Z","type":"info","content":"a notice"}`,
		`{"id":"4","timestamp":"2026-01-02T10:00:06Z","type":"gemini","content":"done","model":"gemini-x"}`,
	}, separator)
}

func TestGeminiCLI(t *testing.T) {
	lines := `{"sessionId":"s","projectHash":"h","startTime":"2026-01-02T10:00:00Z","lastUpdated":"2026-01-02T10:00:00Z","kind":"main"}
{"id":"2","type":"gemini","content":""}
{"$rewindTo":"2"}
{"id":"1","type":"user","content":"first"}
{"id":"2","type":"gemini","content":"looking"}
` + geminiCLIMessages("\n") + `
{"id":"9","type":"user","content":"wrong way"}
{"id":"10","type":"gemini","content":"no"}
{"$rewindTo":"9"}
{"$set":{"lastUpdated":"2026-01-02T10:00:09Z","messages":[{"id":"1","type":"user","content":"do it"}]}}`
	for name, text := range map[string]string{
		"document": `{"sessionId":"s","projectHash":"h","startTime":"2026-01-02T10:00:00Z","lastUpdated":"2026-01-02T10:00:09Z","messages":[` + geminiCLIMessages(",") + `]}`,
		"lines":    lines,
	} {
		t.Run(name, func(t *testing.T) {
			got := formattest.ReadText(t, "session.json", text)
			if len(got) != 1 {
				t.Fatalf("%d trajectories, want 1", len(got))
			}
			x := got[0]
			formattest.WantLines(t, "calls", formattest.Brief(x), []string{"read_file@0 ok text", "shell@0 failed " + `{"error":"denied"}`, "shell@0 failed stopped", "shell@0 unknown -"})
			formattest.WantLines(t, "messages", formattest.Sayings(x), []string{"user@0 do it"})
			if len(x.Turns) != 2 || x.Turns[0].Usage != (trace.Usage{Known: true, Input: 103, CachedInput: 40, Output: 15, Reasoning: 5}) || x.Turns[0].Thought.Text() != "plan\nlook" || x.ID != "s" || x.Model != "gemini-x" || formattest.Clock(x.End) != "2026-01-02T10:00:09Z" {
				t.Errorf("got\n%s", formattest.Depict(x))
			}
			want := "map[call-cancelled:1 message-notice:1]"
			if name == "lines" {
				want = "map[branch-abandoned:3 call-cancelled:1 message-notice:1]"
			}
			if anomalies := fmt.Sprint(x.Anomalies.ByCode); anomalies != want {
				t.Errorf("anomalies are %s, want %s", anomalies, want)
			}
		})
	}
}

// TestGeminiCLISubagent: the folder of the file is named after the parent.
func TestGeminiCLISubagent(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "chats", "main-session")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "x.jsonl")
	formattest.WriteFile(t, file, `{"sessionId":"sub","projectHash":"h","kind":"subagent"}`+"\n"+geminiCLIMessages("\n"))
	got := formattest.ReadFiles(t, file)
	if len(got) != 1 || got[0].Parent.Trajectory != "main-session" || got[0].Anomalies.ByCode[build.CodeParentCallUnknown] != 1 {
		t.Errorf("got %s", formattest.Depict(got[0]))
	}
}

func FuzzGemini(f *testing.F) {
	formattest.FuzzLines(f, &gemini.Format,
		`{"request":{"contents":[`+geminiAsk+`],`+geminiTools+`},"response":`+geminiReply(`[{"text":"x"}]`)+`}`,
		`[`+geminiAsk+`,`+geminiCalls+`,`+geminiAnswer1+`]`, `{"contents":[{"role":"user","parts":[{"":{}},{"":{}}]}]}`,
		geminiReply(`[{"executableCode":{}},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}]`)+"\n"+geminiReply(`[{"functionCall":{"name":"f"}}]`))
}

func FuzzGeminiCLI(f *testing.F) {
	formattest.FuzzLines(f, formattest.Format("gemini-cli"), `{"sessionId":"s","projectHash":"h"}`+"\n"+geminiCLIMessages("\n")+"\n"+`{"$rewindTo":"2"}`,
		`{"sessionId":"s","kind":"subagent","messages":[`+geminiCLIMessages(",")+`,{"type":"user"},{}]}`, `{"$set":{"messages":[1]}}`)
}
