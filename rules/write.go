package rules

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// writtenWidth is how many characters a rule on one line has at most, as in what
// Format writes.
const writtenWidth = 100

// Write returns the rule as an element of `rules:`, on one line where that fits, which
// Parse reads as the same rule. Its examples are left out.
func (r *Rule) Write() string {
	if line := "  - " + r.Line(); len(line) <= writtenWidth {
		return line + "\n"
	}
	return "  - " + strings.Join(r.written(), "\n    ") + "\n"
}

// Line returns the rule on one line, in braces, as Write does.
func (r *Rule) Line() string { return "{" + strings.Join(r.written(), ", ") + "}" }

// written returns the fields of the rule as they are written.
func (r *Rule) written() []string {
	fields := []string{"id: " + scalar(r.ID), "kind: " + r.Kind.String()}
	add := func(name, text string) { fields = append(fields, name+": "+text) }
	if r.Doc != "" {
		add("doc", scalar(r.Doc))
	}
	if match := r.Match.write(); match != "{}" {
		add("match", match)
	}
	switch r.Kind {
	case KindRename:
		add("to", scalar(r.To))
	case KindStatus:
		if r.Failure != "" {
			add("failure", scalar(r.Failure))
		} else {
			add("result", scalar(r.Pattern.String()))
		}
		add("is", r.Is)
	case KindFold:
		add("arg", scalar(r.Arg.String()))
		if r.Separator != "" {
			add("separator", scalar(r.Separator))
		}
	case KindInsert:
		add([...]string{SideBefore: "before", SideAfter: "after"}[r.Position], r.Step.write())
	case KindRewrite:
		add("pattern", scalar(r.Pattern.String()))
		add("with", scalar(r.With))
	case KindEffect:
		add("effect", r.Effect.String())
		if r.Idempotent {
			add("idempotent", "true")
		}
	case KindDomain:
		if r.DomainFrom != nil {
			add("domain_from", scalar(r.DomainFrom.String()))
		} else {
			add("domain", scalar(r.Domain))
		}
	case KindLoop:
		if len(r.IgnoreArgs) > 0 {
			var paths []string
			for _, p := range r.IgnoreArgs {
				paths = append(paths, scalar(p.String()))
			}
			add("ignore_args", "["+strings.Join(paths, ", ")+"]")
		}
	case KindCommute:
		if r.Other != nil {
			add("with", r.Other.write())
		}
	case KindPlumbing:
		if r.Answer == AnswerKeep {
			add("answer", r.Answer.String())
		}
	case KindState:
		add("keys", list(r.Keys))
	}
	if r.Values {
		add("values", "allow")
	}
	return fields
}

// write returns the match in braces.
func (m *Match) write() string {
	var parts []string
	if len(m.Tools) > 0 {
		names := make([]string, len(m.Tools))
		for i, g := range m.Tools {
			names[i] = g.String()
		}
		text := list(names)
		if len(names) == 1 {
			text = scalar(names[0])
		}
		parts = append(parts, "tool: "+text)
	}
	if len(m.Arg) > 0 {
		parts = append(parts, "arg: "+scalar(m.Arg.String()))
	}
	if len(m.Args) > 0 {
		parts = append(parts, "args: "+writePatterns(m.Args))
	}
	for _, named := range []struct {
		field    string
		patterns []ContextPattern
	}{{"context", m.Context}, {"annotations", m.Annotations}} {
		if len(named.patterns) > 0 {
			var texts []string
			for _, p := range named.patterns {
				texts = append(texts, scalar(p.Name)+": "+scalar(p.Pattern.String()))
			}
			parts = append(parts, named.field+": {"+strings.Join(texts, ", ")+"}")
		}
	}
	if len(m.Result) > 0 {
		parts = append(parts, "result: "+writePatterns(m.Result))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// writePatterns returns patterns by path in braces, one of a whole text alone.
func writePatterns(list []ArgPattern) string {
	var texts []string
	for _, a := range list {
		if len(a.Path) == 0 {
			return scalar(a.Pattern.String())
		}
		texts = append(texts, scalar(a.Path.String())+": "+scalar(a.Pattern.String()))
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// write returns the step in braces.
func (s *Step) write() string {
	text := "{tool: " + scalar(s.Tool)
	if len(s.Args) > 0 {
		var args []string
		for _, name := range slices.Sorted(maps.Keys(s.Args)) {
			args = append(args, scalar(name)+": "+scalar(s.Args[name]))
		}
		text += ", args: {" + strings.Join(args, ", ") + "}"
	}
	return text + "}"
}

// list writes texts in brackets.
func list(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = scalar(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// plainScalar are texts that no reader of YAML takes for anything else, the words of
// yamlWords aside.
var plainScalar = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_*-]*$`)

var yamlWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// scalar writes a text so that every reader of YAML reads it back.
func scalar(text string) string {
	printable := !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	switch {
	case plainScalar.MatchString(text) && !slices.Contains(yamlWords, strings.ToLower(text)):
		return text
	case printable:
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return strconv.QuoteToASCII(text)
}
