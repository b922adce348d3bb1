package execute_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/metatool/replay"
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

func path(t testing.TB, text string) jsonpath.Path {
	t.Helper()
	p, err := jsonpath.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// login shows the stored passwords and logs in to mail with the one for mail.
func login(t testing.TB) *metatool.Tool {
	return &metatool.Tool{
		Name:   "show_passwords_then_mail_login",
		Inputs: []metatool.Input{{Name: "username", Step: 1, Argument: "username", Required: true, Schema: value(t, `{"type":"string"}`)}},
		Steps: []metatool.Step{
			{Tool: "show_passwords", ReadOnly: true},
			{Tool: "mail_login", Idempotent: true, Args: []metatool.Argument{
				{Name: "password", Binding: metatool.Binding{Kind: metatool.BindStep, Path: path(t, "$[?@.app == 'mail'].password")}},
				{Name: "username", Binding: metatool.Binding{Kind: metatool.BindInput, Input: "username"}},
			}},
		},
	}
}

// orders finds a customer and reads each of the orders.
func orders(t testing.TB) *metatool.Tool {
	return &metatool.Tool{
		Name:   "get_user_then_each_order",
		Inputs: []metatool.Input{{Name: "user", Argument: "user", Required: true, Schema: value(t, `{"type":["string","integer"]}`)}},
		Steps: []metatool.Step{
			{Tool: "get_user", ReadOnly: true, Args: []metatool.Argument{{Name: "user", Binding: metatool.Binding{Kind: metatool.BindInput, Input: "user"}}}},
			{
				Tool: "get_order", ReadOnly: true,
				Each: &metatool.Binding{Kind: metatool.BindStep, Path: path(t, "$.orders[*]")},
				Args: []metatool.Argument{{Name: "order", Binding: metatool.Binding{Kind: metatool.BindElement, Path: path(t, "$.id")}}},
			},
		},
		Output: metatool.Output{Steps: []int{0, 1}},
	}
}

// batch reads each order of a list that it is given.
func batch(t testing.TB) *metatool.Tool {
	return &metatool.Tool{
		Name:   "get_order_each",
		Inputs: []metatool.Input{{Name: "orders", Argument: "order", Required: true, Schema: value(t, `{"type":"array"}`)}},
		Steps: []metatool.Step{{
			Tool: "get_order", ReadOnly: true, Each: &metatool.Binding{Kind: metatool.BindInput, Input: "orders"},
			Args: []metatool.Argument{{Name: "order", Binding: metatool.Binding{Kind: metatool.BindElement}}},
		}},
	}
}

// chosen logs in to the application that it is told.
func chosen(t testing.TB) *metatool.Tool {
	tool := login(t)
	tool.Inputs = append(tool.Inputs, metatool.Input{Name: "app", Step: 1, Argument: "password", Required: true})
	key := metatool.Binding{Kind: metatool.BindInput, Input: "app"}
	tool.Steps[1].Args[0].Binding.Path = path(t, "$[?@.app == ?].password")
	tool.Steps[1].Args[0].Binding.Key = &key
	return tool
}

type call struct {
	tool, args, result string
	turn               int
	failed, afterUser  bool
}

// recorded returns a trajectory of these calls.
func recorded(calls ...call) *trace.Trajectory {
	t := &trace.Trajectory{ID: "run", Messages: []trace.Message{{Text: trace.TextOf("I am ann@example.org, my user id is u-1, and I read mail.")}}}
	for _, c := range calls {
		for len(t.Turns) <= c.turn {
			t.Turns = append(t.Turns, trace.Turn{FirstCall: len(t.Calls)})
		}
		t.Turns[c.turn].NumCalls++
		one := trace.Call{
			Tool: trace.Intern(c.tool), Turn: c.turn, Args: trace.JSONOf([]byte(c.args)), Result: trace.JSONOf([]byte(c.result)),
			HasResult: c.result != "", Status: trace.StatusOK, AfterUser: c.afterUser,
		}
		if c.failed {
			one.Status = trace.StatusFailed
		}
		t.Calls = append(t.Calls, one)
	}
	return t
}

const passwords = `[{"app":"calendar","password":"c-77"},{"app":"mail","password":"m-42"}]`

func TestRun(t *testing.T) {
	run := recorded(
		call{"show_passwords", `{}`, passwords, 0, false, false},
		call{"mail_login", `{"username":"ann","password":"m-42"}`, `{"token":"t-1"}`, 1, false, false},
	)
	out := execute.Run(t.Context(), login(t), value(t, `{"username":"ann"}`), replay.NewRecordings(run, 0), execute.Options{})
	if out.State != execute.Done || len(out.Steps) != 2 || !out.Steps[1].Result.Equal(value(t, `{"token":"t-1"}`)) || !out.Retry {
		t.Errorf("%+v", out)
	}
}

func TestFanOut(t *testing.T) {
	users := `{"orders":[{"id":"a"},{"id":"b"},{"id":"a"}]}`
	var made []string
	caller := execute.CallerFunc(func(_ context.Context, tool string, args trace.Value) (execute.Result, error) {
		made = append(made, tool+string(args.AppendCanonical(nil)))
		if tool == "get_user" {
			return execute.Result{Value: value(t, users)}, nil
		}
		id, _ := args.Lookup("order")
		return execute.Result{Value: trace.NewObject(trace.Member{Name: "order", Value: id})}, nil
	})
	out := execute.Run(t.Context(), orders(t), value(t, `{"user":7}`), caller, execute.Options{})
	want := `{"results":[{"get_user":` + users + `},{"get_order":[{"for":"a","result":{"order":"a"}},{"for":"b","result":{"order":"b"}}]}]}`
	if got := string(out.AppendAnswer(nil, orders(t), execute.AnswerOptions{})); got != want {
		t.Errorf("returns %s, want %s", got, want)
	}
	if got := strings.Join(made, " "); got != `get_user{"user":7} get_order{"order":"a"} get_order{"order":"b"}` {
		t.Errorf("made %s", got)
	}
	for _, test := range []struct{ result, state, code string }{
		{`{"orders":[]}`, "done", ""},
		{`{}`, "handed-back", execute.CodeNothingBound},
		{`{"orders":[{"name":"a"}]}`, "handed-back", execute.CodeNothingBound},
	} {
		users = test.result
		out := execute.Run(t.Context(), orders(t), value(t, `{"user":"u"}`), caller, execute.Options{})
		if string(out.State) != test.state || out.Failure != nil && out.Failure.Code != test.code {
			t.Errorf("%s: %s, %v", test.result, out.State, out.Failure)
		}
	}
	users = `{"orders":[{"id":"a"},{"id":"b"}]}`
	if out := execute.Run(t.Context(), orders(t), value(t, `{"user":"u"}`), caller, execute.Options{MaxCalls: 2}); out.Failure == nil || out.Failure.Code != execute.CodeTooManyCalls {
		t.Errorf("three calls of two: %+v", out.Failure)
	}
}

// TestHandBack ends runs in every way that there is, and asks whether they may
// be repeated.
func TestHandBack(t *testing.T) {
	broken := errors.New("no route")
	for _, test := range []struct {
		name, inputs, passwords string
		login                   func() (execute.Result, error)
		idempotent              bool
		code, argument          string
		step                    int
		retry                   bool
	}{
		{"no input", `{}`, passwords, nil, true, execute.CodeBadInput, "username", -1, true},
		{"unknown input", `{"username":"a","b":1}`, passwords, nil, true, execute.CodeBadInput, "b", -1, true},
		{"input of a wrong kind", `{"username":1}`, passwords, nil, true, execute.CodeBadInput, "username", -1, true},
		{"inputs that are no object", `[]`, passwords, nil, true, execute.CodeBadInput, "", -1, true},
		{"no such password", `{"username":"a"}`, `[]`, nil, true, execute.CodeNothingBound, "password", 1, true},
		{"two passwords", `{"username":"a"}`, `[{"app":"mail","password":"1"},{"app":"mail","password":"2"}]`, nil, true, execute.CodeNothingBound, "password", 1, true},
		{"a failure", `{"username":"a"}`, passwords, func() (execute.Result, error) {
			return execute.Result{Status: trace.StatusFailed}, nil
		}, true, execute.CodeCallFailed, "", 1, true},
		{"a failed write", `{"username":"a"}`, passwords, func() (execute.Result, error) {
			return execute.Result{Status: trace.StatusFailed}, nil
		}, false, execute.CodeCallFailed, "", 1, false},
		{"no answer", `{"username":"a"}`, passwords, func() (execute.Result, error) { return execute.Result{}, broken }, false, execute.CodeNoAnswer, "", 1, false},
	} {
		tool := login(t)
		tool.Steps[1].Idempotent = test.idempotent
		calls := 0
		out := execute.Run(t.Context(), tool, value(t, test.inputs), execute.CallerFunc(func(_ context.Context, name string, _ trace.Value) (execute.Result, error) {
			calls++
			if name == "show_passwords" {
				return execute.Result{Value: value(t, test.passwords), Status: trace.StatusOK}, nil
			}
			return test.login()
		}), execute.Options{})
		f := out.Failure
		if out.State != execute.HandedBack || f == nil || f.Code != test.code || f.Argument != test.argument || f.Step != test.step || out.Retry != test.retry {
			t.Errorf("%s: %s, retry %v, %+v", test.name, out.State, out.Retry, f)
		}
		if f.Step < 0 && calls > 0 {
			t.Errorf("%s: %d calls were made", test.name, calls)
		}
		if strings.Contains(f.Error(), "m-42") {
			t.Errorf("%s: the error holds a value: %s", test.name, f)
		}
	}
}

func TestRetries(t *testing.T) {
	for _, test := range []struct {
		idempotent bool
		failures   int
		retries    int
		state      execute.State
		tries      int
	}{
		{true, 1, 0, execute.Done, 2},
		{true, 2, 0, execute.HandedBack, 2},
		{true, 1, -1, execute.HandedBack, 1},
		{true, 2, 2, execute.Done, 3},
		{false, 1, 2, execute.HandedBack, 1},
	} {
		tool := login(t)
		tool.Steps[1].Idempotent = test.idempotent
		left := test.failures
		out := execute.Run(t.Context(), tool, value(t, `{"username":"a"}`), execute.CallerFunc(func(_ context.Context, name string, _ trace.Value) (execute.Result, error) {
			if name == "show_passwords" {
				return execute.Result{Value: value(t, passwords)}, nil
			}
			if left--; left >= 0 {
				return execute.Result{Status: trace.StatusFailed}, nil
			}
			return execute.Result{}, nil
		}), execute.Options{Retries: test.retries})
		if tries := out.Steps[1].Calls[0].Tries; out.State != test.state || tries != test.tries {
			t.Errorf("%+v: %s after %d tries", test, out.State, tries)
		}
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := execute.Run(t.Context(), login(t), value(t, `{"username":"a"}`), execute.CallerFunc(func(ctx context.Context, _ string, _ trace.Value) (execute.Result, error) {
			<-ctx.Done()
			return execute.Result{}, ctx.Err()
		}), execute.Options{Timeout: time.Second})
		if out.Failure == nil || out.Failure.Code != execute.CodeDeadline || !out.Retry {
			t.Errorf("%+v", out.Failure)
		}
	})
}

