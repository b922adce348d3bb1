package bind_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/testdata/gen/truth"
	"github.com/awo-dev/awo/trace"
)

const officeRuns = "../../testdata/office/"

// officeCompiled compiles the bundled runs.
func officeCompiled(t testing.TB, o compile.Options) (*compile.Compilation, []*trace.Trajectory, *truth.File) {
	t.Helper()
	known, err := truth.Open(officeRuns + "/truth.json")
	if err != nil {
		t.Skipf("the office corpus is not there: %v", err)
	}
	list := recordings.Read(t, officeRuns+"trajectories.jsonl.gz")
	return compiled(t, list, recordings.Rules(t, officeRuns+"rules.yaml"), o), list, known
}

// pathInTruth writes a path as the truth file does: "[].password".
func pathInTruth(path jsonpath.Path) string {
	var b strings.Builder
	for _, s := range path {
		switch s.Kind {
		case jsonpath.Member:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.Name)
		case jsonpath.Index:
			fmt.Fprintf(&b, "[%d]", s.Index)
		default:
			b.WriteString("[]")
		}
	}
	return b.String()
}

// reads returns the step and the path that a binding reads in a result, false if
// it reads none.
func readBy(d *bind.Definition, step int, b *metatool.Binding) (int, jsonpath.Path, bool) {
	switch b.Kind {
	case metatool.BindStep:
		return b.Step, b.Path, true
	case metatool.BindElement:
		if each := d.Steps[step].Each; each.Kind == metatool.BindStep {
			return each.Step, append(slices.Clone(each.Path), b.Path...), true
		}
	case metatool.BindTemplate:
		return readBy(d, step, &b.Parts[0])
	}
	return 0, nil, false
}

// callsOf returns the calls of each step of an occurrence.
func callsOf(c *compile.Compilation, d *bind.Definition, o *candidate.Occurrence) [][]int {
	calls := make([][]int, len(d.Steps))
	at := o.First
	for k := range calls {
		for range o.Count(k) {
			first, _, _ := c.Merged.Walks.Calls(at)
			calls[k] = append(calls[k], first)
			at++
		}
	}
	return calls
}

// TestOfficeBindingsAreTrue holds what bindings claim against where every value
// truly came from.
func TestOfficeBindingsAreTrue(t *testing.T) {
	for _, algorithm := range []compile.Algorithm{compile.AWO, compile.Patterns} {
		t.Run(string(algorithm), func(t *testing.T) {
			c, list, known := officeCompiled(t, compile.Options{Algorithm: algorithm})
			byID := map[string]*truth.Trajectory{}
			for i := range known.Trajectories {
				byID[known.Trajectories[i].ID] = &known.Trajectories[i]
			}
			claims, right, findable, found := 0, 0, 0, 0
			wrong := map[string]int{}
			for _, d := range c.Definitions {
				if d.Refusals != nil {
					continue
				}
				for i := range d.Bound {
					if b := &d.Bound[i]; b.Binding.Kind == metatool.BindStep || b.Binding.Kind == metatool.BindElement {
						// An occurrence in which the binding gives something else.
						claims += b.Evidence.Occurrences - b.Evidence.Agree
						wrong[fmt.Sprintf("%s: %s differs", d.Name, b.Argument)] += b.Evidence.Occurrences - b.Evidence.Agree
					}
				}
				for n := range d.Candidate.Occurrences {
					o := &d.Candidate.Occurrences[n]
					run := byID[list[o.Trajectory].ID]
					calls := callsOf(c, d, o)
					for k, s := range d.Steps {
						for a := range s.Args {
							for _, call := range calls[k] {
								origin, isLeaf := run.Calls[call].Args[s.Args[a].Name]
								if !isLeaf {
									continue
								}
								step, path, reads := readBy(d, k, &s.Args[a].Binding)
								isInside := origin.From == truth.Result && slices.ContainsFunc(calls[:k], func(c []int) bool { return slices.Contains(c, origin.Call) })
								ok := false
								switch {
								case reads:
									ok = run.Judge(call, s.Args[a].Name, truth.Claim{From: truth.Result, Call: calls[step][0], Path: pathInTruth(path)})
								case s.Args[a].Binding.Kind == metatool.BindConst:
									ok = run.Judge(call, s.Args[a].Name, truth.Claim{From: truth.Model})
								}
								if reads || s.Args[a].Binding.Kind == metatool.BindConst {
									claims++
									if ok {
										right++
									}
									if !ok {
										wrong[fmt.Sprintf("%s: %s(%s) from %s, truly %s", d.Name, s.Tool, s.Args[a].Name, pathInTruth(path), origin.From)]++
									}
								}
								if isInside {
									findable++
									if ok {
										found++
									}
									if !ok {
										wrong[fmt.Sprintf("%s: %s(%s) is not bound", d.Name, s.Tool, s.Args[a].Name)]++
									}
								}
							}
						}
					}
				}
			}
			precision, recall := float64(right)/float64(claims), float64(found)/float64(findable)
			t.Logf("precision %.4f (%d of %d), recall %.4f (%d of %d)", precision, right, claims, recall, found, findable)
			if precision < 0.99 || recall < 0.95 {
				for what, n := range wrong {
					if n > 0 {
						t.Errorf("%s: %d", what, n)
					}
				}
			}
		})
	}
}

