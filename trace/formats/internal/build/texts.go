package build

import (
	"bytes"

	"github.com/awo-dev/awo/internal/jsonscan"

	"github.com/awo-dev/awo/trace"
)

// JoinTexts returns two texts as one, a line between them.
func JoinTexts(a, b trace.Raw) trace.Raw {
	if a.IsZero() {
		return b
	}
	return trace.Raw{Data: b.AppendText(append(a.AppendText(nil), '\n')), Form: trace.FormText}
}

// ClearTurnModels takes the model from turns that are of the trajectory's own.
func ClearTurnModels(t *trace.Trajectory) {
	for i := range t.Turns {
		if t.Turns[i].Model == t.Model {
			t.Turns[i].Model = ""
		}
	}
}

// ReadArgs is rawValue for arguments: a null is recorded, and no object.
func ReadArgs(c *jsonscan.Cursor) trace.Raw {
	if c.Kind() != jsonscan.Null {
		return ReadRaw(c)
	}
	if data := c.Raw(); data != nil {
		return trace.Raw{Data: data, Form: trace.FormJSON}
	}
	return trace.Raw{}
}

// ReadGeminiText reads a system instruction: a text, a content, or parts.
func ReadGeminiText(c *jsonscan.Cursor) (text trace.Raw) {
	if c.Kind() != jsonscan.Object {
		return ReadContent(c)
	}
	whole := c.Raw()
	scan := jsonscan.New(whole)
	for ok := scan.Object(); ok && scan.Member(); {
		switch string(scan.Key()) {
		case "parts":
			text = ReadContent(&scan)
		case "text":
			text = ReadRaw(&scan)
		}
	}
	return text
}

// ReadRaw passes over the value that c stands on and returns it as a Raw: text
// for a string, absent for null and at an error.
func ReadRaw(c *jsonscan.Cursor) trace.Raw {
	kind := c.Kind()
	data := c.Raw()
	switch {
	case data == nil, kind == jsonscan.Null:
		return trace.Raw{}
	case kind == jsonscan.String:
		return trace.Raw{Data: data, Form: trace.FormString}
	}
	return trace.Raw{Data: data, Form: trace.FormJSON}
}

// Raw returns a value as a Raw.
func Raw(value []byte) trace.Raw {
	c := jsonscan.New(value)
	return ReadRaw(&c)
}

// ReadContent is rawValue for the content of a message, where an array is one of
// content parts.
func ReadContent(c *jsonscan.Cursor) trace.Raw {
	r := ReadRaw(c)
	if r.Form == trace.FormJSON && r.Data[0] == '[' {
		r.Form = trace.FormParts
	}
	return r
}

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

// JSONIn returns the value that text is the JSON of, the value itself if it is
// no text.
func JSONIn(v trace.Value) (trace.Value, bool) {
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

// InnerJSON returns the object or array that a piece is, or is the text of, nil if
// it is neither.
func InnerJSON(r trace.Raw) []byte {
	if r.IsZero() {
		return nil
	}
	data := r.Data
	if r.Form == trace.FormString || r.Form == trace.FormText {
		data = r.Content()
	}
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' && data[0] != '[' {
		return nil
	}
	if c := jsonscan.New(data); r.Form != trace.FormJSON && c.End() != nil {
		return nil
	}
	return data
}
