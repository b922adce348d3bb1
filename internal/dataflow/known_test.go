package dataflow_test

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
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
	}{
		{0, "$.free", `"2024-05-15"`, true},
		{0, "$.free", `"Amélie  Dupont"`, true},
		{0, "$.free", `"amélie dupont"`, true},
		{0, "$.free", `"2024-06-03"`, true},
		{0, "$.free", `"2024-06-04"`, false},
		{0, "$.free", `1250`, true},
		{0, "$.free", `12`, false},
		{0, "$.free", `"xy"`, false},
		{0, "$.free", `"éa"`, false},
		{0, "$.free", `true`, true},
		{0, "$.free", `null`, true},
		{0, "$.free", `""`, true},
		{0, "$.free", `[]`, true},
		{0, "$.cabin", `"xl"`, true},
		{0, "$.cabin", `"first"`, false},
		{0, "$.kind", `"round_trip"`, true},
		{0, "$.loop", `"round_trip"`, false},
		{0, "$.bomb", `"round_trip"`, false},
		{0, "$.legs", `[{"class":"aisle"},{"class":2}]`, true},
		{0, "$.legs", `[{"class":"aisle"},{"class":3}]`, false},
		{0, "$.free", `"amelie_17"`, false},
		{1, "$.free", `"amelie_17"`, true},
		{1, "$.free", `"window"`, true},
		{0, "$.free", `"window"`, false},
		// A member's name is known to whoever read the result.
		{1, "$.free", `"by_date"`, true},
		// A time tells its date.
		{1, "$.free", `"May 20, 2024"`, true},
		// Parallel calls are not known to each other.
		{1, "$.free", `"17F"`, false},
		{2, "$.free", `"17F"`, false},
		{2, "$.free", `"JFK-LAX"`, false},
		{3, "$.free", `"JFK-LAX"`, true},
		{3, "$.free", `"LAX"`, true},
		{3, "$.free", `431.50`, true},
		{3, "$.free", `{"a":"18A","b":["amelie_17",false]}`, true},
		{3, "$.free", `{"a":"18A","b":["B7731"]}`, false},
		{4, "$.free", `"B7731"`, true}, // after the last call
	} {
		if got := knownBefore(&s.t, tc.before, "book", strings.TrimPrefix(tc.param, "$."), value(t, tc.value)); got != tc.ok {
			t.Errorf("%s before call %d: %v, want %v", tc.value, tc.before, got, tc.ok)
		}
	}
	if knownBefore(&s.t, 0, "other", "cabin", value(t, `"xl"`)) {
		t.Error("without a schema there are no enums")
	}
}

// knownBefore says whether a value was known before a call, if it is an argument of that.
func knownBefore(t *trace.Trajectory, call int, tool, argument string, v trace.Value) bool {
	before, turn := *t, len(t.Turns)
	if call < len(t.Calls) {
		turn = t.Calls[call].Turn
	}
	for call > 0 && t.Calls[call-1].Turn == turn {
		call--
	}
	args := trace.NewObject(trace.Member{Name: argument, Value: v})
	before.Calls = append(t.Calls[:call:call], trace.Call{Tool: trace.Intern(tool), Turn: turn, Args: trace.JSONOf(args.AppendCanonical(nil))})
	f := new(dataflow.Collector).Collect(&before)
	for i := range f.Uses {
		if u := &f.Uses[i]; u.Call == call && !u.Whole && !f.KnownBefore(u, call, new(dataflow.Schemas).EnumsOf(t)) {
			return false
		}
	}
	return true
}