// contains reports whether the steps of a chain stand in a definition, bound as
// the truth file says.
func contains(d *bind.Definition, c *truth.Chain) bool {
	for first := 0; first+len(c.Steps) <= len(d.Steps); first++ {
		if isAt(d, first, c) {
			return true
		}
	}
	return false
}

func isAt(d *bind.Definition, first int, c *truth.Chain) bool {
	for k, want := range c.Steps {
		s := &d.Steps[first+k]
		if s.Tool != want.Tool || (s.Each != nil) != want.Each {
			return false
		}
		for name, bind := range want.Bind {
			i := slices.IndexFunc(s.Args, func(a metatool.Argument) bool { return a.Name == name })
			if i < 0 {
				return false
			}
			step, path, ok := readBy(d, first+k, &s.Args[i].Binding)
			if !ok || step != first+bind.Step || strings.ReplaceAll(pathInTruth(path), "[0]", "[]") != bind.Path {
				return false
			}
			filter := slices.IndexFunc(path, func(s jsonpath.Step) bool { return s.Kind == jsonpath.Filter })
			if bind.Is != "" && (filter < 0 || path[filter].Name != bind.Key || path[filter].Value.Text != bind.Is) {
				return false
			}
		}
	}
	return true
}

// TestOfficeChains: the planted chains come out as tools, and those with an
// argument that only the model knew do not.
func TestOfficeChains(t *testing.T) {
	c, _, known := officeCompiled(t, compile.Options{Algorithm: compile.Patterns})
	var must, missing []string
	for i := range known.Chains {
		chain := &known.Chains[i]
		at := slices.IndexFunc(c.Definitions, func(d *bind.Definition) bool { return d.Refusals == nil && contains(d, chain) })
		switch {
		case chain.Find == truth.MustNot && at >= 0:
			t.Errorf("%s is %s, though only the model knew %s", chain.ID, c.Definitions[at].Name, chain.Blocked)
		case chain.Find == truth.Must:
			if must = append(must, chain.ID); at < 0 {
				missing = append(missing, chain.ID)
			}
		}
	}
	t.Logf("%d chains, missing %q", len(must), missing)
	if len(missing) > 0 {
		t.Errorf("%q are not found", missing)
	}
	for _, app := range []string{"mail", "calendar", "files", "payments", "tickets"} {
		i := slices.IndexFunc(c.Definitions, func(d *bind.Definition) bool {
			return len(d.Steps) == 2 && d.Steps[0].Tool == "supervisor_show_passwords" && d.Steps[1].Tool == app+"_login"
		})
		if i < 0 {
			t.Logf("logging in to %s alone is part of longer chains", app)
			continue
		}
		if in := c.Definitions[i].Inputs; len(in) > 1 || len(in) == 1 && in[0].Name != "username" {
			t.Errorf("%s has inputs %+v", c.Definitions[i].Name, in)
		}
	}
}
