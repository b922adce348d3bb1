package toolgraph

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/toolgraph/catalog"
	"github.com/awo-dev/awo/trace"
)

// Effect is what a call of a tool does to the world.
type Effect string

// The effects. What nothing is known of counts as a write.
const (
	Reads   Effect = "reads"
	Writes  Effect = "writes"
	Unknown Effect = "unknown"
)

// State is whether searches go through a tool.
type State string

// The states of tools (Equation 13).
const (
	Active  State = "active"
	Pruned  State = "pruned"
	Failing State = "failing" // it would be pruned, but is the only producer of a parameter that some tool requires
)

// Source says what a tool's output places come from.
type Source string

// The sources, the best first.
const (
	FromSchema  Source = "schema"
	FromResults Source = "results"
	FromName    Source = "name"
)

// A Place is a place in the arguments or results of a tool with its parameter.
type Place struct {
	Path     string `json:"path"`
	Type     string `json:"type,omitempty"`
	Required bool   `json:"required,omitempty"`
	List     bool   `json:"list,omitempty"`
	Param    int    `json:"parameter"` // index into Graph.Params
	// Description is of an argument, at most 400 bytes.
	Description string `json:"description,omitempty"`
}

// A Tool is a node of the graph.
type Tool struct {
	Name        string  `json:"name"`
	Group       string  `json:"group,omitempty"`
	Description string  `json:"description,omitempty"`
	Defined     bool    `json:"defined"` // a definition was read, not calls alone
	Effect      Effect  `json:"effect"`
	Why         string  `json:"why,omitempty"` // what the effect rests on: annotation, method, name; "" if it is unknown
	Counts      Counts  `json:"calls"`
	Recent      Recent  `json:"recent"`
	State       State   `json:"state"`
	Inputs      []Place `json:"inputs"`
	Outputs     []Place `json:"outputs"`
	OutputsFrom Source  `json:"outputs_from"`
}

// A Param is a node of the graph: places that hold the same thing.
type Param struct {
	Name   string `json:"name"`
	Inputs int    `json:"inputs"`  // places
	Gives  int    `json:"outputs"` // output places
}

// A Consume is a structural edge from a parameter to a tool.
type Consume struct {
	Param    int     `json:"parameter"`
	Tool     int     `json:"tool"`
	Path     string  `json:"path"`
	Required bool    `json:"required"`
	Weight   float64 `json:"weight"` // 1 if required, else the share of calls that give it
	Given    int     `json:"given"`
	Calls    int     `json:"calls"`
}

// A Produce is a structural edge from a tool to a parameter.
type Produce struct {
	Tool   int     `json:"tool"`
	Param  int     `json:"parameter"`
	Path   string  `json:"path"`
	Weight float64 `json:"weight"` // .8 m^2, or that of a proven link if it is larger
	Match  float64 `json:"match"`  // m
	From   Source  `json:"from"`
	Hits   int     `json:"hits,omitempty"`   // of a proven link: trajectories in which the value came from there
	Trials int     `json:"trials,omitempty"` // in which it could have; 0 if no link is proven
}

// Kind says what a Follow rests on.
type Kind string

// The kinds of Follow.
const (
	Given     Kind = "given"     // a file of links says so
	Recorded  Kind = "observed"  // calls followed one another
	Predicted Kind = "predicted" // a predictor trained on this graph says so
	Suggested Kind = "suggested" // a predictor trained on other catalogues says so: too few links for one of its own
)

// A Follow is a behavioural edge between tools, weighted by Equation 4.
type Follow struct {
	From      int     `json:"from"`
	To        int     `json:"to"`
	Weight    float64 `json:"weight"`
	Succeeded int     `json:"succeeded"` // calls of To that succeeded right after From
	Of        int     `json:"of"`        // calls of To
	Prior     float64 `json:"prior"`
	Kind      Kind    `json:"kind"`
}

// A Feed is a behavioural edge between places of tools: values were proved to go
// from one to the other.
type Feed struct {
	FromTool int     `json:"from"`
	ToTool   int     `json:"to"`
	FromPath string  `json:"from_path"`
	ToPath   string  `json:"to_path"`
	Weight   float64 `json:"weight"`            // Equation 4 over uses
	Uses     int     `json:"uses"`              // uses of the argument that came from there, and all
	Of       int     `json:"of"`                // uses of the argument that came from there, and all
	Hits     int     `json:"hits"`              // trajectories
	Trials   int     `json:"trials"`            // trajectories
	Whole    bool    `json:"whole"`             // the argument is the value, not a text around it
	Refused  bool    `json:"refused,omitempty"` // no edge: the values nearly never were the same
}

