package changes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/awo-dev/awo/trace"
)

// Set is one set of artefacts, as far as it is compared.
type Set struct {
	MetaTools []MetaTool
	Tools     []Tool // that the traces call; nil in artefacts of an awo that did not record them

	// Left are the candidates that were not offered, by name, and why.
	Left map[string]string

	Rules []Rule // for reading ahead; see ReadRules

	tools map[string]*Tool
	named map[string]*MetaTool
}

// MetaTool is a meta-tool that is offered.
type MetaTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Steps        []Step          `json:"steps"`
	InputSchema  json.RawMessage `json:"input_schema"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Annotations  map[string]bool `json:"annotations"`
	Returns      []int           `json:"returns"`
	Support      int             `json:"support"`
	Occurrences  int             `json:"occurrences"`
	TurnsSaved   int             `json:"turns_saved"`

	input, output trace.Value
}

// Step is a step of a meta-tool.
type Step struct {
	Tool      string     `json:"tool"`
	ForEach   *Binding   `json:"for_each"`
	Arguments []Argument `json:"arguments"`
}

// Argument is an argument of a step.
type Argument struct {
	Name     string  `json:"name"`
	Optional bool    `json:"optional"`
	Binding  Binding `json:"binding"`
}

// Binding is where a value comes from, as written.
type Binding struct {
	Kind string
	raw  []byte // canonical
}

// UnmarshalJSON keeps the kind, and the whole to compare it.
func (b *Binding) UnmarshalJSON(data []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	v, err := trace.ParseValue(data)
	if err != nil {
		return err
	}
	b.Kind, b.raw = head.Kind, v.AppendCanonical(nil)
	return nil
}

func (b *Binding) equal(c *Binding) bool {
	if b == nil || c == nil {
		return b == c
	}
	return bytes.Equal(b.raw, c.raw)
}

// Tool is a tool of the traces, as it was last offered to a model.
type Tool struct {
	Name         string         `json:"name"`
	SHA256       string         `json:"sha256"` // "" if no definition is recorded
	SchemaSHA256 string         `json:"schema_sha256"`
	Arguments    []ToolArgument `json:"arguments"`
}

// ToolArgument is a top-level argument of a definition.
type ToolArgument struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required"`
}

// metaToolsSchema is the version of metatools.json that Parse reads.
const metaToolsSchema = "awo.metatools/v1"

// Parse reads a set. candidates may be nil. The error says what is wrong in a
// sentence without values.
func Parse(metatools, candidates []byte) (*Set, error) {
	var file struct {
		Schema    string     `json:"schema"`
		MetaTools []MetaTool `json:"meta_tools"`
		Tools     []Tool     `json:"tools"`
	}
	if err := json.Unmarshal(metatools, &file); err != nil {
		return nil, errors.New("it is no JSON of the form that awo extract writes")
	}
	if file.Schema != metaToolsSchema {
		return nil, fmt.Errorf("its schema is not %s", metaToolsSchema)
	}
	s := &Set{MetaTools: file.MetaTools, Tools: file.Tools, Left: map[string]string{}, tools: map[string]*Tool{}, named: map[string]*MetaTool{}}
	for i := range s.MetaTools {
		m := &s.MetaTools[i]
		if s.named[m.Name] != nil {
			return nil, errors.New("two meta-tools have one name")
		}
		s.named[m.Name] = m
		m.input, m.output = schemaValue(m.InputSchema), schemaValue(m.OutputSchema)
	}
	for i := range s.Tools {
		t := &s.Tools[i]
		if s.tools[t.Name] != nil {
			return nil, errors.New("two tools have one name")
		}
		s.tools[t.Name] = t
		seen := map[string]bool{}
		for _, a := range t.Arguments {
			if seen[a.Name] {
				return nil, errors.New("two arguments of a tool have one name")
			}
			seen[a.Name] = true
		}
	}
	var found struct {
		Candidates []struct {
			Name   string `json:"name"`
			Status string `json:"status"`
			Reason string `json:"reason"`
		} `json:"candidates"`
	}
	if candidates != nil && json.Unmarshal(candidates, &found) == nil {
		for _, c := range found.Candidates {
			if c.Reason != "" {
				s.Left[c.Name] = c.Reason
			}
		}
	}
	return s, nil
}

// schemaValue parses a schema; what is none allows everything.
func schemaValue(raw json.RawMessage) trace.Value {
	v, err := trace.ParseValue(raw)
	if err != nil || v.Kind != trace.Object {
		return trace.NewObject()
	}
	return v
}

// uses returns the names of the meta-tools that call a tool, in order.
func (s *Set) uses(tool string) []string {
	var names []string
	for i := range s.MetaTools {
		for j := range s.MetaTools[i].Steps {
			if s.MetaTools[i].Steps[j].Tool == tool {
				names = append(names, s.MetaTools[i].Name)
				break
			}
		}
	}
	return names
}
