package dataflow_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// scalars appends the scalars in v, and its names.
func scalars(list []trace.Value, v trace.Value) []trace.Value {
	if v.Kind != trace.Array && v.Kind != trace.Object {
		return append(list, v)
	}
	for _, e := range v.Elems {
		list = scalars(list, e)
	}
	for _, m := range v.Members {
		list = scalars(append(list, trace.NewString(m.Name)), m.Value)
	}
	return list
}

// askable are values that stand somewhere in a trajectory, in other forms too, and
// some that do not.
func askable(t *trace.Trajectory) []trace.Value {
	list := []trace.Value{
		{},
		trace.NewString(""), trace.NewString("nowhere at all"),
		{Kind: trace.Bool},
		{Kind: trace.Array},
		{Kind: trace.Number, Text: "7"},
		trace.NewObject(trace.Member{Name: "a", Value: trace.NewString("nowhere")}), trace.NewString("May 20, 2024"),
	}
	for i := range t.Calls {
		args, _ := t.Calls[i].ArgsValue()
		list = append(scalars(list, args), args)
		if result, ok := t.Calls[i].ResultValue(); ok {
			list = scalars(list, result)
		}
	}
	for i := range t.Messages {
		text := t.Messages[i].Text.Text()
		list = append(list, trace.NewString(text[:min(len(text), 40)]), trace.NewString(text[len(text)/2:min(len(text)/2+9, len(text))]))
	}
	for _, v := range slices.Clone(list) {
		if v.Kind == trace.Number {
			list = append(list, trace.NewString(v.Text))
		}
	}
	return list
}

// checkKnowledge asks for many values at once what KnownBefore says of each.
func checkKnowledge(t *testing.T, c *dataflow.Collector, one *trace.Trajectory, values []trace.Value) (known int) {
	t.Helper()
	knowledge := c.Knowledge(one, values...)
	for i, v := range values {
		for call := range len(one.Calls) + 1 {
			got, want := knowledge[i].KnownBefore(call), dataflow.KnownBefore(one, call, dataflow.Slot{}, v)
			if got != want {
				t.Fatalf("%s: %s before call %d: %+v, want %+v", one.ID, v.AppendCanonical(nil), call, got, want)
			}
			if want.Reason == dataflow.KnownSeen || want.Reason == dataflow.KnownNormal {
				known++
			}
		}
	}
	return known
}

func TestKnowledge(t *testing.T) {
	s := run("r").system("Today is 2024-05-15.").
		user("Book 12 seats for Amélie  Dupont on June 3rd, for 1,250 dollars.").
		call("find", `{"name":"Amélie Dupont"}`, `{"user":{"id":"amelie_17"},"by_date":{"2024-06-03":{"x":1}},"seen":"2024-05-20T10:00:00"}`).
		user("Make it window seats").
		turn(call{"price", `{"route":"JFK-LAX"}`, `{"total":431.5}`}, call{"seats", `{"row":"17F"}`, `{"free":"18A"}`}).
		call("book", `{}`, `{"no":"B7731"}`)
	odd := longRun(5)
	for i := range odd.t.Calls { // turns that are not in order, or are not known
		odd.t.Calls[i].Turn = []int{3, 1, 1, -1, 2}[i]
	}
	for _, one := range []*trace.Trajectory{&s.t, &odd.t, &longRun(8).t, &run("empty").t} {
		var c dataflow.Collector
		values := append(askable(one), trace.NewString("2024-06-03"), trace.NewString("amélie dupont"), trace.Value{Kind: trace.Number, Text: "1250"})
		known := checkKnowledge(t, &c, one, values)
		if known == 0 && len(one.Calls) > 0 {
			t.Errorf("%s: nothing was known", one.ID)
		}
	}
}

