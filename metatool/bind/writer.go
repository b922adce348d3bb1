package bind

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/trace"
)

// writer makes the definition of the steps first to end-1 of a candidate.
type writer struct {
	*chooser
	end   int
	d     *Definition
	taken map[string]bool
	// inputs are the names of inputs by argument; lists and keys have names of
	// their own.
	inputs map[argumentOf]string
	keys   map[argumentOf]string
	uses   map[string]int
}

// definition makes a definition without a name.
func (c *chooser) definition(end int, candidate *candidate.Candidate, refusals []Refusal) *Definition {
	w := &writer{
		chooser: c, end: end, d: &Definition{Candidate: candidate, Overlaps: candidate.Overlaps}, taken: map[string]bool{},
		inputs: map[argumentOf]string{}, keys: map[argumentOf]string{}, uses: map[string]int{},
	}
	for _, r := range refusals {
		r.Step -= c.first
		w.d.Refusals = append(w.d.Refusals, r)
	}
	for k := c.first; k < end; k++ {
		for _, a := range c.seen.steps[k].args {
			w.uses[a.name] += one(a.present > 0)
		}
	}
	for k := c.first; k < end; k++ {
		w.step(k)
	}
	slices.SortStableFunc(w.d.Inputs, func(a, b metatool.Input) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Argument, b.Argument))
	})
	w.output()
	w.annotate()
	return w.d
}

func (w *writer) step(k int) {
	p := &w.plan.steps[k]
	w.d.Steps = append(w.d.Steps, metatool.Step{Tool: p.tool.Value(), Name: p.name, ReadOnly: p.readOnly, Idempotent: p.idempotent})
	s := &w.d.Steps[len(w.d.Steps)-1]
	if p.walk != nil {
		s.Each = w.list(k)
	}
	for _, a := range w.seen.steps[k].args {
		if a.present == 0 {
			continue
		}
		chosen := w.choose(k, a.name)
		b := w.binding(k, a.name)
		s.Args = append(s.Args, metatool.Argument{Name: a.name, Binding: b, Optional: w.isOptional(k, a, chosen), Schema: w.types(k, a)})
		w.d.Bound = append(w.d.Bound, w.evidence(k, a, chosen, b))
		w.expect(&b, !chosen.optional)
	}
	if s.Each != nil && s.Each.Kind == metatool.BindStep {
		w.expectList(k)
	}
}

// types returns the types that the tool's definition lets an argument have, null if it
// does not say or the recorded values do not keep to it.
func (w *writer) types(k int, a *argumentCount) trace.Value {
	tool := w.b.merged.Catalog.Tool(w.plan.steps[k].tool)
	if tool == nil || tool.Definition.Property(a.name).Kind != trace.Object {
		return trace.Value{}
	}
	types, ok := argumentSchema(tool, a.name).Lookup("type")
	if !ok || types.Kind != trace.String && types.Kind != trace.Array ||
		slices.ContainsFunc(types.Elems, func(e trace.Value) bool { return e.Kind != trace.String }) {
		return trace.Value{}
	}
	schema := trace.NewObject(trace.Member{Name: "type", Value: types})
	for kind := range a.kinds {
		if !metatool.Fits(trace.Value{Kind: kind, Text: "1"}, schema) {
			return trace.Value{}
		}
	}
	return schema
}

// isOptional reports whether the argument may be left out of the call.
func (w *writer) isOptional(k int, a *argumentCount, chosen *choice) bool {
	if chosen.form == formInput {
		return !w.isRequired(k, a)
	}
	return chosen.optional
}

// isRequired reports whether an argument has to be given: the tool's definition
// says so, or it has none and all calls have the argument.
func (w *writer) isRequired(k int, a *argumentCount) bool {
	tool := w.b.merged.Catalog.Tool(w.plan.steps[k].tool)
	if tool != nil && tool.Definition.Property(a.name).Kind == trace.Object {
		return tool.Definition.Requires(a.name)
	}
	return a.present == w.seen.occurrences
}

// binding returns the binding that was chosen for an argument.
func (w *writer) binding(k int, name string) metatool.Binding {
	chosen := w.choose(k, name)
	a := w.seen.steps[k].argument(name)
	switch chosen.form {
	case formConst:
		return metatool.Binding{Kind: metatool.BindConst, Const: a.value}
	case formOption, formOpen:
		return w.optionBinding(k, name, &w.plan.steps[k].options[name][chosen.option])
	case formElement:
		walk := w.plan.steps[k].walk
		if w.isListInput(k) {
			return metatool.Binding{Kind: metatool.BindElement}
		}
		return wrap(walk.link, metatool.Binding{Kind: metatool.BindElement, Path: walk.element})
	}
	return w.input(k, a)
}

