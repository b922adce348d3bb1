package execute

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// AnswerOptions say what an answer holds. The zero value is the default: the results
// and nothing else.
type AnswerOptions struct {
	// MaxBytes is how long the answer's JSON may be; 0 sets no bound. Results are cut,
	// the longest first, until it fits; the member "cut" says which.
	MaxBytes int
	// Steps adds what happened step by step.
	Steps bool
}

// Answer returns what whoever called a meta-tool is given: an object with these
// members, of which all but the first are there only if there is something to say.
//
//	results        the results, in the order of the steps, each an object whose only
//	               member is named by the tool: {"get_user": {...}}. The member of a step
//	               that walks a list is an array with an object for each call: "for" is
//	               the element (or what was taken of it, if it is no scalar), "result"
//	               what the call returned.
//	omitted        results that others contain whole, and that are therefore not
//	               repeated: {"step": 1, "in": 3}; with "call" in a walk
//	cut            results of which only the beginning is there, as a text:
//	               {"step", "call" in a walk, "bytes" (of its JSON), "kept"}
//	state          "partial" or "handed-back"
//	failure        where a run was handed back: "step", "tool", "call", "code",
//	               "argument", "message", the "result" of the call if it had one, and
//	               as "instead" tools that may stand in for the one that failed
//	safe_to_retry  of a run that was handed back: whether the whole may be run again
//	steps          with AnswerOptions.Steps: "tool", "calls" ("arguments", "status",
//	               "tries", "error") and, of a walk, how many failed reads were "skipped"
//
// Steps and calls are counted from 1. Results are as the tools gave them; a text that
// holds a JSON object or array is that value, because a text of it would only be
// longer. Results that are plumbing (metatool.Output) are left out, but of a run that
// was handed back those of writes are not: they cannot be had again.
//
// The JSON of the answer is its canonical form with numbers spelled by value, as
// [Outcome.AppendAnswer] writes it. The modules of metatools.py and metatools.ts write
// the same bytes.
func (o *Outcome) Answer(tool *metatool.Tool, options AnswerOptions) trace.Value {
	a := &answer{outcome: o, tool: tool, options: options}
	a.collect()
	a.omitRepeated()
	out := a.value()
	if options.MaxBytes > 0 {
		out = a.cutTo(options.MaxBytes, out)
	}
	return out
}

// AppendAnswer appends the JSON of [Outcome.Answer] to dst: compact, members in order
// of their names.
func (o *Outcome) AppendAnswer(dst []byte, tool *metatool.Tool, options AnswerOptions) []byte {
	v := o.Answer(tool, options)
	return v.AppendCanonical(dst)
}

// answer is an answer being made.
type answer struct {
	outcome *Outcome
	tool    *metatool.Tool
	options AnswerOptions
	parts   []part
	pieces  []piece
}

// part is what is told of one step.
type part struct {
	step     int // index into Tool.Steps
	from, to int // elements of pieces
}

// piece is the result of one call.
type piece struct {
	step, call int // the number of the call in a walk, from 0
	walked     bool
	element    trace.Value
	value      trace.Value
	json       string // of value
	in         int    // step whose result contains it, -1 if none does
	whole      int    // bytes of JSON before it was cut, 0 if it was not
	kept       int    // bytes of text that are left of it
}

// collect finds the results that are told.
func (a *answer) collect() {
	f := a.outcome.Failure
	for i := range a.outcome.Steps {
		run := &a.outcome.Steps[i]
		step := &a.tool.Steps[run.Step]
		if !a.tool.Output.Returns(run.Step) && (f == nil || step.ReadOnly) {
			continue
		}
		p := part{step: run.Step, from: len(a.pieces)}
		for n := range run.Calls {
			if f != nil && f.Step == run.Step && f.Call == n {
				break // the failure tells of it
			}
			a.pieces = append(a.pieces, pieceOf(step, run.Step, n, &run.Calls[n]))
		}
		p.to = len(a.pieces)
		if f == nil || f.Step != run.Step || p.to > p.from {
			a.parts = append(a.parts, p)
		}
	}
}

func pieceOf(step *metatool.Step, at, call int, c *CallRun) piece {
	g := piece{step: at, call: call, walked: step.Each != nil, in: -1}
	if g.walked {
		g.element = spelled(elementOf(step, c))
	}
	if c.Err == nil && c.Result.Status != trace.StatusFailed {
		g.value = told(c.Result.Value)
	}
	g.json = string(g.value.AppendCanonical(nil))
	return g
}

