package dataflow_test

import (
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

const bookSchema = `{
	"type": "object",
	"properties": {
		"cabin": {"enum": ["economy", "business", "xl"]},
		"kind": {"$ref": "#/$defs/kind"},
		"loop": {"$ref": "#/properties/loop"},
		"bomb": {"anyOf": [{"$ref": "#/properties/bomb"}, {"$ref": "#/properties/bomb"}]},
		"legs": {"type": "array", "items": {"properties": {"class": {"anyOf": [{"const": "aisle"}, {"enum": [1, 2]}]}}}},
		"free": {"type": "string"}
	},
	"$defs": {"kind": {"oneOf": [{"const": "one_way"}, {"const": "round_trip"}]}}
}`

func TestKnownBefore(t *testing.T) {
	s := run("r").system("Today is 2024-05-15.").
		user("Book 12 seats for Amélie  Dupont on June 3rd, for 1,250 dollars.").
		call("find", `{"name":"Amélie Dupont"}`, `{"user":{"id":"amelie_17"},"by_date":{"2024-06-03":{"x":1}},"seen":"2024-05-20T10:00:00"}`).
		user("Make it window seats").
		turn(
			call{"price", `{"route":"JFK-LAX"}`, `{"total":431.5}`},
			call{"seats", `{"row":"17F"}`, `{"free":"18A"}`},
		).
		call("book", `{}`, `{"no":"B7731"}`)
	s.t.Tools = []trace.ToolDef{
		{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(bookSchema))},
		{Name: trace.Intern("broken"), Input: trace.TextOf("{")},
	}
	for _, tc := range []struct {
		before int
		param  string
		value  string
		ok     bool
		reason dataflow.Reason
		side   dataflow.Side
		index  int
	}{
		{0, "$.free", `"2024-05-15"`, true, dataflow.KnownSeen, dataflow.System, 0},
		{0, "$.free", `"Amélie  Dupont"`, true, dataflow.KnownSeen, dataflow.Task, 1},
		{0, "$.free", `"amélie dupont"`, true, dataflow.KnownNormal, dataflow.Task, 1},
		{0, "$.free", `"2024-06-03"`, true, dataflow.KnownNormal, dataflow.Task, 1},
		{0, "$.free", `"2024-06-04"`, false, dataflow.NotKnown, 0, 0},
		{0, "$.free", `1250`, true, dataflow.KnownNormal, dataflow.Task, 1},
		{0, "$.free", `12`, false, dataflow.TooShort, 0, 0},
		{0, "$.free", `"xy"`, false, dataflow.TooShort, 0, 0},
		{0, "$.free", `"éa"`, false, dataflow.TooShort, 0, 0},
		{0, "$.free", `true`, true, dataflow.KnownBoolean, 0, 0},
		{0, "$.free", `null`, true, dataflow.KnownEmpty, 0, 0},
		{0, "$.free", `""`, true, dataflow.KnownEmpty, 0, 0},
		{0, "$.free", `[]`, true, dataflow.KnownEmpty, 0, 0},
		{0, "$.cabin", `"xl"`, true, dataflow.KnownEnum, 0, 0},
		{0, "$.cabin", `"first"`, false, dataflow.NotKnown, 0, 0},
		{0, "$.kind", `"round_trip"`, true, dataflow.KnownEnum, 0, 0},
		{0, "$.loop", `"round_trip"`, false, dataflow.NotKnown, 0, 0},
		{0, "$.bomb", `"round_trip"`, false, dataflow.NotKnown, 0, 0},
		{0, "$.legs", `[{"class":"aisle"},{"class":2}]`, true, dataflow.KnownEnum, 0, 0},
		{0, "$.legs", `[{"class":"aisle"},{"class":3}]`, false, dataflow.TooShort, 0, 0},
		{0, "$.free", `"amelie_17"`, false, dataflow.NotKnown, 0, 0},
		{1, "$.free", `"amelie_17"`, true, dataflow.KnownSeen, dataflow.Output, 0},
		{1, "$.free", `"window"`, true, dataflow.KnownSeen, dataflow.User, 2},
		{0, "$.free", `"window"`, false, dataflow.NotKnown, 0, 0},
		// A member's name is known to whoever read the result.
		{1, "$.free", `"by_date"`, true, dataflow.KnownSeen, dataflow.Output, 0},
		// A time tells its date.
		{1, "$.free", `"May 20, 2024"`, true, dataflow.KnownNormal, dataflow.Output, 0},
		// Parallel calls are not known to each other.
		{1, "$.free", `"17F"`, false, dataflow.NotKnown, 0, 0},
		{2, "$.free", `"17F"`, false, dataflow.NotKnown, 0, 0},
		{2, "$.free", `"JFK-LAX"`, false, dataflow.NotKnown, 0, 0},
		{3, "$.free", `"JFK-LAX"`, true, dataflow.KnownSeen, dataflow.Input, 1},
		{3, "$.free", `"LAX"`, true, dataflow.KnownSeen, dataflow.Input, 1},
		{3, "$.free", `431.50`, true, dataflow.KnownSeen, dataflow.Output, 1},
		{3, "$.free", `{"a":"18A","b":["amelie_17",false]}`, true, dataflow.KnownBoolean, 0, 0},
		{3, "$.free", `{"a":"18A","b":["B7731"]}`, false, dataflow.NotKnown, 0, 0},
		{4, "$.free", `"B7731"`, true, dataflow.KnownSeen, dataflow.Output, 3}, // after the last call
	} {
		param := dataflow.Slot{Side: dataflow.Input, Tool: trace.Intern("book"), Path: tc.param}
		got := dataflow.KnownBefore(&s.t, tc.before, param, value(t, tc.value))
		if got.OK != tc.ok || got.Reason != tc.reason || got.Side != tc.side || got.Index != tc.index {
			t.Errorf("%s before call %d: %+v, want %v %s in %v %d", tc.value, tc.before, got, tc.ok, tc.reason, tc.side, tc.index)
		}
	}
	if got := dataflow.KnownBefore(&s.t, 0, dataflow.Slot{}, value(t, `"xl"`)); got.OK {
		t.Errorf("without a parameter there are no enums: %+v", got)
	}
}

// TestKnownBeforeAgrees: asking the flow and asking the trajectory give the same
// answer for the arguments that were used.
func TestFlowKnownBefore(t *testing.T) {
	s := run("r").user("look up W1234").call("get", `{"id":"W1234"}`, `{"item":"I777"}`).
		call("item", `{"id":"I777"}`, `{"next":"I888"}`).call("item", `{"id":"I888","n":2}`, ``)
	f := s.flow()
	enums := dataflow.EnumsOf(&s.t)
	for i := range f.Uses {
		u := &f.Uses[i]
		path, err := jsonpath.Parse(f.Slots[u.Param].Path)
		if err != nil {
			t.Fatal(err)
		}
		args, _ := s.t.Calls[u.Call].ArgsValue()
		v, ok := path.Single(args)
		if !ok {
			t.Fatalf("no %v", path)
		}
		for before := range s.t.Calls {
			got, want := f.KnownBefore(u, before, enums), dataflow.KnownBefore(&s.t, before, f.Slots[u.Param], v)
			if got != want {
				t.Errorf("%v before call %d: the flow says %+v, the trajectory %+v", f.Slots[u.Param], before, got, want)
			}
		}
	}
}
