package dataflow

import (
	"sync"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/jsonschema"
	"github.com/awo-dev/awo/trace"
)

// Schemas reads the schemas of tools once, however many trajectories offer the
// same tools: mostly all do. It may be used concurrently and keeps a bounded
// number of them; the zero value is ready.
type Schemas struct {
	mu    sync.RWMutex
	known map[string]*schema // by form and text
}

// Bounds of what Schemas keeps; what is beyond them is read again.
const (
	maxSchemas     = 4096
	maxSchemaPaths = 1024
)

// schema is the input schema of a tool and what it lists for its parameters.
type schema struct {
	value trace.Value
	ok    bool

	mu     sync.RWMutex
	listed map[string]map[uint64]bool // path -> hashes of values
}

// EnumsOf returns what the package's EnumsOf does.
func (s *Schemas) EnumsOf(t *trace.Trajectory) Enums { return Enums{tools: t.Tools, read: s} }

// of returns the schema that a piece of a record is.
func (s *Schemas) of(raw trace.Raw) *schema {
	s.mu.RLock()
	x := s.known[string(raw.Data)]
	s.mu.RUnlock()
	if x != nil && raw.Form == trace.FormJSON {
		return x
	}
	x = &schema{}
	if v, err := trace.ParseValue([]byte(raw.Text())); err == nil {
		x.value, x.ok = v, true
	}
	if raw.Form != trace.FormJSON {
		return x
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]*schema{}
	}
	if first := s.known[string(raw.Data)]; first != nil {
		return first
	}
	if len(s.known) < maxSchemas {
		s.known[string(raw.Data)] = x
	}
	return x
}

// lists reports whether the schema lists a value for the parameter at a path.
func (x *schema) lists(path string, value uint64) bool {
	x.mu.RLock()
	values, ok := x.listed[path]
	x.mu.RUnlock()
	if !ok {
		values = listed(&x.value, path)
		x.mu.Lock()
		if x.listed == nil {
			x.listed = map[string]map[uint64]bool{}
		}
		if len(x.listed) < maxSchemaPaths {
			x.listed[path] = values
		}
		x.mu.Unlock()
	}
	return values[value]
}

// listed returns the hashes of the values that a schema lists for the parameter
// at a path; nil for none.
func listed(root *trace.Value, path string) map[uint64]bool {
	steps, err := jsonpath.Parse(path)
	if err != nil {
		return nil
	}
	s := search{root: root}
	s.visit(root, steps)
	return s.values
}

// Enums knows the values that tools' schemas list for their parameters. The
// zero value knows none.
type Enums struct {
	schemas map[trace.Name]*schema
	tools   []trace.ToolDef // whose schemas are read when they are asked for: mostly none is
	read    *Schemas        // that keeps them; may be nil
}

// EnumsIn returns what these input schemas list, by tool.
func EnumsIn(schemas map[trace.Name]trace.Value) Enums {
	e := Enums{schemas: make(map[trace.Name]*schema, len(schemas))}
	for tool, v := range schemas {
		e.schemas[tool] = &schema{value: v, ok: true}
	}
	return e
}

// Has reports whether the schema of a parameter lists a value, given by its
// hash, under `enum` or `const`. Of several schemas of a tool the last that is
// one counts.
func (e Enums) Has(param Slot, value uint64) bool {
	if s, ok := e.schemas[param.Tool]; ok {
		return s.lists(param.Path, value)
	}
	for i := len(e.tools) - 1; i >= 0; i-- {
		if e.tools[i].Name != param.Tool {
			continue
		}
		read := e.read
		if read == nil {
			read = &Schemas{}
		}
		if s := read.of(e.tools[i].Input); s.ok {
			return s.lists(param.Path, value)
		}
	}
	return false
}

// search gathers what a schema lists.
type search struct {
	root   *trace.Value // where references begin
	values map[uint64]bool
	steps  int
}

// maxSchema bounds the schemas that are visited: references may go in circles.
const maxSchema = 1000

// visit gathers what the schema s, or what it refers to, lists at a path below it.
func (x *search) visit(s *trace.Value, path jsonpath.Path) {
	if x.steps++; s.Kind != trace.Object || x.steps > maxSchema {
		return
	}
	if len(path) == 0 {
		if c, ok := s.Lookup("const"); ok {
			x.add(&c)
		}
		options, _ := s.Lookup("enum")
		for i := range options.Elems {
			x.add(&options.Elems[i])
		}
	}
	if ref, ok := jsonschema.Reference(*s); ok {
		if target, ok := jsonschema.Pointer(*x.root, ref); ok {
			x.visit(&target, path)
		}
	}
	for _, part := range jsonschema.Parts(*s) {
		x.visit(&part, path)
	}
	if len(path) == 0 {
		return
	}
	for _, word := range childWords(path[0]) {
		child, ok := s.Lookup(word)
		if ok && word == "properties" {
			child, ok = child.Lookup(path[0].Name)
		}
		if ok {
			x.visit(&child, path[1:])
		}
	}
}

func (x *search) add(v *trace.Value) {
	if x.values == nil {
		x.values = map[uint64]bool{}
	}
	x.values[jsonvalue.Hash(v)] = true
}

// childWords are the schema words that describe what a step leads to.
func childWords(s jsonpath.Step) []string {
	if s.Kind == jsonpath.Member {
		return []string{"properties", "additionalProperties"}
	}
	return []string{"items", "additionalProperties"}
}