// elementOf returns what a call of a walk is about.
func elementOf(step *metatool.Step, c *CallRun) trace.Value {
	if c.Element.Kind != trace.Array && c.Element.Kind != trace.Object {
		return c.Element
	}
	var taken []trace.Member
	for i := range step.Args {
		if v, ok := c.Args.Lookup(step.Args[i].Name); ok && step.Args[i].Binding.ReadsElement() {
			taken = append(taken, trace.Member{Name: step.Args[i].Name, Value: v})
		}
	}
	switch len(taken) {
	case 0:
		return trace.Value{}
	case 1:
		return taken[0].Value
	}
	return trace.NewObject(taken...)
}

// told returns a result as an answer has it.
func told(v trace.Value) trace.Value {
	if v.Kind == trace.String {
		if inner, ok := jsonpath.LookThrough(v.Text); ok {
			v = inner
		}
	}
	return spelled(v)
}

// spelled returns a value whose numbers are spelled by their value: 7.0 is 7. Values
// without such numbers are not copied.
func spelled(v trace.Value) trace.Value {
	switch v.Kind {
	case trace.Number:
		v.Text = jsonvalue.Number(v.Text)
	case trace.Array:
		elems := make([]trace.Value, len(v.Elems))
		for i := range v.Elems {
			elems[i] = spelled(v.Elems[i])
		}
		v.Elems = elems
	case trace.Object:
		members := make([]trace.Member, len(v.Members))
		for i, m := range v.Members {
			members[i] = trace.Member{Name: m.Name, Value: spelled(m.Value)}
		}
		v.Members = members
	}
	return v
}

// minOmitted is how many bytes a result has at least that is not repeated: to say where
// it stands takes nearly as many.
const minOmitted = 40

// omitRepeated finds the results that others contain whole. Of equal ones the first is
// told.
func (a *answer) omitRepeated() {
	holds := func(i, j int) bool { // i holds j
		outer, inner := &a.pieces[i], &a.pieces[j]
		if i == j || len(inner.json) < minOmitted || len(outer.json) < len(inner.json) || len(outer.json) == len(inner.json) && i > j {
			return false
		}
		text := inner.json
		if inner.value.Kind == trace.String {
			text = text[1 : len(text)-1]
		}
		return strings.Contains(outer.json, text) && contains(&outer.value, &inner.value)
	}
	omitted := make([]bool, len(a.pieces))
	for j := range a.pieces {
		for i := 0; i < len(a.pieces) && !omitted[j]; i++ {
			omitted[j] = holds(i, j)
		}
	}
	for j := range a.pieces {
		for i := 0; omitted[j] && a.pieces[j].in < 0 && i < len(a.pieces); i++ {
			if !omitted[i] && holds(i, j) {
				a.pieces[j].in = a.pieces[i].step
			}
		}
	}
}

// contains reports whether a value is another one, or has it in it; a text has the texts
// in it that are part of it.
func contains(outer, inner *trace.Value) bool {
	if outer.Kind == trace.String && inner.Kind == trace.String {
		return strings.Contains(outer.Text, inner.Text)
	}
	if outer.Kind == inner.Kind && outer.Equal(*inner) {
		return true
	}
	for i := range outer.Elems {
		if contains(&outer.Elems[i], inner) {
			return true
		}
	}
	for i := range outer.Members {
		if contains(&outer.Members[i].Value, inner) {
			return true
		}
	}
	return false
}

// value returns the answer.
func (a *answer) value() trace.Value {
	results, omitted, cut := array(), array(), array()
	for _, p := range a.parts {
		walk := array()
		for i := p.from; i < p.to; i++ {
			g := &a.pieces[i]
			if g.walked {
				walk.Elems = append(walk.Elems, g.walkedResult())
			} else if g.in < 0 {
				results.Elems = append(results.Elems, a.named(p.step, g.value))
			}
			if g.in >= 0 {
				omitted.Elems = append(omitted.Elems, g.where(member("in", number(g.in+1))))
			}
			if g.whole > 0 {
				cut.Elems = append(cut.Elems, g.where(member("bytes", number(g.whole)), member("kept", number(g.kept))))
			}
		}
		if a.tool.Steps[p.step].Each != nil {
			results.Elems = append(results.Elems, a.named(p.step, walk))
		}
	}
	members := []trace.Member{member("results", results)}
	if len(omitted.Elems) > 0 {
		members = append(members, member("omitted", omitted))
	}
	if len(cut.Elems) > 0 {
		members = append(members, member("cut", cut))
	}
	if a.outcome.State != Done {
		members = append(members, member("state", trace.NewString(string(a.outcome.State))))
	}
	if f := a.outcome.Failure; f != nil {
		members = append(members, member("failure", a.failure(f)), member("safe_to_retry", boolean(a.outcome.Retry)))
	}
	if a.options.Steps {
		members = append(members, member("steps", a.steps()))
	}
	return trace.NewObject(members...)
}

func (a *answer) named(step int, v trace.Value) trace.Value {
	return trace.NewObject(member(a.tool.Steps[step].Tool, v))
}

