// Package mergetest makes rules and trajectories for the tests of package merge
// and of what is below it. It is imported by tests only.
package mergetest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Set makes a set of rules, given as values.
func Set(list ...rules.Rule) *rules.Set {
	set := &rules.Set{}
	for i := range list {
		if list[i].ID == "" {
			list[i].ID = fmt.Sprintf("rule-%d", i)
		}
		set.Rules = append(set.Rules, &list[i])
	}
	return set
}

// On is a match of tools by name, with an argument after a space.
func On(pattern string) rules.Match {
	tools, arg, _ := strings.Cut(pattern, " ")
	m := rules.Match{}
	for tool := range strings.SplitSeq(tools, ",") {
		m.Tools = append(m.Tools, rules.Glob(tool))
	}
	if arg != "" {
		m.Arg = Path(arg)
	}
	return m
}

// OnArgs is a match of tools by name and of arguments: path, pattern, ...
func OnArgs(tools string, args ...string) rules.Match {
	m := On(tools)
	for i := 0; i < len(args); i += 2 {
		m.Args = append(m.Args, rules.ArgPattern{Path: Path(args[i]), Pattern: regexp.MustCompile(args[i+1])})
	}
	return m
}

// OnContext is a match of tools by name and of a context value.
func OnContext(tools, name, pattern string) rules.Match {
	m := On(tools)
	m.Context = []rules.ContextPattern{{Name: name, Pattern: regexp.MustCompile(pattern)}}
	return m
}

func Path(text string) rules.Path {
	path, err := rules.ParsePath(text)
	if err != nil {
		panic(err)
	}
	return path
}

func Effect(tools string, e rules.Effect) rules.Rule {
	return rules.Rule{Kind: rules.KindEffect, Match: On(tools), Effect: e}
}

func Domain(tools, name string) rules.Rule {
	return rules.Rule{Kind: rules.KindDomain, Match: On(tools), Domain: name}
}

func Rewrite(match, pattern, with string) rules.Rule {
	return rules.Rule{Kind: rules.KindRewrite, Match: On(match), Pattern: regexp.MustCompile(pattern), With: with}
}

func DropArg(match string) rules.Rule { return rules.Rule{Kind: rules.KindDropArg, Match: On(match)} }

func Loop(tools string, ignore ...string) rules.Rule {
	r := rules.Rule{Kind: rules.KindLoop, Match: On(tools)}
	for _, path := range ignore {
		r.IgnoreArgs = append(r.IgnoreArgs, Path(path))
	}
	return r
}

func Commute(one, other string) rules.Rule {
	r := rules.Rule{Kind: rules.KindCommute, Match: On(one)}
	if other != "" {
		m := On(other)
		r.Other = &m
	}
	return r
}

// Run makes a trajectory of calls written as a name followed by arguments, one
// call a turn. In front of the name, `?` puts a user message before the call,
// `!` makes it fail, and `&` makes it share the turn of the call before.
func Run(calls ...string) *trace.Trajectory {
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

// Returning makes a trajectory of calls written as for Run, each followed by
// `=` and what it returned.
func Returning(task string, calls ...string) *trace.Trajectory {
	var made []string
	var results []string
	for _, c := range calls {
		call, result, _ := strings.Cut(c, "=")
		made, results = append(made, call), append(results, result)
	}
	t := Run(made...)
	t.ID, t.Task = task+":"+strings.Join(calls, " "), task
	for i, r := range results {
		t.Calls[i].Result, t.Calls[i].HasResult = trace.TextOf(r), r != ""
	}
	return t
}

// Named gives a rule an id.
func Named(id string, r rules.Rule) rules.Rule {
	r.ID = id
	return r
}
