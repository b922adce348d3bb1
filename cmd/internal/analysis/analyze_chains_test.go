package analysis

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/metatool"
)

// TestCoverage wants what a meta-tool makes of a chain, by names; a step with + walks a list.
func TestCoverage(t *testing.T) {
	made := func(name, calls string) *metatool.Tool {
		out := &metatool.Tool{Name: name}
		for _, call := range strings.Fields(calls) {
			s := metatool.Step{Tool: strings.TrimSuffix(call, "+")}
			if s.Tool != call {
				s.Each = &metatool.Binding{}
			}
			out.Steps = append(out.Steps, s)
		}
		return out
	}
	tools := []*metatool.Tool{made("read", "login list read+"), made("twice", "pay pay check"), made("short", "list read")}
	for _, x := range []struct {
		chain, covered, name string
		collapsed            bool
	}{
		{"login list read", coveredWhole, "read", false},
		{"login list read read read", coveredWhole, "read", false},
		{"list read", coveredWhole, "short", false},
		{"list read read", coveredInside, "read", false},
		{"read read", coveredInside, "read", false},
		{"login list", coveredInside, "read", false},
		{"login list read read close", coveredPart, "read", false},
		{"open list read close", coveredPart, "short", false},
		{"list login", coveredNot, "", false},
		{"read close", coveredNot, "", false},
		{"pay check", coveredInside, "twice", false},
		{"pay check", coveredWhole, "twice", true},
		{"pay pay check", coveredWhole, "twice", false},
	} {
		covered, name := coverage(strings.Fields(x.chain), tools, x.collapsed)
		if covered != x.covered || name != x.name {
			t.Errorf("%s (collapsed: %t): %s by %q, want %s by %q", x.chain, x.collapsed, covered, name, x.covered, x.name)
		}
	}
	if covered, name := coverage([]string{"a", "b"}, nil, false); covered != coveredNot || name != "" {
		t.Errorf("of no meta-tool: %s by %q", covered, name)
	}
}