// TestPlay replays meta-tools in trajectories that did the same, or did not.
func TestPlay(t *testing.T) {
	user := call{"get_user", `{"user":"u-1"}`, `{"orders":[{"id":"o-1"},{"id":"o-2"},{"id":"o-3"}],"mail":"ann@example.org"}`, 0, false, false}
	order := func(id string, turn int) call {
		return call{"get_order", `{"order":"` + id + `"}`, `{"sum":1}`, turn, false, false}
	}
	show := call{"show_passwords", `{}`, passwords, 0, false, false}
	enter := call{"mail_login", `{"username":"ann@example.org","password":"m-42"}`, `{}`, 1, false, false}
	stranger := call{"mail_login", `{"username":"hatter@example.org","password":"m-42"}`, `{}`, 1, false, false}
	other := call{"mail_login", `{"username":"ann@example.org","password":"c-77"}`, `{}`, 1, false, false}
	remember := call{"mail_login", `{"username":"ann@example.org","password":"m-42","remember":true}`, `{}`, 1, false, false}
	asked := enter
	asked.afterUser = true
	for _, test := range []struct {
		name         string
		tool         *metatool.Tool
		calls        []call
		found        int
		exact, known bool
		turns, extra int
		code         string
	}{
		{"as bound", login(t), []call{show, enter}, 1, true, true, 1, 0, ""},
		{"another password", login(t), []call{show, other}, 1, false, true, 1, 0, replay.CodeOtherValue},
		{"one argument more", login(t), []call{show, remember}, 1, false, true, 1, 0, replay.CodeNotPassed},
		{"a name that nobody said", login(t), []call{show, stranger}, 1, true, false, 1, 0, ""},
		{"the user spoke in between", login(t), []call{show, asked}, 0, false, false, 0, 0, ""},
		{"chosen by the agent", chosen(t), []call{show, other}, 1, true, false, 1, 0, ""},
		{"not to be chosen", chosen(t), []call{show, {"mail_login", `{"username":"ann@example.org","password":"?"}`, `{}`, 1, false, false}}, 1, false, true, 1, 0, replay.CodeInputUnderived},
		{"whole list", orders(t), []call{user, order("o-1", 1), order("o-2", 2), order("o-3", 3)}, 1, true, true, 3, 0, ""},
		{"prefix", orders(t), []call{user, order("o-1", 1)}, 1, true, true, 1, 2, ""},
		{"own order", orders(t), []call{user, order("o-3", 1), order("o-1", 1)}, 1, true, true, 1, 1, ""},
		{"one twice", orders(t), []call{user, order("o-3", 1), order("o-3", 2)}, 1, true, true, 1, 2, ""},
		{"outside", orders(t), []call{user, order("o-1", 1), order("o-9", 2)}, 1, false, true, 2, 0, replay.CodeNotMade},
		{"a list from before", batch(t), []call{user, order("o-1", 1), order("o-3", 2)}, 1, true, true, 1, 0, ""},
		{"a list that grew on the way", batch(t), []call{order("o-1", 0), order("o-3", 1)}, 1, true, false, 1, 0, ""},
		{"in one turn", orders(t), []call{user, order("o-1", 1), order("o-2", 1), order("o-3", 1)}, 1, true, true, 1, 0, ""},
	} {
		run := recorded(test.calls...)
		var found []replay.Occurrence
		replay.NewFinder([]*metatool.Tool{test.tool}).Occurrences(run, nil, func(_ int, o replay.Occurrence) { found = append(found, o) })
		if len(found) != test.found {
			t.Errorf("%s: found %d times", test.name, len(found))
			continue
		}
		for _, o := range found {
			r := replay.NewPlayer(run).Play(test.tool, o)
			last := r.Steps[len(r.Steps)-1]
			if r.Exact != test.exact || r.Known != test.known || r.Turns != test.turns || last.Extra != test.extra && r.Exact || last.Code != test.code {
				t.Errorf("%s: %+v", test.name, r)
			}
		}
	}
}