func (g *piece) walkedResult() trace.Value {
	if g.in >= 0 {
		return trace.NewObject(member("for", g.element))
	}
	return trace.NewObject(member("for", g.element), member("result", g.value))
}

// where says which result something is about.
func (g *piece) where(what ...trace.Member) trace.Value {
	what = append(what, member("step", number(g.step+1)))
	if g.walked {
		what = append(what, member("call", number(g.call+1)))
	}
	return trace.NewObject(what...)
}

func (a *answer) failure(f *Failure) trace.Value {
	members := []trace.Member{member("code", trace.NewString(f.Code)), member("step", number(f.Step+1))}
	if f.Step >= 0 {
		members = append(members, member("tool", trace.NewString(a.tool.Steps[f.Step].Tool)), member("call", number(f.Call+1)))
	}
	if f.Argument != "" {
		members = append(members, member("argument", trace.NewString(f.Argument)))
	}
	if f.Err != nil {
		members = append(members, member("message", trace.NewString(trace.ValidText([]byte(f.Err.Error())))))
	}
	if instead := f.Instead(a.tool); len(instead) > 0 {
		names := array()
		for _, tool := range instead {
			names.Elems = append(names.Elems, trace.NewString(tool))
		}
		members = append(members, member("instead", names))
	}
	if c := a.failed(f); c != nil && c.Err == nil {
		members = append(members, member("result", told(c.Result.Value)))
	}
	return trace.NewObject(members...)
}

// failed returns the call that a run ended with, nil if it was not made.
func (a *answer) failed(f *Failure) *CallRun {
	for i := range a.outcome.Steps {
		if run := &a.outcome.Steps[i]; run.Step == f.Step && f.Call < len(run.Calls) {
			return &run.Calls[f.Call]
		}
	}
	return nil
}

func (a *answer) steps() trace.Value {
	steps := array()
	for i := range a.outcome.Steps {
		run := &a.outcome.Steps[i]
		calls := array()
		for n := range run.Calls {
			calls.Elems = append(calls.Elems, callValue(&run.Calls[n]))
		}
		step := []trace.Member{member("tool", trace.NewString(a.tool.Steps[run.Step].Tool)), member("calls", calls)}
		if run.Skipped > 0 {
			step = append(step, member("skipped", number(run.Skipped)))
		}
		steps.Elems = append(steps.Elems, trace.NewObject(step...))
	}
	return steps
}

func callValue(c *CallRun) trace.Value {
	status := "ok"
	switch {
	case c.Err != nil:
		status = "none"
	case c.Result.Status == trace.StatusFailed:
		status = "failed"
	}
	call := []trace.Member{member("arguments", spelled(c.Args)), member("status", trace.NewString(status)), member("tries", number(c.Tries))}
	if c.Err != nil {
		call = append(call, member("error", trace.NewString(trace.ValidText([]byte(c.Err.Error())))))
	}
	return trace.NewObject(call...)
}

// cutTo cuts results, the longest first and of equal ones the first, until the answer
// is no longer than limit or there is nothing left to cut.
func (a *answer) cutTo(limit int, out trace.Value) trace.Value {
	for {
		excess := len(out.AppendCanonical(nil)) - limit
		if excess <= 0 {
			return out
		}
		var longest *piece
		for i := range a.pieces {
			if g := &a.pieces[i]; g.in < 0 && len(g.json) > len("null") && (longest == nil || len(g.json) > len(longest.json)) {
				longest = g
			}
		}
		if longest == nil {
			return out
		}
		longest.cut(len(longest.json) - excess - cutNote)
		out = a.value()
	}
}

// cutNote is about as long as what is said of a result that was cut.
const cutNote = 48

// cut makes a result the beginning of its text, with a JSON of at most size bytes, or
// null if there is none.
func (g *piece) cut(size int) {
	text := g.value.Text
	if g.value.Kind != trace.String {
		text = g.json
	}
	if g.whole == 0 {
		g.whole = len(g.json)
	}
	end, long := 0, len(`""`)
	var room []byte
	for end < len(text) {
		_, n := utf8.DecodeRuneInString(text[end:])
		room = trace.NewString(text[end : end+n]).AppendCanonical(room[:0])
		if long += len(room) - len(`""`); long > size {
			break
		}
		end += n
	}
	if g.kept = end; end == 0 {
		g.value = trace.Value{}
	} else {
		g.value = trace.NewString(text[:end])
	}
	g.json = string(g.value.AppendCanonical(nil))
}

func array() trace.Value { return trace.Value{Kind: trace.Array} }

func boolean(b bool) trace.Value { return trace.Value{Kind: trace.Bool, Bool: b} }

func number(n int) trace.Value { return trace.Value{Kind: trace.Number, Text: strconv.Itoa(n)} }

func member(name string, v trace.Value) trace.Member { return trace.Member{Name: name, Value: v} }
