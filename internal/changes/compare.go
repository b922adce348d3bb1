package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// Change is one difference.
//
// Codes are stable. Breaking are: meta-tool-removed, input-removed,
// input-added-required, input-required (it could be left out before),
// input-narrowed, steps-changed (it calls other tools), returns-changed,
// output-changed (a member of the result is gone, or of another type), hint-weaker
// (it may now write, destroy or do things twice), tool-gone, argument-gone,
// argument-required and argument-retyped (of a tool under a meta-tool of the old
// set). Not breaking are: meta-tool-added, input-added, input-optional,
// input-widened, binding-changed, output-widened, hint-stronger,
// description-changed, support-lost, argument-added, tool-changed, and all that is about
// rules for reading ahead, which nobody calls: prefetch-added, prefetch-removed,
// prefetch-changed, prefetch-use-changed.
type Change struct {
	Code     string `json:"code"`
	Breaking bool   `json:"breaking"`
	MetaTool string `json:"meta_tool"` // "" if it is about a tool
	Tool     string `json:"tool"`      // that is called
	Step     *int   `json:"step"`      // of the meta-tool, from 0; nil if it is about none
	Argument string `json:"argument"`  // or the name of an input
	Text     string `json:"text"`      // in words, without values

	// MetaTools are those of the old set that call the tool, for changes of a tool.
	MetaTools []string `json:"meta_tools"`

	Rule string `json:"rule"` // for reading ahead; "" if it is about none
}

// Seen reports whether those who call meta-tools, or make reads by the rules, notice the
// change; what the others are about are counts, and descriptions of tools below a meta-tool.
func (c *Change) Seen() bool {
	return !slices.Contains([]string{"support-lost", "prefetch-use-changed", "tool-changed"}, c.Code)
}

// Compare returns what differs, changes of tools first, then meta-tools in the
// order of the old set, then new ones, then rules for reading ahead.
func Compare(before, after *Set) []Change {
	c := &comparison{before: before, after: after}
	c.tools()
	for i := range before.MetaTools {
		c.metaTool(&before.MetaTools[i])
	}
	for i := range after.MetaTools {
		if m := &after.MetaTools[i]; before.named[m.Name] == nil {
			c.add(Change{Code: "meta-tool-added", MetaTool: m.Name}, "new: %s, in %s", chain(m), count(m.Support, "trajectory", "trajectories"))
		}
	}
	c.readsAhead()
	return c.list
}

// comparison is the state of Compare.
type comparison struct {
	before, after *Set
	list          []Change
}

