package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/yamlsrc"
)

// groups are those that a template may name.
type groups struct {
	count int      // the largest number
	names []string // by number, empty for those without a name
	of    string   // what has them, for messages
}

// template checks that every group that a text names as ${1} is there. The
// syntax is that of regexp.Expand, less its form without braces, in which $1x is
// the group "1x".
func (p *parser) template(n *yamlsrc.Node, text string, groups groups) {
	for i := 0; i < len(text); i++ {
		if text[i] == '$' {
			i = p.templateGroup(n, text, i, groups) - 1
		}
	}
}

// templateGroup checks what begins with the dollar sign at offset i, and returns
// where it ends.
func (p *parser) templateGroup(n *yamlsrc.Node, text string, i int, groups groups) int {
	rest := text[i+1:]
	if strings.HasPrefix(rest, "$") {
		return i + 2
	}
	name, _, closed := strings.Cut(strings.TrimPrefix(rest, "{"), "}")
	if !strings.HasPrefix(rest, "{") || !closed || !groupName.MatchString(name) {
		p.report(n.PosAt(i), "rule-bad-template", "`$` begins a group such as ${1}; a dollar sign is $$")
		return i + 1
	}
	end := i + len("${}") + len(name)
	number, err := strconv.Atoi(name)
	switch {
	case err == nil && number <= groups.count, err != nil && slices.Contains(groups.names, name):
	case err == nil:
		p.report(n.PosAt(i), "rule-group-missing", "there is no group ${%s}: %s", brief(name), groups.have())
	default:
		p.report(n.PosAt(i), "rule-group-missing", "there is no group called %q: %s", brief(name), groups.have())
	}
	return end
}

// groupName is what stands between the braces: a number or a name.
var groupName = regexp.MustCompile(`^(0|[1-9][0-9]{0,5}|[A-Za-z_][A-Za-z0-9_]*)$`)

// have says which groups there are.
func (g groups) have() string {
	switch {
	case g.of == "":
		return "this text has no groups"
	case g.count == 0:
		return g.of + " no groups in parentheses"
	case g.count == 1:
		return g.of + " one group"
	}
	return g.of + " " + strconv.Itoa(g.count) + " groups"
}

// groupsOf returns the groups of a regular expression.
func groupsOf(pattern *regexp.Regexp) groups {
	return groups{count: pattern.NumSubexp(), names: pattern.SubexpNames(), of: "the pattern has"}
}

// groupsOfMatch returns the groups that the patterns of a match have together,
// numbered through in file order, those of `args` first. They have no names.
func groupsOfMatch(m *Match) groups {
	g := groups{of: "the patterns of the match have"}
	for _, a := range m.Args {
		g.count += a.Pattern.NumSubexp()
	}
	for _, c := range m.Context {
		g.count += c.Pattern.NumSubexp()
	}
	return g
}
