package uses_test

import (
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/uses"
	"github.com/awo-dev/awo/trace"
)

func value(t testing.TB, text string) trace.Value {
	t.Helper()
	v, err := trace.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestLast follows the values of the result of the second call, which a task, three
// calls and an answer surround.
func TestLast(t *testing.T) {
	for _, test := range []struct {
		name, task, result, args, said string
		told                           string
		last                           int
	}{
		{"nothing", "", `{"total":5,"flag":true}`, `{"id":"order-9"}`, "5 of them: true", "", -1},
		{"an argument", "", `{"id":"order-9"}`, `{"id":"ORDER-9"}`, "", "", 2},
		{"the answer", "", `{"price":54.040}`, `{}`, "That is $54.04.", "", 3},
		{"a word of a text", "", `"The gate is B22, boarding 10:30"`, `{}`, "Go to b22!", "", 3},
		{"known from the task", "order-9, please", `{"id":"order-9"}`, `{"id":"order-9"}`, "", "", -1},
		{"told anyway", "", `{"id":"order-9"}`, `{"id":"order-9"}`, "", `["order-9"]`, -1},
		{"a name of a member", "", `{"price":1}`, `{}`, "the price", "", -1},
		{"one in an argument, one said", "", `[{"place":"summer"},{"user":"ann"}]`, `{"with":["summer"]}`, "dear ann", "", 3},
		{"part of a longer word", "", `{"id":"order-9"}`, `{"id":"order-91"}`, "", "", -1},
	} {
		run := &trace.Trajectory{
			Messages: []trace.Message{{Text: trace.TextOf(test.task)}},
			Turns:    []trace.Turn{{FirstCall: 0, NumCalls: 1}, {FirstCall: 1, NumCalls: 1}, {FirstCall: 2, NumCalls: 1}, {FirstCall: 3, Text: trace.TextOf(test.said)}},
		}
		for _, c := range [][2]string{{`{}`, `{}`}, {`{}`, test.result}, {test.args, `{}`}} {
			run.Calls = append(run.Calls, trace.Call{Tool: trace.Intern("t"), Args: trace.JSONOf([]byte(c[0])), Result: trace.JSONOf([]byte(c[1])), HasResult: true})
		}
		u := uses.New(run, func(call int) *trace.Value {
			v := value(t, run.Calls[call].Args.Text())
			return &v
		})
		told := uses.Words{}
		if test.told != "" {
			v := value(t, test.told)
			told.Add(&v)
		}
		result := value(t, test.result)
		if last := u.Last(0, &result, 1, told); last != test.last {
			t.Errorf("%s: %d, want %d", test.name, last, test.last)
		}
		if u.HasTexts() != (test.said != "") {
			t.Errorf("%s: has texts: %v", test.name, u.HasTexts())
		}
	}
}
