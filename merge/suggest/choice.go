package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// rejected returns a candidate that is not taken.
func rejected(c candidate, reason string) Rejected {
	return Rejected{Suggestion: c.suggestion(), Reason: reason}
}

// suggestion is the candidate as it is shown.
func (c *candidate) suggestion() Suggestion {
	out := Suggestion{Rule: c.rule, Basis: c.basis, For: c.pro, Against: c.against, Of: c.of}
	for _, f := range c.tools {
		out.Calls += f.calls
		out.Trajectories = max(out.Trajectories, f.runs)
	}
	return out
}

// chooser takes candidates one after the other.
type chooser struct {
	s     *Suggester
	out   *Suggestions
	first []*rules.Rule // renames, which the other candidates rest on
	taken []candidate
	now   Size
}

// Suggest returns the rules. The suggester must not be used afterwards.
func (s *Suggester) Suggest() *Suggestions {
	out := &Suggestions{Trajectories: len(s.kept), LeftOut: s.leftOut}
	for _, t := range s.kept {
		out.Runs = append(out.Runs, evidence.Run{ID: t.ID, Ref: t.Ref})
	}
	for _, t := range s.kept {
		out.Calls += len(t.Calls)
	}
	renames, statuses, left := s.prepare()
	out.Rejected = left
	out.Before = s.measure(s.base)
	c := &chooser{s: s, out: out}
	for i := range renames {
		c.first = append(c.first, renames[i].rule)
	}
	c.now = out.Before
	effects, left := s.effectCandidates()
	if s.options.Effects {
		out.Rejected = left
		c.take(effects...)
		c.finish(c.needed(renames), c.taken)
		return out
	}
	out.Rejected = append(out.Rejected, left...)
	declared := map[*toolFacts]bool{}
	for _, e := range effects {
		declared[e.tools[0]] = true
	}
	isRead := func(f *toolFacts) bool { return declared[f] }
	isWrite := func(f *toolFacts) bool { return !declared[f] }
	rewrites, left := s.rewriteCandidates(isRead)
	out.Rejected = append(out.Rejected, left...)
	rewrites = slices.Concat(rewrites, s.loopCandidates(isRead), s.repeatCandidates(isWrite))
	domains := s.domainCandidates(isWrite)

	c.settleOn(slices.Concat(effects, rewrites, domains))
	c.finish(slices.Concat(c.needed(renames), statuses), slices.Concat(c.taken, s.plumbingCandidates()))
	return out
}

// settleOn begins with everything that has a reason and gives up what does not
// help. Some rules help only together: the tokens, user names and passwords of
// a login.
func (c *chooser) settleOn(list []candidate) {
	c.take(list...)
	c.refute()
	c.prune(true)
	c.choose(c.givenUp())
	c.settle()
}

// settle gives up what is contradicted, idle, or a risk without a gain.
func (c *chooser) settle() {
	c.refute()
	c.prune(false)
	c.dropUnproven()
}

// dropUnproven gives up rewrites of what is written that no check speaks for and
// that predict nothing: erasing what a write is about is the commonest mistake.
func (c *chooser) dropUnproven() {
	for i := len(c.taken) - 1; i >= 0; i-- {
		if !c.taken[i].inWrites {
			continue
		}
		rest := &chooser{s: c.s, first: c.first, taken: slices.Delete(slices.Clone(c.taken), i, i+1)}
		without := c.s.measure(rest.ruleSet())
		if without.Bits > c.now.Bits+tie || c.examine()[i].Checks > 0 {
			continue
		}
		c.leave(c.taken[i], "nothing was checked, and the next call is predicted as well without it")
		c.taken, c.now = rest.taken, without
	}
}

// givenUp returns, and forgets, the candidates that were left out for what they
// cost, so that they can be tried again.
func (c *chooser) givenUp() []candidate {
	var again []candidate
	c.out.Rejected = slices.DeleteFunc(c.out.Rejected, func(l Rejected) bool {
		if l.candidate == nil {
			return false
		}
		again = append(again, *l.candidate)
		return true
	})
	return again
}

// ruleSet is the set of the taken rules and more.
func (c *chooser) ruleSet(more ...candidate) *rules.Set {
	set := &rules.Set{}
	*set = *c.s.base
	set.Rules = slices.Concat(c.s.base.Rules, c.first)
	for _, list := range [][]candidate{c.taken, more} {
		for i := range list {
			set.Rules = append(set.Rules, list[i].rule)
		}
	}
	return set
}

