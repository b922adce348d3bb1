package candidate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/testdata/gen/truth"
)

const officeFolder = "../../testdata/office"

// officePatterns finds the patterns of the office corpus.
func officePatterns(t *testing.T) (*truth.File, *Extraction, *Extraction) {
	t.Helper()
	known, err := truth.Open(filepath.Join(officeFolder, "truth.json"))
	if os.IsNotExist(err) {
		t.Skip("the office corpus is not there")
	} else if err != nil {
		t.Fatal(err)
	}
	list := recordings.Read(t, filepath.Join(officeFolder, "trajectories.jsonl.gz"))
	m, p := patternsOf(list, recordings.Rules(t, officeFolder+"/rules.yaml"), Options{}, true)
	return known, p.Extraction(), Extract(m, Options{})
}

// truthPath writes a path as the truth file does: "messages[].id".
func truthPath(s dataflow.Slot) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.ReplaceAll(s.Path, "[*]", "[]"), "$"), ".")
}

// find returns the steps of a pattern that are a planted chain, nil if it does
// not contain it.
func find(pattern []PatternStep, c *truth.Chain) []int {
	var at []int
	for i := range pattern {
		if len(at) < len(c.Steps) && pattern[i].Tool.Value() == c.Steps[len(at)].Tool && bound(&pattern[i], &c.Steps[len(at)], at) {
			at = append(at, i)
		}
	}
	if len(at) < len(c.Steps) {
		return nil
	}
	return at
}

// bound reports whether an argument of the step comes from where the chain has
// it, and none from elsewhere inside the pattern. What was known before the
// pattern may come from outside.
func bound(s *PatternStep, want *truth.Step, at []int) bool {
	links := s.Args
	if s.Each != nil {
		links = append(slices.Clone(links), PatternArg{s.Each, s.From})
	}
	needed, right := 0, 0
	for arg, b := range want.Bind {
		if b.Model || b.Path == "" {
			continue
		}
		needed++
		for _, a := range links {
			if truthPath(a.Link.To) != arg || a.From < 0 {
				continue
			}
			if truthPath(a.Link.From) != b.Path || at[b.Step] != a.From {
				return false
			}
			right++
		}
	}
	return (needed == 0 || right > 0) && (!want.Each || s.Each != nil)
}

// TestOfficePatterns: every planted chain that can be a tool is part of a
// pattern, none that cannot is, and no pattern has an argument from where its
// value stands by coincidence.
func TestOfficePatterns(t *testing.T) {
	known, x, awo := officePatterns(t)
	t.Logf("%d calling turns: awo saves %d, patterns %d (%.1f %%) with %d", x.Turns, awo.TurnsSaved(), x.TurnsSaved(),
		100*float64(x.TurnsSaved())/float64(x.Turns), len(x.Candidates))
	must, found := 0, 0
	for i := range known.Chains {
		c := &known.Chains[i]
		in := slices.IndexFunc(x.Candidates, func(one *Candidate) bool { return find(one.Pattern, c) != nil })
		switch c.Find {
		case truth.Must:
			must++
			if in >= 0 {
				found++
			} else {
				t.Logf("%s is not found", c.ID)
			}
		case truth.MustNot:
			if in >= 0 {
				t.Errorf("%s is found, though only the model knew %s: %s", c.ID, c.Blocked, describePattern(x.Candidates[in]))
			}
		}
	}
	if recall := float64(found) / float64(must); recall < 0.95 {
		t.Errorf("%d of %d chains are found", found, must)
	}
	for _, c := range x.Candidates {
		for _, s := range c.Pattern {
			links := []*dataflow.Link{s.Each}
			for _, a := range s.Args {
				links = append(links, a.Link)
			}
			for _, k := range links {
				if k != nil && isCoincidence(known, k) {
					t.Errorf("%s takes %s from %s", describePattern(c), k.To, k.From)
				}
			}
		}
	}
	if x.TurnsSaved() < 2*awo.TurnsSaved() {
		t.Errorf("patterns save %d turns, Algorithm 1 %d", x.TurnsSaved(), awo.TurnsSaved())
	}
}

func isCoincidence(known *truth.File, k *dataflow.Link) bool {
	return slices.ContainsFunc(known.Coincidences, func(c truth.Coincidence) bool {
		return k.From.Side == dataflow.Output && k.From.ToolName() == c.From.Tool && k.To.ToolName() == c.To.Tool &&
			truthPath(k.From) == c.From.Path && truthPath(k.To) == c.To.Path
	})
}

// TestOfficePatternsWorkers: with symbols made in parallel the patterns are the
// same, and so they are when one asks again.
func TestOfficePatternsWorkers(t *testing.T) {
	_, x, _ := officePatterns(t)
	want := fmt.Sprint(describeAll(x))
	list := recordings.Read(t, filepath.Join(officeFolder, "trajectories.jsonl.gz"))
	_, p := patternsOf(list, recordings.Rules(t, officeFolder+"/rules.yaml"), Options{}, true)
	parallel := NewPatterns(p.merged, p.set, p.options)
	numbers := func(yield func(int) bool) {
		for i := range list {
			if !yield(i) {
				return
			}
		}
	}
	var collector dataflow.Collector
	for s := range par.Map(7, numbers, func(i int) *Symbols { return parallel.Symbols(i, list[i], collector.Collect(list[i])) }) {
		parallel.Add(s)
	}
	parallel.Judge(p.judgments)
	for range 2 {
		if got := fmt.Sprint(describeAll(parallel.Extraction())); got != want {
			t.Errorf("%s\nand\n%s", got, want)
		}
	}
}

func describeAll(x *Extraction) []string {
	var list []string
	for _, c := range x.Candidates {
		list = append(list, describePattern(c)+fmt.Sprint(c.Occurrences))
	}
	return list
}
