package toolgraph

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/toolgraph/catalog"
)

// FileSchema names the version of a graph's file: the JSON of a Graph, in which edges name
// tools and parameters by their places, from 0.
const FileSchema = "awo.tool-world/v2"

// The codes of problems with a graph's file.
const (
	CodeFileSchema = "tool-world-schema" // it is no graph, or one of another version
	CodeFileShape  = "tool-world-shape"  // its members are not what they must be
)

// file is a graph as it is stored. It holds names, descriptions, paths and counts, and no
// values of arguments or results.
type file struct {
	Schema string `json:"schema"`
	*Graph
}

// Encode returns the graph as JSON.
func (g *Graph) Encode() ([]byte, error) {
	out := *g
	out.Consumes, out.Produces = slices.Clone(g.Consumes), slices.Clone(g.Produces)
	for i := range out.Consumes {
		out.Consumes[i].Weight = rounded(out.Consumes[i].Weight)
	}
	for i := range out.Produces {
		e := &out.Produces[i]
		e.Weight, e.Match = rounded(e.Weight), rounded(e.Match)
	}
	return report.MarshalJSON(file{FileSchema, &out})
}

// Decode reads what Encode wrote. The error is a *diag.Error in the named file.
func Decode(name string, data []byte) (*Graph, error) {
	return catalog.Decode(storedGraph, name, data, (*file).graph)
}

var storedGraph = catalog.Stored{
	What: "graph of tools", Schema: FileSchema, From: "`awo tools graph --out DIR` writes graph.json", CodeSchema: CodeFileSchema, CodeShape: CodeFileShape,
}

// graph returns the graph of a file, or what is wrong with it.
func (f *file) graph() (*Graph, string) {
	g := f.Graph
	if g == nil {
		return nil, "there is no graph"
	}
	problem := ""
	complain := func(isWrong bool, format string, args ...any) {
		if isWrong && problem == "" {
			problem = fmt.Sprintf(format, args...)
		}
	}
	tools := func(places ...int) {
		for _, t := range places {
			complain(t < 0 || t >= len(g.Tools), "there is no tool %d", t)
		}
	}
	param := func(p int) { complain(p < 0 || p >= len(g.Params), "there is no parameter %d", p) }
	weights := func(list ...float64) {
		for _, w := range list {
			complain(!(w >= 0 && w <= 1), "the weight %v is not between 0 and 1", w)
		}
	}
	_, err := time.Parse(time.DateOnly, g.Updated)
	complain(g.Updated != "" && err != nil, "%q is no day", g.Updated)
	counts := func(n ...int) { complain(slices.Min(n) < 0, "a count is below 0") }
	for i := range g.Tools {
		t := &g.Tools[i]
		counts(t.Counts.OK, t.Counts.Failed, t.Counts.Unknown)
		complain(min(t.Recent.OK, t.Recent.Failed, t.Recent.Calls) < 0, "a count is below 0")
		complain(!slices.Contains([]Effect{Reads, Writes, Unknown}, t.Effect) || !slices.Contains([]State{Active, Pruned, Failing}, t.State), "the effect or state of %q is none", t.Name)
		for _, p := range slices.Concat(t.Inputs, t.Outputs) {
			param(p.Param)
		}
	}
	complain(!slices.IsSortedFunc(g.Tools, func(a, b Tool) int { return cmp.Or(cmp.Compare(a.Name, b.Name), -1) }), "tools are not in the order of their names, or one is there twice")
	for _, e := range g.Consumes {
		tools(e.Tool)
		param(e.Param)
		weights(e.Weight)
		counts(e.Given, e.Calls)
	}
	for _, e := range g.Produces {
		tools(e.Tool)
		param(e.Param)
		weights(e.Weight, e.Match)
		counts(e.Hits, e.Trials)
	}
	for _, e := range g.Follows {
		tools(e.From, e.To)
		weights(e.Weight, e.Prior)
		counts(e.Succeeded, e.Of)
	}
	for _, e := range g.Feeds {
		tools(e.FromTool, e.ToTool)
		weights(e.Weight)
		counts(e.Uses, e.Of, e.Hits, e.Trials)
	}
	return g, problem
}
