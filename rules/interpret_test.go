package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// This file applies rules to examples in the plainest way, following the
// description of the language and nothing else. It holds the built-in sets and
// the documentation to their own examples, without package merge.

// played is a call on its way through the stages.
type played struct {
	name        string
	args        map[string]any // as written
	context     []ContextText
	annotations map[string]any
	status      string
}

// playedStep is what a call becomes.
type playedStep struct {
	tool, label string
	args        map[string]any
	effect      Effect
	idempotent  bool
	domain      string
	status      string
	barrier     bool
	answer      Answer
	loop        bool // the step left the state as it was
	loopRule    *Rule
	loopLabel   string
	context     string
	call        *played
}

func readValue(src []byte) any {
	d := json.NewDecoder(bytes.NewReader(src))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// canonical writes a value with sorted keys and numbers in one form.
func canonical(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, string(appendString(nil, k))+":"+canonical(v[k]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, canonical(e))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case string:
		return string(appendString(nil, v))
	case json.Number:
		if i, ok := new(big.Int).SetString(v.String(), 10); ok {
			return i.String()
		}
		f, _ := v.Float64()
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return fmt.Sprint(v) // true, false
}

func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return canonical(v)
}

// eachAt calls f for the values that a path leads to, with a function that
// replaces the value and one that removes it.
func eachAt(v any, path Path, set func(any), remove func(), f func(v any, set func(any), remove func())) {
	if len(path) == 0 {
		f(v, set, remove)
		return
	}
	switch s := path[0]; s.Kind {
	case SegmentName:
		object, ok := v.(map[string]any)
		if !ok {
			return
		}
		if member, ok := object[s.Name]; ok {
			eachAt(member, path[1:], func(n any) { object[s.Name] = n }, func() { delete(object, s.Name) }, f)
		}
	default:
		list, _ := v.([]any)
		for i, e := range list {
			if s.Kind == SegmentEach || s.Index == i {
				eachAt(e, path[1:], func(n any) { list[i] = n }, func() {}, f)
			}
		}
	}
}

func (c *played) find(path Path, pattern *regexp.Regexp) (text string, ok bool) {
	eachAt(c.args, path, nil, nil, func(v any, _ func(any), _ func()) {
		if t := textOf(v); !ok && pattern.MatchString(t) {
			text, ok = t, true
		}
	})
	return text, ok
}

func (c *played) findContext(p ContextPattern) (string, bool) {
	for _, t := range c.context {
		if t.Name == p.Name && p.Pattern.MatchString(t.Text) {
			return t.Text, true
		}
	}
	return "", false
}

func (c *played) matches(m *Match) bool {
	if len(m.Tools) > 0 && !slices.ContainsFunc(m.Tools, func(g Glob) bool { return g.Match(c.name) }) {
		return false
	}
	for _, a := range m.Args {
		if _, ok := c.find(a.Path, a.Pattern); !ok {
			return false
		}
	}
	for _, p := range m.Context {
		if _, ok := c.findContext(p); !ok {
			return false
		}
	}
	for _, p := range m.Annotations {
		v, ok := c.annotations[p.Name]
		if !ok || !p.Pattern.MatchString(textOf(v)) {
			return false
		}
	}
	return true
}

// last returns the last rule of a kind that matches.
func (c *played) last(s *Set, kind Kind) *Rule {
	var found *Rule
	for _, r := range s.Rules {
		if r.Kind == kind && c.matches(&r.Match) {
			found = r
		}
	}
	return found
}

func (c *played) newName(r *Rule) string {
	groups := []string{c.name}
	for _, a := range r.Match.Args {
		text, _ := c.find(a.Path, a.Pattern)
		groups = append(groups, a.Pattern.FindStringSubmatch(text)[1:]...)
	}
	for _, p := range r.Match.Context {
		text, _ := c.findContext(p)
		groups = append(groups, p.Pattern.FindStringSubmatch(text)[1:]...)
	}
	return regexp.MustCompile(`\$\$|\$\{\d+\}`).ReplaceAllStringFunc(r.To, func(s string) string {
		if s == "$$" {
			return "$"
		}
		i, _ := strconv.Atoi(s[2 : len(s)-1])
		return groups[i]
	})
}

