package cmd

import (
	"iter"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// origins notes where the trajectories stand that a source yields the first time.
type origins struct {
	list []emit.Origin
	read bool
}

// source is like that of the intake.
func (o *origins) source(in *intake) metatool.Source {
	return func() iter.Seq2[*trace.Trajectory, error] {
		all := in.Source()
		if o.read {
			return all
		}
		o.read = true
		return func(yield func(*trace.Trajectory, error) bool) {
			for t, err := range all {
				if err == nil {
					o.list = append(o.list, emit.NewOrigin(t))
				}
				if !yield(t, err) {
					return
				}
			}
		}
	}
}

// foundArtefact gathers what is known of everything that was found; out says
// what became of it.
func foundArtefact(o extractOptions, c *metatool.Compilation, at *origins, out extractionJSON) emit.Found {
	became := map[string]*metaToolJSON{}
	for i := range out.MetaTools {
		became[out.MetaTools[i].Name] = &out.MetaTools[i]
	}
	found := emit.Found{Threshold: o.Threshold, Algorithm: o.Algorithm, Walks: c.Merged.Walks, Trajectories: at.list}
	for _, d := range c.Definitions {
		one := emit.FoundCandidate{Definition: d, Ending: c.Ending(d.Candidate)}
		if m := became[d.Name]; m != nil {
			one.Status, one.Reason = m.Status, m.Reason
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
			one.Definition(d.Description, d.Annotations, d.Input, metatool.ArgumentsSchema(d))
		}
		all = append(all, one)
	}
	return all
}
