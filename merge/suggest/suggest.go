// Package suggest proposes rules for a corpus of traces.
//
// Trajectories come in, a [Suggester] keeps them, collects facts about tools and
// arguments, drafts the rules that there is a reason for, and chooses those that
// make the graph smaller without making the next call harder to predict. What
// goes out is [Suggestions]: rules with what speaks for and against them, and the
// candidates that were rejected, with the reason.
//
// It keeps tool names, arguments and hashes of results, up to a bound in bytes,
// because rules have to be tried. Package evidence judges the rules.
package suggest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Options are the choices of a [Suggester]. The zero value is the
// default.
type Options struct {
	MaxBytes  int     // of the trajectories that are kept; 0 means 512 MiB
	Tolerance float64 // share of contradictions that a rule may have; 0 means 0.01
	Folds     int     // of the held-out loss; 0 means 10
	Seed      uint64  // of the folds
}

// Suggester proposes rules for a stream of trajectories. It is not safe for
// concurrent use.
//
// A rule is proposed if the traces give a reason for it (see the kinds of
// [Suggestion]), if it makes the graph smaller, if the held-out loss of the next
// call given the state does not rise by it, and if an [Examiner] of all that is
// proposed does not blame it. A tool that nothing speaks for stays a mutator.
//
// Since rules have to be tried, trajectories are kept: tool names, arguments and
// hashes of results, up to MaxBytes; what comes after is counted and left out.
type Suggester struct {
	options Options
	seeds   hash128.Seeds

	kept    []*trace.Trajectory
	bytes   int
	leftOut int

	facts map[trace.Name]*toolFacts
	order []*toolFacts
	names toolname.Names
	known map[hash128.Hash]hash128.Hash // result of a call, by tool and arguments
}

// NewSuggester returns a suggester that has seen nothing.
func NewSuggester(options Options) *Suggester {
	if options.MaxBytes <= 0 {
		options.MaxBytes = 512 << 20
	}
	if options.Tolerance <= 0 {
		options.Tolerance = 0.01
	}
	return &Suggester{options: options, seeds: hash128.NewSeeds(), facts: map[trace.Name]*toolFacts{}, known: map[hash128.Hash]hash128.Hash{}}
}

// Add looks at one trajectory.
func (s *Suggester) Add(t *trace.Trajectory) {
	if s.bytes >= s.options.MaxBytes {
		s.leftOut++
		return
	}
	s.hints(t)
	kept := &trace.Trajectory{ID: t.ID, Ref: t.Ref, Task: t.TaskKey(), Outcome: t.Outcome}
	results := make([]hash128.Hash, 0, len(t.Calls))
	for i := range t.Calls {
		call := t.Calls[i]
		var result hash128.Hash
		if call.HasResult {
			var data []byte
			if v, ok := call.ResultValue(); ok {
				data = v.AppendCanonical(nil)
			} else {
				data = call.Result.Data
			}
			result = hash128.Of(data)
			call.Result = trace.TextOf(fmt.Sprintf("%016x%016x", result.Hi, result.Lo))
		}
		call.Args.Data = bytes.Clone(call.Args.Data)
		call.Error = trace.Raw{}
		results = append(results, result)
		kept.Calls = append(kept.Calls, call)
		s.bytes += len(call.Args.Data) + 250
	}
	s.bytes += 300
	s.kept = append(s.kept, kept)
	s.look(kept, results)
}

func (s *Suggester) tool(name trace.Name) *toolFacts {
	f := s.facts[name]
	if f == nil {
		f = &toolFacts{name: name, effect: s.names.Of(name.Value()), run: -1, results: map[hash128.Hash]bool{}, args: map[string]*argFacts{}, pages: map[string]int{}}
		s.facts[name] = f
		s.order = append(s.order, f)
	}
	return f
}

// hints notes what definitions and names say of effects.
func (s *Suggester) hints(t *trace.Trajectory) {
	more := false
	for i := range t.Tools {
		more = s.names.Add(t.Tools[i].Name.Value()) || more
		v, err := trace.ParseValue([]byte(t.Tools[i].Annotations.Text()))
		if err != nil {
			continue
		}
		if e := toolname.Annotated(v); e != toolname.Unknown {
			f := s.tool(t.Tools[i].Name)
			f.declared, f.effect = e, e
		}
	}
	for i := range t.Calls {
		more = s.names.Add(t.Calls[i].Tool.Value()) || more
	}
	if more {
		for _, f := range s.order {
			f.effect, _ = s.names.Decide(toolname.Unknown, f.declared, f.name.Value())
		}
	}
}

// made is a call of the trajectory that is looked at.
type made struct {
	at     int
	result hash128.Hash
}