// optionBinding returns the binding that an option stands for.
func (w *writer) optionBinding(k int, name string, o *option) metatool.Binding {
	switch o.source {
	case fromArgument:
		return wrap(o.Link, w.binding(o.keyStep, o.keyArg))
	case fromElement:
		return wrap(o.Link, metatool.Binding{Kind: metatool.BindElement, Path: o.path})
	}
	b := metatool.Binding{Kind: metatool.BindStep, Step: o.step - w.first, Path: o.path}
	switch o.Choice.Kind {
	case dataflow.ByArg, dataflow.ByInput:
		key := w.binding(o.keyStep, o.keyArg)
		b.Key = &key
	case dataflow.ByOpen:
		b.Key = &metatool.Binding{Kind: metatool.BindInput, Input: w.keyInput(k, name, o)}
	}
	return wrap(o.Link, b)
}

// wrap applies what a link does to a value.
func wrap(k *dataflow.Link, b metatool.Binding) metatool.Binding {
	switch {
	case k.Relation == dataflow.Template:
		return metatool.Binding{Kind: metatool.BindTemplate, Template: k.Template, Parts: []metatool.Binding{b}}
	case k.Relation == dataflow.Coerced && k.AsString:
		b.Coerce = metatool.CoerceString
	case k.Relation == dataflow.Coerced:
		b.Coerce = metatool.CoerceNumber
	}
	return b
}

// input returns the binding to an input of its own.
func (w *writer) input(k int, a *argumentCount) metatool.Binding {
	key := argumentOf{k, a.name}
	name, known := w.inputs[key]
	if !known {
		name = inputName(a.name, k-w.first, w.taken)
		w.inputs[key] = name
		w.d.Inputs = append(w.d.Inputs, metatool.Input{
			Name: name, Step: k - w.first, Argument: a.name, Required: w.isRequired(k, a), Schema: w.schema(k, a),
		})
	}
	return metatool.Binding{Kind: metatool.BindInput, Input: name}
}

// schema returns the schema of an argument as an input.
func (w *writer) schema(k int, a *argumentCount) trace.Value {
	p := &w.plan.steps[k]
	tool := w.b.merged.Catalog.Tool(p.tool)
	schema := argumentSchema(tool, a.name)
	_, isEnum := schema.Lookup("enum")
	if values := w.enumeration(k, a); len(values) > 0 && !isEnum {
		schema = with(schema, "enum", trace.Value{Kind: trace.Array, Elems: values})
	}
	if w.uses[a.name] > 1 {
		schema = tellApart(schema, k-w.first, p.tool.Value())
	}
	if w.choose(k, a.name).withheld {
		schema = describedAs(schema, "It had one value in all recordings, which is not written here.")
	}
	return schema
}

// enumeration returns the values that an argument may have if they are few, each
// common and none a secret, over so many runs that another is unlikely.
func (w *writer) enumeration(k int, a *argumentCount) []trace.Value {
	step := &w.plan.steps[k]
	if a.many || len(a.few) < 2 || a.same.trajectories < 20*len(a.few) || w.b.variesByUser(slotOf(step.tool, a.name)) {
		return nil
	}
	var values []trace.Value
	for _, f := range a.few {
		if !f.isCommon() || !w.b.isPublic(step, a.name, f.value) {
			return nil
		}
		values = append(values, f.value)
	}
	slices.SortFunc(values, func(x, y trace.Value) int { return strings.Compare(x.Text, y.Text) })
	return values
}

// keyInput returns the name of the input that says which element is meant.
func (w *writer) keyInput(k int, argument string, o *option) string {
	at := argumentOf{k, argument}
	name, known := w.keys[at]
	if known {
		return name
	}
	name = inputName(o.Choice.Key, k-w.first, w.taken)
	w.keys[at] = name
	schema := trace.Value{Kind: trace.Object}
	for kind := range w.seen.steps[k].argument(argument).options[w.choose(k, argument).option].keys {
		if kind != trace.Null {
			schema = with(schema, "type", trace.NewString(schemaType(kind)))
		}
	}
	schema = with(schema, "description", trace.NewString(fmt.Sprintf(
		"The %s of the one that is meant among those that call %d, %s, returns.",
		printable(o.Choice.Key, maxName), o.step-w.first+1, printable(w.plan.steps[o.step].tool.Value(), maxName))))
	w.d.Inputs = append(w.d.Inputs, metatool.Input{Name: name, Step: k - w.first, Argument: argument, Required: !w.choose(k, argument).optional, Schema: schema})
	return name
}

