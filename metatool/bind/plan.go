package bind

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// plan is what is looked at in the occurrences of one candidate.
type plan struct {
	candidate *candidate.Candidate
	steps     []planStep
	looks     int // the same for plans of one Planner that look at the same in an occurrence
}

// planStep is a step of a candidate, and from where its arguments could come.
type planStep struct {
	tool       trace.Name
	name       string
	several    bool // rules gave calls of several tools this name
	readOnly   bool
	assumed    bool // to read only, where the rules do not say so
	idempotent bool
	plumbing   bool      // rules leave its result out of the answer
	kept       bool      // rules want its result in the answer
	walk       *listWalk // nil for a single call
	options    map[string][]option
	named      []string        // the arguments that have options, in order
	inside     map[string]bool // arguments that an accepted link connects with a result inside the candidate
}

// listWalk is how a fan-out step walks its list.
type listWalk struct {
	link     *dataflow.Link
	judgment *dataflow.Judgment // nil if the link was not judged
	from     int                // the step that gives the list, -1 for an input
	argument string             // that takes what the elements hold
	list     jsonpath.Path      // selects the elements in the result, of a walk in each
	element  jsonpath.Path      // the value in an element
	flat     bool               // the link is one from a list to a top-level argument
	each     metatool.Binding   // with flat: gives the list
	binding  metatool.Binding   // with flat: gives the argument of an element
}

// sourceKind says where an option reads, the plainest first.
type sourceKind uint8

const (
	fromResult   sourceKind = iota // of an earlier step
	fromArgument                   // of an earlier step
	fromElement                    // that a fan-out step is at
)

// option is a way in which an argument could be bound: a judged link whose
// source is another step of the candidate.
type option struct {
	*dataflow.Judgment
	source sourceKind
	step   int           // the source, a step of the candidate
	path   jsonpath.Path // in its result, or in the element

	// The argument that closes the filter (ByArg and ByInput), or that is repeated
	// (fromArgument, in the source step); keyStep is -1 if there is none.
	keyStep int
	keyArg  string

	binding metatool.Binding // what it comes to, with the input keyInput for that argument
}

// rank orders options by how plain they are.
func (o *option) rank() int {
	r := 0
	switch {
	case o.source == fromArgument:
		r = 6
	case o.source == fromElement:
		r = 7
	case o.Link.Relation == dataflow.Template:
		r = 5
	}
	switch o.Choice.Kind {
	case dataflow.ByConst:
		r = max(r, 1)
	case dataflow.ByArg:
		r = max(r, 2)
	case dataflow.ByInput:
		r = max(r, 3)
	case dataflow.First:
		r = max(r, 4)
	case dataflow.ByOpen:
		r = 8
	}
	return r
}

// maxOptions bounds the options of one argument, maxSources how many earlier
// steps with the source's tool are tried, and maxArguments the arguments of one
// step: what has more is data.
const (
	maxOptions   = 48
	maxSources   = 4
	maxArguments = 200
)

// Planner makes plans for candidates of one merged graph. It is used by one goroutine; its
// binders may observe in several.
type Planner struct {
	merged  *merge.Merged
	set     *dataflow.Set
	enums   dataflow.Enums
	public  *secret.Public
	params  map[dataflow.Slot]*dataflow.ParamSources
	byParam map[dataflow.Slot][]*dataflow.Judgment
	byTool  map[trace.Name][]dataflow.Slot // parameters with a judgment
	reads   func(trace.Name) bool          // nil for none

	known map[string]*plan // by what a plan looks at: the first that looks at it
	links map[*dataflow.Link]uint64

	collector dataflow.Collector
}

// NewPlanner returns a planner for a merged graph, with the links of the same trajectories
// and how they were judged. reads are tools that are taken to read only, beside those of
// which the rules say so; nil for none.
func NewPlanner(m *merge.Merged, set *dataflow.Set, judgments []dataflow.Judgment, reads func(trace.Name) bool) *Planner {
	p := &Planner{
		merged: m, set: set, params: map[dataflow.Slot]*dataflow.ParamSources{},
		byParam: map[dataflow.Slot][]*dataflow.Judgment{}, byTool: map[trace.Name][]dataflow.Slot{}, reads: reads, known: map[string]*plan{}, links: map[*dataflow.Link]uint64{},
	}
	schemas := map[trace.Name]trace.Value{}
	for _, t := range m.Catalog.Tools() {
		if t.Definition.Known {
			schemas[t.Name] = t.Definition.Input
		}
	}
	p.enums = dataflow.EnumsIn(schemas)
	p.public = m.Catalog.Public()
	for i := range set.Params {
		p.params[set.Params[i].Param] = &set.Params[i]
	}
	for i := range judgments {
		to := judgments[i].Link.To
		if p.byParam[to] == nil {
			p.byTool[to.Tool] = append(p.byTool[to.Tool], to)
		}
		p.byParam[to] = append(p.byParam[to], &judgments[i])
	}
	return p
}

