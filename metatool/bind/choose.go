package bind

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// boundForm is how an argument is bound.
type boundForm uint8

const (
	formVisiting boundForm = iota // being decided on
	formConst
	formOption
	formElement // what a fan-out step walks over
	formInput
	formOpen // an element of an earlier result that an input names
	formRefused
)

// choice is the decision about one argument.
type choice struct {
	form     boundForm
	option   int // formOption and formOpen
	optional bool
	withheld bool   // formInput: of what is always the same and must not be written down
	code     string // formRefused
	known    stat.Proportion
	passed   []passedOver
}

// passedOver is an option that was not taken.
type passedOver struct {
	option int
	reason string
}

// argumentOf names an argument of a step.
type argumentOf struct {
	step int
	name string
}

// chooser decides on the bindings of the steps of a candidate from the step
// first on: what stands before is not part of the meta-tool.
type chooser struct {
	b     *Binder
	plan  *plan
	seen  *planSeen
	first int
	memo  map[argumentOf]*choice
}

func (b *Binder) chooser(i, first int) *chooser {
	return &chooser{b: b, plan: b.plans[i], seen: b.seen[i], first: first, memo: map[argumentOf]*choice{}}
}

// Shares and numbers of algorithm "bindings".
const (
	minKnownShare = 0.95
	minReadShare  = 0.95
	fewOccurrence = 16 // fewer must not disagree at all
)

// step returns why a step cannot be bound, nil if it can.
func (c *chooser) step(k int) []Refusal {
	var list []Refusal
	n, s := &c.seen.steps[k], &c.plan.steps[k]
	for _, defect := range []struct {
		is   bool
		code string
	}{
		{n.inserted > 0, "step-inserted"},
		{(s.several || n.otherTool > 0) && n.inserted == 0, "tool-ambiguous"},
		{n.folded > 0, "step-folded"},
		{n.missing > 0 && n.inserted == 0, "arguments-not-recorded"},
		{n.noObject > 0, "arguments-no-object"},
		{n.crowded, "arguments-too-many"},
		{c.hasCredential(k) && !s.plumbing, "returns-credentials"},
	} {
		if defect.is {
			list = append(list, Refusal{Code: defect.code, Step: k})
		}
	}
	if s.walk != nil {
		if code := c.walk(k); code != "" {
			list = append(list, Refusal{Code: code, Step: k, Argument: s.walk.argument})
		}
	}
	for _, a := range n.args {
		if a.present == 0 {
			continue
		}
		if chosen := c.choose(k, a.name); chosen.form == formRefused {
			list = append(list, Refusal{Code: chosen.code, Step: k, Argument: a.name})
		}
	}
	return list
}

// hasCredential reports whether the results of a step hold what looks like a credential
// that no rule wants in answers.
func (c *chooser) hasCredential(k int) bool {
	s := &c.plan.steps[k]
	return c.b.options.Credentials != nil && c.b.options.Credentials(s.tool) && !s.kept
}

// isListInput reports whether a fan-out step walks a list that the caller gives.
func (c *chooser) isListInput(k int) bool {
	w := c.plan.steps[k].walk
	return w != nil && w.from < c.first
}

// walk returns why a fan-out step cannot walk its list, "" if it can.
func (c *chooser) walk(k int) string {
	n, s := &c.seen.steps[k], &c.plan.steps[k]
	w := s.walk
	switch {
	case !w.flat, w.from >= c.first && c.plan.steps[w.from].walk != nil && !s.readOnly:
		return "fan-out-nested"
	case c.isListInput(k):
		return "" // choose asks whether the list was known
	case w.judgment == nil || w.judgment.FanOut == nil:
		return "fan-out-unproven"
	case !s.readOnly:
		f := w.judgment.FanOut
		proven := f.Whole == f.Lists && (stat.AtLeast(f.Whole, f.Lists) >= 0.8 || s.idempotent && f.Lists >= 5)
		if !proven || n.whole < n.walks {
			return "fan-out-partial"
		}
		return ""
	case !w.judgment.Reads() || !c.holds(n.inside, n.walks, true):
		return "fan-out-unproven"
	}
	if _, p95 := summary(n.extra); p95 > c.b.options.maxExtra() {
		return "fan-out-extra"
	}
	return ""
}

