package rules

import (
	"io/fs"
	"slices"
	"testing"
)

// TestKindsTable: the table has every kind once, in the order of the stages,
// and every field in the order of Format.
func TestKindsTable(t *testing.T) {
	want := []Kind{KindDrop, KindRename, KindStatus, KindFold, KindInsert, KindDropArg, KindRewrite, KindEffect, KindDomain, KindLoop, KindCommute, KindBarrier, KindPlumbing, KindState, KindValues}
	var got []Kind
	for _, k := range Kinds() {
		got = append(got, k.Kind)
		if k.Kind.String() != string(k.Kind) {
			t.Errorf("%s is written as %s", string(k.Kind), k.Kind)
		}
		for _, field := range k.required {
			if !slices.Contains(k.Fields, field) {
				t.Errorf("%s: %s is required and no field", k.Kind, field)
			}
		}
		for _, field := range k.Fields {
			if !slices.Contains(ruleFields(), field) {
				t.Errorf("%s: %s is no field of rules", k.Kind, field)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("kinds %v, want %v", got, want)
	}
	got[0] = "changed"
	if Kinds()[0].Kind != KindDrop {
		t.Error("the table can be changed from outside")
	}
}

// TestSetKinds: a set knows which kinds it has.
func TestSetKinds(t *testing.T) {
	set := &Set{Rules: []*Rule{{ID: "a", Kind: KindLoop}, {ID: "b", Kind: KindDrop}, {ID: "c", Kind: KindLoop}}}
	if got := set.Kinds(); !slices.Equal(got, []Kind{KindDrop, KindLoop}) {
		t.Errorf("kinds %v", got)
	}
	var ids []string
	for r := range set.Of(KindLoop) {
		ids = append(ids, r.ID)
	}
	if !slices.Equal(ids, []string{"a", "c"}) {
		t.Errorf("loop rules %v", ids)
	}
	if (&Set{}).Kinds() != nil {
		t.Error("an empty set has kinds")
	}
}

func TestMetaTool(t *testing.T) {
	set, err := Parse("f", []byte("version: 1\nmeta_tools:\n  - {name: login, tools: [show_*, '*_login']}\n  - {name: any, tools: ['*', '*']}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tools []string
		want  string
	}{
		{[]string{"show_passwords", "spotify_login"}, "login"},
		{[]string{"show_passwords", "play"}, "any"},
		{[]string{"show_passwords"}, ""},
		{[]string{"a", "b", "c"}, ""},
	} {
		got := ""
		if m := set.MetaTool(test.tools); m != nil {
			got = m.Name
		}
		if got != test.want {
			t.Errorf("%v is called %q, want %q", test.tools, got, test.want)
		}
	}
}

func TestParseExamples(t *testing.T) {
	examples, err := ParseExamples("cases.yaml", []byte("version: 1\ndoc: Cases.\nexamples:\n  - {call: {tool: a}, gives: []}\n  - {calls: [{tool: a}, {tool: b}], same_state_as: []}\n"))
	if err != nil || len(examples) != 2 || examples[0].Gives == nil || examples[1].SameState == nil || examples[1].Calls[1].Tool != "b" {
		t.Errorf("%+v, %v", examples, err)
	}
	examples, err = ParseExamples("cases.yaml", []byte("version: 1\nrules: []\nexamples:\n  - {call: {tol: a}, gives: []}\n  - {call: {tool: a}, gives: []}\n"))
	if err == nil || len(examples) != 1 {
		t.Errorf("%+v, %v", examples, err)
	}
	const want = "cases.yaml:2:1: rule-unknown-field: a file of examples has no field \"rules\"\n" +
		"cases.yaml:4:12: rule-missing-field: a call has no `tool`\n" +
		"cases.yaml:4:13: rule-unknown-field: a call has no field \"tol\": did you mean `tool`?"
	if err.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", err, want)
	}
	if _, err := ParseExamples("cases.yaml", []byte("version: 1\n")); err == nil {
		t.Error("a file without examples is taken")
	}
	if _, err := ParseExamples("cases.yaml", nil); err == nil {
		t.Error("an empty file is taken")
	}
}

func TestEffectNames(t *testing.T) {
	if Mutator.String() != "mutator" || Accessor.String() != "accessor" || Annotator.String() != "annotator" {
		t.Error("effects are not called as in rule files")
	}
	var zero Effect
	if zero != Mutator {
		t.Error("the safe default is a mutator")
	}
}

// fromFS reads included files from a file system.
func fromFS(fsys fs.FS) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) { return fs.ReadFile(fsys, name) }
}
