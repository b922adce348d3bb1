package learn

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

func survey(t *testing.T, list []*trace.Trajectory, o Options) *Survey {
	t.Helper()
	s := NewSurvey(corpus.Filled(list, corpus.Options{}), o)
	return s
}

// linked leaves the rules whose values are in results.
func linked(r *Result) *Result {
	r.Keep(func(i int) bool { return r.Set.Rules[i].Source.Kind == prefetch.KindResult })
	return r
}

func only(tools ...string) func(trace.Name) bool {
	return func(n trace.Name) bool {
		for _, tool := range tools {
			if n.Value() == tool {
				return true
			}
		}
		return false
	}
}

// A customer has three orders and the first two are read, with the token that the call
// before was given too.
func TestShop(t *testing.T) {
	runs := scripted.Shop(20, func(int) (int, int) { return 3, 2 }, nil)
	for i, r := range runs {
		r.Task = fmt.Sprint("task", i)
	}
	s := survey(t, runs, Options{Reads: only("customer", "order")})
	r := s.Choose(ChooseOptions{Threshold: .5})
	if len(r.Set.Rules) != 1 {
		t.Fatalf("%d rules, want 1: %+v, rejected %+v", len(r.Set.Rules), r.Set.Rules, r.Rejected)
	}
	rule, e := r.Set.Rules[0], r.Evidence[0]
	if rule.MaxElements != 2 || e.Offered != 40 || e.Used != 40 || e.Tasks != 20 {
		t.Errorf("of the first %d values %d of %d are used in %d tasks, want 2, 40 of 40 and 20", rule.MaxElements, e.Used, e.Offered, e.Tasks)
	}
	others := rule.Target.Others
	if len(others) != 1 || others[0].Argument != "token" || others[0].Origin != prefetch.FromArgument {
		t.Errorf("other arguments are %+v, want the token of the customer's call", others)
	}
	// At a low threshold the third order is worth its reading, too.
	if r := s.Choose(ChooseOptions{Threshold: .01}); r.Set.Rules[0].MaxElements != 0 && r.Set.Rules[0].MaxElements != 2 {
		t.Errorf("first %d values", r.Set.Rules[0].MaxElements)
	}
}

// A constant is written down where it is no credential and several tasks share it.
// TestUsedTooSeldom: half of the values are used, so there is a rule at .3 and none at .9.
func TestUsedTooSeldom(t *testing.T) {
	runs := scripted.Shop(40, func(i int) (int, int) { return 1, i % 2 }, nil)
	for i, r := range runs {
		r.Task = fmt.Sprint("task", i)
	}
	s := survey(t, runs, Options{Reads: only("customer", "order")})
	for threshold, want := range map[float64]int{.3: 1, .9: 0} {
		r := s.Choose(ChooseOptions{Threshold: threshold})
		if len(r.Set.Rules) != want || len(r.Rejected) != 1-want {
			t.Errorf("at %v: %d rules, rejected %+v", threshold, len(r.Set.Rules), r.Rejected)
		}
		if want == 0 && r.Rejected[0].Reason != "used-too-seldom" {
			t.Errorf("the reason is %s", r.Rejected[0].Reason)
		}
	}
}

func TestConstants(t *testing.T) {
	for constant, want := range map[string]bool{`"en"`: true, `"sk-1234567890abcdef"`: false, `{"token":"x"}`: false, `7`: true} {
		var runs []*trace.Trajectory
		for i := range 20 {
			s := (&scripted.Run{}).User(fmt.Sprintf("customer-%d", i))
			s.Call("get_customer", fmt.Sprintf(`{"name":"customer-%d"}`, i), fmt.Sprintf(`{"order":"order-%d"}`, i))
			s.Call("get_order", fmt.Sprintf(`{"id":"order-%d","how":%s}`, i, constant), `{"ok":true}`)
			runs = append(runs, &s.T)
		}
		r := linked(survey(t, runs, Options{Reads: byName}).Choose(ChooseOptions{}))
		if got := len(r.Set.Rules) == 1; got != want {
			t.Errorf("with the constant %s there is a rule: %v, want %v", constant, got, want)
		} else if got && string(r.Set.Rules[0].Target.Others[0].Constant.AppendCanonical(nil)) != constant {
			t.Errorf("the constant is %+v", r.Set.Rules[0].Target.Others)
		}
	}
}

// TestCredentials: a read that returns a password is not made before the agent asks for it.
func TestCredentials(t *testing.T) {
	for result, want := range map[string]bool{`{"name":"mail"}`: true, `[{"name":"mail","password":"Hx7#kq2Lm9"}]`: false} {
		var runs []*trace.Trajectory
		for range 20 {
			s := (&scripted.Run{}).User("read my mail").Call("list_accounts", `{}`, result)
			s.T.Task = fmt.Sprint("task", len(runs))
			runs = append(runs, &s.T)
		}
		r := survey(t, runs, Options{Reads: byName}).Choose(ChooseOptions{})
		if got := len(r.Set.Rules) == 1; got != want {
			t.Errorf("answers like %s: %+v, rejected %+v", result, r.Set.Rules, r.Rejected)
		}
	}
}

