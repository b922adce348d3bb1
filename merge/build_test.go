package merge

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// ruleSet makes a set of rules, given as values.
func ruleSet(list ...rules.Rule) *rules.Set {
	set := &rules.Set{}
	for i := range list {
		if list[i].ID == "" {
			list[i].ID = fmt.Sprintf("rule-%d", i)
		}
		set.Rules = append(set.Rules, &list[i])
	}
	return set
}

// on is a match of tools by name, with an argument after a space.
func on(pattern string) rules.Match {
	tools, arg, _ := strings.Cut(pattern, " ")
	m := rules.Match{}
	for tool := range strings.SplitSeq(tools, ",") {
		m.Tools = append(m.Tools, rules.Glob(tool))
	}
	if arg != "" {
		m.Arg = pathOf(arg)
	}
	return m
}

// onArgs is a match of tools by name and of arguments: path, pattern, ...
func onArgs(tools string, args ...string) rules.Match {
	m := on(tools)
	for i := 0; i < len(args); i += 2 {
		m.Args = append(m.Args, rules.ArgPattern{Path: pathOf(args[i]), Pattern: regexp.MustCompile(args[i+1])})
	}
	return m
}

// onContext is a match of tools by name and of a context value.
func onContext(tools, name, pattern string) rules.Match {
	m := on(tools)
	m.Context = []rules.ContextPattern{{Name: name, Pattern: regexp.MustCompile(pattern)}}
	return m
}

func pathOf(text string) rules.Path {
	path, err := rules.ParsePath(text)
	if err != nil {
		panic(err)
	}
	return path
}

func effect(tools string, e rules.Effect) rules.Rule {
	return rules.Rule{Kind: rules.KindEffect, Match: on(tools), Effect: e}
}

func domain(tools, name string) rules.Rule {
	return rules.Rule{Kind: rules.KindDomain, Match: on(tools), Domain: name}
}

func rewrite(match, pattern, with string) rules.Rule {
	return rules.Rule{Kind: rules.KindRewrite, Match: on(match), Pattern: regexp.MustCompile(pattern), With: with}
}

func dropArg(match string) rules.Rule { return rules.Rule{Kind: rules.KindDropArg, Match: on(match)} }

func loop(tools string, ignore ...string) rules.Rule {
	r := rules.Rule{Kind: rules.KindLoop, Match: on(tools)}
	for _, path := range ignore {
		r.IgnoreArgs = append(r.IgnoreArgs, pathOf(path))
	}
	return r
}

func commute(one, other string) rules.Rule {
	r := rules.Rule{Kind: rules.KindCommute, Match: on(one)}
	if other != "" {
		m := on(other)
		r.Other = &m
	}
	return r
}

// run makes a trajectory of calls written as a name followed by arguments, one
// call a turn. In front of the name, `?` puts a user message before the call,
// `!` makes it fail, and `&` makes it share the turn of the call before.
func run(calls ...string) *trace.Trajectory {
	t := &trace.Trajectory{}
	for _, text := range calls {
		call := trace.Call{Status: trace.StatusOK, HasResult: true}
		marks := text[:strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("?!&", r) })]
		text = text[len(marks):]
		call.AfterUser = strings.Contains(marks, "?")
		if strings.Contains(marks, "!") {
			call.Status = trace.StatusFailed
		}
		if !strings.Contains(marks, "&") {
			t.Turns = append(t.Turns, trace.Turn{})
		}
		call.Turn = len(t.Turns) - 1
		name, args, found := strings.Cut(text, "{")
		call.Tool = trace.Intern(name)
		if found {
			call.Args = trace.JSONOf([]byte("{" + args))
		}
		t.Calls = append(t.Calls, call)
	}
	return t
}

// merged merges trajectories under the rules, with the table.
func merged(set *rules.Set, runs ...*trace.Trajectory) *Merged {
	m := NewMerger(set, Options{Table: true})
	for _, t := range runs {
		m.Add(t)
	}
	return m.Merged()
}

// steps are the steps of a trajectory under all rules, written as their labels
// with the marks of run, `|` for a cut, `+` for an inserted step and `*n` for
// one that stands for n calls.
func steps(set *rules.Set, t *trace.Trajectory) []string {
	labels := &Labels{}
	r := NewRewriter(set, Full(set), labels, NewCatalog())
	var texts []string
	for _, s := range r.Rewrite(t) {
		text := ""
		if s.Cut {
			text += "|"
		}
		if s.AfterUser {
			text += "?"
		}
		if s.Status == trace.StatusFailed {
			text += "!"
		}
		if s.Inserted {
			text += "+"
		}
		text += labels.Text(s.Label())
		if s.Calls > 1 {
			text += fmt.Sprintf("*%d", s.Calls)
		}
		texts = append(texts, text)
	}
	return texts
}

// states are the states that a trajectory walks through under all rules.
func states(m *Merged, trajectory int) []int {
	var all []int
	first, last := m.Walks.Of(trajectory)
	for p := first; p < last; p++ {
		all = append(all, int(m.Graph.To(m.Walks.Edge(p))))
	}
	return all
}
