package rules

import (
	"bytes"
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/failure"
)

// TestBuiltins: every built-in set is free of problems, formatted, documented
// and true to its examples; every rule that is not the like of the one above has
// an example.
func TestBuiltins(t *testing.T) {
	sets := Builtins()
	if len(sets) != 7 {
		t.Errorf("there are %d built-in sets, want 7", len(sets))
	}
	for _, b := range sets {
		t.Run(b.Name, func(t *testing.T) {
			set, problems := Options{}.Check(b.File(), b.Source)
			for _, e := range problems {
				t.Error(e)
			}
			if set.Doc == "" || len(set.Rules) == 0 {
				t.Error("the set has no rules, or does not say what it is for")
			}
			if out, err := Format(b.File(), b.Source); err != nil || !bytes.Equal(out, b.Source) {
				t.Errorf("the set is not formatted: %v\n%s", err, out)
			}
			examples := set.AllExamples()
			for i := range examples {
				checkExample(t, set, &examples[i])
			}
			kinds := map[Kind]bool{}
			for _, r := range set.Rules {
				kinds[r.Kind] = kinds[r.Kind] || len(r.Examples) > 0
			}
			for kind, shown := range kinds {
				if !shown {
					t.Errorf("no rule of kind %s has an example", kind)
				}
			}
		})
	}
}

// TestBuiltinsTogether: all sets can be included at once, without names that are
// there twice, and the examples of each still hold for what the others leave
// alone.
func TestBuiltinsTogether(t *testing.T) {
	src := "version: 1\ninclude: [builtin:browser, builtin:failures, builtin:filesystem, builtin:http, builtin:mcp-annotations, builtin:shell, builtin:sql]\n"
	set, problems := Options{}.Check("all.yaml", []byte(src))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := 0
	for _, b := range Builtins() {
		own, err := Parse(b.File(), b.Source)
		if err != nil {
			t.Fatal(err)
		}
		want += len(own.Rules)
		for _, e := range own.AllExamples() {
			checkExample(t, set, &e)
		}
	}
	if len(set.Rules) != want {
		t.Errorf("%d rules, want %d", len(set.Rules), want)
	}
	if own := set.AllExamples(); len(own) != 0 {
		t.Errorf("examples of included sets are taken for the file's own: %d", len(own))
	}
}

// TestFailurePatterns: the built-in set has a rule for each pattern of package failure,
// in its order, with an example that fits it, and the schema names them all.
func TestFailurePatterns(t *testing.T) {
	src, _ := builtinSource("failures")
	set, err := Parse("builtin:failures", src)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range set.Rules {
		got = append(got, r.Failure)
		fits := slices.ContainsFunc(r.Examples, func(e Example) bool { return r.Tells([]byte(e.Calls[0].Result)) })
		if !fits || r.Is != "failed" {
			t.Errorf("%s has no example of a failure", r.ID)
		}
	}
	if want := failure.Names(); !slices.Equal(got, want) {
		t.Errorf("the set has rules for %v, want %v", got, want)
	}
	for _, name := range got {
		if !bytes.Contains(Schema(), []byte(`"`+name+`"`)) {
			t.Errorf("the schema does not know %s", name)
		}
	}
}