// play applies the stages of a set to calls and returns the steps.
func play(s *Set, calls []ExampleCall) []*playedStep {
	var pending []*played
	var foldRule *Rule
	var steps []*playedStep
	flush := func() {
		if len(pending) == 0 {
			return
		}
		first := pending[0]
		if len(pending) > 1 {
			var texts []string
			for _, c := range pending {
				eachAt(c.args, foldRule.Arg, nil, nil, func(v any, _ func(any), _ func()) { texts = append(texts, textOf(v)) })
				if c.status != first.status {
					first.status = "unknown"
				}
			}
			eachAt(first.args, foldRule.Arg, nil, nil, func(_ any, set func(any), _ func()) { set(strings.Join(texts, foldRule.Separator)) })
		}
		steps = append(steps, expand(s, first)...)
		pending = nil
	}
	for _, call := range calls {
		c := &played{name: call.Tool, context: call.Context, status: call.Status, annotations: map[string]any{}}
		c.args = readValue(call.Args).(map[string]any)
		for _, a := range call.Annotations {
			c.annotations[a.Name] = readValue([]byte(a.Text))
		}
		if c.last(s, KindDrop) != nil {
			continue
		}
		if r := c.last(s, KindRename); r != nil {
			c.name = c.newName(r)
		}
		if c.status == "" {
			c.status = "unknown"
		}
		for _, r := range s.Rules {
			if r.Kind == KindStatus && c.matches(&r.Match) && r.Tells([]byte(call.Result)) {
				c.status = r.Is
			}
		}
		if c.status == "failed" && s.Failed != FailedKeep {
			continue
		}
		r := c.last(s, KindFold)
		if r == nil || r != foldRule || len(pending) > 0 && pending[0].name != c.name {
			flush()
		}
		foldRule = r
		pending = append(pending, c)
		if r == nil {
			flush()
		}
	}
	flush()
	return steps
}

// expand returns the step of a call with those that are inserted around it.
func expand(s *Set, c *played) []*playedStep {
	var before, after []*playedStep
	for _, r := range s.Rules {
		if r.Kind != KindInsert || !c.matches(&r.Match) {
			continue
		}
		other := &played{name: r.Step.Tool, args: map[string]any{}, context: c.context, status: c.status}
		for name, text := range r.Step.Args {
			other.args[name] = text
		}
		if r.Position == SideBefore {
			before = append(before, stepOf(s, other))
		} else {
			after = append(after, stepOf(s, other))
		}
	}
	return slices.Concat(before, []*playedStep{stepOf(s, c)}, after)
}

func stepOf(s *Set, c *played) *playedStep {
	step := &playedStep{tool: c.name, status: c.status, call: c}
	step.args = readValue([]byte(canonical(c.args))).(map[string]any)
	for _, r := range s.Rules {
		if !c.matches(&r.Match) {
			continue
		}
		switch r.Kind {
		case KindDropArg:
			eachAt(step.args, r.Match.Arg, nil, nil, func(_ any, _ func(any), remove func()) { remove() })
		case KindRewrite:
			eachAt(step.args, r.Match.Arg, nil, nil, func(v any, set func(any), _ func()) {
				if text := r.Pattern.ReplaceAllString(textOf(v), r.With); text != textOf(v) {
					set(text)
				}
			})
		case KindEffect:
			step.effect, step.idempotent = r.Effect, r.Idempotent
		case KindDomain:
			if r.DomainFrom == nil {
				step.domain = r.Domain
			} else if m := r.DomainFrom.FindStringSubmatch(c.name); m != nil && m[1] != "" {
				step.domain = m[1]
			}
		case KindBarrier:
			step.barrier = true
		case KindPlumbing:
			step.answer = r.Answer
		case KindLoop:
			step.loopRule = r
		case KindState:
			for _, key := range r.Keys {
				for _, t := range c.context {
					if t.Name == key {
						step.context += fmt.Sprintf("|%q=%q", key, t.Text)
					}
				}
			}
		}
	}
	step.label = c.name + canonical(step.args)
	if step.loopRule != nil {
		rest := readValue([]byte(canonical(step.args)))
		for _, path := range step.loopRule.IgnoreArgs {
			eachAt(rest, path, nil, nil, func(_ any, _ func(any), remove func()) { remove() })
		}
		step.loopLabel = c.name + canonical(rest)
	}
	return step
}

// dependent reports whether two writes must keep their order.
func dependent(s *Set, a, b *playedStep) bool {
	if a.label == b.label && a.domain == b.domain && a.context == b.context {
		return true // it does not matter which of two equal writes is first
	}
	if a.domain != "" && b.domain != "" && a.domain != b.domain {
		return false
	}
	for _, r := range s.Rules {
		if r.Kind != KindCommute {
			continue
		}
		other := r.Other
		if other == nil {
			other = &r.Match
		}
		if a.call.matches(&r.Match) && b.call.matches(other) || b.call.matches(&r.Match) && a.call.matches(other) {
			return false
		}
	}
	return true
}

