package emit

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/trace"
)

// MetaToolsName is the name of the artefact of MetaTools.
const MetaToolsName = "metatools.json"

// MetaTools emits what was found as JSON: every meta-tool with its steps, where
// each argument comes from, and what that rests on.
var MetaTools = Emitter{
	Name: MetaToolsName,
	Doc:  "the meta-tools: steps, bindings, inputs and what they rest on",
	Emit: func(in Results) ([]File, error) {
		out := metaToolsJSON{Schema: "awo.metatools/v1", MetaTools: []metaToolJSON{}}
		for _, t := range in.Tools {
			m := metaToolJSON{
				Name: t.Name, Description: t.Description, Steps: []stepJSON{}, InputSchema: inputSchema(t), Annotations: annotationsOf(t),
				Support: t.Candidate.Support, Occurrences: len(t.Candidate.Occurrences), TurnsSaved: in.Saved[t],
			}
			for i := range t.Steps {
				m.Steps = append(m.Steps, stepOf(in, t, i))
			}
			m.Returns = append([]int{}, t.Output.Steps...)
			if m.OutputSchema = json.RawMessage("{}"); t.Output.Schema.Kind == trace.Object {
				m.OutputSchema = t.Output.Schema.AppendCanonical(nil)
			}
			out.MetaTools = append(out.MetaTools, m)
		}
		out.Tools = toolsOf(in)
		f, err := jsonFile("metatools.json", out)
		return []File{f}, err
	},
}

type metaToolsJSON struct {
	Schema    string           `json:"schema"`
	MetaTools []metaToolJSON   `json:"meta_tools"`
	Tools     []ToolDefinition `json:"tools"` // that the traces call, by name
}

type metaToolJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Steps       []stepJSON      `json:"steps"`
	InputSchema json.RawMessage `json:"input_schema"`
	Annotations annotationsJSON `json:"annotations"`
	// Returns are the steps, from 0, whose results are returned.
	Returns      []int           `json:"returns"`
	OutputSchema json.RawMessage `json:"output_schema"`
	Support      int             `json:"support"`     // trajectories that it occurs in
	Occurrences  int             `json:"occurrences"` // in them
	TurnsSaved   int             `json:"turns_saved"` // at most, after those chosen before it
}

type stepJSON struct {
	Tool      string         `json:"tool"`
	Label     string         `json:"label"`
	ForEach   *bindingJSON   `json:"for_each,omitempty"` // one call for each element of this list
	Arguments []argumentJSON `json:"arguments"`
	Expect    []string       `json:"expect,omitempty"` // paths that a good result has
}

type argumentJSON struct {
	Name     string        `json:"name"`
	Input    string        `json:"input,omitempty"` // if it is the value of an input
	Optional bool          `json:"optional,omitempty"`
	Binding  bindingJSON   `json:"binding"`
	Evidence *evidenceJSON `json:"evidence,omitempty"`
}

// bindingJSON is where a value comes from. Constants, filters and templates hold
// values only where the binding may.
type bindingJSON struct {
	Kind     string          `json:"kind"` // const, step, element, template or input
	Const    json.RawMessage `json:"const,omitempty"`
	Input    string          `json:"input,omitempty"`
	Step     *int            `json:"step,omitempty"` // from 0
	Path     string          `json:"path,omitempty"`
	Key      *bindingJSON    `json:"key,omitempty"`      // what closes the filter of the path
	Template string          `json:"template,omitempty"` // {0}, {1}, ... stand for the parts
	Parts    []bindingJSON   `json:"parts,omitempty"`
	Coerce   string          `json:"coerce,omitempty"` // string or number
}

// evidenceJSON is what speaks for a binding.
type evidenceJSON struct {
	Agree       int     `json:"agree"` // occurrences in which it gives what was recorded
	Occurrences int     `json:"occurrences"`
	Link        string  `json:"link,omitempty"` // the link that it follows, over all traces
	LinkAgree   int     `json:"link_agree,omitempty"`
	LinkUses    int     `json:"link_uses,omitempty"`
	LinkLo      float64 `json:"link_lo,omitempty"` // Wilson, 95 %
	ExtraMean   float64 `json:"extra_mean,omitempty"`
	ExtraP95    int     `json:"extra_p95,omitempty"`
}

// stepOf describes a step.
func stepOf(in Results, t *bind.Definition, i int) stepJSON {
	s := &t.Steps[i]
	out := stepJSON{Tool: s.Tool, Label: s.Name, Arguments: []argumentJSON{}}
	if i < len(t.Candidate.Labels) {
		out.Label = in.Names.Label(t.Candidate.Labels[i])
	}
	if s.Each != nil {
		each := bindingOf(s.Each)
		out.ForEach = &each
	}
	for _, a := range s.Args {
		one := argumentJSON{Name: a.Name, Optional: a.Optional, Binding: bindingOf(&a.Binding)}
		if a.Binding.Kind == metatool.BindInput {
			one.Input = a.Binding.Input
		}
		for j := range t.Bound {
			if b := &t.Bound[j]; b.Step == i && b.Argument == a.Name {
				one.Evidence = evidenceOf(&b.Evidence)
			}
		}
		out.Arguments = append(out.Arguments, one)
	}
	for _, e := range s.Expect {
		out.Expect = append(out.Expect, e.Path.String())
	}
	return out
}

func evidenceOf(e *bind.Evidence) *evidenceJSON {
	out := &evidenceJSON{Agree: e.Agree, Occurrences: e.Occurrences, ExtraMean: e.ExtraMean, ExtraP95: e.ExtraP95}
	if j := e.Judgment; j != nil {
		out.Link = j.Link.From.String() + " to " + j.Link.To.String()
		out.LinkAgree, out.LinkUses, out.LinkLo = j.Agree, j.Uses, j.Wilson.Interval.Lo
	}
	if *out == (evidenceJSON{Occurrences: e.Occurrences}) {
		return nil // an input: nothing had to be shown
	}
	return out
}

func bindingOf(b *metatool.Binding) bindingJSON {
	out := bindingJSON{Kind: b.Kind.String(), Coerce: [...]string{"", "string", "number"}[b.Coerce]}
	switch b.Kind {
	case metatool.BindConst:
		out.Const = b.Const.AppendCanonical(nil)
	case metatool.BindInput:
		out.Input = b.Input
	case metatool.BindStep:
		step := b.Step
		out.Step, out.Path = &step, b.Path.String()
	case metatool.BindElement:
		out.Path = b.Path.String()
	case metatool.BindTemplate:
		pieces := strings.Split(b.Template, jsonpath.Hole)
		for i, piece := range pieces {
			if out.Template += strings.NewReplacer("{", "{{", "}", "}}").Replace(piece); i < len(pieces)-1 {
				out.Template += fmt.Sprintf("{%d}", i)
			}
		}
		for i := range b.Parts {
			out.Parts = append(out.Parts, bindingOf(&b.Parts[i]))
		}
	}
	if b.Key != nil {
		key := bindingOf(b.Key)
		out.Key = &key
	}
	return out
}

type annotationsJSON struct {
	ReadOnlyHint    bool `json:"readOnlyHint"`
	DestructiveHint bool `json:"destructiveHint"`
	IdempotentHint  bool `json:"idempotentHint"`
	OpenWorldHint   bool `json:"openWorldHint"`
}

func annotationsOf(t *bind.Definition) annotationsJSON {
	return annotationsJSON{t.Annotations.ReadOnly, t.Annotations.Destructive, t.Annotations.Idempotent, t.Annotations.OpenWorld}
}

func inputSchema(t *bind.Definition) json.RawMessage { return t.InputSchema().AppendCanonical(nil) }