// examine holds the taken rules against what was kept.
func (c *chooser) examine() []evidence.RuleEvidence {
	return c.s.examine(c.ruleSet()).Rules[len(c.s.base.Rules)+len(c.first):]
}

// take takes candidates, whatever they cost.
func (c *chooser) take(list ...candidate) {
	c.taken = append(c.taken, list...)
	c.now = c.s.measure(c.ruleSet())
}

// fits reports whether the rules of a size may take the place of another's.
func fits(before, after Size) bool {
	return after.States < before.States && !(after.Bits > before.Bits+tie)
}

// choose takes candidates by how much they compress, largest first, as long as
// the loss does not rise.
func (c *chooser) choose(list []candidate) {
	states := make([]int, len(list))
	order := make([]int, len(list))
	for i := range list {
		order[i], states[i] = i, c.s.measure(c.ruleSet(list[i])).States
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(states[a], states[b]) })
	// What did not help at first may help once others were taken.
	for round, rest := 0, order; round < 2 && len(rest) > 0; round++ {
		var again []int
		for _, i := range rest {
			after := c.s.measure(c.ruleSet(list[i]))
			if fits(c.now, after) {
				c.taken, c.now = append(c.taken, list[i]), after
				continue
			}
			again = append(again, i)
			if round == 1 {
				c.leave(list[i], costs(c.now, after))
			}
		}
		rest = again
	}
}

// costs says why a candidate was not taken.
func costs(before, after Size) string {
	if after.States >= before.States {
		return "it makes the graph no smaller"
	}
	return fmt.Sprintf("%d states become %d, but the next call costs %.4f bits instead of %.4f", before.States, after.States, after.Bits, before.Bits)
}

// refute gives up rules that the traces contradict, the worst first.
func (c *chooser) refute() {
	for len(c.taken) > 0 {
		found := c.examine()
		worst, share := -1, c.s.options.Tolerance
		for i := range found {
			if r := &found[i]; r.Rate.N > 0 && r.Rate.Share > share {
				worst, share = i, r.Rate.Share
			}
		}
		if worst < 0 {
			return
		}
		r := &found[worst]
		x := rejected(c.taken[worst], fmt.Sprintf("traces contradict it in %d of %d checks", r.Contradictions, r.Checks))
		x.Evidence = *r
		c.out.Rejected = append(c.out.Rejected, x)
		c.taken = slices.Delete(c.taken, worst, worst+1)
		c.now = c.s.measure(c.ruleSet())
	}
}

// prune gives up rules without which nothing gets worse: the graph no larger and
// the loss no higher. With worse it also gives up those that raise the loss,
// those that merge least first, until none does.
func (c *chooser) prune(worse bool) {
	c.now = c.s.measure(c.ruleSet())
	for sweep := 0; sweep < 3; sweep++ {
		changed := false
		for i := len(c.taken) - 1; i >= 0; i-- {
			rest := &chooser{s: c.s, first: c.first, taken: slices.Delete(slices.Clone(c.taken), i, i+1)}
			without := c.s.measure(rest.ruleSet())
			idle := without.States <= c.now.States && without.Bits <= c.now.Bits+tie && c.taken[i].rule.Kind != rules.KindEffect
			if !idle && !(worse && without.Bits < c.now.Bits-tie) {
				continue
			}
			c.leave(c.taken[i], costs(without, c.now))
			c.taken, c.now, changed = rest.taken, without, true
		}
		if !changed {
			return
		}
	}
}

// leave leaves a candidate out for what it costs.
func (c *chooser) leave(x candidate, reason string) {
	l := rejected(x, reason)
	l.candidate = &x
	c.out.Rejected = append(c.out.Rejected, l)
}

// tie is a difference of losses that only comes from rounding.
const tie = 1e-9

// needed returns the renames that a taken rule rests on. Others are given up.
func (c *chooser) needed(renames []candidate) []candidate {
	c.first = nil
	return slices.DeleteFunc(renames, func(p candidate) bool {
		for _, x := range c.taken {
			for _, g := range x.rule.Match.Tools {
				if _, is := p.names[trace.Intern(g.String())]; is {
					return false
				}
			}
		}
		c.out.Rejected = append(c.out.Rejected, rejected(p, "no rule needs the names"))
		return true
	})
}

