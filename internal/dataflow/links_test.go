package dataflow_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// corpus adds up scripts.
func corpus(scripts ...*script) *dataflow.Set {
	var c dataflow.Collector
	l := dataflow.NewLinks()
	for _, s := range scripts {
		l.Add(c.Collect(&s.t))
	}
	return l.Set()
}

// many makes n scripts.
func many(n int, make func(i int) *script) []*script {
	list := []*script{}
	for i := range n {
		list = append(list, make(i))
	}
	return list
}

// dice returns the i-th of a fixed sequence of numbers below n that have nothing
// to do with each other.
func dice(i, n int) int {
	x := uint64(i+1) * 0x9e3779b97f4a7c15
	x ^= x >> 31
	x *= 0xbf58476d1ce4e5b9
	return int((x ^ x>>29) % uint64(n))
}

// link returns the link between two slots, named as Slot.String does.
func link(t *testing.T, s *dataflow.Set, from, to string) *dataflow.Link {
	t.Helper()
	for i := range s.Links {
		if k := &s.Links[i]; k.From.String() == from && k.To.String() == to {
			return k
		}
	}
	t.Fatalf("no link from %s to %s", from, to)
	return nil
}

func TestVerdicts(t *testing.T) {
	letters := "abcdefghij"
	for _, tc := range []struct {
		name, from, to string
		in             []*script
		want           dataflow.Verdict
		trials, hits   int
		values         int
		chance         float64
	}{
		{
			"ids passed on", "login.token", "list(token)",
			many(10, func(i int) *script {
				return run("r").call("login", `{}`, fmt.Sprintf(`{"token":"tok-%d"}`, i)).call("list", fmt.Sprintf(`{"token":"tok-%d"}`, i), ``)
			}),
			dataflow.Accepted, 10, 10, 10, 0.1, // ten values, each in a tenth of the arguments and of the results
		},
		{
			"a constant", "login.host", "list(host)",
			many(40, func(int) *script {
				return run("r").call("login", `{}`, `{"host":"example.org"}`).call("list", `{"host":"example.org"}`, ``)
			}),
			dataflow.Constant, 40, 40, 1, 1,
		},
		{
			"two values", "login.plan", "list(plan)",
			many(40, func(i int) *script {
				plan := []string{"free", "paid"}[i%2]
				return run("r").call("login", `{}`, `{"plan":"`+plan+`"}`).call("list", `{"plan":"`+plan+`"}`, ``)
			}),
			dataflow.FewValues, 40, 40, 2, 0.5,
		},
		{
			"a small integer that happens to be equal", "get.severity", "set(priority)",
			many(50, func(i int) *script {
				return run("r").call("get", `{}`, fmt.Sprintf(`{"severity":%d}`, 1+dice(2*i, 5))).call("set", fmt.Sprintf(`{"priority":%d}`, 1+dice(2*i+1, 5)), ``)
			}),
			dataflow.Chance, 50, 9, 4, 0.2,
		},
		{
			"a list that holds everything", "catalog[*]", "get(id)",
			many(30, func(i int) *script {
				return run("r").call("catalog", `{}`, `["a00","b00","c00","d00","e00","f00","g00","h00","i00","j00"]`).
					call("get", fmt.Sprintf(`{"id":"%c00"}`, letters[i%10]), ``)
			}),
			dataflow.Chance, 30, 30, 10, 1,
		},
		{
			"too few runs", "login.token", "list(token)",
			many(3, func(i int) *script {
				return run("r").call("login", `{}`, fmt.Sprintf(`{"token":"tok-%d"}`, i)).call("list", fmt.Sprintf(`{"token":"tok-%d"}`, i), ``)
			}),
			dataflow.Chance, 3, 3, 3, 1.0 / 3,
		},
		{
			"runs in which the parameter is used before the source are no trials", "login.token", "list(token)",
			append(many(10, func(i int) *script {
				return run("r").call("login", `{}`, fmt.Sprintf(`{"token":"tok-%d"}`, i)).call("list", fmt.Sprintf(`{"token":"tok-%d"}`, i), ``)
			}), many(7, func(i int) *script {
				return run("r").call("list", fmt.Sprintf(`{"token":"old-%d"}`, i), ``).call("login", `{}`, `{"token":"t"}`)
			})...),
			dataflow.Accepted, 10, 10, 10, 0.1,
		},
		{
			"a trajectory is one trial, however often it uses the value", "login.token", "list(token)",
			many(10, func(i int) *script {
				s := run("r").call("login", `{}`, fmt.Sprintf(`{"token":"tok-%d"}`, i))
				for range 5 {
					s.call("list", fmt.Sprintf(`{"token":"tok-%d"}`, i), ``)
				}
				return s
			}),
			dataflow.Accepted, 10, 10, 10, 0.1,
		},
		{
			"a pool that only the runs with the parameter draw from", "get.severity", "set(priority)",
			append(many(60, func(i int) *script {
				// Three of five severities are seen before the priority is chosen.
				s := run("r")
				for k := range 3 {
					s.call("get", `{}`, fmt.Sprintf(`{"severity":%d}`, 1+(dice(2*i, 5)+k)%5))
				}
				return s.call("set", fmt.Sprintf(`{"priority":%d}`, 1+dice(2*i+1, 5)), ``)
			}), many(400, func(i int) *script {
				return run("r").call("get", `{}`, fmt.Sprintf(`{"severity":%d}`, 1+i%5))
			})...),
			dataflow.Chance, 60, 31, 5, 0.6,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := link(t, corpus(tc.in...), tc.from, tc.to)
			if k.Verdict != tc.want || k.Trials != tc.trials || k.Hits != tc.hits || k.Values != tc.values || math.Abs(k.Chance-tc.chance) > 0.021 {
				t.Errorf("%s: %d of %d trials, %d values, chance %.3f, log10 p %.1f of %.1f; want %s, %d of %d, %d values, chance %.3f",
					k.Verdict, k.Hits, k.Trials, k.Values, k.Chance, k.Log10P, k.Limit, tc.want, tc.hits, tc.trials, tc.values, tc.chance)
			}
		})
	}
}

