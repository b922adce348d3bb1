package extraction

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/bind"
)

// foundArtefact gathers what is known of everything that was found in the runs that were
// compiled, which from names; out says what became of it.
func foundArtefact(c *extractCompilation, from cli.Inputs, out *extraction) emit.Found {
	became := map[string]*metaTool{}
	for i := range out.metaTools {
		became[out.metaTools[i].Name] = &out.metaTools[i]
	}
	found := emit.Found{Threshold: out.Threshold, Algorithm: out.Algorithm, Walks: c.Merged.Walks}
	if c.test == nil {
		for _, r := range c.train {
			found.Trajectories = append(found.Trajectories, from.Origin(emit.Origin{ID: r.ID, File: r.Source.File, Line: r.Source.Line}))
		}
	}
	for _, d := range c.Definitions {
		one := emit.FoundCandidate{Definition: d, Ending: c.Ending(d.Candidate)}
		if m := became[d.Name]; m != nil {
			one.Status, one.Reason, one.ReasonText, one.Anti, one.Failures = m.Status, m.Reason, reasonText(m.Reason), m.Anti, m.Failures
		}
		found.Candidates = append(found.Candidates, one)
	}
	return found
}

// toolDefinitions returns the tools that the traces call, as they were recorded.
func toolDefinitions(m *merge.Merged) []emit.ToolDefinition {
	var all []emit.ToolDefinition
	for _, t := range m.Catalog.Tools() {
		if !t.Called {
			continue
		}
		one := emit.ToolDefinition{Name: t.Name.Value(), Versions: t.Versions}
		if d := &t.Definition; d.Known {
			one.Definition(d.Description, d.Annotations, d.Input, bind.ArgumentsSchema(d))
		}
		all = append(all, one)
	}
	return all
}