// TestKnowledgeOffice asks for what stands in real runs, and whether flows without
// sources say the same of arguments.
func TestKnowledgeOffice(t *testing.T) {
	const path = "../testdata/office/trajectories.jsonl.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skip("the office corpus is not there")
	}
	var c dataflow.Collector
	for i, one := range read(t, path) {
		full, seen := c.Collect(one), c.CollectKnown(one)
		if len(full.Uses) != len(seen.Uses) {
			t.Fatalf("%s: %d uses, want %d", one.ID, len(seen.Uses), len(full.Uses))
		}
		for k := range full.Uses {
			u, v := full.Uses[k], seen.Uses[k]
			if full.Slots[u.Param] != seen.Slots[v.Param] {
				t.Fatalf("%s: use %d is of %v, want %v", one.ID, k, seen.Slots[v.Param], full.Slots[u.Param])
			}
			u.Sources, u.Param, v.Param = nil, 0, 0
			if got, want := fmt.Sprintf("%+v", v), fmt.Sprintf("%+v", u); got != want {
				t.Fatalf("%s: use %d: %s, want %s", one.ID, k, got, want)
			}
		}
		if i%50 == 0 {
			values := askable(one)
			checkKnowledge(t, &c, one, values[:min(len(values), 60)])
		}
	}
}

// TestKnownUntil: what is read of a part of a trajectory says the same of it.
func TestKnownUntil(t *testing.T) {
	odd := longRun(6)
	for i := range odd.t.Calls {
		odd.t.Calls[i].Turn = []int{3, 1, 1, -1, 2, 0}[i]
	}
	list := []*trace.Trajectory{&longRun(8).t, &odd.t}
	const path = "../testdata/office/trajectories.jsonl.gz"
	if _, err := os.Stat(path); err == nil {
		list = append(list, read(t, path)[:60]...)
	}
	var c dataflow.Collector
	known := 0
	for _, one := range list {
		full, enums := c.CollectKnown(one), dataflow.EnumsOf(one)
		for last := range one.Calls {
			for before := range last {
				part := c.KnownUntil(one, last, before)
				for i := range part.Uses {
					u, v := &part.Uses[i], &full.Uses[i]
					if u.Call > last {
						break
					}
					got, want := part.KnownBefore(u, before, enums), full.KnownBefore(v, before, enums)
					if got != want || u.Call != v.Call || part.Slots[u.Param] != full.Slots[v.Param] {
						t.Fatalf("%s: use %d before call %d of %d: %+v, want %+v", one.ID, i, before, last, got, want)
					}
					if want.OK && u.Call == last {
						known++
					}
				}
				if n := len(part.Uses); n < len(full.Uses) && full.Uses[n].Call <= last {
					t.Fatalf("%s: uses of call %d are missing", one.ID, full.Uses[n].Call)
				}
			}
		}
	}
	if known == 0 {
		t.Error("nothing was known")
	}
}

// TestSchemas: what is kept of schemas changes no answer.
func TestSchemas(t *testing.T) {
	s := run("r").user("x").call("book", `{}`, `{}`)
	var schemas dataflow.Schemas
	for _, tools := range [][]trace.ToolDef{
		{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(bookSchema))}},
		{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(bookSchema))}, {Name: trace.Intern("book"), Input: trace.TextOf("{")}},
		{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(`{"properties":{"cabin":{"const":"first"}}}`))}},
		{{Name: trace.Intern("book"), Input: trace.TextOf(bookSchema)}},
		nil,
	} {
		s.t.Tools = tools
		for range 2 {
			kept, read := schemas.EnumsOf(&s.t), dataflow.EnumsOf(&s.t)
			for _, path := range []string{"$.cabin", "$.kind", "$.loop", "$.bomb", "$.legs[*].class", "$.free", "$", "no path"} {
				for _, v := range []string{`"economy"`, `"first"`, `"round_trip"`, `"aisle"`, `2`} {
					param, hash := dataflow.Slot{Side: dataflow.Input, Tool: trace.Intern("book"), Path: path}, jsonvalue.Hash(new(value(t, v)))
					if got, want := kept.Has(param, hash), read.Has(param, hash); got != want {
						t.Errorf("%s of %s: %v, want %v", v, path, got, want)
					}
				}
			}
		}
	}
	s.t.Tools = []trace.ToolDef{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(bookSchema))}}
	param := dataflow.Slot{Side: dataflow.Input, Tool: trace.Intern("book"), Path: "$.kind"}
	if !schemas.EnumsOf(&s.t).Has(param, jsonvalue.Hash(new(trace.NewString("one_way")))) {
		t.Error("one_way is listed")
	}
}