func TestBestSource(t *testing.T) {
	// The user id comes from the search result, and every order of it is read.
	scripts := many(12, func(i int) *script {
		user, first, second := fmt.Sprintf("user_%d", i), fmt.Sprintf("A%d00", i), fmt.Sprintf("B%d00", i)
		return run("r").user("I am "+user).
			call("find", `{}`, `{"user":{"id":"`+user+`"},"level":1}`).
			call("orders", `{"user":"`+user+`","level":1}`, `{"ids":["`+first+`","`+second+`"]}`).
			call("order", `{"id":"`+first+`"}`, `{"id":"`+first+`"}`).
			call("order", `{"id":"`+second+`"}`, `{"id":"`+second+`"}`).
			call("cancel", `{"id":"`+second+`"}`, ``)
	})
	s := corpus(scripts...)
	f := scripts[0].flow()
	got := []string{}
	for i := range f.Uses {
		u := &f.Uses[i]
		source, k := s.Best(f, u, 0)
		from := "nothing"
		if source != nil {
			from = fmt.Sprintf("%v@%d%v", k.From, source.Call, source.Positions)
		}
		got = append(got, f.Slots[u.Param].String()+" <- "+from)
	}
	want := []string{
		"orders(level) <- nothing", "orders(user) <- find.user.id@0[]", "order(id) <- orders.ids[*]@1[0]",
		"order(id) <- orders.ids[*]@1[1]", "cancel(id) <- orders.ids[*]@1[1]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	// Within the last three calls the id can only come from the call before.
	u := &f.Uses[len(f.Uses)-1]
	if source, k := s.Best(f, u, 2); source == nil || k.From.String() != "order(id)" || source.Call != 3 {
		t.Errorf("from call 2 on: %+v", source)
	}
	if source, _ := s.Best(f, u, 4); source != nil {
		t.Errorf("from call 4 on: %+v", source)
	}
}

func TestTemplateLink(t *testing.T) {
	names := []string{"Sofia", "Amir", "Chen", "Olga", "Bruno", "Wanda", "Nils", "Ines", "Paul", "Rosa"}
	scripts := many(10, func(i int) *script {
		return run("r").call("get", `{}`, fmt.Sprintf(`{"name":"%s","no":%d,"word":"order"}`, names[i], 4000+i*17)).
			call("send", fmt.Sprintf(`{"body":"Dear %s, order %d is on its way"}`, names[i], 4000+i*17), ``)
	})
	s := corpus(scripts...)
	var accepted []string
	for _, k := range s.Accepted(dataflow.Slot{Side: dataflow.Input, Tool: trace.Intern("send"), Path: "$.body"}) {
		accepted = append(accepted, fmt.Sprintf("%v %q/%d", k.From, k.Template, k.Part))
	}
	// That "order" stands in the result too makes it a part of the template: it
	// always does.
	want := []string{`get.name "Dear \x00, \x00 \x00 is on its way"/0`, `get.no "Dear \x00, \x00 \x00 is on its way"/2`}
	if !slices.Equal(accepted, want) {
		t.Errorf("got  %q\nwant %q", accepted, want)
	}
}

func TestReport(t *testing.T) {
	scripts := many(20, func(i int) *script {
		id := fmt.Sprintf("id-%d", i)
		s := run("r").user("please look at " + id + " for me")
		if i < 12 {
			s.call("find", `{"lang":"en"}`, `{"id":"`+id+`"}`)
		}
		return s.call("get", fmt.Sprintf(`{"id":"%s","note":"free text number %d","flag":true}`, id, i), ``)
	})
	set := corpus(scripts...)
	var params []string
	for _, p := range set.Params {
		text := fmt.Sprintf("%v %d uses %d values %d never:", p.Param, p.Uses, p.Values, p.Never.Count)
		total := 0
		for _, share := range p.Shares {
			total += share.Count
			if share.N != p.Uses {
				t.Errorf("%v: share of %d, want %d", p.Param, share.N, p.Uses)
			}
			if share.Count > 0 {
				text += fmt.Sprintf(" %s %d [%.2f %.2f]", share.Class, share.Count, share.Interval.Lo, share.Interval.Hi)
			}
		}
		if total != p.Uses {
			t.Errorf("%v: shares add up to %d of %d", p.Param, total, p.Uses)
		}
		params = append(params, text)
	}
	want := []string{
		"find(lang) 12 uses 1 values 12 never: constant 12 [0.76 1.00]",
		"get(flag) 20 uses 1 values 20 never: constant 20 [0.84 1.00]",
		"get(id) 20 uses 20 values 0 never: output 12 [0.39 0.78] task 8 [0.22 0.61]",
		"get(note) 20 uses 20 values 20 never: unknown 20 [0.84 1.00]",
	}
	if !slices.Equal(params, want) {
		t.Errorf("got  %q\nwant %q", params, want)
	}
}

// TestAutoTool counts by hand as the paper's Table 2 does: every earlier call of
// another tool with an argument of the same value counts.
func TestAutoTool(t *testing.T) {
	s := run("r").
		call("go_to", `{"place":"kitchen"}`, `ok`).
		call("go_to", `{"place":"kitchen"}`, `ok`). // the same tool: no pair
		call("focus_on", `{"object":"kettle"}`, `ok`).
		call("pick_up", `{"object":"kettle","from":"kitchen"}`, `ok`).           // object: focus_on 1; from: go_to 2
		call("use", `{"target":"kettle","on":"stove","quietly":false}`, `ok`).   // target: focus_on, pick_up
		call("look_at", `{"object":"kettle","quietly":false,"place":""}`, `ok`). // object: focus_on, pick_up, use; quietly: use
		turn(call{"use", `{"target":"stove"}`, `ok`}, call{"wait", `{"for":"stove"}`, `ok`})
	var got []string
	for _, p := range corpus(s).AutoTool() {
		got = append(got, fmt.Sprintf("%v %v %d %.2f", p.To, p.From, p.Count, p.Share))
	}
	want := []string{
		"look_at(object) focus_on(object) 1 0.33", "look_at(object) pick_up(object) 1 0.33", "look_at(object) use(target) 1 0.33",
		"look_at(quietly) use(quietly) 1 1.00",
		"pick_up(from) go_to(place) 2 1.00", "pick_up(object) focus_on(object) 1 1.00",
		"use(target) focus_on(object) 1 0.50", "use(target) pick_up(object) 1 0.50",
		"wait(for) use(on) 1 1.00",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// drawRun draws a small trajectory over few values, so that much coincides.
func drawRun(t *rapid.T) *script {
	s := run("r").user(rapid.SampledFrom([]string{"x1y and z2w", "go to 2024-05-20", ""}).Draw(t, "task"))
	drawValue := func() string {
		return rapid.SampledFrom([]string{
			`"x1y"`, `"z2w"`, `7`, `"7"`, `1234`, `"1234"`, `true`, `null`, `""`, `[]`, `["x1y","z2w"]`, `{"a":"x1y","b":7}`,
			`[{"k":"x1y","v":"z2w"},{"k":"q3r","v":1234}]`, `"Re: x1y"`, `"x1y to z2w"`, `"2024-05-20"`, `"{\"in\":\"x1y\"}"`,
		}).Draw(t, "value")
	}
	for range rapid.IntRange(0, 8).Draw(t, "turns") {
		var calls []call
		for range rapid.IntRange(1, 3).Draw(t, "calls") {
			calls = append(calls, call{
				rapid.SampledFrom([]string{"f", "g", "h"}).Draw(t, "tool"),
				`{"p":` + drawValue() + `,"q":` + drawValue() + `}`,
				rapid.SampledFrom([]string{drawValue(), `{"r":` + drawValue() + `}`, "plain x1y text", ""}).Draw(t, "result"),
			})
		}
		s.turn(calls...)
	}
	return s
}

// TestCollectProperties holds on every trajectory: sources come from earlier
// turns, are in order, and give what they say.
func TestCollectProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawRun(t)
		f := s.flow()
		for i := range f.Uses {
			u := &f.Uses[i]
			turn := s.t.Calls[u.Call].Turn
			for j := range u.Sources {
				checkSource(t, s, f, u, &u.Sources[j], turn)
				// A part of the value may have come from somewhere though the
				// whole was new.
				if u.Sources[j].Relation != dataflow.Template && (u.Seen.Turn < 0 || u.Seen.Turn > turn) {
					t.Fatalf("%v has a source and was not seen: %+v", f.Slots[u.Param], u.Seen)
				}
			}
		}
	})
}