// What a write came between was stale, and is no use.
func TestStale(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 20 {
		s := (&scripted.Run{}).User(fmt.Sprintf("customer-%d", i))
		s.Call("get_customer", fmt.Sprintf(`{"name":"customer-%d"}`, i), fmt.Sprintf(`{"order":"order-%d"}`, i))
		if i%4 == 0 {
			s.Call("touch", `{}`, `true`)
		}
		s.Call("get_order", fmt.Sprintf(`{"id":"order-%d"}`, i), `{"ok":true}`)
		runs = append(runs, &s.T)
	}
	r := linked(survey(t, runs, Options{Reads: byName}).Choose(ChooseOptions{}))
	if len(r.Evidence) != 1 || r.Evidence[0].Used != 15 || r.Evidence[0].Stale != 5 {
		t.Errorf("%+v, want 15 uses and 5 stale", r.Evidence)
	}
}

// Calls that a model makes in one turn do not follow from one another.
func TestSameTurn(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 20 {
		s := (&scripted.Run{}).User(fmt.Sprintf("customer-%d", i))
		s.Call("get_customer", fmt.Sprintf(`{"name":"customer-%d"}`, i), fmt.Sprintf(`{"order":"order-%d"}`, i))
		s.Also("get_order", fmt.Sprintf(`{"id":"order-%d"}`, i), `{"ok":true}`)
		runs = append(runs, &s.T)
	}
	if r := linked(survey(t, runs, Options{Reads: byName}).Choose(ChooseOptions{})); len(r.Set.Rules) != 0 {
		t.Errorf("there are rules: %+v", r.Set.Rules)
	}
}

// Whatever tools are called like, and whatever follows from what: nothing that is not
// known to read is read ahead, and any number of workers finds the same.
func TestWritesAreNeverReadAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"get_user", "get_order", "delete_order", "frobnicate", "list_items", "update_items", "get_or_create", "fetchAll", "runQuery", "sort_out", "read_and_remove",
		}), 3, 6, rapid.ID[string]).Draw(t, "tools")
		var list []*trace.Trajectory
		steps := rapid.SliceOfN(rapid.SampledFrom(names), 2, 6).Draw(t, "steps")
		for i := range 12 {
			s := (&scripted.Run{}).User(fmt.Sprintf("begin with value-%d-0", i))
			for k, tool := range steps {
				s.Call(tool, fmt.Sprintf(`{"id":"value-%d-%d"}`, i, k), fmt.Sprintf(`{"next":["value-%d-%d"],"n":%d}`, i, k+1, i))
			}
			list = append(list, &s.T)
		}
		find := func(workers int) *Result {
			s := NewSurvey(corpus.Filled(list, corpus.Options{}), Options{Reads: byName, Workers: workers})
			return s.Choose(ChooseOptions{Threshold: .1})
		}
		r := find(1)
		if !reflect.DeepEqual(fmt.Sprintf("%+v", r), fmt.Sprintf("%+v", find(3))) {
			t.Fatal("another number of workers finds something else")
		}
		session := prefetch.NewSession(&r.Set)
		safe := func(reads []prefetch.Read) {
			for _, read := range reads {
				if toolname.Of(read.Tool) != toolname.Reads {
					t.Fatalf("%s is read ahead", read.Tool)
				}
			}
		}
		for k, tool := range steps {
			call := prefetch.Call{Tool: tool, Arguments: trace.NewObject(trace.Member{Name: "id", Value: trace.NewString(fmt.Sprintf("new-%d", k))})}
			session.Begin(call)
			result, _ := trace.ParseValue(fmt.Appendf(nil, `{"next":["new-%d"],"n":1}`, k+1))
			reads := session.Answered(prefetch.Answer{Call: call, Result: result})
			safe(reads)
			for _, read := range reads {
				safe(session.Got(read, result))
			}
		}
		// Nor if a set of rules says so itself.
		for _, tool := range names {
			set := r.Set
			set.Rules = []prefetch.Rule{{ID: "r", Source: prefetch.Source{Tool: names[0]}, Target: prefetch.Target{Tool: tool, Argument: "id"}, Depth: 1}}
			call := prefetch.Call{Tool: names[0], Arguments: trace.NewObject()}
			safe(prefetch.NewSession(&set).Answered(prefetch.Answer{Call: call, Result: trace.NewString("x")}))
		}
	})
}
