package toolgraph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/awo-dev/awo/catalog"
	"github.com/awo-dev/awo/internal/report"
)

// FileSchema names the version of a graph's file.
const FileSchema = "awo.tool-world/v1"

// The codes of problems with a graph's file.
const (
	CodeFileSchema = "tool-world-schema" // it is no graph, or one of another version
	CodeFileShape  = "tool-world-shape"  // its members are not what they must be
)

// File is a graph as it is stored: tools by name, parameters by number, from 0. It
// holds names, descriptions, paths and counts, and no values of arguments or results.
type File struct {
	Schema        string        `json:"schema"`
	Trajectories  int           `json:"trajectories"`
	Calls         int           `json:"calls"`
	StatusUnknown int           `json:"status_unknown"` // calls of unknown status, which count as successes
	Links         int           `json:"links"`
	Updated       string        `json:"updated,omitempty"` // the last day of an update
	Tools         []FileTool    `json:"tools"`
	Parameters    []FileParam   `json:"parameters"`
	Consumes      []FileConsume `json:"consumes"`
	Produces      []FileProduce `json:"produces"`
	Follows       []FileFollow  `json:"follows"`
	Feeds         []FileFeed    `json:"feeds"`
}

// FileTool is a tool of a File.
type FileTool struct {
	Name        string      `json:"name"`
	Group       string      `json:"group,omitempty"`
	Description string      `json:"description,omitempty"`
	Defined     bool        `json:"defined"`
	Effect      Effect      `json:"effect"`
	Why         string      `json:"why,omitempty"`
	Counts      Counts      `json:"calls"`
	State       State       `json:"state"`
	Inputs      []FilePlace `json:"inputs"`
	Outputs     []FilePlace `json:"outputs"`
	OutputsFrom Source      `json:"outputs_from"`
}

// FilePlace is a place of a FileTool.
type FilePlace struct {
	Path        string `json:"path"`
	Type        string `json:"type,omitempty"`
	Required    bool   `json:"required,omitempty"`
	List        bool   `json:"list,omitempty"`
	Parameter   int    `json:"parameter"`
	Description string `json:"description,omitempty"`
}

// FileParam is a parameter of a File.
type FileParam struct {
	Name    string `json:"name"`
	Inputs  int    `json:"inputs"`
	Outputs int    `json:"outputs"`
}

// FileConsume is an edge from a parameter to a tool.
type FileConsume struct {
	Parameter int     `json:"parameter"`
	Tool      string  `json:"tool"`
	Path      string  `json:"path"`
	Required  bool    `json:"required"`
	Weight    float64 `json:"weight"`
	Given     int     `json:"given"`
	Calls     int     `json:"calls"`
}

// FileProduce is an edge from a tool to a parameter.
type FileProduce struct {
	Tool      string  `json:"tool"`
	Parameter int     `json:"parameter"`
	Path      string  `json:"path"`
	Weight    float64 `json:"weight"`
	Match     float64 `json:"match"`
	From      Source  `json:"from"`
	Hits      int     `json:"hits,omitempty"`
	Trials    int     `json:"trials,omitempty"`
}

// FileFollow is an edge between tools.
type FileFollow struct {
	From      string  `json:"from"`
	To        string  `json:"to"`
	Weight    float64 `json:"weight"`
	Succeeded int     `json:"succeeded"`
	Of        int     `json:"of"`
	Prior     float64 `json:"prior"`
	Kind      Kind    `json:"kind"`
}

// FileFeed is an edge between places, or with refused the finding that there is
// none.
type FileFeed struct {
	From     string  `json:"from"`
	FromPath string  `json:"from_path"`
	To       string  `json:"to"`
	ToPath   string  `json:"to_path"`
	Weight   float64 `json:"weight"`
	Uses     int     `json:"uses"`
	Of       int     `json:"of"`
	Hits     int     `json:"hits"`
	Trials   int     `json:"trials"`
	Whole    bool    `json:"whole"`
	Refused  bool    `json:"refused,omitempty"`
}

// File returns the graph as it is stored.
func (g *Graph) File() *File {
	f := &File{
		Schema: FileSchema, Trajectories: g.Trajectories, Calls: g.Calls, StatusUnknown: g.StatusUnknown, Links: g.Links, Updated: g.Updated,
		Tools: []FileTool{}, Parameters: []FileParam{}, Consumes: []FileConsume{}, Produces: []FileProduce{}, Follows: []FileFollow{}, Feeds: []FileFeed{},
	}
	name := func(t int) string { return g.Tools[t].Name }
	for i := range g.Tools {
		t := &g.Tools[i]
		f.Tools = append(f.Tools, FileTool{
			Name: t.Name, Group: t.Group, Description: t.Description, Defined: t.Defined, Effect: t.Effect, Why: t.Why, Counts: t.Counts, State: t.State,
			Inputs: filePlaces(t.Inputs), Outputs: filePlaces(t.Outputs), OutputsFrom: t.OutputsFrom,
		})
	}
	for _, p := range g.Params {
		f.Parameters = append(f.Parameters, FileParam{p.Name, p.Inputs, p.Gives})
	}
	for _, e := range g.Consumes {
		f.Consumes = append(f.Consumes, FileConsume{e.Param, name(e.Tool), e.Path, e.Required, rounded(e.Weight), e.Given, e.Calls})
	}
	for _, e := range g.Produces {
		f.Produces = append(f.Produces, FileProduce{name(e.Tool), e.Param, e.Path, rounded(e.Weight), rounded(e.Match), e.From, e.Hits, e.Trials})
	}
	for _, e := range g.Follows {
		f.Follows = append(f.Follows, FileFollow{name(e.From), name(e.To), e.Weight, e.Succeeded, e.Of, e.Prior, e.Kind})
	}
	for _, e := range g.Feeds {
		f.Feeds = append(f.Feeds, FileFeed{name(e.FromTool), e.FromPath, name(e.ToTool), e.ToPath, e.Weight, e.Uses, e.Of, e.Hits, e.Trials, e.Whole, e.Refused})
	}
	return f
}

