package cost

import "github.com/awo-dev/awo/trace"

// Toolset returns the tokens of a list of tools for lazy registration, and where
// each stands in it. The list that came last is remembered, since lists repeat from
// trajectory to trajectory.
func (m *Meter) Toolset(tools []trace.ToolDef) (*Toolset, map[trace.Name]int32) {
	l := &m.lazy
	if l.set != nil && len(tools) == len(l.tools) && (len(tools) == 0 || &tools[0] == &l.tools[0]) {
		return l.set, l.index
	}
	register := Definition{Name: m.Text(RegisterName), Description: m.Text(RegisterDescription), Parameters: m.Text(RegisterSchema)}
	set := &Toolset{Register: register.Tokens(), Separator: 1, Call: m.Text(registerCall), Acknowledged: m.Text(registerAnswer)}
	index := make(map[trace.Name]int32, len(tools))
	for i := range tools {
		d := m.Definition(&tools[i])
		if _, twice := index[tools[i].Name]; !twice {
			index[tools[i].Name] = int32(i)
		}
		set.Tools = append(set.Tools, d)
		set.Count++
		set.Definitions += float64(d.Tokens())
		set.Names += float64(d.Name)
		set.Descriptions += float64(d.Description)
	}
	l.tools, l.set, l.index = tools, set, index
	return set, index
}

// lastToolset is the list of tools that Meter.Toolset was asked for last.
type lastToolset struct {
	tools []trace.ToolDef
	set   *Toolset
	index map[trace.Name]int32
}