// TestRecordings answers equal calls in their order, from where the run stands.
func TestRecordings(t *testing.T) {
	read := func(result string, turn int) call { return call{"read", `{"a":1,"b":2}`, result, turn, false, false} }
	run := recorded(read(`"first"`, 0), read(`"second"`, 1), read(`"third"`, 2))
	r := replay.NewRecordings(run, 1)
	for _, want := range []string{"second", "third", "third"} {
		if got, err := r.Call(t.Context(), "read", value(t, `{"b":2,"a":1}`)); err != nil || got.Value.Text != want {
			t.Errorf("answers %q, %v, want %q", got.Value.Text, err, want)
		}
	}
	if _, err := r.Call(t.Context(), "read", value(t, `{"a":1}`)); !errors.Is(err, replay.ErrNotRecorded) {
		t.Errorf("other arguments: %v", err)
	}
}

// TestNoSteps: a meta-tool without steps, as a file by hand may have one, is made
// nowhere.
func TestNoSteps(t *testing.T) {
	run := recorded(call{"show_passwords", `{}`, passwords, 0, false, false})
	v := replay.NewVerifier([]*metatool.Tool{{Name: "nothing"}})
	v.Add(v.Check(run, nil))
	if got := v.Verifications()[0]; got.Occurrences != 0 {
		t.Errorf("%+v", got)
	}
}

