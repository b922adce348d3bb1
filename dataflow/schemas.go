package dataflow

import (
	"sync"

	"github.com/awo-dev/awo/dataflow/jsonpath"
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
