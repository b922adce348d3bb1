package discover

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
)

// Bounds of what is taken from one answer.
const (
	maxAnswer    = 256 << 10
	maxProposals = 50
	maxRefusals  = 50 // that a question repeats
)

// kinds are those that traces can speak for or against.
var kinds = []rules.Kind{rules.KindEffect, rules.KindRewrite, rules.KindDropArg, rules.KindDomain, rules.KindLoop, rules.KindCommute}

// fence finds blocks of code in an answer.
var fence = regexp.MustCompile("(?s)```[ \t]*(?:yaml|yml|json)?[ \t]*\r?\n(.*?)\r?\n?```")

// source returns the rule file in an answer: its code blocks, or all of it.
func source(answer string) string {
	if len(answer) > maxAnswer {
		answer = answer[:maxAnswer]
	}
	found := fence.FindAllStringSubmatch(answer, -1)
	if len(found) == 0 {
		return strings.ToValidUTF8(answer, "\ufffd")
	}
	return strings.ToValidUTF8(found[len(found)-1][1], "\ufffd")
}

// proposals reads the rules of an answer. What is no rule is refused with the reason
// that its author needs to do better.
func (d *Discoverer) proposals(round *Round, answer string) []*rules.Rule {
	refuse := func(rule, format string, args ...any) {
		round.Refused = append(round.Refused, Refusal{rule, fmt.Sprintf(format, args...)})
	}
	const file = "answer"
	set, err := rules.Parse(file, []byte(source(answer)))
	if problems, is := err.(diag.List); is {
		for i, e := range problems {
			if i == maxProposals {
				refuse("", "and %d more mistakes", len(problems)-i)
				break
			}
			refuse("", "line %d: %s", e.Pos.Line, e.Msg)
		}
	}
	if set == nil {
		return nil
	}
	var found []*rules.Rule
	for _, r := range set.Rules {
		switch text := oneLine(r); {
		case r.Pos.File != file: // an included set
		case len(found) == maxProposals:
			refuse(text, "an answer has %d rules at most", maxProposals)
			return found
		case r.Values || r.Kind == rules.KindValues:
			refuse(text, "values of arguments are not shown on the word of a model")
		case !slices.Contains(kinds, r.Kind):
			refuse(text, "traces cannot test a rule of kind %s: propose effect, rewrite, drop_arg, domain, loop or commute", r.Kind)
		default:
			found = append(found, d.adopt(r))
		}
	}
	if len(set.MetaTools) > 0 {
		refuse("", "`meta_tools` is left to people")
	}
	return found
}

// name is what the id of a rule may be.
var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,60}$`)

// adopt returns the rule without what its author only says about it.
func (d *Discoverer) adopt(r *rules.Rule) *rules.Rule {
	own := *r
	own.Doc, own.Examples = "", nil
	if !name.MatchString(own.ID) {
		own.ID = string(own.Kind)
	}
	return &own
}

// freeID returns an id that no rule has, made of the one that is wished for.
func (d *Discoverer) freeID(wish string) string {
	id := wish
	for n := 2; d.ids[id]; n++ {
		id = fmt.Sprintf("%s-%d", wish, n)
	}
	return id
}

// oneLine writes a rule for people and for the model.
func oneLine(r *rules.Rule) string {
	alone := *r
	alone.Doc, alone.Examples = "", nil
	return alone.Line()
}

// try tries what an answer proposes, in its order; what gains nothing is tried once
// more when others have been accepted.
func (d *Discoverer) try(round *Round, answer string) {
	rest := d.proposals(round, answer)
	for again := true; again && len(rest) > 0; {
		again = false
		var left []*rules.Rule
		var reasons []string
		for _, r := range rest {
			r.ID = d.freeID(r.ID)
			accepted, reason := d.judge(r)
			if reason != "" {
				left, reasons = append(left, r), append(reasons, reason)
				continue
			}
			round.Accepted = append(round.Accepted, accepted)
			d.set.Rules, d.now = append(d.set.Rules, r), accepted.After
			d.ids[r.ID] = true
			again = true
		}
		rest = left
		if !again {
			for i, r := range left {
				round.Refused = append(round.Refused, Refusal{oneLine(r), reasons[i]})
			}
		}
	}
	d.refused = append(d.refused, round.Refused...)
}

// Differences of losses that count for nothing, and for a proof.
const (
	tie  = 1e-9
	gain = 1e-3
)

// judge tries a rule on top of those so far. The reason is "" if it is accepted.
func (d *Discoverer) judge(r *rules.Rule) (a Accepted, reason string) {
	set := new(*d.set)
	set.Rules = append(slices.Clone(d.set.Rules), r)
	if tools := d.unmatched(set, r); tools != "" {
		return a, tools
	}
	after := d.measure(set)
	bits, now, last := after.Bits.Float(), d.now.Bits.Float(), len(after.checks)-1
	a = Accepted{Rule: r, ID: r.ID, Line: r.Line(), Before: d.now, After: after, Checks: after.checks[last]}
	a.Contradictions = int(math.Round(after.contradicted[last] * float64(a.Checks)))
	tooOften := func(share float64) bool { return share > d.options.Tolerance }
	switch {
	case tooOften(after.contradicted[last]):
		return a, fmt.Sprintf("the traces contradict it in %.0f %% of %d checks: reads return other things where it says that nothing changed", 100*after.contradicted[last], a.Checks)
	case after.States >= d.now.States:
		return a, fmt.Sprintf("it makes no two states one: there are %d with it, and %d without", after.States, d.now.States)
	case bits > now+tie:
		return a, fmt.Sprintf("it makes states one that go on differently: on held-out tasks the next call costs %.4f bits instead of %.4f", bits, now)
	case after.TurnsSaved < d.now.TurnsSaved:
		return a, fmt.Sprintf("on held-out tasks meta-tools save %d turns with it, and %d without", after.TurnsSaved, d.now.TurnsSaved)
	case a.Checks == 0 && !(bits < now-gain):
		return a, "no evidence supports it: no read was made twice in the states that it joins, and the next call is predicted no better"
	}
	for i := range d.now.contradicted {
		if tooOften(after.contradicted[i]) && !tooOften(d.now.contradicted[i]) {
			return a, fmt.Sprintf("with it, the traces contradict the rule %s in %.0f %% of its checks", set.Rules[i].ID, 100*after.contradicted[i])
		}
	}
	return a, ""
}

// unmatched says that a rule matches no call, with the name that may have been meant.
func (d *Discoverer) unmatched(set *rules.Set, r *rules.Rule) string {
	usage := merge.NewUsage(set)
	for _, t := range d.kept {
		usage.Add(t)
	}
	counts := usage.Rules()
	if counts[len(counts)-1].Matched > 0 {
		return ""
	}
	for _, g := range r.Match.Tools {
		if meant := diag.Nearest(g.String(), usage.Tools()); meant != "" && meant != g.String() {
			return fmt.Sprintf("it matches no call: no tool is called %s, one is called %s", g, meant)
		}
	}
	return "it matches no call"
}