// A Graph is the tools of a catalogue and their parameters, with what links them.
// It is immutable but for Update.
type Graph struct {
	Tools    []Tool    `json:"tools"` // by name
	Params   []Param   `json:"parameters"`
	Consumes []Consume `json:"consumes"` // by tool, then path
	Produces []Produce `json:"produces"` // by parameter, then weight (highest first), then tool
	Follows  []Follow  `json:"follows"`  // by To, then weight (highest first), then From
	Feeds    []Feed    `json:"feeds"`    // by both tools and paths

	Trajectories  int `json:"trajectories"`
	StatusUnknown int `json:"status_unknown"` // calls of unknown status, which count as successes
	Calls         int `json:"calls"`

	Links      int         `json:"links"` // pairs that trained or could have trained the predictor
	Prediction *Prediction `json:"-"`
	Updated    string      `json:"updated,omitempty"` // the last day that was observed; "" if there was none

	index map[string]int
}

// Prediction is how well links are predicted that were held out.
type Prediction struct {
	Uniform, Matched, Unseen, UnseenUniform Evaluation
}

// Find returns the index of a tool.
func (g *Graph) Find(name string) (int, bool) {
	if g.index == nil {
		g.index = make(map[string]int, len(g.Tools))
		for i := range g.Tools {
			g.index[g.Tools[i].Name] = i
		}
	}
	i, ok := g.index[name]
	return i, ok
}

// Places returns the number of places of all tools.
func (g *Graph) Places() int {
	n := 0
	for i := range g.Tools {
		n += len(g.Tools[i].Inputs) + len(g.Tools[i].Outputs)
	}
	return n
}

// A Demand is a required argument that nothing gives: the caller has to.
type Demand struct {
	Tool  int
	Path  string
	Param int
}

// Unfed returns the required arguments of a parameter that no other tool produces.
func (g *Graph) Unfed() []Demand {
	var out []Demand
	producers := make([][]int, len(g.Params))
	for _, p := range g.Produces {
		producers[p.Param] = append(producers[p.Param], p.Tool)
	}
	for _, c := range g.Consumes {
		if c.Required && !slices.ContainsFunc(producers[c.Param], func(t int) bool { return t != c.Tool }) {
			out = append(out, Demand{c.Tool, c.Path, c.Param})
		}
	}
	return out
}

// Shrink is k in the shrunk Equation 4.
const Shrink = 4

// EdgeWeight returns Equation 4 shrunk towards a prior: (succeeded + k prior)/(of +
// k). With k = 0 it is the paper's; of 0 calls it is then 0.
func EdgeWeight(succeeded, of int, prior, k float64) float64 {
	if float64(of)+k == 0 {
		return 0
	}
	return (float64(succeeded) + float64(k*prior)) / (float64(of) + k)
}

func byTool(a, b Consume) int {
	return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Path, b.Path))
}

func byParam(a, b Produce) int {
	return cmp.Or(cmp.Compare(a.Param, b.Param), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Path, b.Path))
}

func byTarget(a, b Follow) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.From, b.From))
}

func byPlaces(a, b Feed) int {
	return cmp.Or(cmp.Compare(a.FromTool, b.FromTool), cmp.Compare(a.FromPath, b.FromPath), cmp.Compare(a.ToTool, b.ToTool), cmp.Compare(a.ToPath, b.ToPath))
}

// effects returns what definitions, or else names among names, say of tools.
func effects(tools []catalog.Tool) (effects []Effect, why []string) {
	var names toolname.Names
	for i := range tools {
		names.Add(tools[i].Name)
	}
	for i := range tools {
		said := toolname.Unknown
		switch tools[i].ReadOnly {
		case catalog.Yes:
			said = toolname.Reads
		case catalog.No:
			said = toolname.Writes
		}
		effect, basis := names.Decide(toolname.Unknown, said, tools[i].Name)
		if hint, _ := tools[i].Annotated.Lookup("readOnlyHint"); basis == toolname.Annotation && hint.Kind != trace.Bool {
			why = append(why, "method") // of HTTP
		} else if basis == toolname.NoBasis {
			why = append(why, "")
		} else {
			why = append(why, basis.String())
		}
		effects = append(effects, [...]Effect{toolname.Unknown: Unknown, toolname.Reads: Reads, toolname.Writes: Writes}[effect])
	}
	return effects, why
}

// annotationMark returns annotations that make effects say why as it did before.
func annotationMark(why string) trace.Value {
	if why != "annotation" {
		return trace.Value{}
	}
	return trace.NewObject(trace.Member{Name: "readOnlyHint", Value: trace.Value{Kind: trace.Bool}})
}

// FeedsTools returns the pairs of tools of which the first gives a required argument
// of the second: by a match above .75, or by proof. In the order of the tools.
func (g *Graph) FeedsTools() [][2]int32 {
	givers := make([][]int, len(g.Params))
	for _, p := range g.Produces {
		if p.Match > joinAt || p.Trials > 0 {
			givers[p.Param] = append(givers[p.Param], p.Tool)
		}
	}
	pairs := map[[2]int32]bool{}
	for _, c := range g.Consumes {
		if c.Required {
			for _, t := range givers[c.Param] {
				if t != c.Tool {
					pairs[[2]int32{int32(t), int32(c.Tool)}] = true
				}
			}
		}
	}
	out := make([][2]int32, 0, len(pairs))
	for p := range pairs {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	return out
}
