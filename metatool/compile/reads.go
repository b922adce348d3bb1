package compile

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// Assumption is a tool that is taken to read only, although no rule says so.
//
// It widens what a binding may do, because a read that agents would not have made
// is harmless: a walk over a list need not be one that every run took to its end,
// and a link needs less evidence. States, labels and Algorithm 1 know nothing of
// it.
type Assumption struct {
	Tool string `json:"tool"`
	// Why is "annotation" (the definition says readOnlyHint) or "name" (it is a verb
	// of reading, see package toolname).
	Why string `json:"why"`
	// Checks counts the calls that were made before with the same arguments, and
	// nothing but such tools between; in Changed of them the result was another.
	Checks  int `json:"checks"`
	Changed int `json:"changed"`
}

// maxChanged is the share of checks above which a tool is not taken to read
// only: what it returns depends on something, and that may be the call before.
const maxChanged = 0.05

// readEvidence holds against the traces that tools read only. The zero value has
// seen nothing.
type readEvidence struct {
	checks, changed map[trace.Name]int
}

// repeated is how often results of tools were seen again.
type repeated struct{ checks, changed map[trace.Name]int }

// repeatedCalls compares what calls returned that were made before with the same
// arguments, and only reads by name between. It is pure.
func repeatedCalls(t *trace.Trajectory) repeated {
	out := repeated{}
	named := map[trace.Name]bool{}
	results := map[string]uint64{}
	var key []byte
	for i := range t.Calls {
		c := &t.Calls[i]
		reads, known := named[c.Tool]
		if !known {
			reads = toolname.Of(c.Tool.Value()) == toolname.Reads
			named[c.Tool] = reads
		}
		if !reads {
			clear(results)
			continue
		}
		if !c.HasResult || c.Status == trace.StatusFailed {
			continue
		}
		result, ok := c.ResultValue()
		if !ok {
			result = trace.Value{Kind: trace.String, Text: c.Result.Text()}
		}
		hash := jsonvalue.Hash(&result)
		key = c.AppendCanonicalArgs(append(append(key[:0], c.Tool.Value()...), 0))
		if before, again := results[string(key)]; again {
			if out.checks == nil {
				out.checks, out.changed = map[trace.Name]int{}, map[trace.Name]int{}
			}
			out.checks[c.Tool]++
			if before != hash {
				out.changed[c.Tool]++
			}
		}
		results[string(key)] = hash
	}
	return out
}

func (e *readEvidence) add(r repeated) {
	if e.checks == nil {
		e.checks, e.changed = map[trace.Name]int{}, map[trace.Name]int{}
	}
	for tool, n := range r.checks {
		e.checks[tool] += n
		e.changed[tool] += r.changed[tool]
	}
}

// assumptions returns the tools that may be taken to read only, in order of
// names: those that no effect rule is about, whose definition or name says so, and
// of which the traces do not show the contrary. With declared a name says nothing.
func (e *readEvidence) assumptions(m *merge.Merged, declared bool) []Assumption {
	var list []Assumption
	for _, t := range m.Catalog.Tools() {
		name := t.Name.Value()
		if !t.Called || m.Set.HasEffect(name) {
			continue
		}
		effect, basis := toolname.Decide(toolname.Unknown, toolname.Annotated(t.Definition.Annotations), name)
		if effect != toolname.Reads || declared && basis == toolname.Name {
			continue
		}
		a := Assumption{Tool: name, Why: basis.String(), Checks: e.checks[t.Name], Changed: e.changed[t.Name]}
		if float64(a.Changed) > maxChanged*float64(a.Checks) {
			continue
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Assumption) int { return cmp.Compare(a.Tool, b.Tool) })
	return list
}
