package trace

import (
	"bytes"
	"slices"
)

// SameTools reports whether two lists of definitions are the same to the byte, as
// those of trajectories of one agent mostly are.
func SameTools(a, b []ToolDef) bool {
	if len(a) != len(b) {
		return false
	}
	if len(a) == 0 || &a[0] == &b[0] {
		return true
	}
	return slices.EqualFunc(a, b, func(x, y ToolDef) bool {
		return x.Name == y.Name && x.Input.same(y.Input) && x.Description.same(y.Description) && x.Output.same(y.Output) && x.Annotations.same(y.Annotations)
	})
}

// OwnTools returns a list of definitions whose texts are its own, to be kept: those
// of a trajectory hold on to the block that it was read from.
func OwnTools(list []ToolDef) []ToolDef {
	out := make([]ToolDef, len(list))
	for i, d := range list {
		out[i] = ToolDef{Name: d.Name, Description: d.Description.own(), Input: d.Input.own(), Output: d.Output.own(), Annotations: d.Annotations.own()}
	}
	return out
}

func (r Raw) same(o Raw) bool { return r.Form == o.Form && bytes.Equal(r.Data, o.Data) }

func (r Raw) own() Raw { return Raw{Data: bytes.Clone(r.Data), Form: r.Form} }
