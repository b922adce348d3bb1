package learn

import (
	"cmp"
	"maps"
	"slices"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

const (
	// minShare is the share of the uses that a binding must give for its candidate to be
	// counted further. What it gives wrong counts against P(use) anyway.
	minShare = 0.2
	// minConstantRuns and minConstantTasks are where a value that is no credential may be
	// written down.
	minConstantRuns, minConstantTasks = 5, 2

	maxLeaves  = 128 // that are compared with an argument
	maxDepth   = 4   // of these
	maxOptions = 64  // of an argument
)

// votes are what the uses of a candidate's values say of the other arguments.
type votes struct {
	uses      int
	arguments map[string]*argument
}

// argument is one of the other arguments.
type argument struct {
	present int
	options map[option]*seen
}

// option is a way to give an argument.
type option struct {
	origin prefetch.Origin
	text   string // the path, or the canonical text of the constant
}

type seen struct {
	count int
	value trace.Value
	runs  int
	tasks map[string]bool // the first few
}

// vote is what one trajectory says.
type vote struct {
	candidate int
	task      string
	uses      []use
}

// use is one call that takes an offered value.
type use struct{ arguments map[string][]optionValue }

type optionValue struct {
	option
	value trace.Value
}

// votesOf looks, in one run, where the other arguments of calls come from that take a
// value that an answer offered. It is pure.
func (s *Survey) votesOf(r *run, task string) []vote {
	var out []vote
	for i, c := range s.candidates {
		firsts := map[string]int{} // value of the argument -> the first call with it
		for at := range r.calls {
			if v, is := c.argumentOf(&r.calls[at]); is {
				if _, known := firsts[v]; !known {
					firsts[v] = at
				}
			}
		}
		if len(firsts) == 0 {
			continue
		}
		one := vote{candidate: i, task: task}
		list, inside := c.rule.Source.Split()
		for at := range r.calls {
			a := &r.calls[at]
			if !a.answered || !a.model || a.Tool != c.rule.Source.Tool {
				continue
			}
			for _, element := range list.Eval(*r.answer(at)) {
				for _, value := range inside.Eval(element) {
					key := string(value.AppendCanonical(nil))
					to, asked := firsts[key]
					if !asked || r.calls[to].turn <= a.turn || !r.calls[to].answered {
						continue
					}
					delete(firsts, key)
					one.uses = append(one.uses, c.use(a, &element, &r.calls[to]))
				}
			}
		}
		if len(one.uses) > 0 {
			out = append(out, one)
		}
	}
	return out
}

// argumentOf returns the value that a call of the target has, as text.
func (c *candidate) argumentOf(a *call) (string, bool) {
	if a.Tool != c.rule.Target.Tool || a.key == "" || !a.model {
		return "", false
	}
	v, is := a.Arguments.Lookup(c.rule.Target.Argument)
	return string(v.AppendCanonical(nil)), is
}

func (c *candidate) use(from *call, element *trace.Value, to *call) use {
	u := use{arguments: map[string][]optionValue{}}
	for _, m := range to.Arguments.Members {
		if m.Name == c.rule.Target.Argument {
			continue
		}
		options := []optionValue{{option{prefetch.FromConstant, string(m.Value.AppendCanonical(nil))}, m.Value}}
		give := func(origin prefetch.Origin, v *trace.Value) {
			left := maxLeaves
			leaves(v, nil, &left, func(path jsonpath.Path, leaf *trace.Value) {
				if leaf.Equal(m.Value) && !hasOddName(path) {
					options = append(options, optionValue{option{origin, path.String()}, trace.Value{}})
				}
			})
		}
		give(prefetch.FromElement, element)
		give(prefetch.FromAnswer, from.answer)
		for _, own := range from.Arguments.Members {
			if own.Value.Equal(m.Value) {
				path := jsonpath.Path{{Kind: jsonpath.Member, Name: own.Name}}
				options = append(options, optionValue{option{prefetch.FromArgument, path.String()}, trace.Value{}})
			}
		}
		u.arguments[m.Name] = options
	}
	return u
}

// leaves calls f with the scalars of a value that no list is around.
func leaves(v *trace.Value, path jsonpath.Path, left *int, f func(jsonpath.Path, *trace.Value)) {
	if v.Kind != trace.Object || len(path) == maxDepth {
		return
	}
	for i := range v.Members {
		if *left--; *left < 0 {
			return
		}
		m := &v.Members[i]
		at := append(slices.Clip(path), jsonpath.Step{Kind: jsonpath.Member, Name: m.Name})
		switch m.Value.Kind {
		case trace.Object:
			leaves(&m.Value, at, left, f)
		case trace.String, trace.Number, trace.Bool:
			f(at, &m.Value)
		}
	}
}

func (v *votes) add(from *vote) {
	if v.arguments == nil {
		v.arguments = map[string]*argument{}
	}
	counted := map[*seen]bool{}
	for i := range from.uses {
		v.uses++
		for name, options := range from.uses[i].arguments {
			a := v.arguments[name]
			if a == nil {
				a = &argument{options: map[option]*seen{}}
				v.arguments[name] = a
			}
			a.present++
			for _, o := range options {
				known := a.options[o.option]
				if known == nil {
					if len(a.options) == maxOptions {
						continue
					}
					known = &seen{value: o.value, tasks: map[string]bool{}}
					a.options[o.option] = known
				}
				known.count++
				if !counted[known] {
					counted[known] = true
					known.runs++
					if len(known.tasks) < minConstantTasks {
						known.tasks[from.task] = true
					}
				}
			}
		}
	}
}

// bind chooses for each further argument of a candidate what gives it most often.
func (s *Survey) bind(c *candidate) {
	for _, name := range slices.Sorted(maps.Keys(c.votes.arguments)) {
		a := c.votes.arguments[name]
		if 2*a.present <= c.votes.uses {
			continue // mostly it is left out
		}
		var best option
		count := 0
		for o, known := range a.options {
			if o.origin == prefetch.FromConstant && !s.mayShow(c.rule.Target.Tool, name, known) {
				continue
			}
			if c := cmp.Or(cmp.Compare(known.count, count), rank(best.origin)-rank(o.origin), cmp.Compare(best.text, o.text)); c > 0 {
				best, count = o, known.count
			}
		}
		if float64(count) < minShare*float64(c.votes.uses) {
			c.unbound = name
			return
		}
		other := prefetch.Other{Argument: name, Origin: best.origin}
		if best.origin == prefetch.FromConstant {
			other.Constant = a.options[best].value
		} else {
			other.Path, _ = jsonpath.Parse(best.text)
		}
		c.rule.Target.Others = append(c.rule.Target.Others, other)
	}
}

// rank orders origins: what says more about the value comes first.
func rank(o prefetch.Origin) int {
	return slices.Index([]prefetch.Origin{prefetch.FromElement, prefetch.FromAnswer, prefetch.FromArgument, prefetch.FromConstant, ""}, o)
}

// mayShow reports whether a value of an argument may be written down.
func (s *Survey) mayShow(tool, argument string, v *seen) bool {
	if v.runs < minConstantRuns || len(v.tasks) < minConstantTasks {
		return false
	}
	return s.rules.AllowsValues(tool, argument) || !corpus.HoldsCredential(argument, &v.value) && s.isPublic(argument, &v.value)
}

// isPublic reports whether all texts in a value are public words.
func (s *Survey) isPublic(argument string, v *trace.Value) bool {
	return (v.Kind != trace.String || s.public.Shows(argument, true, v.Text)) &&
		!slices.ContainsFunc(v.Elems, func(e trace.Value) bool { return !s.isPublic(argument, &e) }) &&
		!slices.ContainsFunc(v.Members, func(m trace.Member) bool { return !s.isPublic(m.Name, &m.Value) })
}

// hasOddName reports whether a path goes through a member whose name is no name that
// somebody chose: it could be a value.
func hasOddName(p jsonpath.Path) bool {
	return slices.ContainsFunc(p, func(s jsonpath.Step) bool {
		return s.Kind == jsonpath.Filter || s.Kind == jsonpath.Member && secret.HasForm(s.Name)
	})
}