func schemaType(k trace.Kind) string {
	switch k {
	case trace.Bool:
		return "boolean"
	case trace.Number:
		return "number"
	case trace.String:
		return "string"
	}
	return "null"
}

// list returns the binding of the list that a fan-out step walks.
func (w *writer) list(k int) *metatool.Binding {
	walk := w.plan.steps[k].walk
	if !w.isListInput(k) {
		return &metatool.Binding{Kind: metatool.BindStep, Step: walk.from - w.first, Path: walk.each.Path}
	}
	a := w.seen.steps[k].argument(walk.argument)
	name := inputName(walk.argument+"_list", k-w.first, w.taken)
	schema := with(with(trace.Value{Kind: trace.Object}, "type", trace.NewString("array")), "description",
		trace.NewString(fmt.Sprintf("Call %d, %s, is made for each.", k-w.first+1, printable(w.plan.steps[k].tool.Value(), maxName))))
	if a != nil {
		schema = with(schema, "items", w.schema(k, a))
	}
	w.d.Inputs = append(w.d.Inputs, metatool.Input{Name: name, Step: k - w.first, Argument: walk.argument, Required: true, Schema: schema})
	return &metatool.Binding{Kind: metatool.BindInput, Input: name}
}

// expect notes what a binding relies on in the result that it reads.
func (w *writer) expect(b *metatool.Binding, always bool) {
	for i := range b.Parts {
		w.expect(&b.Parts[i], always)
	}
	if b.Kind != metatool.BindStep || !always {
		return
	}
	path := b.Path
	if i := slices.IndexFunc(path, func(s jsonpath.Step) bool { return s.Open }); i >= 0 {
		path = path[:i]
	}
	w.expectPath(b.Step, path)
}

// expectList notes that the list of a fan-out is there, be it empty.
func (w *writer) expectList(k int) {
	walk := w.plan.steps[k].walk
	i := slices.IndexFunc(walk.list, func(s jsonpath.Step) bool { return s.Kind == jsonpath.Each })
	w.expectPath(walk.from-w.first, walk.list[:max(i, 0)])
}

func (w *writer) expectPath(step int, path jsonpath.Path) {
	s := &w.d.Steps[step]
	same := func(e metatool.Expectation) bool { return e.Path.String() == path.String() }
	if len(path) > 0 && !slices.ContainsFunc(s.Expect, same) {
		s.Expect = append(s.Expect, metatool.Expectation{Path: path})
	}
}

// output returns every result: an agent that makes the calls one by one sees them all.
// What rules call plumbing, or the traces show to be used for nothing else, is left out,
// but never the last one, nor one from which calls after the occurrence took an argument.
func (w *writer) output() {
	var out metatool.Output
	for k := w.first; k < w.end; k++ {
		if p, is := w.plumbing(k); is {
			p.Step = k - w.first
			w.d.Plumbing = append(w.d.Plumbing, p)
		} else {
			out.Steps = append(out.Steps, k-w.first)
		}
	}
	out.Schema = w.answerSchema(out.Steps)
	w.d.Output = out
}

// plumbing says why the result of a step is left out of the answer, false if it is not.
func (w *writer) plumbing(k int) (Plumbing, bool) {
	if k == w.end-1 {
		return Plumbing{}, false
	}
	for _, n := range w.seen.needed[k][w.end:] {
		if n > 0 {
			return Plumbing{}, false
		}
	}
	p, unused := w.seen.steps[k].uses.judge(w.end)
	if w.plan.steps[k].plumbing {
		p.Reason = plumbingByRule
		return p, true
	}
	return p, unused && !w.plan.steps[k].kept
}

// answerSchema returns the JSON Schema of an answer with the results of these steps, as
// far as it holds whatever the tools return: what names results had wherever they were
// recorded, and nothing of types, because a tool may answer with a text at any time.
func (w *writer) answerSchema(steps []int) trace.Value {
	var tools []trace.Member
	for _, step := range steps {
		seen := &w.seen.steps[w.first+step]
		one := seen.shape.structure()
		if w.d.Steps[step].Each != nil {
			one = arrayOf(properties(trace.Member{Name: "for", Value: trace.NewObject()}, trace.Member{Name: "result", Value: one}))
		}
		known := slices.ContainsFunc(tools, func(m trace.Member) bool { return m.Name == w.d.Steps[step].Tool })
		if !known {
			tools = append(tools, trace.Member{Name: w.d.Steps[step].Tool, Value: one})
		}
	}
	return answerSchema(tools...)
}