// stateOf writes down the state that steps lead to, and notes which of them left
// the state as it was.
func stateOf(s *Set, steps []*playedStep) string {
	reads := map[string]bool{}
	var writes []*playedStep
	for _, step := range steps {
		switch step.effect {
		case Annotator:
			step.loop = true
		case Accessor:
			entry := step.label
			if step.loopRule != nil {
				entry = step.loopLabel
			}
			entry += step.context
			if s.StateReads == ReadsAfterWrite {
				entry += fmt.Sprint("@", len(writes))
			}
			step.loop = reads[entry]
			reads[entry] = true
		default:
			if step.loopRule != nil && repeats(s, writes, step) {
				step.loop = true
			} else {
				writes = append(writes, step)
			}
		}
	}
	return fmt.Sprint(slices.Sorted(maps.Keys(reads)), normalForm(s, writes))
}

// repeats reports whether the only write right below step is the same one.
func repeats(s *Set, writes []*playedStep, step *playedStep) bool {
	covered := map[int]bool{} // writes below one that step depends on
	var top []*playedStep
	for i := len(writes) - 1; i >= 0; i-- {
		if !covered[i] && dependent(s, writes[i], step) {
			top = append(top, writes[i])
			covered[i] = true
		}
		if covered[i] {
			for j := range i {
				if dependent(s, writes[j], writes[i]) {
					covered[j] = true
				}
			}
		}
	}
	return len(top) == 1 && top[0].loopLabel == step.loopLabel && top[0].context == step.context
}

// normalForm writes the writes in an order that all equivalent histories share:
// always the least of those that may come next.
func normalForm(s *Set, writes []*playedStep) []string {
	var form []string
	rest := slices.Clone(writes)
	for len(rest) > 0 {
		best := -1
		for i, w := range rest {
			free := !slices.ContainsFunc(rest[:i], func(v *playedStep) bool { return dependent(s, v, w) })
			if free && (best < 0 || w.label+w.context < rest[best].label+rest[best].context) {
				best = i
			}
		}
		form = append(form, rest[best].label+rest[best].context)
		rest = slices.Delete(rest, best, best+1)
	}
	return form
}

// checkExample fails if an example of a set does not hold.
func checkExample(t *testing.T, s *Set, e *Example) {
	t.Helper()
	steps := play(s, e.Calls)
	state := stateOf(s, steps)
	if e.SameState != nil {
		if other := stateOf(s, play(s, e.SameState)); other != state {
			t.Errorf("%s: states differ:\n%s\n%s", e.Pos, state, other)
		}
		return
	}
	if e.OtherState != nil {
		if other := stateOf(s, play(s, e.OtherState)); other == state {
			t.Errorf("%s: both lead to %s", e.Pos, state)
		}
		return
	}
	if len(steps) != len(e.Gives) {
		t.Errorf("%s: %d steps, want %d", e.Pos, len(steps), len(e.Gives))
		return
	}
	for i, want := range e.Gives {
		checkStep(t, steps[i], &want)
	}
}

func checkStep(t *testing.T, got *playedStep, want *Expectation) {
	t.Helper()
	fail := func(what string, got, expected any) {
		t.Errorf("%s: %s is %v, want %v", want.Pos, what, got, expected)
	}
	if want.Label != "" && got.label != want.Label {
		fail("label", got.label, want.Label)
	}
	if want.Tool != "" && got.tool != want.Tool {
		fail("tool", got.tool, want.Tool)
	}
	if want.Args != nil && canonical(got.args) != canonical(readValue(want.Args)) {
		fail("args", canonical(got.args), string(want.Args))
	}
	if want.Effect != "" && got.effect.String() != want.Effect {
		fail("effect", got.effect, want.Effect)
	}
	if want.Domain != nil && got.domain != *want.Domain {
		fail("domain", got.domain, *want.Domain)
	}
	if want.Status != "" && got.status != want.Status {
		fail("status", got.status, want.Status)
	}
	if want.Answer != "" && got.answer.String() != want.Answer {
		fail("answer", got.answer, want.Answer)
	}
	for _, f := range []struct {
		what string
		got  bool
		want *bool
	}{{"barrier", got.barrier, want.Barrier}, {"idempotent", got.idempotent, want.Idempotent}, {"loop", got.loop, want.Loop}} {
		if f.want != nil && f.got != *f.want {
			fail(f.what, f.got, *f.want)
		}
	}
}