// look collects the facts of one trajectory.
func (s *Suggester) look(t *trace.Trajectory, results []hash128.Hash) {
	run := len(s.kept) - 1
	last := map[hash128.Hash]made{}
	var before trace.Value
	for i := range t.Calls {
		call := &t.Calls[i]
		if call.Origin != trace.OriginModel {
			continue
		}
		f := s.tool(call.Tool)
		f.calls++
		if f.run != run {
			f.run = run
			f.runs++
		}
		args, _ := call.ArgsValue()
		f.seeArgs(args, nil)
		if i > 0 && t.Calls[i-1].Tool == call.Tool {
			f.seePages(before, args)
		}
		before = args
		if !call.HasResult || call.Status == trace.StatusFailed {
			continue
		}
		if len(f.results) < minValues {
			f.results[results[i]] = true
		}
		called := hash128.Mix(s.seeds.Text(call.Tool.Value()), hash128.Of(args.AppendCanonical(nil)))
		if m, again := last[called]; again {
			s.compare(t, m, made{i, results[i]})
		} else if result, elsewhere := s.known[called]; elsewhere {
			if result == results[i] {
				f.same++
			}
		} else {
			s.known[called] = results[i]
		}
		last[called] = made{i, results[i]}
	}
}

// compare looks at a call that was made twice in a trajectory.
func (s *Suggester) compare(t *trace.Trajectory, one, two made) {
	f := s.tool(t.Calls[two.at].Tool)
	same := one.result == two.result
	if two.at == one.at+1 {
		f.repeat(same, len(s.kept))
	}
	if f.effect != toolname.Reads {
		return
	}
	if two.at == one.at+1 {
		if same {
			f.same++
		} else {
			f.differs++
		}
		return
	}
	var between, suspects []*toolFacts
	for _, c := range t.Calls[one.at+1 : two.at] {
		g := s.tool(c.Tool)
		if slices.Contains(between, g) {
			continue
		}
		between = append(between, g)
		if g.effect != toolname.Reads {
			suspects = append(suspects, g)
		}
	}
	if same {
		for _, g := range between {
			g.unchanged++
		}
		return
	}
	if len(suspects) == 0 {
		suspects = append(between, f)
	}
	for _, g := range suspects {
		g.changed++
	}
}

// repeat notes that a call was made again right after itself, in a run counted
// from 1.
func (f *toolFacts) repeat(same bool, run int) {
	if !same {
		f.repeatedElse++
		return
	}
	f.repeated++
	if f.repeatedRun != run {
		f.repeatedRun = run
		f.repeatedRuns++
	}
}

// maxArgPaths bounds the paths of one tool's arguments that are looked at.
const maxArgPaths = 100

// seeArgs notes the values at and below a path.
func (f *toolFacts) seeArgs(v trace.Value, path rules.Path) {
	switch v.Kind {
	case trace.Object:
		for _, m := range v.Members {
			if merge.LooksLikeName(m.Name) && len(path) < 6 {
				f.seeArgs(m.Value, append(slices.Clone(path), rules.Segment{Kind: rules.SegmentName, Name: m.Name}))
			}
		}
		return
	case trace.Array:
		for _, e := range v.Elems {
			if len(path) < 6 {
				f.seeArgs(e, append(slices.Clone(path), rules.Segment{Kind: rules.SegmentEach}))
			}
		}
		return
	}
	name := ""
	for _, segment := range path {
		if segment.Kind == rules.SegmentName {
			name = segment.Name
		}
	}
	key := path.String()
	a := f.args[key]
	if a == nil {
		if name == "" || len(f.args) >= maxArgPaths {
			return
		}
		a = &argFacts{path: path, name: name, forms: map[valueType]*form{}}
		f.args[key] = a
	}
	kind := typeOf(name, v)
	h := hash128.Of(v.AppendCanonical(nil))
	if kind == typeID {
		a.addID(v.Text, h)
		return
	}
	if kind == typeNone {
		return
	}
	if a.forms[kind] == nil {
		a.forms[kind] = &form{}
	}
	a.forms[kind].add(h)
}

// seePages notes that a call differs from the one before in one argument alone,
// which counts: a number that changed, or the name of a page.
func (f *toolFacts) seePages(before, now trace.Value) {
	var changed []string
	for _, m := range now.Members {
		if old, had := before.Lookup(m.Name); !had || !old.Equal(m.Value) {
			changed = append(changed, m.Name)
		}
	}
	for _, m := range before.Members {
		if _, has := now.Lookup(m.Name); !has {
			return
		}
	}
	if len(changed) != 1 || !merge.LooksLikeName(changed[0]) {
		return
	}
	v, _ := now.Lookup(changed[0])
	if isCounter(changed[0], v) {
		f.pages[changed[0]]++
	}
}

var counterNames = []string{"page", "offset", "cursor", "skip"}

func isCounter(name string, v trace.Value) bool {
	named := slices.ContainsFunc(toolname.Words(name), func(w string) bool { return slices.Contains(counterNames, w) })
	return named && (v.Kind == trace.Number || v.Kind == trace.String)
}