// answerSchema returns the schema of an answer with results of these tools.
func answerSchema(tools ...trace.Member) trace.Value {
	result := with(properties(tools...), "type", trace.NewString("object"))
	results := with(with(arrayOf(result), "type", trace.NewString("array")),
		"description", trace.NewString("What the calls returned, in their order, each under the name of its tool."))
	return with(with(properties(trace.Member{Name: "results", Value: results}), "type", trace.NewString("object")),
		"required", trace.Value{Kind: trace.Array, Elems: []trace.Value{trace.NewString("results")}})
}

func properties(members ...trace.Member) trace.Value {
	return trace.NewObject(trace.Member{Name: "properties", Value: trace.NewObject(members...)})
}

func arrayOf(items trace.Value) trace.Value {
	return trace.NewObject(trace.Member{Name: "items", Value: items})
}

// annotate works out the hints of the worst step. Rules and recorded annotations say what
// is promised. A tool that only its name or the traces call a read promises nothing, so that
// the composite is not read-only; it does not destroy anything either.
func (w *writer) annotate() {
	w.d.Annotations = metatool.Annotations{ReadOnly: true, Idempotent: true}
	for k := w.first; k < w.end; k++ {
		s := &w.plan.steps[k]
		var hints trace.Value
		if t := w.b.merged.Catalog.Tool(s.tool); t != nil {
			hints = t.Definition.Annotations
		}
		if open, said := metatool.Hint(hints, "openWorldHint"); !said || open {
			w.d.Annotations.OpenWorld = true
		}
		if s.readOnly {
			if s.assumed && toolname.Annotated(hints) != toolname.Reads {
				w.d.Annotations.ReadOnly = false
			}
			continue
		}
		w.d.Annotations.ReadOnly = false
		if destructive, said := metatool.Hint(hints, "destructiveHint"); !said || destructive {
			w.d.Annotations.Destructive = true
		}
		if !s.idempotent {
			w.d.Annotations.Idempotent = false
		}
	}
}

// evidence returns what speaks for the binding of an argument, and for others.
func (w *writer) evidence(k int, a *argumentCount, chosen *choice, b metatool.Binding) BoundArgument {
	out := BoundArgument{Step: k - w.first, Argument: a.name, Binding: b}
	n := w.seen.occurrences
	p := &w.plan.steps[k]
	out.Evidence.Occurrences = n
	switch chosen.form {
	case formConst:
		out.Evidence.Agree = n
	case formOption, formOpen:
		out.Evidence = w.optionEvidence(k, a, chosen.option)
	case formElement:
		out.Evidence.Judgment, out.Evidence.Agree = p.walk.judgment, w.seen.steps[k].inside
		out.Evidence.ExtraMean, out.Evidence.ExtraP95 = summary(w.seen.steps[k].extra)
		if w.isListInput(k) {
			out.Evidence.Known, out.Evidence.Agree = chosen.known, n
		}
	default:
		if k > w.first {
			out.Evidence.Known = chosen.known
		}
	}
	out.Withheld = chosen.withheld
	for _, passed := range chosen.passed {
		o := &p.options[a.name][passed.option]
		if !w.mayShow(o, &a.options[passed.option], a.name) {
			// What may not be written down is not even an alternative.
			out.Others = append(out.Others, Alternative{Evidence: w.optionEvidence(k, a, passed.option), Reason: passed.reason, Binding: metatool.Binding{Kind: metatool.BindInput}})
			continue
		}
		out.Others = append(out.Others, Alternative{Evidence: w.optionEvidence(k, a, passed.option), Reason: passed.reason, Binding: w.plain(o)})
	}
	return out
}

// plain returns the binding of an option that was not taken, its filter open.
func (w *writer) plain(o *option) metatool.Binding {
	switch o.source {
	case fromArgument:
		return metatool.Binding{Kind: metatool.BindInput}
	case fromElement:
		return wrap(o.Link, metatool.Binding{Kind: metatool.BindElement, Path: o.path})
	}
	return wrap(o.Link, metatool.Binding{Kind: metatool.BindStep, Step: o.step - w.first, Path: o.path})
}

func (w *writer) optionEvidence(k int, a *argumentCount, i int) Evidence {
	return Evidence{Judgment: w.plan.steps[k].options[a.name][i].Judgment, Agree: a.options[i].agree, Occurrences: w.seen.occurrences}
}
