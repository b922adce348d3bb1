package build

// The bounds of Edit: how far behind the end of a list a change may be, and how long its
// path.
const (
	maxEditIndex = 1 << 12
	maxEditDepth = 64
)

// Edit returns a JSON value, as encoding/json reads one, with what is at a path of names and
// indexes changed; objects and lists on the way are made.
func Edit(value any, path []any, change func(old any) any) any {
	if len(path) == 0 {
		return change(value)
	}
	if len(path) > maxEditDepth {
		return value
	}
	switch at := path[0].(type) {
	case string:
		object, ok := value.(map[string]any)
		if !ok {
			object = map[string]any{}
		}
		object[at] = Edit(object[at], path[1:], change)
		return object
	case float64:
		list, _ := value.([]any)
		i := int(at)
		if i < 0 || i > len(list)+maxEditIndex {
			return value
		}
		for len(list) <= i {
			list = append(list, nil)
		}
		list[i] = Edit(list[i], path[1:], change)
		return list
	}
	return value
}