// holds reports whether so many of n occurrences agree that a binding may be
// taken for theirs.
func (c *chooser) holds(agree, n int, readOnly bool) bool {
	if agree == n {
		return n > 0
	}
	return readOnly && n >= fewOccurrence && float64(agree) >= minReadShare*float64(n)
}

// choose decides on an argument of a step.
func (c *chooser) choose(k int, name string) *choice {
	key := argumentOf{k, name}
	if done := c.memo[key]; done != nil {
		return done
	}
	out := &choice{}
	c.memo[key] = out
	a := c.seen.steps[k].argument(name)
	if a == nil {
		out.form, out.code = formRefused, "arguments-too-many"
		return out
	}
	c.decide(out, k, a)
	return out
}

func (c *chooser) decide(out *choice, k int, a *argumentCount) {
	s := &c.plan.steps[k]
	n := c.seen.occurrences
	out.optional = a.present < n
	out.known = stat.Share(a.known[c.first]+n-a.mentioned, n)
	isKnown := k == c.first || out.known.Share >= minKnownShare
	if s.walk != nil && s.walk.argument == a.name {
		out.form = formElement
		if c.isListInput(k) && !isKnown {
			out.form, out.code = formRefused, "unknown-before-chain"
		}
		return
	}
	open := -1
	taken := formVisiting
	constant := c.isConstant(k, a)
	if constant && c.b.isPublic(s, a.name, a.value) {
		taken = formConst
	}
	for i := range s.options[a.name] {
		reason := c.reason(k, a, i)
		kind := s.options[a.name][i].Choice.Kind
		switch {
		case reason == outside:
			continue
		case reason == "" && taken == formVisiting && kind != dataflow.ByOpen:
			taken, out.option = formOption, i
			continue
		case reason == "" && kind == dataflow.ByOpen && open < 0:
			open = i
		case reason == "":
			reason = "not-needed"
		}
		out.passed = append(out.passed, passedOver{i, reason})
	}
	switch {
	case taken != formVisiting:
		out.form = taken
	case a.varying > 0:
		out.form, out.code = formRefused, "fan-out-varies"
	case isKnown || constant: // of a constant the model knows the value, and the artefacts must not
		out.form, out.withheld = formInput, constant
	case open >= 0:
		out.form, out.option = formOpen, open
		out.passed = slices.DeleteFunc(out.passed, func(p passedOver) bool { return p.option == open })
	default:
		out.form, out.code = formRefused, "unknown-before-chain"
	}
}

// outside is the reason of an option whose source is no part of the meta-tool.
const outside = "outside"

// reason returns why an option cannot be taken for an argument, "" if it can.
func (c *chooser) reason(k int, a *argumentCount, i int) string {
	s := &c.plan.steps[k]
	o, n := &s.options[a.name][i], &a.options[i]
	switch {
	case o.step < c.first || o.source == fromElement && c.isListInput(k):
		return outside
	case o.keyStep >= 0 && (o.keyStep < c.first || !c.isBound(o.keyStep, o.keyArg)):
		return outside
	case !o.isProven(s):
		return "too-little-evidence"
	case !c.holds(n.agree, c.seen.occurrences, s.readOnly):
		return "disagrees"
	case !c.mayShow(o, n, a.name):
		return "value-hidden"
	case o.Choice.Kind == dataflow.ByOpen && !c.keyIsKnown(n):
		return "key-unknown"
	}
	return ""
}

// isBound reports whether an argument has a binding that others can share.
func (c *chooser) isBound(k int, name string) bool {
	a := c.seen.steps[k].argument(name)
	if a == nil || a.present == 0 {
		return false
	}
	switch c.choose(k, name).form {
	case formVisiting, formRefused, formElement:
		return false
	}
	return true
}

