package trace

import "github.com/awo-dev/awo/internal/jsonscan"

// toolsOf reads a list of definitions.
func (b *builder) toolsOf(list Value) []ToolDef {
	c := jsonscan.New(list.AppendCanonical(nil))
	return b.readTools(&c)
}

// rawOf returns a value as it stood in a record: text for a string, absent for
// null.
func rawOf(v Value) Raw {
	switch v.Kind {
	case Null:
		return Raw{}
	case String:
		return TextOf(v.Text)
	}
	return JSONOf(v.AppendCanonical(nil))
}

// jsonIn returns the value that text is the JSON of, the value itself if it is
// no text.
func jsonIn(v Value) (Value, bool) {
	if v.Kind != String {
		return v, true
	}
	c := jsonscan.New([]byte(v.Text))
	if k := c.Kind(); k != jsonscan.Array && k != jsonscan.Object {
		return v, false
	}
	inner, err := ParseValue([]byte(v.Text))
	return inner, err == nil
}
