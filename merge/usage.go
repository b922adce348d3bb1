package merge

import (
	"maps"
	"slices"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Usage counts what the rules of a set do to trajectories: which calls each of
// them matches, and on how many it has the last word. It keeps counts by rule,
// and what a Rewriter keeps: O(rules) and a bounded cache.
type Usage struct {
	set      *rules.Set
	rewriter *Rewriter
	index    map[*rules.Rule]int
	counts   []RuleUsage
	patterns *patternCounts
	calls    int
}

// RuleUsage is what one rule did.
type RuleUsage struct {
	Rule    *rules.Rule
	Matched int // steps, and calls that became none, that its match fits
	Decided int // of those, the ones that it changed or had the last word on

	// OverruledBy is the later rule that most recently had the last word in its
	// place, nil if none had.
	OverruledBy *rules.Rule

	Patterns []PatternUsage
}

// PatternUsage counts the values that one regular expression of a rule was asked
// about.
type PatternUsage struct {
	Field  string // "pattern", or the path in "args"
	Values int    // different ones, at most 1,000 of which are looked at
	Fit    int    // of those, the ones in which it is found; of a rewrite: the ones it takes whole
}

// NewUsage returns a count of nothing.
func NewUsage(set *rules.Set) *Usage {
	u := &Usage{set: set, rewriter: NewRewriter(set, Full(set), nil, nil), index: map[*rules.Rule]int{}}
	u.rewriter.watch()
	for i, rule := range set.Rules {
		u.index[rule] = i
		u.counts = append(u.counts, RuleUsage{Rule: rule})
	}
	u.patterns = newPatternCounts(set)
	return u
}

// Add counts what the rules do to a trajectory.
func (u *Usage) Add(t *trace.Trajectory) {
	steps := u.rewriter.Rewrite(t)
	for i := range steps {
		u.count(steps[i].action.uses.list)
	}
	u.count(u.rewriter.statuses)
	for _, s := range u.rewriter.skips {
		u.count(s.uses.list)
	}
	u.calls += len(steps) + len(u.rewriter.skips)
	if Reads(u.set, t) {
		u.patterns.add(t)
	}
}

func (u *Usage) count(list []application) {
	for i := range list {
		a := &list[i]
		c := &u.counts[u.index[a.rule]]
		c.Matched++
		switch {
		case a.by != nil:
			c.OverruledBy = a.by
		case !a.idle:
			c.Decided++
		}
	}
}

// Steps returns how many steps there were, and calls that became none.
func (u *Usage) Steps() int { return u.calls }

// Tools returns the names that calls were made under, before and after rules
// renamed them, sorted.
func (u *Usage) Tools() []string { return slices.Sorted(maps.Keys(u.rewriter.names)) }

// Rules returns the counts, in the order of the set.
func (u *Usage) Rules() []RuleUsage {
	for i := range u.counts {
		u.counts[i].Patterns = u.patterns.of(u.set.Rules[i])
	}
	return u.counts
}

// maxSeen bounds how many different values a pattern is counted on.
const maxSeen = 1000

// patternCounts counts on which values the patterns of rules fit.
type patternCounts struct {
	set    *rules.Set
	byTool map[trace.Name][]*patternCount
	byRule map[*rules.Rule][]*patternCount
}

type patternCount struct {
	field string
	path  rules.Path
	fits  func(string) bool
	seen  map[hash128.Hash]struct{}
	fit   int
}

func newPatternCounts(set *rules.Set) *patternCounts {
	p := &patternCounts{set: set, byTool: map[trace.Name][]*patternCount{}, byRule: map[*rules.Rule][]*patternCount{}}
	for _, rule := range set.Rules {
		if rule.Kind == rules.KindRewrite {
			pattern := rule.Pattern
			p.byRule[rule] = append(p.byRule[rule], &patternCount{
				field: "pattern", path: rule.Match.Arg, seen: map[hash128.Hash]struct{}{},
				fits: func(text string) bool {
					at := pattern.FindStringIndex(text)
					return at != nil && at[0] == 0 && at[1] == len(text)
				},
			})
		}
		for _, arg := range rule.Match.Args {
			p.byRule[rule] = append(p.byRule[rule], &patternCount{
				field: arg.Path.String(), path: arg.Path, seen: map[hash128.Hash]struct{}{}, fits: arg.Pattern.MatchString,
			})
		}
	}
	return p
}

// of returns the counts of one rule.
func (p *patternCounts) of(rule *rules.Rule) []PatternUsage {
	var out []PatternUsage
	for _, c := range p.byRule[rule] {
		out = append(out, PatternUsage{c.field, len(c.seen), c.fit})
	}
	return out
}

// add looks at the arguments of a trajectory's calls. Names are those recorded:
// a set that renames calls has patterns counted only where the name stays.
func (p *patternCounts) add(t *trace.Trajectory) {
	if len(p.byRule) == 0 {
		return
	}
	for i := range t.Calls {
		call := &t.Calls[i]
		if call.Origin != trace.OriginModel {
			continue
		}
		counts, known := p.byTool[call.Tool]
		if !known {
			for _, rule := range p.set.Rules {
				if rule.Match.MatchesTool(call.Tool.Value()) {
					counts = append(counts, p.byRule[rule]...)
				}
			}
			if len(p.byTool) < maxNames {
				p.byTool[call.Tool] = counts
			}
		}
		if len(counts) == 0 {
			continue
		}
		args, _ := call.ArgsValue()
		for _, c := range counts {
			EachAt(args, c.path, func(v trace.Value) bool {
				c.see(TextOf(v))
				return true
			})
		}
	}
}

func (c *patternCount) see(text string) {
	if len(c.seen) >= maxSeen {
		return
	}
	h := hash128.Of([]byte(text))
	if _, known := c.seen[h]; known {
		return
	}
	c.seen[h] = struct{}{}
	if c.fits(text) {
		c.fit++
	}
}