// TestVerifier adds up replays, and says nothing of their values.
func TestVerifier(t *testing.T) {
	show := call{"show_passwords", `{}`, passwords, 0, false, false}
	enter := call{"mail_login", `{"username":"ann@example.org","password":"m-42"}`, `{}`, 1, false, false}
	other := call{"mail_login", `{"username":"ann@example.org","password":"c-77"}`, `{}`, 1, false, false}
	v := replay.NewVerifier([]*metatool.Tool{login(t)})
	for _, run := range []*trace.Trajectory{recorded(show, enter), recorded(show, other), recorded(enter), recorded(show, enter, call{"show_passwords", `{}`, passwords, 2, false, false}, call{"mail_login", `{"username":"ann@example.org","password":"m-42"}`, `{}`, 3, false, false})} {
		v.Add(v.Check(run, nil))
	}
	got := v.Verifications()[0]
	// The second login of the last run repeats the first: it is in no place.
	if got.Occurrences != 3 || got.Trajectories != 3 || got.Exact != 2 || got.Saves != 2 || got.TurnsSaved != 2 {
		t.Errorf("%+v", got)
	}
	if len(got.Disagreements) != 1 || got.Disagreements[0].Argument != "password" || got.Disagreements[0].Call != 1 {
		t.Errorf("%+v", got.Disagreements)
	}
	if first, second := got.Steps[0], got.Steps[1]; first.Exact != 3 || first.Total != 3 || second.Exact != 2 || second.Total != 3 {
		t.Errorf("%+v", got.Steps)
	}
}

