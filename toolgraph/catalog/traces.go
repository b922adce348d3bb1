package catalog

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
)

// A Builder adds up definitions of files and what trajectories record. Definitions
// of files count before recorded ones, and earlier ones before later ones. The zero
// value is empty; it is used by one goroutine.
type Builder struct {
	listed   []Tool
	recorded map[string]Tool
	called   map[string]bool
	last     []trace.ToolDef
	met      map[trace.Name][]trace.ToolDef // definitions that were looked at, a few of each name
}

// Add adds the definitions of a file.
func (b *Builder) Add(tools []Tool) { b.listed = append(b.listed, tools...) }

// Observe adds the definitions that a trajectory records, and the names of the
// tools that it calls. Of a tool with several definitions the first in the order of
// their text counts, so that the order of trajectories does not matter.
func (b *Builder) Observe(t *trace.Trajectory) {
	if b.recorded == nil {
		b.recorded, b.called, b.met = map[string]Tool{}, map[string]bool{}, map[trace.Name][]trace.ToolDef{}
	}
	if !trace.SameTools(t.Tools, b.last) {
		b.last = trace.OwnTools(t.Tools)
		for i := range b.last {
			b.define(&b.last[i])
		}
	}
	for i := range t.Calls {
		if name := t.Calls[i].Tool.Value(); name != "" {
			b.called[name] = true
		}
	}
}

// metEach bounds the definitions of one name that are known again.
const metEach = 4

// define adds a definition, which may be kept.
func (b *Builder) define(d *trace.ToolDef) {
	name := d.Name.Value()
	if name == "" || len(b.recorded) >= MaxTools {
		return
	}
	if slices.ContainsFunc(b.met[d.Name], func(m trace.ToolDef) bool { return m.Same(d) }) {
		return
	}
	if len(b.met[d.Name]) < metEach {
		b.met[d.Name] = append(b.met[d.Name], *d)
	}
	t := Tool{Name: name, Defined: true}
	t.SetDescription(d.Description.Text())
	t.Input, _ = trace.ParseValue([]byte(d.Input.Text()))
	t.Output, _ = trace.ParseValue([]byte(d.Output.Text()))
	t.Annotated, _ = trace.ParseValue([]byte(d.Annotations.Text()))
	if old, ok := b.recorded[name]; ok && compareText(&old, &t) <= 0 {
		return
	}
	t.complete(t.Input, t.Output, placesEach(len(b.recorded)))
	b.recorded[name] = t
}

func compareText(a, b *Tool) int {
	if c := cmp.Compare(a.whole, b.whole); c != 0 {
		return c
	}
	return slices.Compare(a.Input.AppendCanonical(nil), b.Input.AppendCanonical(nil))
}

// Catalog returns the catalogue of everything that was added. Tools that are only
// called have a name and nothing else.
func (b *Builder) Catalog() (*Catalog, diag.List) {
	tools := slices.Clone(b.listed)
	known := map[string]bool{}
	for i := range tools {
		known[tools[i].Name] = true
	}
	for name, t := range b.recorded {
		if !known[name] {
			tools = append(tools, t)
		}
	}
	for name := range b.called {
		if _, defined := b.recorded[name]; !defined && !known[name] && len(tools) < MaxTools {
			tools = append(tools, Tool{Name: name, Group: groupOf(name)})
		}
	}
	// What follows the files comes from maps.
	slices.SortFunc(tools[len(b.listed):], func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return New(tools)
}
