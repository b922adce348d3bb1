package execute_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// in turn answers calls with results in their order, and fails where there is none.
func inTurn(t testing.TB, results ...string) execute.Caller {
	n := 0
	return execute.CallerFunc(func(context.Context, string, trace.Value) (execute.Result, error) {
		if n++; n > len(results) {
			return execute.Result{}, errors.New("no route")
		}
		if text, failed := strings.CutPrefix(results[n-1], "failed "); failed {
			return execute.Result{Value: trace.NewString(text), Status: trace.StatusFailed}, nil
		}
		return execute.Result{Value: value(t, results[n-1])}, nil
	})
}

// chain calls tools without arguments.
func chain(tools ...string) *metatool.Tool {
	out := &metatool.Tool{Name: "chain"}
	for _, name := range tools {
		out.Steps = append(out.Steps, metatool.Step{Tool: name, ReadOnly: true})
	}
	return out
}

func answered(t testing.TB, tool *metatool.Tool, inputs string, o execute.AnswerOptions, results ...string) string {
	t.Helper()
	out := execute.Run(t.Context(), tool, value(t, inputs), inTurn(t, results...), execute.Options{Retries: -1, SkipFailedReads: true})
	return string(out.AppendAnswer(nil, tool, o))
}

// TestAnswer holds what is told of a run, byte for byte.
func TestAnswer(t *testing.T) {
	const mail = `{"body":"The meeting is moved to Thursday.","id":7}`
	plumbing := func(steps ...int) *metatool.Tool {
		tool := login(t)
		tool.Output.Steps = steps
		return tool
	}
	write := plumbing(1)
	write.Steps[0].ReadOnly = false
	for _, test := range []struct {
		name    string
		tool    *metatool.Tool
		inputs  string
		options execute.AnswerOptions
		results []string
		want    string
	}{
		{"in order of calls", chain("b", "a"), `{}`, execute.AnswerOptions{}, []string{`7.0`, `"x"`}, `{"results":[{"b":7},{"a":"x"}]}`},
		{"the same tool again", chain("a", "a"), `{}`, execute.AnswerOptions{}, []string{`1`, `1`}, `{"results":[{"a":1},{"a":1}]}`},
		{"JSON in a text", chain("a"), `{}`, execute.AnswerOptions{}, []string{`" {\"b\": 1.50, \"a\": [] }\n"`}, `{"results":[{"a":{"a":[],"b":1.5}}]}`},
		{"a text", chain("a"), `{}`, execute.AnswerOptions{}, []string{`"{no \"JSON\" \u00e9\n"`}, `{"results":[{"a":"{no \"JSON\" é\n"}]}`},
		{"contained whole", chain("read", "list"), `{}`, execute.AnswerOptions{}, []string{mail, `[` + mail + `]`}, `{"omitted":[{"in":2,"step":1}],"results":[{"list":[` + mail + `]}]}`},
		{"contained in a text", chain("read", "list"), `{}`, execute.AnswerOptions{}, []string{`"` + strings.Repeat("line ", 10) + `"`, `"first\n` + strings.Repeat("line ", 10) + `\nlast"`}, `{"omitted":[{"in":2,"step":1}],"results":[{"list":"first\n` + strings.Repeat("line ", 10) + `\nlast"}]}`},
		{"equal", chain("read", "read", "read"), `{}`, execute.AnswerOptions{}, []string{mail, mail, `[` + mail + `]`}, `{"omitted":[{"in":3,"step":1},{"in":3,"step":2}],"results":[{"read":[` + mail + `]}]}`},
		{"short and contained", chain("a", "b"), `{}`, execute.AnswerOptions{}, []string{`"ok"`, `["ok"]`}, `{"results":[{"a":"ok"},{"b":["ok"]}]}`},
		{"only its words are contained", chain("a", "b"), `{}`, execute.AnswerOptions{}, []string{mail, `{"text":` + strings.Replace(fmt.Sprintf("%q", mail), `\"}`, ` \"}`, 1) + `}`}, `{"results":[{"a":` + mail + `},{"b":{"text":` + fmt.Sprintf("%q", mail) + `}}]}`},
		{"a walk", orders(t), `{"user":"u"}`, execute.AnswerOptions{}, []string{`{"orders":[{"id":"a"},{"id":"b"}]}`, `1`, `"x"`}, `{"results":[{"get_user":{"orders":[{"id":"a"},{"id":"b"}]}},{"get_order":[{"for":"a","result":1},{"for":"b","result":"x"}]}]}`},
		{"a walk of nothing", orders(t), `{"user":"u"}`, execute.AnswerOptions{}, []string{`{"orders":[]}`}, `{"results":[{"get_user":{"orders":[]}},{"get_order":[]}]}`},
		{"a walk of what is there", batch(t), `{"orders":["a","b"]}`, execute.AnswerOptions{}, []string{mail, mail}, `{"omitted":[{"call":2,"in":1,"step":1}],"results":[{"get_order":[{"for":"a","result":` + mail + `},{"for":"b"}]}]}`},
		{"a skipped read", batch(t), `{"orders":["a","b"]}`, execute.AnswerOptions{}, []string{`failed busy`, `2`}, `{"results":[{"get_order":[{"for":"a","result":null},{"for":"b","result":2}]}],"state":"partial"}`},
		{"plumbing", plumbing(1), `{"username":"ann"}`, execute.AnswerOptions{}, []string{passwords, `"t-1"`}, `{"results":[{"mail_login":"t-1"}]}`},
		{"plumbing handed back", plumbing(1), `{"username":"ann"}`, execute.AnswerOptions{}, []string{passwords, `failed wrong password`}, `{"failure":{"call":1,"code":"call-failed","result":"wrong password","step":2,"tool":"mail_login"},"results":[],"safe_to_retry":true,"state":"handed-back"}`},
		{"a write handed back", write, `{"username":"ann"}`, execute.AnswerOptions{}, []string{passwords}, `{"failure":{"call":1,"code":"no-answer","message":"no route","step":2,"tool":"mail_login"},"results":[{"show_passwords":` + passwords + `}],"safe_to_retry":false,"state":"handed-back"}`},
		{"not begun", login(t), `{}`, execute.AnswerOptions{}, nil, `{"failure":{"argument":"username","code":"bad-input","step":0},"results":[],"safe_to_retry":true,"state":"handed-back"}`},
		{"steps", chain("a"), `{}`, execute.AnswerOptions{Steps: true}, []string{`1`}, `{"results":[{"a":1}],"steps":[{"calls":[{"arguments":{},"status":"ok","tries":1}],"tool":"a"}]}`},
		{"cut", chain("a", "b"), `{}`, execute.AnswerOptions{MaxBytes: 130}, []string{`"` + strings.Repeat("é", 100) + `"`, `"short"`}, `{"cut":[{"bytes":202,"kept":46,"step":1}],"results":[{"a":"` + strings.Repeat("é", 23) + `"},{"b":"short"}]}`},
		{"content", chain("a", "b", "c"), `{}`, execute.AnswerOptions{}, []string{
			`{"content":[{"type":"text","text":"{}"}],"structuredContent":{"n":1}}`, `{"content":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"isError":false}`,
			`[{"type":"text","text":"a picture"},{"type":"image","data":"aGk=","mimeType":"image/png"}]`,
		}, `{"results":[{"a":{"n":1}},{"b":"one\ntwo"},{"c":[{"text":"a picture","type":"text"},{"data":"aGk=","mimeType":"image/png","type":"image"}]}]}`},
		{"content that is an error", chain("a"), `{}`, execute.AnswerOptions{}, []string{`{"content":[{"type":"text","text":"no such user"}],"isError":true}`}, `{"failure":{"call":1,"code":"call-failed","result":"no such user","step":1,"tool":"a"},"results":[],"safe_to_retry":true,"state":"handed-back"}`},
	} {
		if got := answered(t, test.tool, test.inputs, test.options, test.results...); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.name, got, test.want)
		}
	}
}

