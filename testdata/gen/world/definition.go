package world

import "strconv"

// function returns the tool as OpenAI's function calling describes it.
func (t *Tool) function() []byte {
	b := append([]byte(`{"name":`), AppendString(nil, t.Name)...)
	b = append(b, `,"description":`...)
	b = AppendString(b, t.Doc)
	b = append(b, `,"parameters":`...)
	return append(t.appendParameters(b), '}')
}

// appendParameters appends the JSON Schema of the tool's arguments.
func (t *Tool) appendParameters(dst []byte) []byte {
	dst = append(dst, `{"type":"object","properties":{`...)
	for i, p := range t.Params {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, p.Name)
		dst = append(dst, `:{"type":`...)
		dst = AppendString(dst, p.Type)
		if p.Type == "array" {
			dst = append(dst, `,"items":{"type":"string"}`...)
		}
		if p.Format != "" {
			dst = append(dst, `,"format":`...)
			dst = AppendString(dst, p.Format)
		}
		if len(p.Enum) > 0 {
			dst = append(dst, `,"enum":[`...)
			for k, v := range p.Enum {
				if k > 0 {
					dst = append(dst, ',')
				}
				dst = AppendString(dst, v)
			}
			dst = append(dst, ']')
		}
		if p.Max > 0 {
			dst = append(dst, `,"minimum":`...)
			dst = strconv.AppendInt(dst, int64(p.Min), 10)
			dst = append(dst, `,"maximum":`...)
			dst = strconv.AppendInt(dst, int64(p.Max), 10)
		}
		dst = append(dst, `,"description":`...)
		dst = AppendString(dst, p.Doc)
		dst = append(dst, '}')
	}
	dst = append(dst, `},"required":[`...)
	first := true
	for _, p := range t.Params {
		if p.Optional {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = AppendString(dst, p.Name)
	}
	return append(dst, `],"additionalProperties":false}`...)
}

// annotations returns the tool's hints as the Model Context Protocol writes
// them. What changes nothing is read-only, so it has no other hints.
func (t *Tool) annotations() []byte {
	if t.Effect != Mutator {
		return []byte(`{"readOnlyHint":true}`)
	}
	dst := []byte(`{"readOnlyHint":false,"destructiveHint":`)
	dst = strconv.AppendBool(dst, t.Destructive)
	dst = append(dst, `,"idempotentHint":`...)
	dst = strconv.AppendBool(dst, t.Idempotent)
	dst = append(dst, `,"openWorldHint":`...)
	dst = strconv.AppendBool(dst, t.OpenWorld)
	return append(dst, '}')
}
