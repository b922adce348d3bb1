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
	"github.com/awo-dev/awo/trace"
)

// Bounds of what is taken from one answer.
const (
	maxAnswer    = 256 << 10
	maxProposals = 50
	maxRefusals  = 50 // that a question repeats
)

// kinds are those that traces can speak for or against.
var kinds = []rules.Kind{
	rules.KindEffect, rules.KindRewrite, rules.KindDropArg, rules.KindDomain, rules.KindLoop, rules.KindCommute,
	rules.KindStatus, rules.KindRename, rules.KindFold, rules.KindInsert,
}

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
	problems, _ := err.(diag.List)
	for i, e := range problems {
		if i == maxProposals {
			refuse("", "and %d more mistakes", len(problems)-i)
			break
		}
		refuse("", "line %d: %s", e.Pos.Line, e.Msg)
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
			refuse(text, "traces cannot test a rule of kind %s: propose effect, rewrite, drop_arg, domain, loop, commute, status, rename, fold or insert", r.Kind)
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

// try judges what an answer proposes as one set, because a rule often pays only together with
// others. All proposals are added; what the traces contradict goes; then, the last
// first, what is worth nothing on held-out tasks together with the rest. At the end each that
// went is tried once more, because it may have gone for the fault of another.
func (d *Discoverer) try(round *Round, answer string) {
	proposed := d.possible(round, d.proposals(round, answer))
	reasons := map[*rules.Rule]string{}
	kept, now := d.consistent(slices.Clone(proposed), reasons)
	without := map[*rules.Rule]Figures{} // what is kept but for the rule; the last pass has it of each
	for again := true; again; {
		again = false
		for _, r := range slices.Backward(slices.Clone(kept)) {
			less := slices.DeleteFunc(slices.Clone(kept), func(other *rules.Rule) bool { return other == r })
			without[r] = d.measure(d.with(less), false)
			if reasons[r] = worthless(r, now, without[r]); reasons[r] != "" {
				kept, now, again = less, d.measure(d.with(less), true), true
			}
		}
	}
	for _, r := range proposed {
		if reasons[r] == "" {
			continue
		}
		more := append(slices.Clone(kept), r)
		with := d.measure(d.with(more), true)
		if rule := d.contradicted(with, more); rule != nil {
			reasons[r] = contradiction(rule, r, with)
		} else if reasons[r] = worthless(r, with, now); reasons[r] == "" {
			kept, now = more, with
			clear(without)
		}
	}
	for i, r := range kept {
		if _, measured := without[r]; !measured {
			without[r] = d.measure(d.with(slices.Delete(slices.Clone(kept), i, i+1)), false)
		}
		seen := now.tried[r]
		round.Accepted = append(round.Accepted, Accepted{
			Rule: r, ID: r.ID, Line: r.Line(), Before: without[r], After: now,
			Checks: seen.checks, Contradictions: int(math.Round(seen.share * float64(seen.checks))),
		})
	}
	for _, r := range proposed {
		if reasons[r] != "" {
			delete(d.ids, r.ID)
			round.Refused = append(round.Refused, Refusal{oneLine(r), reasons[r]})
		}
	}
	d.set, d.now = d.with(kept), now
	d.refused = append(d.refused, round.Refused...)
}

// with returns the rules so far and more.
func (d *Discoverer) with(more []*rules.Rule) *rules.Set {
	set := *d.set
	set.Rules = slices.Concat(d.set.Rules, more)
	return &set
}

// possible refuses rules that match no call, and status rules that the traces speak
// against by themselves.
func (d *Discoverer) possible(round *Round, proposed []*rules.Rule) []*rules.Rule {
	for _, r := range proposed {
		r.ID = d.freeID(r.ID)
		d.ids[r.ID] = true
	}
	together := d.usage(proposed)
	var found []*rules.Rule
	for i, r := range proposed {
		reason := ""
		if together.Rules()[len(d.set.Rules)+i].Matched == 0 { // another renaming may have taken its calls away
			reason = unmatched(r, d.usage([]*rules.Rule{r}))
		}
		if reason == "" && r.Kind == rules.KindStatus {
			reason = d.misread(r)
		}
		if reason == "" {
			found = append(found, r)
			continue
		}
		delete(d.ids, r.ID)
		round.Refused = append(round.Refused, Refusal{oneLine(r), reason})
	}
	return found
}

// usage returns what further rules do.
func (d *Discoverer) usage(more []*rules.Rule) *merge.Usage {
	usage := merge.NewUsage(d.with(more))
	for _, t := range d.kept {
		usage.Add(t)
	}
	return usage
}

// misread says that a status rule says other things than flags of the traces.
func (d *Discoverer) misread(r *rules.Rule) string {
	told, wrong := 0, 0
	statuses := merge.NewStatuses(&rules.Set{Rules: []*rules.Rule{r}})
	for _, t := range d.kept {
		own := *t
		own.Calls = slices.Clone(t.Calls)
		statuses.Read(&own)
		for i := range own.Calls {
			before, after := &t.Calls[i], &own.Calls[i]
			if before.Status == trace.StatusUnknown || before.StatusFrom != "" || after.Result.IsZero() {
				continue
			}
			if told++; after.Status != before.Status {
				wrong++
			}
		}
	}
	if float64(wrong) > d.options.Tolerance*float64(told) {
		return fmt.Sprintf("it says another thing than the traces of %d of the %d calls whose status they record", wrong, told)
	}
	return ""
}

// contradicted returns the first rule that the traces contradict too often, nil for none.
// Of the rules so far none may come to be so.
func (d *Discoverer) contradicted(f Figures, more []*rules.Rule) *rules.Rule {
	for _, r := range d.with(more).Rules {
		if f.tried[r].share > d.options.Tolerance && d.now.tried[r].share <= d.options.Tolerance {
			return r
		}
	}
	return nil
}

// contradiction says that the traces contradict a rule because of another, or of itself.
func contradiction(rule, because *rules.Rule, f Figures) string {
	seen := f.tried[rule]
	if rule != because {
		return fmt.Sprintf("with it, the traces contradict the rule %s in %.0f %% of its checks", rule.ID, 100*seen.share)
	}
	return fmt.Sprintf("the traces contradict it in %.0f %% of %d checks: reads return other things where it says that nothing changed", 100*seen.share, seen.checks)
}

// consistent takes out of the proposals what the traces contradict, and returns the rest
// with its figures. Others may be charged with what a wrong rule does, so the one goes
// without which least is contradicted: of those that are, or, where it is a rule so far,
// of all.
func (d *Discoverer) consistent(list []*rules.Rule, reasons map[*rules.Rule]string) ([]*rules.Rule, Figures) {
	now := d.measure(d.with(list), true)
	for {
		blamed := d.contradicted(now, list)
		if blamed == nil || len(list) == 0 {
			return list, now
		}
		worst, least := -1, Figures{}
		for i, r := range list {
			if now.tried[r].share > d.options.Tolerance || slices.Contains(d.set.Rules, blamed) {
				f := d.measure(d.with(slices.Delete(slices.Clone(list), i, i+1)), true)
				if worst < 0 || f.charged() < least.charged() {
					worst, least = i, f
				}
			}
		}
		r := list[worst]
		if now.tried[r].share > d.options.Tolerance {
			blamed = r
		}
		reasons[r] = contradiction(blamed, r, now)
		list, now = slices.Delete(list, worst, worst+1), least
	}
}

// charged returns how many contradictions are charged to rules.
func (f *Figures) charged() float64 {
	sum := 0.0
	for _, seen := range f.tried {
		sum += seen.share * float64(seen.checks)
	}
	return sum
}

// Differences of losses that count for nothing, and for a proof.
const (
	tie  = 1e-9
	gain = 1e-3
)

// worthless says why a rule is worth nothing together with others, "" if it is worth something.
func worthless(r *rules.Rule, with, without Figures) string {
	bits, before := with.Bits.Float(), without.Bits.Float()
	better := bits < before-gain || with.shownBits < without.shownBits-gain
	joined := without.States + without.HeldStates - with.States - with.HeldStates
	turns := with.TurnsSaved - without.TurnsSaved
	switch {
	case r.Kind == rules.KindStatus && joined == 0:
		return "" // it has been compared with the flags of the traces
	case joined <= 0 && turns <= 0:
		return fmt.Sprintf("it makes no two states one among the others: there are %d with it, and %d without", with.States, without.States)
	case bits > before+tie:
		return fmt.Sprintf("it makes states one that go on differently: on held-out tasks the next call costs %.4f bits instead of %.4f", bits, before)
	case turns < 0 && !better:
		return fmt.Sprintf("on held-out tasks meta-tools save %d turns with it, and %d without", with.TurnsSaved, without.TurnsSaved)
	case with.tried[r].checks == 0 && turns <= 0 && !better:
		return "no evidence supports it: no read was made twice in the states that it joins, and the next call is predicted no better"
	}
	return ""
}

// unmatched says that a rule matches no call, with the name that may have been meant.
func unmatched(r *rules.Rule, usage *merge.Usage) string {
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