func (p *Planner) plan(c *candidate.Candidate) *plan {
	out := &plan{candidate: c}
	key := p.looksKey(c)
	if same := p.known[key]; same != nil {
		out.looks, out.steps = same.looks, slices.Clone(same.steps)
	} else {
		out.looks = len(p.known)
		p.known[key] = out
		p.steps(out)
	}
	for i := range out.steps {
		s := &out.steps[i]
		s.readOnly, s.assumed, s.idempotent, s.plumbing, s.kept = true, false, true, true, false
		if c.Pattern == nil {
			p.effects(s, c.Labels[i])
		}
	}
	if c.Pattern != nil {
		p.patternEffects(out)
	}
	return out
}

// looksKey returns what the same is looked at for in occurrences.
func (p *Planner) looksKey(c *candidate.Candidate) string {
	key := binary.AppendUvarint(nil, uint64(len(c.Labels)))
	for _, l := range c.Labels {
		key = binary.AppendUvarint(key, uint64(l))
	}
	for i := range c.Pattern {
		s := &c.Pattern[i]
		key = append(append(key, s.Tool.Value()...), 0)
		key = append(append(key, s.Name...), 0)
		if s.Each != nil {
			key = binary.AppendVarint(binary.AppendUvarint(key, p.number(s.Each)), int64(s.From))
		}
		key = append(key, 0)
	}
	return string(key)
}

// number numbers links from 1.
func (p *Planner) number(link *dataflow.Link) uint64 {
	n, known := p.links[link]
	if !known {
		n = uint64(len(p.links) + 1)
		p.links[link] = n
	}
	return n
}

// steps fills in what is looked at in the steps, but for their effects.
func (p *Planner) steps(out *plan) {
	c := out.candidate
	out.steps = make([]planStep, c.Len())
	for i := range out.steps {
		s := &out.steps[i]
		if c.Pattern == nil {
			tool, sole := p.merged.Labels.Tool(c.Labels[i])
			s.tool, s.several = tool, !sole
			s.name = p.merged.Labels.Name(c.Labels[i])
			continue
		}
		s.tool, s.name = c.Pattern[i].Tool, c.Pattern[i].Name
		if link := c.Pattern[i].Each; link != nil {
			from := c.Pattern[i].From
			s.walk = p.listWalk(link, from, from >= 0 && out.steps[from].walk != nil)
		}
	}
	for i := range out.steps {
		p.options(out, i)
	}
}

func (p *Planner) effects(s *planStep, l merge.Label) {
	readOnly := p.merged.Labels.ReadOnly(l)
	if !readOnly && p.reads != nil && p.reads(s.tool) {
		readOnly, s.assumed = true, true
	}
	s.readOnly = s.readOnly && readOnly
	s.plumbing = s.plumbing && p.merged.Labels.Answer(l) == rules.AnswerLeaveOut
	s.kept = s.kept || p.merged.Labels.Answer(l) == rules.AnswerKeep
	s.idempotent = s.idempotent && (readOnly || p.merged.Labels.Idempotent(l))
}

// patternEffects takes for every step of a pattern the worst of its calls.
func (p *Planner) patternEffects(out *plan) {
	for _, o := range out.candidate.Occurrences {
		at := o.First
		for i := range out.steps {
			for range o.Count(i) {
				p.effects(&out.steps[i], p.merged.Graph.Label(p.merged.Walks.Edge(at)))
				at++
			}
		}
	}
}

func (p *Planner) listWalk(link *dataflow.Link, from int, nested bool) *listWalk {
	w := &listWalk{link: link, from: from}
	path, err := jsonpath.Parse(link.From.Path)
	last := -1
	for i, step := range path {
		if step.Kind == jsonpath.Each {
			last = i
		}
	}
	name, top := topLevel(link.To.Path)
	w.argument = name
	if err != nil || last < 0 || !top || link.From.Side != dataflow.Output || holes(link) > 1 || hasOddName(path) {
		return w
	}
	w.flat, w.list, w.element = true, path[:last+1], path[last+1:]
	w.each = metatool.Binding{Kind: metatool.BindStep, Step: from, Path: w.list}
	if nested {
		w.each.Path = append(jsonpath.Path{{Kind: jsonpath.Each}}, w.list...)
	}
	w.binding = wrap(link, metatool.Binding{Kind: metatool.BindElement, Path: w.element})
	for _, g := range p.byParam[link.To] {
		if g.Link == link && g.Choice.Kind == dataflow.Each {
			w.judgment = g
		}
	}
	return w
}

// holes returns how many parts the link's template has.
func holes(k *dataflow.Link) int { return strings.Count(k.Template, jsonpath.Hole) }

// topLevel returns the name of the argument that a parameter's path stands for,
// false if it is a place inside one.
func topLevel(path string) (string, bool) {
	parsed, err := jsonpath.Parse(path)
	if err != nil || len(parsed) == 0 || parsed[0].Kind != jsonpath.Member {
		return "", false
	}
	return parsed[0].Name, len(parsed) == 1
}

