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
	"slices"

	"github.com/awo-dev/awo/internal/failure"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Options are the choices of a [Suggester]. The zero value is the default.
type Options struct {
	Rules     *rules.Set // to go on from: they stand, and no rule is proposed for what they speak of
	MaxBytes  int        // of the trajectories that are kept; 0 means 512 MiB
	Tolerance float64    // share of contradictions that a rule may have; 0 means 0.01
	Folds     int        // of the held-out loss; 0 means 10
	Seed      uint64     // of the folds
	Effects   bool       // only what is taken for granted without rules: effects, also by a name alone and where the graph gains nothing
}

// Suggester proposes rules for a stream of trajectories. It is not safe for
// concurrent use.
//
// A rule is proposed if the traces give a reason for it (see the kinds of
// [Suggestion]), if it makes the graph smaller, if the held-out loss of the next
// call given the state does not rise by it, and if an [evidence.Examiner] of all
// that is proposed does not blame it. Rules that move no state, about failures and
// about plumbing, are proposed for what was counted. A tool that nothing speaks for
// stays a mutator.
//
// Because rules have to be tried, trajectories are kept: tool names, arguments and
// hashes of results, up to MaxBytes; what comes after is counted and left out.
type Suggester struct {
	options  Options
	base     *rules.Set // never nil
	statuses *merge.Rewriter
	seeds    hash128.Seeds

	kept    []keptRun
	bytes   int
	leftOut int

	programs []*rules.Rule // likewise, those that rename command lines

	facts     map[trace.Name]*toolFacts
	order     []*toolFacts
	annotated map[trace.Name]toolname.Effect
	names     toolname.Names
	known     map[hash128.Hash]hash128.Hash // result of a call, by tool and arguments
	uses      map[trace.Name]*useFacts
	measured  map[string]Size // by the rules of a set
}

// keptRun is what is kept of a trajectory.
type keptRun struct {
	*trace.Trajectory
	results []hash128.Hash
	failing []*failure.Pattern // by call: the one that its result fits, nil for none
	names   []trace.Name       // by call, as rules leave them; set by collect
}

// NewSuggester returns a suggester that has seen nothing.
func NewSuggester(options Options) *Suggester {
	if options.MaxBytes <= 0 {
		options.MaxBytes = 512 << 20
	}
	if options.Tolerance <= 0 {
		options.Tolerance = 0.01
	}
	s := &Suggester{
		options: options, base: options.Rules, seeds: hash128.NewSeeds(),
		facts: map[trace.Name]*toolFacts{}, annotated: map[trace.Name]toolname.Effect{}, known: map[hash128.Hash]hash128.Hash{}, uses: map[trace.Name]*useFacts{}, measured: map[string]Size{},
	}
	if s.base == nil {
		s.base = &rules.Set{}
	}
	if slices.Contains(s.base.Kinds(), rules.KindStatus) {
		s.statuses = merge.NewRewriter(s.base, merge.Full(s.base), nil, nil)
	}
	s.programs = builtin("shell", rules.KindRename)
	return s
}

// builtin returns the rules of one kind of a set that comes with awo.
func builtin(name string, kind rules.Kind) []*rules.Rule {
	for _, b := range rules.Builtins() {
		if b.Name == name {
			set, err := rules.Parse(b.File(), b.Source)
			if err != nil {
				panic(err) // it is embedded, and tested
			}
			return slices.Collect(set.Of(kind))
		}
	}
	panic("suggest: there is no built-in set " + name)
}

// Add looks at one trajectory. It gives its calls the status that the rules read
// from their results.
func (s *Suggester) Add(t *trace.Trajectory) {
	if s.bytes >= s.options.MaxBytes {
		s.leftOut++
		return
	}
	s.hints(t)
	if s.statuses != nil {
		merge.Marks(t, s.statuses.Rewrite(t))
	}
	run := keptRun{failing: make([]*failure.Pattern, len(t.Calls)), names: make([]trace.Name, len(t.Calls))}
	run.Trajectory, run.results = evidence.Keep(t, 0)
	for i := range t.Calls {
		if t.Calls[i].HasResult {
			run.failing[i] = failure.Find(t.Calls[i].Result.Content())
		}
		s.bytes += len(run.Calls[i].Args.Data) + 275
	}
	s.watchUses(t, run.Task)
	s.bytes += 400
	s.kept = append(s.kept, run)
}