func (c *comparison) add(one Change, format string, args ...any) {
	one.Text = fmt.Sprintf(format, args...)
	c.list = append(c.list, one)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// chain names the tools that a meta-tool calls.
func chain(m *MetaTool) string {
	var tools []string
	for i := range m.Steps {
		tool := m.Steps[i].Tool
		if m.Steps[i].ForEach != nil {
			tool = "each " + tool
		}
		tools = append(tools, tool)
	}
	return strings.Join(tools, " → ")
}

func (c *comparison) metaTool(m *MetaTool) {
	n := c.after.named[m.Name]
	if n == nil {
		c.add(Change{Code: "meta-tool-removed", Breaking: true, MetaTool: m.Name}, "no longer offered: %s", c.cause(m))
		return
	}
	c.inputs(m, n)
	if chain(m) != chain(n) {
		c.add(Change{Code: "steps-changed", Breaking: true, MetaTool: m.Name}, "calls %s, not %s", chain(n), chain(m))
	} else {
		c.bindings(m, n)
		c.output(m, n)
	}
	c.hints(m, n)
	if m.Description != n.Description {
		c.add(Change{Code: "description-changed", MetaTool: m.Name}, "another description")
	}
	if n.Support < m.Support {
		c.add(Change{Code: "support-lost", MetaTool: m.Name}, "in %s, was %d", count(n.Support, "trajectory", "trajectories"), m.Support)
	}
}

// cause says why a meta-tool may be gone.
func (c *comparison) cause(m *MetaTool) string {
	var reasons, seen []string
	for i := range m.Steps {
		tool := m.Steps[i].Tool
		if slices.Contains(seen, tool) {
			continue
		}
		seen = append(seen, tool)
		for _, change := range c.list {
			if change.Tool == tool && change.MetaTool == "" && change.Breaking {
				reasons = append(reasons, tool+" "+change.Text)
			}
		}
	}
	if why, ok := c.after.Left[m.Name]; ok {
		reasons = append(reasons, "found, and rejected: "+why)
	}
	for i := range c.after.MetaTools {
		if n := &c.after.MetaTools[i]; chain(n) == chain(m) {
			reasons = append(reasons, "the same calls are offered as "+n.Name)
		}
	}
	if len(reasons) == 0 {
		return "its calls, " + chain(m) + ", are no longer found in a row, or not often enough"
	}
	return strings.Join(reasons, "; ")
}

func (c *comparison) inputs(m, n *MetaTool) {
	before, _ := m.input.Lookup("properties")
	after, _ := n.input.Lookup("properties")
	must, mustNow := requiredOf(m.input), requiredOf(n.input)
	for _, name := range names(before, after) {
		x, had := before.Lookup(name)
		y, has := after.Lookup(name)
		at := Change{MetaTool: m.Name, Argument: name}
		required, requiredNow := slices.Contains(must, name), slices.Contains(mustNow, name)
		switch {
		case !has:
			at.Code, at.Breaking = "input-removed", true
			c.add(at, "takes no input %s any more", name)
			continue
		case !had && requiredNow:
			at.Code, at.Breaking = "input-added-required", true
			c.add(at, "wants a new input %s", name)
			continue
		case !had:
			at.Code = "input-added"
			c.add(at, "takes a new input %s, which may be left out", name)
			continue
		case requiredNow && !required:
			at.Code, at.Breaking = "input-required", true
			c.add(at, "input %s may not be left out any more", name)
		case required && !requiredNow:
			at.Code = "input-optional"
			c.add(at, "input %s may be left out", name)
		}
		switch compareSchemas(x, y, 0) {
		case narrowed:
			at.Code, at.Breaking = "input-narrowed", true
			c.add(at, "input %s allows less (%s, was %s)", name, typeWords(y), typeWords(x))
		case widened:
			at.Code, at.Breaking = "input-widened", false
			c.add(at, "input %s allows more (%s, was %s)", name, typeWords(y), typeWords(x))
		}
	}
}

// bindings compares where arguments come from; the steps call the same tools.
func (c *comparison) bindings(m, n *MetaTool) {
	for i := range m.Steps {
		a, b := &m.Steps[i], &n.Steps[i]
		at := Change{Code: "binding-changed", MetaTool: m.Name, Tool: a.Tool, Step: &i}
		if !a.ForEach.equal(b.ForEach) {
			c.add(at, "call %d walks another list", i+1)
		}
		had, has := argumentsOf(a), argumentsOf(b)
		var all []string
		for _, x := range slices.Concat(a.Arguments, b.Arguments) {
			all = append(all, x.Name)
		}
		slices.Sort(all)
		for _, name := range slices.Compact(all) {
			at.Argument = name
			x, y := had[name], has[name]
			switch {
			case y == nil:
				c.add(at, "call %d does not pass %s any more", i+1, name)
			case x == nil:
				c.add(at, "call %d passes %s too", i+1, name)
			case x.Binding.Kind != y.Binding.Kind:
				c.add(at, "call %d: %s comes from %s, was %s", i+1, name, kindWords(y.Binding.Kind), kindWords(x.Binding.Kind))
			case !x.Binding.equal(&y.Binding):
				c.add(at, "call %d: %s comes from another %s", i+1, name, kindNoun(y.Binding.Kind))
			}
		}
	}
}

func argumentsOf(s *Step) map[string]*Argument {
	all := map[string]*Argument{}
	for i := range s.Arguments {
		all[s.Arguments[i].Name] = &s.Arguments[i]
	}
	return all
}

func kindWords(kind string) string {
	switch kind {
	case "const":
		return "a constant"
	case "step":
		return "an earlier result"
	case "element":
		return "the element of a list"
	case "template":
		return "a template"
	case "input":
		return "an input"
	}
	return "elsewhere"
}

func kindNoun(kind string) string {
	switch kind {
	case "const":
		return "constant"
	case "step":
		return "place in the results"
	case "element":
		return "place in the element"
	case "template":
		return "template"
	case "input":
		return "input"
	}
	return "place"
}

// output compares what is returned; the steps call the same tools.
func (c *comparison) output(m, n *MetaTool) {
	at := Change{MetaTool: m.Name}
	if !slices.Equal(m.Returns, n.Returns) {
		at.Code, at.Breaking = "returns-changed", true
		c.add(at, "returns the results of other calls")
		return
	}
	// Whoever reads a result must find what was there before.
	if lost := lostMembers(m.output, n.output, "", 0); lost != "" {
		at.Code, at.Breaking = "output-changed", true
		c.add(at, "the result is another at %s", lost)
	} else if !m.output.Equal(n.output) {
		at.Code = "output-widened"
		c.add(at, "the result holds more, or is described in other words")
	}
}

// lostMembers returns the first place at which what a schema promises is gone or
// of another type, "" if there is none.
func lostMembers(before, after trace.Value, path string, depth int) string {
	if before.Equal(after) || depth > maxDepth {
		return ""
	}
	if compareSets(typesOf(after), typesOf(before)) == narrowed {
		return path + "$"
	}
	a, _ := before.Lookup("properties")
	b, _ := after.Lookup("properties")
	for _, p := range a.Members {
		q, ok := b.Lookup(p.Name)
		if !ok {
			return path + p.Name
		}
		if lost := lostMembers(p.Value, q, path+p.Name+".", depth+1); lost != "" {
			return strings.TrimSuffix(lost, ".$")
		}
	}
	x, had := before.Lookup("items")
	y, has := after.Lookup("items")
	if had && has {
		return lostMembers(x, y, path+"[]", depth+1)
	}
	return ""
}

// hints compares the annotations; true is worse for those of the second list.
func (c *comparison) hints(m, n *MetaTool) {
	var all []string
	for _, hints := range []map[string]bool{m.Annotations, n.Annotations} {
		for name := range hints {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		had, has := m.Annotations[name], n.Annotations[name]
		if had == has {
			continue
		}
		worse := name == "destructiveHint" || name == "openWorldHint"
		at := Change{Code: "hint-stronger", MetaTool: m.Name}
		if has == worse {
			at.Code, at.Breaking = "hint-weaker", true
		}
		c.add(at, "%s is %t, was %t", name, has, had)
	}
}
