package cost

import "github.com/awo-dev/awo/trace"

// Toolset returns the tokens of a list of tools for lazy registration, and where
// each stands in it. Lists that came lately are remembered, because they repeat from
// trajectory to trajectory: equal lists have the same Toolset.
func (m *Meter) Toolset(tools []trace.ToolDef) (*Toolset, map[trace.Name]int32) {
	if known, ok := m.toolsets.Of(tools); ok {
		return known.set, known.index
	}
	register := Definition{Name: m.Text(RegisterName), Description: m.Text(RegisterDescription), Parameters: m.Text(RegisterSchema)}
	set := &Toolset{Register: register.Tokens(), Separator: 1, Call: m.Text(registerCall), Acknowledged: m.Text(registerAnswer)}
	index := make(map[trace.Name]int32, len(tools))
	for i := range tools {
		d := m.Definition(&tools[i])
		name := tools[i].Name
		if _, twice := index[name]; twice {
			name = trace.Name{}
		} else {
			index[name] = int32(i)
		}
		set.List = append(set.List, name)
		set.Tools = append(set.Tools, d)
		set.Count++
		set.Definitions += float64(d.Tokens())
		set.Names += float64(d.Name)
		set.Descriptions += float64(d.Description)
	}
	m.toolsets.Keep(tools, knownToolset{set, index}, max(maxToolsets, maxDefinitions/max(len(tools), 1)))
	return set, index
}

// maxToolsets is how many lists of tools a Meter remembers.
const maxToolsets = 64

// maxDefinitions are in the lists that it remembers beyond those.
const maxDefinitions = 16 << 10

// knownToolset is a list of tools that a Meter was asked for.
type knownToolset struct {
	set   *Toolset
	index map[trace.Name]int32
}
