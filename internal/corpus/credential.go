package corpus

import (
	"slices"

	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/trace"
)

// answersLookedAt is how many answers of a tool are searched for credentials.
const answersLookedAt = 20

// Credentials returns the tools of which one of the first 20 answers holds what looks like
// a credential.
func Credentials(runs []*Run) map[string]bool {
	looked, found := map[trace.Name]int{}, map[string]bool{}
	for _, run := range runs {
		for i := range run.Calls {
			c := &run.Calls[i]
			if c.Tool == (trace.Name{}) || !c.HasResult || looked[c.Tool] == answersLookedAt {
				continue
			}
			looked[c.Tool]++
			if result, ok := c.ResultValue(); ok && HoldsCredential("", &result) {
				found[c.Tool.Value()], looked[c.Tool] = true, answersLookedAt
			}
		}
	}
	return found
}

// HoldsCredential reports whether a value of this name, or one inside it, looks like a
// credential.
func HoldsCredential(name string, v *trace.Value) bool {
	if (v.Kind == trace.String || v.Kind == trace.Number) && secret.Holds(name, v.Text) {
		return true
	}
	return slices.ContainsFunc(v.Elems, func(e trace.Value) bool { return HoldsCredential(name, &e) }) ||
		slices.ContainsFunc(v.Members, func(m trace.Member) bool { return secret.HasForm(m.Name) || HoldsCredential(m.Name, &m.Value) })
}
