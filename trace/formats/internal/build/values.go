package build

import (
	"github.com/awo-dev/awo/internal/jsonscan"

	"github.com/awo-dev/awo/trace"
)

// ToolsOf reads a list of definitions.
func (b *Builder) ToolsOf(list trace.Value) []trace.ToolDef {
	c := jsonscan.New(list.AppendCanonical(nil))
	return b.ReadTools(&c)
}

// RawOf returns a value as it stood in a record: text for a string, absent for
// null.
func RawOf(v trace.Value) trace.Raw {
	switch v.Kind {
	case trace.Null:
		return trace.Raw{}
	case trace.String:
		return trace.TextOf(v.Text)
	}
	return trace.JSONOf(v.AppendCanonical(nil))
}

// JsonIn returns the value that text is the JSON of, the value itself if it is
// no text.
func JsonIn(v trace.Value) (trace.Value, bool) {
	if v.Kind != trace.String {
		return v, true
	}
	c := jsonscan.New([]byte(v.Text))
	if k := c.Kind(); k != jsonscan.Array && k != jsonscan.Object {
		return v, false
	}
	inner, err := trace.ParseValue([]byte(v.Text))
	return inner, err == nil
}
