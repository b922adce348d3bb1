package main

import (
	"testing"
)

// root is the folder of the project.
const root = "../.."

// What the program may come to, without embedded text and the nested module beam.
const (
	mostLines = 95_000

	// densest is 3 % above the tokens in a line of code before the program was made smaller.
	densest = 7.97
)

// TestBudgets holds each folder to its limit in budgets.tsv, and the goals to their sum. A
// folder that needs more takes it from another in the same change.
func TestBudgets(t *testing.T) {
	s, err := Measure(root)
	if err != nil {
		t.Fatal(err)
	}
	budgets, err := Budgets(root + "/testdata/size/budgets.tsv")
	if err != nil {
		t.Fatal(err)
	}
	goals := 0
	for _, b := range budgets {
		if n := s.Folders[b.Folder]; n > b.Limit {
			t.Errorf("%s has %d lines of code, and may have %d", b.Folder, n, b.Limit)
		}
		if b.Folder != Text && b.Folder != "beam" {
			goals += b.Goal
		}
	}
	if goals > mostLines {
		t.Errorf("the goals come to %d lines, more than %d", goals, mostLines)
	}
	if len(s.Unbudgeted) > 0 {
		t.Errorf("folders without a row: %v", s.Unbudgeted)
	}
	if d := s.TokensPerLine(); d > densest {
		t.Errorf("%.2f tokens in a line of code, more than %.2f: shorter lines of thought, not denser lines", d, densest)
	}
}

func TestCount(t *testing.T) {
	lines, tokens := count([]byte("package a // one\n\n// none\nvar x = `two\nlines` /* a\ncomment\n*/\n\nfunc f() {\n}\n"))
	if lines != 5 || tokens != 12 {
		t.Errorf("%d lines and %d tokens, not 5 and 12", lines, tokens)
	}
	if n := tagged([]byte("package a\ntype a struct { B int `json:\"b\"` }\ntype c struct { D int }")); n != 1 {
		t.Errorf("%d tagged structs, not 1", n)
	}
}
