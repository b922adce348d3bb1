package extraction

import (
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/toolgraph"
)

// addGraph adds the flag of the graph by which substitutes are named.
func addGraph(f *pflag.FlagSet) {
	f.String("tool-graph", "", "name what may stand in for a tool that failed, by the graph in this `FILE`")
}

func readGraph(j *cli.Job, file string) (*toolgraph.Graph, error) {
	data, err := j.ReadAs("tool-graph", file)
	if err != nil {
		return nil, diag.List{cli.FileProblem(file, err)}
	}
	return toolgraph.Decode(file, data)
}

// hint names for each step of a meta-tool the tools that may stand in for its own. A
// step that the rules take for a write has none, whatever the graph says.
func hint(g *toolgraph.Graph, tool *metatool.Tool) {
	for i := range tool.Steps {
		s := &tool.Steps[i]
		s.Instead = nil
		at, known := g.Find(s.Tool)
		if !known || !s.ReadOnly {
			continue
		}
		for _, x := range g.Substitutes(at, nil) {
			if len(s.Instead) == toolgraph.MostAttempts {
				break
			}
			s.Instead = append(s.Instead, g.Tools[x.Tool].Name)
		}
	}
}

func hintAll(j *cli.Job, file string, tools []*bind.Definition) error {
	g, err := readGraph(j, file)
	if err != nil {
		return err
	}
	for _, d := range tools {
		hint(g, &d.Tool)
	}
	return nil
}
