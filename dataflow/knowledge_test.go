package dataflow_test

import (
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

// TestKnowledgeOffice asks for what stands in real runs.
func TestKnowledgeOffice(t *testing.T) {
	const path = "../testdata/office/trajectories.jsonl.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skip("the office corpus is not there")
	}
	var c dataflow.Collector
	for i, one := range read(t, path) {
		if i%50 == 0 {
			values := askable(one)
			checkKnowledge(t, &c, one, values[:min(len(values), 60)])
		}
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
