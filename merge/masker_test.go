package merge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/merge/internal/mergetest"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// shownLabels are the labels of a merged set as a masker shows them.
func shownLabels(m *Merged) []string {
	masker := m.Masker(false)
	var all []string
	for id := range m.Labels.Len() {
		all = append(all, masker.Label(Label(id)))
	}
	return all
}

func TestMasker(t *testing.T) {
	allow := rules.Rule{Kind: rules.KindValues, Match: mergetest.On("sort by"), Values: true}
	allowAll := rules.Rule{Kind: rules.KindValues, Match: mergetest.On("open"), Values: true}
	for _, test := range []struct {
		name  string
		set   *rules.Set
		calls []string
		want  []string
	}{
		{
			"values are hidden, equal ones alike", nil,
			[]string{`a{"id":"x","n":7}`, `b{"id":"x","list":["y","x",{"k":"7"}],"n":7.5,"on":true,"z":null}`, `c{"e":{},"f":[],"g":""}`, `d`},
			[]string{`a{"id":"‹v1›","n":"‹v2›"}`, `b{"id":"‹v1›","list":["‹v3›","‹v1›",{"‹v4›":"‹v5›"}],"n":"‹v6›","on":"‹v7›","z":"‹v8›"}`, `c{"e":{},"f":[],"g":"‹v9›"}`, `d`},
		},
		{
			"what a rule wrote is shown", mergetest.Set(mergetest.Rewrite("* id", `^([a-z]+)_\d+`, "{USER ${1}}")),
			[]string{`a{"id":"mia_12"}`, `a{"id":"mia_12 of \"x\""}`},
			[]string{`a{"id":"{USER ‹v1›}"}`, `a{"id":"{USER ‹v1›}‹v2›"}`},
		},
		{
			"a value that only looks like it is not lost", mergetest.Set(mergetest.Rewrite("* id", `^\d+$`, "{N}")),
			[]string{`a{"id":"12"}`, `a{"id":"{N}"}`},
			[]string{`a{"id":"‹v1›"}`},
		},
		{
			"values that a rule allows", mergetest.Set(allow, allowAll),
			[]string{`sort{"by":"name","of":"x"}`, `open{"a":{"b":[1,"2"]}}`},
			[]string{`sort{"by":"name","of":"‹v1›"}`, `open{"a":{"b":[1,"2"]}}`},
		},
		{
			"names that are data", nil,
			[]string{`a{"b c":1,"_x":{"alice":1},"` + strings.Repeat("n", 65) + `":1}`},
			[]string{`a{"_x":{"‹v1›":"‹v2›"},"‹v3›":"‹v2›","‹v4›":"‹v2›"}`},
		},
		{"no JSON", nil, []string{`a{"x`}, []string{`a{"_raw":"‹v1›"}`}},
		{"control characters", mergetest.Set(mergetest.Rewrite("* x", "b", "{B}")), []string{`a{"x":"a\u0001b\u0002c\\\""}`}, []string{`a{"x":"‹v1›{B}‹v2›"}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := merged(test.set, mergetest.Run(test.calls...))
			if got := shownLabels(m); !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
			all := m.Masker(true)
			for id := range m.Labels.Len() {
				if got := all.Label(Label(id)); got != m.Labels.Text(Label(id)) || strings.ContainsAny(got, "\x01\x02") {
					t.Errorf("shown whole: %q", got)
				}
			}
		})
	}
}

func TestMaskerShowsWhatDefinitionsList(t *testing.T) {
	tr := mergetest.Run(`book{"cabin":"economy","class":"first","insured":true,"kind":"x","leg":{"mode":"air","no":3},"stops":["a","b"],"to":"secret"}`)
	tr.Tools = []trace.ToolDef{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(`{
		"$defs": {"mode": {"enum": ["air", "rail"]}, "self": {"anyOf": [{"$ref": "#/$defs/self"}, {"const": "x"}]}},
		"properties": {
			"cabin": {"type": "string", "enum": ["economy", "business"]},
			"class": {"type": "string", "enum": ["second"]},
			"insured": {"type": "boolean"},
			"kind": {"$ref": "#/$defs/self"},
			"leg": {"properties": {"mode": {"$ref": "#/$defs/mode"}, "no": {"type": "integer"}}},
			"stops": {"items": {"enum": ["a"]}},
			"to": {"type": "string"}
		}}`))}}
	got := shownLabels(merged(nil, tr))
	want := []string{`book{"cabin":"economy","class":"‹v1›","insured":true,"kind":"x","leg":{"mode":"air","no":"‹v2›"},"stops":["a","‹v3›"],"to":"‹v4›"}`}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestMaskerShowsConstants(t *testing.T) {
	runs := func(n, tasks int, calls ...string) []*trace.Trajectory {
		var all []*trace.Trajectory
		for i := range n {
			tr := mergetest.Run(calls...)
			tr.ID = fmt.Sprint(i)
			tr.Task = fmt.Sprint(i % tasks)
			tr.Tools = []trace.ToolDef{{Name: trace.Intern("other"), Description: trace.TextOf("Sorts by date.")}}
			all = append(all, tr)
		}
		return all
	}
	const calls = `list{"limit":10,"order":{"by":"date"},"password":"hunter2","key":"sk-live-0123456789","q":"x","by":"swordfish"}`
	for _, test := range []struct {
		name string
		runs []*trace.Trajectory
		want string
	}{
		{"common", runs(5, 2, calls), `list{"by":"‹v1›","key":"‹v2›","limit":10,"order":{"by":"date"},"password":"‹v3›","q":"x"}`},
		{"too few", runs(4, 2, calls, calls), `list{"by":"‹v1›","key":"‹v2›","limit":"‹v3›","order":{"‹v4›":"‹v5›"},"password":"‹v6›","q":"‹v7›"}`},
		{"one task", runs(9, 1, calls), `list{"by":"‹v1›","key":"‹v2›","limit":"‹v3›","order":{"‹v4›":"‹v5›"},"password":"‹v6›","q":"‹v7›"}`},
		{"not the same everywhere", append(runs(9, 3, calls), mergetest.Run(`list{"q":"y","limit":10}`)), `list{"by":"‹v1›","key":"‹v2›","limit":10,"order":{"by":"date"},"password":"‹v3›","q":"‹v4›"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := shownLabels(merged(nil, test.runs...))[0]; got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// FuzzMasker looks for values that show through: every text and every number of
// the arguments is made to be recognised.
func FuzzMasker(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":"x"}`, `{"a":[1,2,{"b":"y"}],"c":null}`, `{"a":"\u0001\u0002"}`, `["x"]`, `"x"`, `{"a`, `{"\"":"\\"}`, "\xff"} {
		f.Add(seed)
	}
	set := mergetest.Set(mergetest.Rewrite("* a", `x(.)`, "{X$1}"), mergetest.DropArg("* d"), mergetest.Loop("*", "c"), mergetest.Effect("*", rules.Accessor))
	f.Fuzz(func(t *testing.T, args string) {
		tr := mergetest.Run("tool")
		tr.Calls[0].Args = trace.TextOf(args)
		m := merged(set, tr)
		value, _ := tr.Calls[0].ArgsValue()
		if m.Labels.Len() != 1 {
			t.Fatalf("%d labels", m.Labels.Len())
		}
		text, shown := m.Labels.Text(0), m.Masker(false).Label(0)
		if !strings.HasPrefix(shown, "tool{") || strings.ContainsAny(text+shown, "\x01\x02") {
			t.Fatalf("label %q, shown as %q", text, shown)
		}
		if _, err := trace.ParseValue([]byte(shown[len("tool"):])); err != nil {
			t.Fatalf("%q is no JSON: %v", shown, err)
		}
		for _, secret := range leaves(value, nil) {
			if len(secret) > 3 && !strings.Contains(secret, "v") && strings.Contains(shown, secret) && !strings.Contains(names(value), secret) {
				t.Fatalf("%q shows %q", shown, secret)
			}
		}
	})
}

// leaves are the texts and numbers of a value.
func leaves(v trace.Value, to []string) []string {
	switch v.Kind {
	case trace.String, trace.Number:
		to = append(to, v.Text)
	case trace.Array:
		for _, e := range v.Elems {
			to = leaves(e, to)
		}
	case trace.Object:
		for _, m := range v.Members {
			to = leaves(m.Value, to)
		}
	}
	return to
}

// names are the names of the members of a value, in one text.
func names(v trace.Value) string {
	var b strings.Builder
	b.WriteString("tool{_raw_value{X}")
	for _, m := range v.Members {
		b.WriteString(m.Name + " " + names(m.Value))
	}
	for _, e := range v.Elems {
		b.WriteString(names(e))
	}
	return b.String()
}