// hasOddName reports whether a path goes through a member whose name is no name
// that somebody chose: it could be a value.
func hasOddName(path jsonpath.Path) bool {
	return slices.ContainsFunc(path, func(s jsonpath.Step) bool {
		return s.Kind == jsonpath.Member && secret.LooksLike("", s.Name)
	})
}

// options finds what the arguments of a step could be bound to.
func (p *Planner) options(out *plan, k int) {
	s := &out.steps[k]
	s.options, s.inside = map[string][]option{}, map[string]bool{}
	for _, slot := range p.byTool[s.tool] {
		name, top := topLevel(slot.Path)
		if name == "" {
			continue
		}
		for _, g := range p.byParam[slot] {
			for j := k - 1; j >= 0; j-- {
				if g.Link.From.Side == dataflow.Output && g.Link.From.Tool == out.steps[j].tool && g.Link.Verdict == dataflow.Accepted {
					s.inside[name] = true
				}
			}
			if top && g.Verdict == dataflow.Accepted && holes(g.Link) <= 1 {
				s.options[name] = p.appendOptions(s.options[name], out, k, g)
			}
		}
		slices.SortStableFunc(s.options[name], compareOptions)
		s.options[name] = s.options[name][:min(len(s.options[name]), maxOptions)]
	}
	s.named = sortedKeys(s.options)
}

func compareOptions(a, b option) int {
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.step, a.step), cmp.Compare(b.Agree, a.Agree), cmp.Compare(len(a.path), len(b.path)))
}

// appendOptions appends the options that a judged link is for the step k.
func (p *Planner) appendOptions(list []option, out *plan, k int, g *dataflow.Judgment) []option {
	s := &out.steps[k]
	path := g.Link.Path(g.Choice)
	if g.Choice.Kind == dataflow.Each && s.walk != nil && s.walk.flat {
		return appendElementOption(list, s.walk, g)
	}
	if g.Choice.Kind == dataflow.Unused || g.Choice.Kind == dataflow.Each {
		return list
	}
	sources := 0
	for j := k - 1; j >= 0 && sources < maxSources; j-- {
		if out.steps[j].tool != g.Link.From.Tool || out.steps[j].walk != nil {
			continue
		}
		sources++
		o := option{Judgment: g, step: j, path: path, keyStep: -1}
		switch g.Link.From.Side {
		case dataflow.Input:
			name, top := topLevel(g.Link.From.Path)
			if !top || g.Choice.Kind != dataflow.Only {
				continue
			}
			o.source, o.keyStep, o.keyArg = fromArgument, j, name
			list = append(list, o.bound())
			continue
		case dataflow.Output:
			if hasOddName(path) || path == nil {
				continue
			}
		default:
			continue
		}
		switch name, top := topLevel(g.Choice.From.Path); {
		case g.Choice.Kind == dataflow.ByArg && top:
			o.keyStep, o.keyArg = k, name
			list = append(list, o.bound())
		case g.Choice.Kind == dataflow.ByInput && top:
			for o.keyStep = k - 1; o.keyStep >= 0; o.keyStep-- {
				if key := &out.steps[o.keyStep]; key.tool == g.Choice.From.Tool && key.walk == nil {
					o.keyArg = name
					list = append(list, o.bound())
					break
				}
			}
		case g.Choice.Kind != dataflow.ByArg && g.Choice.Kind != dataflow.ByInput:
			list = append(list, o.bound())
		}
	}
	return list
}

// appendElementOption appends the option that another member of the element that
// a fan-out step is at gives the argument.
func appendElementOption(list []option, w *listWalk, g *dataflow.Judgment) []option {
	path, err := jsonpath.Parse(g.Link.From.Path)
	same := err == nil && g.Link.From.Side == dataflow.Output && g.Link.From.Tool == w.link.From.Tool && len(path) >= len(w.list) &&
		path[:len(w.list)].String() == w.list.String() && !hasOddName(path)
	if !same {
		return list
	}
	return append(list, option{Judgment: g, source: fromElement, step: w.from, path: path[len(w.list):], keyStep: -1}.bound())
}

// bound returns the option with its binding.
func (o option) bound() option {
	key := metatool.Binding{Kind: metatool.BindInput, Input: keyInput}
	switch {
	case o.source == fromElement:
		o.binding = wrap(o.Link, metatool.Binding{Kind: metatool.BindElement, Path: o.path})
	case o.source == fromArgument:
		o.binding = wrap(o.Link, key)
	default:
		b := metatool.Binding{Kind: metatool.BindStep, Step: o.step, Path: o.path}
		if o.keyStep >= 0 || o.Choice.Kind == dataflow.ByOpen {
			b.Key = &key
		}
		o.binding = wrap(o.Link, b)
	}
	return o
}
