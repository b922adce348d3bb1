package rules

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePath(t *testing.T) {
	name := func(s string) Segment { return Segment{Name: s} }
	each := Segment{Kind: SegmentEach}
	for text, want := range map[string]Path{
		"date":             {name("date")},
		"passengers[].dob": {name("passengers"), each, name("dob")},
		"items[0].id":      {name("items"), {Kind: SegmentIndex}, name("id")},
		"a[][12]":          {name("a"), each, {Kind: SegmentIndex, Index: 12}},
		`"a.b".c`:          {name("a.b"), name("c")},
		`a."b[\"\\".c`:     {name("a"), name(`b["\`), name("c")},
		"user-id":          {name("user-id")},
		"größe":            {name("größe")},
		`""`:               {name("")},
		`"*"`:              {name("*")},
		"$ref":             {name("$ref")},
		"a:b/c":            {name("a:b/c")},
	} {
		got, err := ParsePath(text)
		if err != nil || got.String() != want.String() || !got.Matches(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if got.String() != text {
			t.Errorf("%s is written as %s", text, got)
		}
	}
}

func TestPathMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, concrete string
		want              bool
	}{
		{"a", "a", true},
		{"a", "b", false},
		{"a", "a.b", false},
		{"a.b", "a", false},
		{"a[].b", "a[3].b", true},
		{"a[].b", "a[].b", true},
		{"a[].b", "a.x.b", false},
		{"a[0]", "a[0]", true},
		{"a[0]", "a[1]", false},
		{"a[0]", "a[]", false},
		{`"0"`, "a", false},
	} {
		pattern, err := ParsePath(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		concrete, err := ParsePath(test.concrete)
		if err != nil {
			t.Fatal(err)
		}
		if got := pattern.Matches(concrete); got != test.want {
			t.Errorf("%s matches %s: %v", pattern, concrete, got)
		}
	}
}

// TestPathProperty: every path is read back as it was written.
func TestPathProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := Path{{Name: strings.ToValidUTF8(rapid.String().Draw(t, "first"), "")}}
		for range rapid.IntRange(0, 6).Draw(t, "length") {
			path = append(path, rapid.OneOf(
				rapid.Custom(func(t *rapid.T) Segment {
					text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a.\[\]"\\*$ ]{0,4}`)).Draw(t, "name")
					return Segment{Name: strings.ToValidUTF8(text, "")}
				}),
				rapid.Custom(func(t *rapid.T) Segment {
					return Segment{Kind: SegmentIndex, Index: rapid.IntRange(0, 1<<31-1).Draw(t, "index")}
				}),
				rapid.Just(Segment{Kind: SegmentEach}),
			).Draw(t, "segment"))
		}
		again, err := ParsePath(path.String())
		if err != nil || len(again) != len(path) {
			t.Fatalf("%q: %v, %v", path, again, err)
		}
		for i := range path {
			if again[i] != path[i] {
				t.Fatalf("%q is read as %q", path, again)
			}
		}
	})
}

func FuzzParsePath(f *testing.F) {
	for _, text := range []string{"a", "a[].b", "a[0]", `"a.b".c`, "a..b", "[", `"`, "a[99999999999]", strings.Repeat("a.", 200)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, err := ParsePath(text)
		if err != nil {
			problem, ok := errors.AsType[*PathError](err)
			if !ok || problem.Offset < 0 || problem.Offset > len(text) || problem.Msg == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		if len(path) == 0 || len(path) > maxPathSegments {
			t.Fatalf("%q has %d segments", text, len(path))
		}
		if again, err := ParsePath(path.String()); err != nil || again.String() != path.String() {
			t.Fatalf("%q is written as %q: %v", text, path, err)
		}
	})
}