// finish joins the effects of one basis to one rule, names the rules and adds
// what speaks for and against them.
func (c *chooser) finish(joined, list []candidate) {
	for _, x := range list {
		i := slices.IndexFunc(joined, func(y candidate) bool {
			return x.rule.Kind == rules.KindEffect && y.rule.Kind == rules.KindEffect && y.stem == x.stem && y.rule.Effect == x.rule.Effect
		})
		if i < 0 {
			joined = append(joined, x)
			continue
		}
		y := &joined[i]
		rule := *y.rule
		rule.Match.Tools = slices.Concat(y.rule.Match.Tools, x.rule.Match.Tools)
		y.rule, y.tools, y.pro, y.against = &rule, slices.Concat(y.tools, x.tools), y.pro+x.pro, y.against+x.against
	}
	c.taken = nil
	ids := map[string]int{}
	for _, r := range c.s.base.Rules {
		ids[r.ID]++
	}
	now := c.out.Before
	for _, x := range joined {
		rule := *x.rule
		rule.ID, rule.Doc, rule.Examples = ruleID(x, ids), "", nil
		x.rule = &rule
		c.taken = append(c.taken, x)
		suggestion := x.suggestion()
		suggestion.Before, suggestion.After = now, c.s.measure(c.ruleSet())
		now = suggestion.After
		c.out.Rules = append(c.out.Rules, suggestion)
	}
	for i, e := range c.examine() {
		c.out.Rules[i].Evidence = e
	}
	c.out.After = now
}

// ruleID names a rule after what it is about.
func ruleID(c candidate, ids map[string]int) string {
	stem := strings.ToLower(strings.Join(toolname.Words(c.stem), "-"))
	if c.inWrites {
		stem += "-in-writes"
	}
	ids[stem]++
	if n := ids[stem]; n > 1 {
		return fmt.Sprintf("%s-%d", stem, n)
	}
	return stem
}

// Suggestion is a rule with what speaks for and against it.
type Suggestion struct {
	Rule  *rules.Rule // with an id
	Basis string      // the reason, in words

	Calls, Trajectories int // of the tools that it names; of several tools the trajectories are those of the one in most
	For, Against        int // observations: of effects reads that returned the same or not, of other kinds values, results or calls
	Of                  int // of a rewrite all values at its place, of a status rule all results of its tools; 0 for other kinds

	Before, After Size                  // without the rule, after the rules above it, and with it
	Evidence      evidence.RuleEvidence // in the set of all suggestions
}

// Size is how large the graph of a set of rules is, and what it predicts.
type Size struct {
	States int
	Bits   float64 // held out, of the next call given the state, mean over 4 partitions into folds; NaN with fewer than two tasks
}

// Rejected is a rule that is not suggested.
type Rejected struct {
	Suggestion
	Reason string

	candidate *candidate // to try again; nil if the reason stays
}

// Suggestions are rules for a corpus, in the order in which they were taken.
type Suggestions struct {
	Rules    []Suggestion
	Rejected []Rejected

	Trajectories, Calls int
	LeftOut             int            // trajectories beyond MaxBytes
	Runs                []evidence.Run // that were looked at; what counter-examples refer to
	Before, After       Size
}

// measure merges what was kept under a set of rules. The choosers come back to most sets
// several times, so what was measured is remembered by the rules of the set.
func (s *Suggester) measure(set *rules.Set) Size {
	key := fmt.Sprint(set.Rules) // pointers
	if size, known := s.measured[key]; known {
		return size
	}
	loss := evidence.NewStateLoss(set)
	for i := range s.kept {
		loss.Add(s.kept[i].Trajectory)
	}
	size := Size{States: loss.States(), Bits: loss.Bits(s.options.Folds, s.options.Seed)}
	s.measured[key] = size
	return size
}

// examine holds a set of rules against what was kept.
func (s *Suggester) examine(set *rules.Set) *evidence.Evidence {
	e := evidence.NewExaminer(set, evidence.Options{Tolerance: s.options.Tolerance, Folds: s.options.Folds, Seed: s.options.Seed})
	for i := range s.kept {
		e.Add(s.kept[i].Trajectory)
	}
	return e.Evidence()
}
