package rules

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
)

// written are rules, all kinds among them, as they are written.
func written(t *testing.T) []string {
	t.Helper()
	var sources []string
	for _, b := range Builtins() {
		sources = append(sources, string(b.Source))
	}
	files, err := filepath.Glob("testdata/valid/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, string(src))
	}
	doc, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, block := range strings.Split(string(doc), "```") {
		if body, is := strings.CutPrefix(block, "yaml\n- id:"); is && i%2 == 1 {
			sources = append(sources, "version: 1\nrules:\n- id:"+body)
		}
	}
	return sources
}

// TestWrite: what is written is read as the same rule, for every kind.
func TestWrite(t *testing.T) {
	seen := map[Kind]bool{}
	for _, src := range written(t) {
		set, _ := Parse("a", []byte(src))
		for _, r := range set.Rules {
			seen[r.Kind] = true
			text := "version: 1\nrules:\n" + r.Write()
			again, err := Parse("b", []byte(text))
			if err != nil || len(again.Rules) != 1 {
				t.Errorf("%v\n%s", err, text)
				continue
			}
			if got := again.Rules[0].Write(); got != r.Write() || meaning(again.Rules[0]) != meaning(r) {
				t.Errorf("%s is read as\n%s%s\n%s", text, got, meaning(r), meaning(again.Rules[0]))
			}
		}
	}
	for _, k := range kinds {
		if !seen[k.Kind] {
			t.Errorf("no rule of kind %s is written", k.Kind)
		}
	}
}

// meaning is what a rule says.
func meaning(r *Rule) string {
	alone := *r
	alone.Pos, alone.Examples = diag.Pos{}, nil
	return string(describeSet(&Set{Rules: []*Rule{&alone}}))
}