// TestRunNeverPanics runs odd meta-tools over odd answers: an outcome is done
// only if every step has made its calls.
func TestRunNeverPanics(t *testing.T) {
	texts := []string{`null`, `1`, `"a"`, `"{\"a\":[1]}"`, `[]`, `[1,2]`, `{"a":{"b":[{"c":"x"},{"c":"y"}]}}`, `{"a":"x"}`}
	paths := []string{"$", "$.a", "$[*]", "$.a.b[*].c", "$[0]", "$.a.b[?@.c == 'x']", "$.a[?@.c == ?]"}
	rapid.Check(t, func(rt *rapid.T) {
		binding := rapid.Custom(func(rt *rapid.T) metatool.Binding {
			b := metatool.Binding{Kind: metatool.BindingKind(rapid.IntRange(0, 4).Draw(rt, "kind")), Step: rapid.IntRange(-1, 3).Draw(rt, "step"), Input: "in"}
			b.Path = path(t, rapid.SampledFrom(paths).Draw(rt, "path"))
			b.Const = value(t, rapid.SampledFrom(texts).Draw(rt, "const"))
			b.Coerce = metatool.Coercion(rapid.IntRange(0, 2).Draw(rt, "coerce"))
			if rapid.Bool().Draw(rt, "key") {
				b.Key = &metatool.Binding{Kind: metatool.BindInput, Input: "in"}
			}
			return b
		})
		tool := &metatool.Tool{Inputs: []metatool.Input{{Name: "in"}}}
		for range rapid.IntRange(1, 3).Draw(rt, "steps") {
			step := metatool.Step{Tool: "t", ReadOnly: rapid.Bool().Draw(rt, "reads")}
			if rapid.Bool().Draw(rt, "each") {
				each := binding.Draw(rt, "list")
				step.Each = &each
			}
			for i, b := range rapid.SliceOfN(binding, 0, 2).Draw(rt, "args") {
				step.Args = append(step.Args, metatool.Argument{Name: string(rune('a' + i)), Binding: b, Optional: rapid.Bool().Draw(rt, "optional")})
			}
			tool.Steps = append(tool.Steps, step)
		}
		inputs := trace.NewObject(trace.Member{Name: "in", Value: value(t, rapid.SampledFrom(texts).Draw(rt, "input"))})
		out := execute.Run(t.Context(), tool, inputs, execute.CallerFunc(func(context.Context, string, trace.Value) (execute.Result, error) {
			return execute.Result{Value: value(t, rapid.SampledFrom(texts).Draw(rt, "result")), Status: trace.Status(rapid.IntRange(0, 2).Draw(rt, "status"))}, nil
		}), execute.Options{MaxCalls: 20, SkipFailedReads: rapid.Bool().Draw(rt, "skip")})
		if (out.State == execute.HandedBack) != (out.Failure != nil) {
			rt.Fatalf("%s with failure %v", out.State, out.Failure)
		}
		if out.State != execute.HandedBack && len(out.Steps) != len(tool.Steps) {
			rt.Fatalf("%s after %d of %d steps", out.State, len(out.Steps), len(tool.Steps))
		}
		if out.State == execute.Done {
			for _, s := range out.Steps {
				for _, c := range s.Calls {
					if c.Err != nil || c.Result.Status == trace.StatusFailed {
						rt.Fatalf("done with a failed call: %+v", c)
					}
				}
			}
		}
	})
}

