package rules

import (
	"regexp"

	"github.com/awo-dev/awo/internal/yamlsrc"
)

// metaToolFields are the fields of an element of `meta_tools`.
var metaToolFields = []string{"name", "description", "tools"}

// metaToolName is what providers and MCP servers accept as the name of a tool.
var metaToolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (p *parser) metaTool(n *yamlsrc.Node) (MetaToolName, bool) {
	before := p.errors
	m := MetaToolName{Pos: n.Pos}
	o, ok := p.object(n, "a meta-tool", metaToolFields)
	if !ok {
		return m, false
	}
	if n := o.required("name"); n != nil {
		p.metaToolName(&m, n)
	}
	if n := o.value("description"); n != nil {
		m.Description, _ = p.text(n, "description")
	}
	if n := o.required("tools"); n != nil {
		for e := range p.elements(n, "tools") {
			g, _ := p.glob(e, "tools")
			m.Tools = append(m.Tools, g)
		}
		if n.Kind == yamlsrc.Sequence && len(n.Entries) < 2 {
			p.report(n.Pos, "rule-missing-value", "a meta-tool has two tools or more")
		}
	}
	return m, p.errors == before && !p.isFlawed(n)
}

func (p *parser) metaToolName(m *MetaToolName, n *yamlsrc.Node) {
	name, ok := p.line(n, "name")
	switch {
	case !ok:
	case !metaToolName.MatchString(name):
		p.report(n.Pos, "rule-bad-value", "the name of a tool has 1 to 64 letters, digits, _ and - (other characters are refused by model providers)")
	default:
		if first, twice := p.names[name]; twice {
			p.report(n.Pos, "rule-duplicate-id", "another meta-tool is called %q", name).Note(first, "here")
			return
		}
		p.names[name] = n.Pos
		m.Name = name
	}
}

// Matches reports whether the name is for a meta-tool that makes these calls, in
// order.
func (m MetaToolName) Matches(tools []string) bool {
	if len(tools) != len(m.Tools) {
		return false
	}
	for i, g := range m.Tools {
		if !g.Match(tools[i]) {
			return false
		}
	}
	return true
}

// MetaTool returns the first entry of `meta_tools` for these calls, or nil.
func (s *Set) MetaTool(tools []string) *MetaToolName {
	for i := range s.MetaTools {
		if s.MetaTools[i].Matches(tools) {
			return &s.MetaTools[i]
		}
	}
	return nil
}