// tool returns the facts about tools of a name.
func (s *Suggester) tool(name trace.Name) *toolFacts {
	f := s.facts[name]
	if f == nil {
		f = &toolFacts{name: name, run: -1, results: map[hash128.Hash]bool{}, args: map[string]*argFacts{}, pages: map[string]int{}}
		f.declared = s.annotated[name]
		f.effect, _ = s.names.Decide(toolname.Unknown, f.declared, name.Value())
		s.facts[name] = f
		s.order = append(s.order, f)
	}
	return f
}

// hints notes names, and what definitions say of effects.
func (s *Suggester) hints(t *trace.Trajectory) {
	for i := range t.Tools {
		s.names.Add(t.Tools[i].Name.Value())
		v, err := trace.ParseValue([]byte(t.Tools[i].Annotations.Text()))
		if err != nil {
			continue
		}
		if e := toolname.Annotated(v); e != toolname.Unknown {
			s.annotated[t.Tools[i].Name] = e
		}
	}
	for i := range t.Calls {
		s.names.Add(t.Calls[i].Tool.Value())
	}
}

// rename gives the kept calls the names that rules leave them.
func (s *Suggester) rename(prepared *rules.Set) {
	names := &merge.Labels{}
	r := merge.NewRewriter(prepared, merge.Full(prepared), names, nil)
	for i := range s.kept {
		run := &s.kept[i]
		clear(run.names)
		for _, step := range r.Rewrite(run.Trajectory) {
			for c := step.FirstCall; !step.Inserted && c <= step.LastCall; c++ {
				run.names[c] = trace.Intern(names.Name(step.Label()))
			}
		}
	}
}

// dropped is the name of a call that rules drop, or that no model decided on.
var dropped trace.Name

// collect collects the facts of all trajectories.
func (s *Suggester) collect() {
	for i := range s.kept {
		s.look(&s.kept[i], i)
	}
}

// made is a call of the trajectory that is looked at.
type made struct {
	at     int
	result hash128.Hash
}

// look collects the facts of one trajectory.
func (s *Suggester) look(t *keptRun, run int) {
	last := map[hash128.Hash]made{}
	var before trace.Value
	for i := range t.Calls {
		call := &t.Calls[i]
		if t.names[i] == dropped {
			continue
		}
		f := s.tool(t.names[i])
		f.calls++
		if f.run != run {
			f.run = run
			f.runs++
		}
		args, _ := call.ArgsValue()
		f.seeArgs(args, nil)
		if i > 0 && t.names[i-1] == t.names[i] {
			f.seePages(before, args)
		}
		before = args
		if !call.HasResult || call.Status == trace.StatusFailed {
			continue
		}
		if len(f.results) < minValues {
			f.results[t.results[i]] = true
		}
		called := hash128.Mix(s.seeds.Text(t.names[i].Value()), hash128.Of(args.AppendCanonical(nil)))
		if m, again := last[called]; again {
			s.compare(t, run, m, made{i, t.results[i]})
		} else if result, elsewhere := s.known[called]; elsewhere {
			if result == t.results[i] {
				f.same++
			}
		} else {
			s.known[called] = t.results[i]
		}
		last[called] = made{i, t.results[i]}
	}
}

// compare looks at a call that was made twice in a trajectory.
func (s *Suggester) compare(t *keptRun, run int, one, two made) {
	f := s.tool(t.names[two.at])
	same := one.result == two.result
	if two.at == one.at+1 {
		f.repeat(same, run+1)
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
	for _, name := range t.names[one.at+1 : two.at] {
		if name == dropped {
			continue
		}
		g := s.tool(name)
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
		a = &argFacts{path: path, name: name, forms: map[valueType]*form{}, samples: map[string]int{}}
		f.args[key] = a
	}
	a.seen++
	if text := merge.TextOf(v); len(a.samples) < maxDistinct || a.samples[text] > 0 {
		a.samples[text]++
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
