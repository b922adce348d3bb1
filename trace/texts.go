package trace

import "github.com/awo-dev/awo/internal/jsonscan"

// joinTexts returns two texts as one, a line between them.
func joinTexts(a, b Raw) Raw {
	if a.IsZero() {
		return b
	}
	return Raw{Data: b.AppendText(append(a.AppendText(nil), '\n')), Form: FormText}
}

// clearTurnModels takes the model from turns that are of the trajectory's own.
func clearTurnModels(t *Trajectory) {
	for i := range t.Turns {
		if t.Turns[i].Model == t.Model {
			t.Turns[i].Model = ""
		}
	}
}

// rawArgs is rawValue for arguments: a null is recorded, and no object.
func rawArgs(c *jsonscan.Cursor) Raw {
	if c.Kind() != jsonscan.Null {
		return rawValue(c)
	}
	if data := c.Raw(); data != nil {
		return Raw{Data: data, Form: FormJSON}
	}
	return Raw{}
}

// readGeminiText reads a system instruction: a text, a content, or parts.
func readGeminiText(c *jsonscan.Cursor) (text Raw) {
	if c.Kind() != jsonscan.Object {
		return rawContent(c)
	}
	whole := c.Raw()
	scan := jsonscan.New(whole)
	for ok := scan.Object(); ok && scan.Member(); {
		switch string(scan.Key()) {
		case "parts":
			text = rawContent(&scan)
		case "text":
			text = rawValue(&scan)
		}
	}
	return text
}

// rawValue passes over the value that c stands on and returns it as a Raw: text
// for a string, absent for null and at an error.
func rawValue(c *jsonscan.Cursor) Raw {
	kind := c.Kind()
	data := c.Raw()
	switch {
	case data == nil, kind == jsonscan.Null:
		return Raw{}
	case kind == jsonscan.String:
		return Raw{Data: data, Form: FormString}
	}
	return Raw{Data: data, Form: FormJSON}
}

// rawContent is rawValue for the content of a message, where an array is one of
// content parts.
func rawContent(c *jsonscan.Cursor) Raw {
	r := rawValue(c)
	if r.Form == FormJSON && r.Data[0] == '[' {
		r.Form = FormParts
	}
	return r
}