func filePlaces(list []Place) []FilePlace {
	out := make([]FilePlace, 0, len(list))
	for _, p := range list {
		out = append(out, FilePlace{p.Path, p.Type, p.Required, p.List, p.Param, p.Description})
	}
	return out
}

// Encode returns the graph as the JSON of its File.
func (g *Graph) Encode() ([]byte, error) { return report.MarshalJSON(g.File()) }

// Decode reads what Encode wrote. The error is a *diag.Error in the named file.
func Decode(file string, data []byte) (*Graph, error) {
	return catalog.Decode(storedGraph, file, data, (*File).graph)
}

var storedGraph = catalog.Stored{
	What: "graph of tools", Schema: FileSchema, From: "`awo tools graph --out DIR` writes graph.json", CodeSchema: CodeFileSchema, CodeShape: CodeFileShape,
}

// graph returns the graph of a file, or what is wrong with it.
func (f *File) graph() (*Graph, string) {
	g := &Graph{Trajectories: f.Trajectories, Calls: f.Calls, StatusUnknown: f.StatusUnknown, Links: f.Links, Updated: f.Updated}
	problem := ""
	complain := func(format string, args ...any) {
		if problem == "" {
			problem = fmt.Sprintf(format, args...)
		}
	}
	find := func(name string) int {
		i, ok := g.Find(name)
		if !ok {
			complain("an edge names %q, which is no tool of the graph", name)
		}
		return i
	}
	param := func(p int) int {
		if p < 0 || p >= len(f.Parameters) {
			complain("there is no parameter %d", p)
		}
		return p
	}
	weight := func(w float64) float64 {
		if !(w >= 0 && w <= 1) {
			complain("the weight %v is not between 0 and 1", w)
		}
		return w
	}
	count := func(n ...int) {
		if slices.Min(n) < 0 {
			complain("a count is below 0")
		}
	}
	for _, t := range f.Tools {
		count(t.Counts.OK, t.Counts.Failed, t.Counts.Unknown)
		if !slices.Contains([]Effect{Reads, Writes, Unknown}, t.Effect) || !slices.Contains([]State{Active, Pruned, Failing}, t.State) {
			complain("the effect or state of %q is none", t.Name)
		}
		g.Tools = append(g.Tools, Tool{
			Name: t.Name, Group: t.Group, Description: t.Description, Defined: t.Defined, Effect: t.Effect, Why: t.Why, Counts: t.Counts, State: t.State,
			Inputs: places(t.Inputs, param), Outputs: places(t.Outputs, param), OutputsFrom: t.OutputsFrom,
		})
	}
	if !slices.IsSortedFunc(g.Tools, func(a, b Tool) int { return cmp.Or(cmp.Compare(a.Name, b.Name), -1) }) {
		complain("tools are not in the order of their names, or one is there twice")
	}
	for _, p := range f.Parameters {
		g.Params = append(g.Params, Param{p.Name, p.Inputs, p.Outputs})
	}
	for _, e := range f.Consumes {
		count(e.Given, e.Calls)
		g.Consumes = append(g.Consumes, Consume{param(e.Parameter), find(e.Tool), e.Path, e.Required, weight(e.Weight), e.Given, e.Calls})
	}
	for _, e := range f.Produces {
		count(e.Hits, e.Trials)
		g.Produces = append(g.Produces, Produce{find(e.Tool), param(e.Parameter), e.Path, weight(e.Weight), weight(e.Match), e.From, e.Hits, e.Trials})
	}
	for _, e := range f.Follows {
		count(e.Succeeded, e.Of)
		g.Follows = append(g.Follows, Follow{find(e.From), find(e.To), weight(e.Weight), e.Succeeded, e.Of, weight(e.Prior), e.Kind})
	}
	for _, e := range f.Feeds {
		count(e.Uses, e.Of, e.Hits, e.Trials)
		g.Feeds = append(g.Feeds, Feed{find(e.From), find(e.To), e.FromPath, e.ToPath, weight(e.Weight), e.Uses, e.Of, e.Hits, e.Trials, e.Whole, e.Refused})
	}
	return g, problem
}

func places(list []FilePlace, param func(int) int) []Place {
	var out []Place
	for _, p := range list {
		out = append(out, Place{p.Path, p.Type, p.Required, p.List, param(p.Parameter), p.Description})
	}
	return out
}