// TestNullIsNotGiven calls with null for inputs that need not be given.
func TestNullIsNotGiven(t *testing.T) {
	tool := login(t)
	tool.Inputs[0].Required = false
	tool.Steps[1].Args[1].Optional = true
	var made string
	caller := execute.CallerFunc(func(_ context.Context, name string, args trace.Value) (execute.Result, error) {
		if name == "show_passwords" {
			return execute.Result{Value: value(t, passwords)}, nil
		}
		made = string(args.AppendCanonical(nil))
		return execute.Result{}, nil
	})
	inputs := value(t, `{"username":null}`)
	if out := execute.Run(t.Context(), tool, inputs, caller, execute.Options{}); out.State != execute.Done || made != `{"password":"m-42"}` {
		t.Errorf("%s, called with %s", out.State, made)
	}
	if len(inputs.Members) != 1 {
		t.Error("the caller's inputs were changed")
	}
	tool.Inputs[0].Required = true
	if out := execute.Run(t.Context(), tool, inputs, caller, execute.Options{}); out.Failure == nil || out.Failure.Code != execute.CodeBadInput {
		t.Errorf("null for an input that is required: %s", out.State)
	}
}

// TestNumbersByValue takes 7 and 7.0 for one number wherever numbers are compared
// or spelled.
func TestNumbersByValue(t *testing.T) {
	var made []string
	caller := execute.CallerFunc(func(_ context.Context, _ string, args trace.Value) (execute.Result, error) {
		made = append(made, string(args.AppendCanonical(nil)))
		return execute.Result{}, nil
	})
	tool := batch(t)
	tool.Steps[0].Args[0].Binding.Coerce = metatool.CoerceString
	out := execute.Run(t.Context(), tool, value(t, `{"orders":[7.0,7,1e3,12345678901234567890,1e-7]}`), caller, execute.Options{})
	if got := strings.Join(made, " "); got != `{"order":"7"} {"order":"1000"} {"order":"12345678901234567890"} {"order":"1e-07"}` {
		t.Errorf("%s: %s", out.State, got)
	}
	whole := orders(t)
	whole.Inputs[0].Schema = value(t, `{"type":"integer"}`)
	for text, want := range map[string]string{"7": execute.CodeNothingBound, "7.0": execute.CodeNothingBound, "1e3": execute.CodeNothingBound, "7.5": execute.CodeBadInput} {
		if out := execute.Run(t.Context(), whole, value(t, `{"user":`+text+`}`), caller, execute.Options{}); out.Failure == nil || out.Failure.Code != want {
			t.Errorf("%s as integer: %+v", text, out.Failure)
		}
	}
}

// TestArgumentWithoutName needs a value for an argument whose name is empty.
func TestArgumentWithoutName(t *testing.T) {
	tool := &metatool.Tool{Steps: []metatool.Step{{Tool: "t", Args: []metatool.Argument{{Binding: metatool.Binding{Kind: metatool.BindInput, Input: "in"}}}}}}
	out := execute.Run(t.Context(), tool, value(t, `{}`), execute.CallerFunc(func(context.Context, string, trace.Value) (execute.Result, error) {
		t.Error("a call was made")
		return execute.Result{}, nil
	}), execute.Options{})
	if out.Failure == nil || out.Failure.Code != execute.CodeNothingBound {
		t.Errorf("%+v", out)
	}
}