// TestBlocksAreNotBound: of content blocks only the text can be an argument.
func TestBlocksAreNotBound(t *testing.T) {
	tool := chain("read", "send")
	tool.Steps[1].Args = []metatool.Argument{{Name: "body", Binding: metatool.Binding{Kind: metatool.BindStep}}}
	for result, want := range map[string]string{
		`[{"type":"image","data":"aGk="}]`:                                `nothing-bound`,
		`[{"type":"image","data":"aGk="},{"type":"text","text":"hello"}]`: `{"body":"hello"}`,
		`[{"type":"image","date":"no block"}]`:                            `{"body":[{"date":"no block","type":"image"}]}`,
	} {
		out := execute.Run(t.Context(), tool, value(t, `{}`), inTurn(t, result, `1`), execute.Options{})
		got := ""
		if out.Failure != nil {
			got = out.Failure.Code
		} else {
			got = string(out.Steps[1].Calls[0].Args.AppendCanonical(nil))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", result, got, want)
		}
	}
}

// TestWrongType: a value that the schema of an argument does not take is an error that
// names the step, and where it is known before the first call nothing is called.
func TestWrongType(t *testing.T) {
	text := value(t, `{"type":"string"}`)
	for _, test := range []struct {
		binding metatool.Binding
		result  string
		calls   int
		code    string
	}{
		{metatool.Binding{Kind: metatool.BindStep, Path: path(t, "$.id")}, `{"id":7}`, 1, execute.CodeWrongType},
		{metatool.Binding{Kind: metatool.BindStep, Path: path(t, "$.id")}, `{"id":"7"}`, 2, ""},
		{metatool.Binding{Kind: metatool.BindConst, Const: value(t, `7`)}, `1`, 0, execute.CodeWrongType},
		{metatool.Binding{Kind: metatool.BindInput, Input: "any"}, `1`, 0, execute.CodeWrongType},
	} {
		tool := chain("get_user", "get_order")
		tool.Inputs = []metatool.Input{{Name: "any", Step: 1, Argument: "order"}}
		tool.Steps[1].Args = []metatool.Argument{{Name: "order", Binding: test.binding, Schema: text}}
		calls := 0
		out := execute.Run(t.Context(), tool, value(t, `{"any":[]}`), execute.CallerFunc(func(context.Context, string, trace.Value) (execute.Result, error) {
			calls++
			return execute.Result{Value: value(t, test.result)}, nil
		}), execute.Options{})
		code := ""
		if out.Failure != nil {
			code = out.Failure.Code
			if out.Failure.Tool != "get_order" || out.Failure.Argument != "order" || !strings.Contains(out.Failure.Error(), "get_order") {
				t.Errorf("%+v: %v", test.binding, out.Failure)
			}
		}
		if code != test.code || calls != test.calls {
			t.Errorf("%+v: %q after %d calls, want %q after %d", test.binding, code, calls, test.code, test.calls)
		}
	}
}

