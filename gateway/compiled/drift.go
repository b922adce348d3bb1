package compiled

import (
	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/internal/changes"
	"github.com/awo-dev/awo/internal/jsonschema"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// live is a tool as its server defines it now.
type live struct {
	tool   *gateway.Tool
	parsed trace.Value // the definition, null if it cannot be read
}

func definitionOf(t *gateway.Tool) live {
	v, err := trace.ParseValue(t.Definition)
	if err != nil || v.Kind != trace.Object {
		return live{tool: t}
	}
	return live{t, v}
}

// define returns what is compared of the tool, under the name that traces have for it.
func (l live) define(name string) changes.Tool {
	input := l.parsed.Member("inputSchema")
	return changes.Define(name, l.parsed.Member("description").Text, l.parsed.Member("annotations"), input, referred(input))
}

// effect returns what the configuration or else the server says that the tool does. A verb
// in a name says nothing here: get_next_job may take a job from a queue.
func (l live) effect() toolname.Effect {
	if l.tool.ReadsOnly {
		return toolname.Reads
	}
	return toolname.Annotated(l.parsed.Member("annotations"))
}

// referred returns a schema of arguments with what its members refer to in their place.
func referred(schema trace.Value) trace.Value {
	properties, ok := schema.Lookup("properties")
	if !ok {
		return schema
	}
	members := make([]trace.Member, len(properties.Members))
	for i, m := range properties.Members {
		members[i] = m
		if ref, ok := jsonschema.Reference(m.Value); ok {
			members[i].Value, _ = jsonschema.Pointer(schema, ref)
		}
	}
	return trace.NewObject(trace.Member{Name: "properties", Value: trace.NewObject(members...)}, trace.Member{Name: "required", Value: schema.Member("required")})
}

// drifted returns why a meta-tool does not hold any more by the definitions of its tools,
// "" if it does, and what is only to be warned of.
func (l *Layer) drifted(tool *metatool.Tool, steps map[string]live) (why, warning string) {
	recorded := l.a.Recorded
	if recorded == nil {
		return "", "the folder has no " + definitionsFile + ", so nobody can tell whether its tools have changed"
	}
	var now []changes.Tool
	for i := range tool.Steps {
		step := &tool.Steps[i]
		one, have := steps[step.Tool], recorded.Tool(step.Tool)
		d := one.define(step.Tool)
		changed := have == nil || have.SHA256 != d.SHA256
		if step.ReadOnly && changed && one.effect() == toolname.Writes {
			return step.Tool + " only read, and its server does not say so any more", ""
		}
		if have == nil || have.SHA256 == "" {
			warning = "no definition of " + step.Tool + " was recorded, so nobody can tell whether it has changed"
			continue
		}
		now = append(now, d)
	}
	for _, c := range recorded.Drift(now) {
		if c.Breaking && c.MetaTool == "" {
			for _, name := range c.MetaTools {
				if name == tool.Name {
					return c.Tool + " " + c.Text, ""
				}
			}
		}
	}
	return "", warning
}
