package extraction

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
)

// foundArtefact gathers what is known of everything that was found in what in
// yielded and from names; out says what became of it.
func foundArtefact(c *compile.Compilation, in *cli.Intake, from cli.Inputs, out JSON) emit.Found {
	became := map[string]*metaToolJSON{}
	for i := range out.MetaTools {
		became[out.MetaTools[i].Name] = &out.MetaTools[i]
	}
	found := emit.Found{Threshold: out.Threshold, Algorithm: out.Algorithm, Walks: c.Merged.Walks}
	if len(in.Origins) == c.Merged.Trajectories { // otherwise it was compiled from a part of them
		for _, o := range in.Origins {
			found.Trajectories = append(found.Trajectories, from.Origin(o))
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
