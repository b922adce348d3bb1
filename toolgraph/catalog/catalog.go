// Package catalog reads what tools there are and what they take and give.
//
// Files of definitions come in (tools/list of the Model Context Protocol, tool
// arrays of OpenAI, Anthropic and Gemini, OpenAPI 3), and definitions and calls in
// recorded trajectories. Out goes a Catalog: every tool once, with the places in its
// arguments and results that hold values. Lists of chosen tools go out in the
// dialects that interfaces and gateways read.
//
// A catalogue is kept in memory whole, and so are its definitions. Catalogues are
// hostile: the size of a file, the number of tools and of places, the depth of a
// schema and the length of what references lead to are bounded, and what is beyond is
// left out with a problem. The codes are
//
//	catalog-shape      the file holds no list of tools in a known form
//	catalog-too-large  the file, or the number of its tools, is over the bound
//	tool-unnamed       a definition without a name: left out
//	tool-shape         a definition that is no object: left out
//	tool-twice         a name that an earlier definition has, which counts (a warning)
//	schema-too-large   places of a schema beyond the bound: left out (a warning)
//
// and those of JSON and YAML. The package judges no tool: it knows neither what is
// alike nor what is needed.
package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
)

// The bounds of what is read.
const (
	MaxBytes  = 64 << 20 // of a file
	MaxTools  = 200_000  // of a catalogue
	maxPlaces = 400      // of the arguments, and of the results, of a tool; of many tools fewer
	maxDepth  = 16       // of a schema
	maxText   = 4 << 10  // bytes of a description that are compared; definitions are written in full
)

// The codes of problems.
const (
	CodeShape       = "catalog-shape"
	CodeTooLarge    = "catalog-too-large"
	CodeUnnamed     = "tool-unnamed"
	CodeToolShape   = "tool-shape"
	CodeTwice       = "tool-twice"
	CodeSchemaLarge = "schema-too-large"
)

// placesOfMany is how many places the tools of one file have together at most, and
// leastPlaces how many each may have all the same.
const (
	placesOfMany = 1_000_000
	leastPlaces  = 60
)

// placesEach returns how many places each of n tools may have in its arguments, and
// in its results.
func placesEach(n int) int {
	return max(leastPlaces, min(maxPlaces, placesOfMany/(2*max(1, n))))
}

// A Place is where a value stands in the arguments or results of a tool.
type Place struct {
	Path  string   // as dataflow writes paths: $.results[*].id
	Names []string // the members on the way, from the root; the last names the value
	Type  string   // of JSON Schema, "" if unknown: string, number, integer, boolean, array, object
	// List is set where the place is an element of a list of scalars, $.ids[*]:
	// the whole list could be handed on as well as one of it.
	List        bool
	Format      string // of JSON Schema
	Description string // at most 4 KiB
	Required    bool   // of an argument: no call without it
}

// Name returns the last member on the way to the place, "" for the root.
func (p *Place) Name() string {
	if len(p.Names) == 0 {
		return ""
	}
	return p.Names[len(p.Names)-1]
}

// Hint is what a definition says of a tool: nothing, yes or no.
type Hint int8

// The hints. The zero value is that nothing is said.
const (
	Unsaid Hint = 0
	Yes    Hint = 1
	No     Hint = -1
)

// A Tool is a tool as it is defined, or as calls show it.
type Tool struct {
	Name        string
	Description string // at most 4 KiB
	// Group is the server or interface that the tool is of, as the definition says
	// or its name begins: tools of one group share their credentials. It may be
	// empty.
	Group   string
	Inputs  []Place // by path
	Outputs []Place // by path; empty if no schema says what the tool returns

	ReadOnly    Hint // the annotation readOnlyHint, or the method of HTTP
	Destructive Hint // the annotation destructiveHint

	Defined bool // a definition was read, not the name alone
	// Cut says that a schema has more places than are kept.
	Cut bool

	Input     trace.Value // JSON Schema of the arguments; Null if there is none
	root      trace.Value // that references of Input lead into, where it is not Input
	Output    trace.Value // JSON Schema of the results; Null if there is none
	whole     string      // the description in full
	Annotated trace.Value // the annotations; Null if there are none
}

// FullDescription returns the description as it was read.
func (t *Tool) FullDescription() string { return t.whole }

// SetDescription sets the description, in full and cut.
func (t *Tool) SetDescription(text string) {
	t.whole = text
	t.Description = cutText(text)
}

func cutText(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "")
}

// A Catalog is a set of tools by name. It is immutable once built, and independent
// of the order in which tools were added.
type Catalog struct {
	Tools []Tool // by name
	index map[string]int
}

// New returns the catalogue of tools. Of a name that several have the first counts;
// each other one is a warning without a place.
func New(tools []Tool) (*Catalog, diag.List) {
	var problems diag.List
	c := &Catalog{index: make(map[string]int, len(tools))}
	for _, t := range tools {
		if _, twice := c.index[t.Name]; twice {
			problems = append(problems, diag.Warn(diag.Pos{}, CodeTwice, "%q is defined more than once; the first definition counts", t.Name))
			continue
		}
		if len(c.Tools) == MaxTools {
			problems = append(problems, diag.New(diag.Pos{}, CodeTooLarge, "there are more than %d tools; the rest is left out", MaxTools))
			break
		}
		c.index[t.Name] = len(c.Tools)
		c.Tools = append(c.Tools, t)
	}
	slices.SortFunc(c.Tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	for i := range c.Tools {
		c.index[c.Tools[i].Name] = i
	}
	return c, problems
}

// Find returns the index of a tool in Tools.
func (c *Catalog) Find(name string) (int, bool) {
	i, ok := c.index[name]
	return i, ok
}

// Lookup returns a tool by its name, nil if there is none.
func (c *Catalog) Lookup(name string) *Tool {
	if i, ok := c.index[name]; ok {
		return &c.Tools[i]
	}
	return nil
}

// Names returns the names of the tools in their order.
func (c *Catalog) Names() []string {
	out := make([]string, len(c.Tools))
	for i := range c.Tools {
		out[i] = c.Tools[i].Name
	}
	return out
}

// groupOf returns what a tool's name says of its group: what stands before the
// first separator, if that is one word.
func groupOf(name string) string {
	at := len(name)
	for _, separator := range []string{".", "__", "/"} {
		if i := strings.Index(name, separator); i > 0 && i < at {
			at = i
		}
	}
	if at == len(name) || strings.ContainsAny(name[:at], " {}") {
		return ""
	}
	return name[:at]
}