// TestAnswerBound: with a bound an answer is no longer, however long the results are, as
// long as what must be said fits.
func TestAnswerBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 1, 6).Draw(rt, "results")
		tool := &metatool.Tool{Name: "chain"}
		var results []string
		for _, text := range texts {
			tool.Steps = append(tool.Steps, metatool.Step{Tool: "tool", ReadOnly: true})
			results = append(results, string(trace.NewString(strings.Repeat(trace.ValidText([]byte(text)), 20)).AppendCanonical(nil)))
		}
		limit := rapid.IntRange(80*len(texts), 2000).Draw(rt, "limit")
		got := answered(t, tool, `{}`, execute.AnswerOptions{MaxBytes: limit}, results...)
		if len(got) > limit {
			rt.Errorf("%d bytes where %d are allowed: %s", len(got), limit, got)
		}
		whole := answered(t, tool, `{}`, execute.AnswerOptions{}, results...)
		if len(whole) <= limit && got != whole || len(whole) > limit && !strings.Contains(got, `"cut":[`) {
			rt.Errorf("%d of %d bytes: %s", len(got), len(whole), got)
		}
		if v, err := trace.ParseValue([]byte(got)); err != nil || string(v.AppendCanonical(nil)) != got {
			rt.Errorf("%s: %v", got, err)
		}
	})
}
