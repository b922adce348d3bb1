package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/testdata/gen/truth"
)

func readRules(t *testing.T, name string) *rules.Set {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(committed, name))
	if err != nil {
		t.Fatal(err)
	}
	options := rules.Options{Load: func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(committed, name)) }}
	set, problems := options.Check(filepath.ToSlash(name), src)
	for _, p := range problems {
		t.Errorf("%s: %v", name, p)
	}
	return set
}

// domainOf returns the domain that the last rule for a tool gives it.
func domainOf(set *rules.Set, tool string) string {
	domain := ""
	for _, r := range set.Rules {
		if r.Kind != rules.KindDomain || !slices.ContainsFunc(r.Match.Tools, func(g rules.Glob) bool { return g.Match(tool) }) {
			continue
		}
		domain = r.Domain
		if r.DomainFrom != nil {
			if m := r.DomainFrom.FindStringSubmatch(tool); m != nil {
				domain = m[1]
			}
		}
	}
	return domain
}

// TestRulesAreTrue: the committed rules say of every tool what the truth file
// says: its effect, and for writes which others it commutes with.
func TestRulesAreTrue(t *testing.T) {
	set := readRules(t, "rules.yaml")
	file, err := truth.Open(filepath.Join(committed, committedTruth))
	if err != nil {
		t.Fatal(err)
	}
	domains := make(map[string]string)
	for _, tool := range file.Tools {
		effect, idempotent := rules.Mutator, false
		for _, r := range set.Rules {
			if r.Kind == rules.KindEffect && slices.ContainsFunc(r.Match.Tools, func(g rules.Glob) bool { return g.Match(tool.Name) }) {
				effect, idempotent = r.Effect, r.Idempotent
			}
		}
		if effect.String() != tool.Effect || idempotent != tool.Idempotent {
			t.Errorf("%s: rules say %v, idempotent %v; it is %s, %v", tool.Name, effect, idempotent, tool.Effect, tool.Idempotent)
		}
		if tool.Effect == "mutator" {
			domains[tool.Name] = domainOf(set, tool.Name)
		}
	}
	for _, p := range file.Commutation {
		a, b := domains[p.A], domains[p.B]
		if commute := a != "" && b != "" && a != b; commute != p.Commutes {
			t.Errorf("%s (%s) and %s (%s): commute is %v", p.A, a, p.B, b, p.Commutes)
		}
	}
}

// TestWrongRulesAreWrongInOneThing: each is the committed rules and one more.
func TestWrongRulesAreWrongInOneThing(t *testing.T) {
	right := readRules(t, "rules.yaml")
	names, err := filepath.Glob(filepath.Join(committed, "wrong", "*.yaml"))
	if err != nil || len(names) != 3 {
		t.Fatalf("%d wrong rule files, %v", len(names), err)
	}
	for _, name := range names {
		set := readRules(t, filepath.Join("wrong", filepath.Base(name)))
		if len(set.Rules) != len(right.Rules)+1 {
			t.Errorf("%s has %d rules, the right file %d", name, len(set.Rules), len(right.Rules))
		}
	}
	apart := readRules(t, filepath.Join("wrong", "domains-apart.yaml"))
	if a, b := domainOf(apart, "payments_pay_invoice"), domainOf(apart, "mail_move"); a == b {
		t.Errorf("domains apart has %q and %q", a, b)
	}
}