// isProven reports whether the pooled evidence for an option is enough for what
// the step does.
func (o *option) isProven(s *planStep) bool {
	switch {
	case s.readOnly:
		return o.Reads()
	case s.idempotent:
		return o.Repeats() || o.Writes()
	}
	return o.Writes()
}

func (c *chooser) keyIsKnown(n *optionCount) bool {
	keys := 0
	for _, count := range n.keys {
		keys += count
	}
	return keys > 0 && len(n.keys) == 1 && float64(n.keyKnown[c.first]) >= minKnownShare*float64(keys)
}

// mayShow reports whether what a binding says of values may be written down.
func (c *chooser) mayShow(o *option, n *optionCount, argument string) bool {
	if o.Choice.Kind == dataflow.ByConst {
		text, name := o.Choice.Const, o.Choice.Key
		if !n.isCommon() || !c.b.public.Shows(name, text.Kind == trace.String, text.Text) {
			return false
		}
	}
	if o.Link.Relation == dataflow.Template {
		for piece := range strings.SplitSeq(o.Link.Template, jsonpath.Hole) {
			if !n.isCommon() || !c.b.public.ShowsPiece(piece) {
				return false
			}
		}
	}
	return true
}

// isConstant reports whether an argument has the same value in all occurrences: a truth
// value or one that the tool's schema lists, if the call only reads; any other only if no
// call of the tool anywhere has another one, in so many trajectories and tasks that it is
// nobody's, and mostly nothing that came before holds it: then it is no habit of the model.
func (c *chooser) isConstant(k int, a *argumentCount) bool {
	if a.differs || a.present < c.seen.occurrences || len(a.kinds) != 1 || a.same.trajectories < 5 {
		return false
	}
	s := &c.plan.steps[k]
	slot := slotOf(s.tool, a.name)
	switch {
	case a.kinds[trace.Object]+a.kinds[trace.Array] > 0:
		return false // only scalars are kept
	case c.b.merged.Set.AllowsValues(s.name, a.name):
		return true
	case s.readOnly && (a.kinds[trace.Bool]+a.kinds[trace.Null] > 0 || c.b.enums.Has(slot, a.hash)):
		return true
	}
	p := c.b.params[slot]
	if p == nil || p.AtLeast || p.Values != 1 || !a.same.isCommon() || 2*a.told >= a.present {
		return false
	}
	return s.readOnly || s.idempotent || stat.AtLeast(p.Trajectories, p.Trajectories) >= 0.8
}

func slotOf(tool trace.Name, argument string) dataflow.Slot {
	return dataflow.Slot{Side: dataflow.Input, Tool: tool, Path: jsonpath.Path{{Kind: jsonpath.Member, Name: argument}}.String()}
}

// isPublic reports whether a value of an argument may be written down: a rule allows it, the
// tool's schema lists it or has it as the default, or it is a number, a truth value or a word
// that a definition or a rule has.
func (b *Binder) isPublic(s *planStep, argument string, v trace.Value) bool {
	if b.merged.Set.AllowsValues(s.name, argument) {
		return true
	}
	if secret.Holds(argument, v.Text) {
		return false
	}
	if b.enums.Has(slotOf(s.tool, argument), jsonvalue.Hash(&v)) || b.public.Shows(argument, v.Kind == trace.String, v.Text) {
		return true
	}
	tool := b.merged.Catalog.Tool(s.tool)
	if tool == nil {
		return false
	}
	usual, ok := tool.Definition.Property(argument).Lookup("default")
	return ok && usual.Equal(v)
}

// variesByUser reports whether the values of a parameter follow from who asks
// for what: over all its calls there are many different ones, or they are found
// in tasks and results.
func (b *Binder) variesByUser(param dataflow.Slot) bool {
	p := b.params[param]
	if p == nil || p.AtLeast || 5*p.Values > p.Trajectories {
		return true
	}
	derived := 0.0
	for _, s := range p.Shares {
		if s.Class != dataflow.ClassConstant && s.Class != dataflow.ClassUnknown {
			derived += s.Share
		}
	}
	return derived >= 0.5
}