func checkSource(t *rapid.T, s *script, f *dataflow.Flow, u *dataflow.Use, source *dataflow.Source, turn int) {
	slot := f.Slots[source.Slot]
	switch slot.Side {
	case dataflow.Task, dataflow.User, dataflow.System:
		if s.t.Messages[source.Call].Turn > turn {
			t.Fatalf("a message of turn %d is a source in turn %d", s.t.Messages[source.Call].Turn, turn)
		}
		return
	}
	from := &s.t.Calls[source.Call]
	if from.Turn >= turn || from.Tool != slot.Tool {
		t.Fatalf("call %d of %v, turn %d, is a source in turn %d", source.Call, slot, from.Turn, turn)
	}
	root, _ := from.ArgsValue()
	if slot.Side == dataflow.Output {
		root, _ = from.ResultValue()
	}
	path, err := jsonpath.Parse(slot.Path)
	if err != nil {
		t.Fatal(err)
	}
	if source.Relation != dataflow.Equal {
		return
	}
	for _, node := range path.Eval(root) {
		if jsonvalue.Hash(&node) == u.Value {
			return
		}
	}
	t.Fatalf("%v of call %d does not hold the value of %v", slot, source.Call, f.Slots[u.Param])
}

// TestLinksIgnoreScratch: the same flows give the same set whatever was collected
// with the same Collector before, and Add reads no flow after it returns.
func TestLinksIgnoreScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var used dataflow.Collector
		a, b := dataflow.NewLinks(), dataflow.NewLinks()
		for range rapid.IntRange(0, 6).Draw(t, "runs") {
			s := drawRun(t)
			var fresh dataflow.Collector
			a.Add(fresh.Collect(&s.t))
			used.Collect(&drawRun(t).t)
			b.Add(used.Collect(&s.t))
		}
		x, y := a.Set(), b.Set()
		if got, want := fmt.Sprint(y.Links), fmt.Sprint(x.Links); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		if got, want := fmt.Sprintf("%+v", y.AutoTool()), fmt.Sprintf("%+v", x.AutoTool()); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}
