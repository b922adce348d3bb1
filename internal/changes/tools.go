package changes

import (
	"slices"
	"strings"
)

// tools compares the tools that the traces of both sets call. Only what is under
// a meta-tool breaks it; one that no meta-tool calls may well not be called for a
// while, so that alone is no change. A set that recorded no tools says nothing.
func (c *comparison) tools() {
	if c.before.Tools == nil || c.after.Tools == nil {
		return
	}
	for i := range c.before.Tools {
		t := &c.before.Tools[i]
		under := c.before.uses(t.Name)
		at := Change{Tool: t.Name, MetaTools: under}
		n := c.after.tools[t.Name]
		if n == nil {
			at.Code, at.Breaking = "tool-gone", under != nil
			if renamed := c.renamed(t); renamed != "" {
				c.add(at, "is called nowhere any more; %s may be its new name", renamed)
				continue
			}
			if under != nil {
				c.add(at, "is called nowhere any more")
			}
			continue
		}
		if t.SHA256 == n.SHA256 || t.SHA256 == "" || n.SHA256 == "" {
			continue
		}
		if t.SchemaSHA256 == n.SchemaSHA256 {
			at.Code = "tool-changed"
			c.add(at, "is described in other words; its arguments are the same")
			continue
		}
		c.arguments(at, t, n)
	}
}

// arguments compares the arguments of two definitions of a tool.
func (c *comparison) arguments(at Change, t, n *Tool) {
	found := len(c.list)
	under := at.MetaTools != nil
	var gone, added []ToolArgument
	for _, a := range t.Arguments {
		i := slices.IndexFunc(n.Arguments, func(b ToolArgument) bool { return b.Name == a.Name })
		if i < 0 {
			gone = append(gone, a)
			continue
		}
		b := n.Arguments[i]
		at.Argument = a.Name
		if b.Required && !a.Required {
			at.Code, at.Breaking = "argument-required", under && !c.alwaysPassed(t.Name, a.Name)
			c.add(at, "requires its argument %s now", a.Name)
		}
		if a.Type != b.Type {
			at.Code, at.Breaking = "argument-retyped", under
			c.add(at, "wants %s for its argument %s, was %s", orAnything(b.Type), a.Name, orAnything(a.Type))
		}
	}
	for _, b := range n.Arguments {
		if !slices.ContainsFunc(t.Arguments, func(a ToolArgument) bool { return a.Name == b.Name }) {
			added = append(added, b)
		}
	}
	for _, a := range gone {
		at.Argument, at.Code, at.Breaking = a.Name, "argument-gone", under
		if i := slices.IndexFunc(added, func(b ToolArgument) bool { return b.Type == a.Type && b.Required == a.Required }); i >= 0 && len(gone) == 1 {
			c.add(at, "has no argument %s any more; %s may be its new name", a.Name, added[i].Name)
			continue
		}
		c.add(at, "has no argument %s any more", a.Name)
	}
	for _, b := range added {
		at.Argument, at.Code, at.Breaking = b.Name, "argument-added", false
		if b.Required {
			at.Code, at.Breaking = "argument-required", under
			c.add(at, "requires a new argument %s", b.Name)
			continue
		}
		c.add(at, "has a new argument %s, which may be left out", b.Name)
	}
	if len(c.list) == found {
		at.Argument, at.Code, at.Breaking = "", "tool-changed", false
		c.add(at, "has another schema for its arguments; their names and types are the same")
	}
}

// alwaysPassed reports whether all steps that call the tool pass an argument.
func (c *comparison) alwaysPassed(tool, argument string) bool {
	for i := range c.before.MetaTools {
		for j := range c.before.MetaTools[i].Steps {
			s := &c.before.MetaTools[i].Steps[j]
			passes := func(a Argument) bool { return a.Name == argument && !a.Optional }
			if s.Tool == tool && !slices.ContainsFunc(s.Arguments, passes) {
				return false
			}
		}
	}
	return true
}

func orAnything(t string) string {
	if t == "" {
		return "anything"
	}
	return t
}

// renamed returns the new tool that a tool may be called now, "" if there is none
// or several are as near: the same schema of the arguments, and among these the
// most words of its name.
func (c *comparison) renamed(t *Tool) string {
	if t.SchemaSHA256 == "" {
		return ""
	}
	best, most, tie := "", -1, false
	for i := range c.after.Tools {
		n := &c.after.Tools[i]
		if n.SchemaSHA256 != t.SchemaSHA256 || c.before.tools[n.Name] != nil {
			continue
		}
		switch shared := sharedWords(t.Name, n.Name); {
		case shared > most:
			best, most, tie = n.Name, shared, false
		case shared == most:
			tie = true
		}
	}
	if tie {
		return ""
	}
	return best
}

// sharedWords counts the words that two names share.
func sharedWords(a, b string) int {
	split := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune("_-./: ", r) })
	}
	words, n := split(b), 0
	for _, w := range split(a) {
		if slices.Contains(words, w) {
			n++
		}
	}
	return n
}
