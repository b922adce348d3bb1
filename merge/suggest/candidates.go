package suggest

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// minUnchanged is how many reads before and after a call must have returned the
// same for a tool that neither its name nor its definition calls a read.
const minUnchanged = 20

// candidate is a rule that the traces give a reason for.
type candidate struct {
	rule         *rules.Rule
	stem         string // of the rule's id
	basis        string
	tools        []*toolFacts
	pro, against int
	of           int  // of all there were: values at the place of a rewrite, results of a status rule
	inWrites     bool // a rewrite of what writes are about

	names   map[trace.Name]trace.Name // of a rename: the recorded name by the new one
	address string                    // of a rename by urls: their argument
	gets    bool                      // of a rename by urls: it is of GET or HEAD
}

// nameable reports whether a rule can name the tool by its name: as a glob, it
// must stand for itself alone.
func (f *toolFacts) nameable() bool {
	name := f.name.Value()
	return name != "" && len(name) <= 200 && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsAny(name, "*?[{|") && !strings.ContainsFunc(name, unicode.IsControl)
}

// effectCandidates proposes what a tool does, one rule a tool.
func (s *Suggester) effectCandidates() (found []candidate, left []Rejected) {
	for _, f := range s.order {
		name := f.name.Value()
		if f.calls == 0 || !f.nameable() || s.base.HasEffect(name) {
			continue
		}
		c := candidate{tools: []*toolFacts{f}, pro: f.same + f.unchanged, against: f.differs + f.changed}
		effect := rules.Accessor
		switch {
		case f.declared == toolname.Writes:
			continue
		case toolname.Notes(name) && len(f.results) <= 1:
			c.stem, c.basis, effect = "notes", "its name notes, and it always returns the same", rules.Annotator
			c.pro, c.against = f.unchanged, f.changed
		case f.program:
			c.stem, c.basis = "programs", "a command line that runs a program which only reads"
		case f.gets:
			c.stem, c.basis = "gets", "requests by GET, which only read (RFC 9110, section 9.2.1)"
		case f.declared == toolname.Reads:
			c.stem, c.basis = "read-only", "its definition says readOnlyHint"
		case f.effect == toolname.Reads:
			c.stem, c.basis = "reads", "its name reads"
		case f.effect == toolname.Unknown && f.unchanged >= minUnchanged:
			c.stem, c.basis = "unchanged", "reads before and after it return the same"
			c.pro, c.against = f.unchanged, f.changed
			if len(f.results) <= 1 {
				effect = rules.Annotator
			}
		default:
			continue
		}
		c.rule = &rules.Rule{Kind: rules.KindEffect, Match: rules.Match{Tools: []rules.Glob{rules.Glob(name)}}, Effect: effect}
		switch {
		case float64(c.against) > s.options.Tolerance*float64(c.pro+c.against):
			left = append(left, rejected(c, fmt.Sprintf("%d of %d observations contradict it", c.against, c.pro+c.against)))
		case c.pro == 0 && c.stem != "read-only" && !f.program && !f.gets && !s.options.Effects:
			left = append(left, rejected(c, "no observation supports it"))
		default:
			found = append(found, c)
		}
	}
	return found, left
}

// minCovered is the share of the values at a place that the patterns proposed for
// it have to match.
const minCovered = 0.8

// rewriteCandidates proposes placeholders for arguments whose values are of one
// type, one rule for each argument and pattern, for reads and for writes apart: what
// is written decides more often what happens next. Tools share a rule if the same
// pattern describes the values of each of them.
func (s *Suggester) rewriteCandidates(isRead func(*toolFacts) bool) (found []candidate, left []Rejected) {
	type place struct {
		path, pattern string
		writes        bool
	}
	index := map[place]int{}
	for _, f := range s.order {
		if !f.nameable() {
			continue
		}
		for _, path := range slices.Sorted(maps.Keys(f.args)) {
			a := f.args[path]
			if s.hasRule(f, a.path, rules.KindRewrite, rules.KindDropArg) {
				continue
			}
			proposed := a.patterns()
			if f.address == path {
				proposed = []valuePattern{{typeURL, `^(?:https?:/)?/\S*$`, a.seen}}
			}
			covered := 0
			for _, p := range proposed {
				covered += p.matched
			}
			for _, p := range proposed {
				key := place{path, p.text, !isRead(f)}
				where := "reads"
				if key.writes {
					where = "calls that are no reads"
				}
				c := candidate{
					inWrites: key.writes, basis: fmt.Sprintf("its values in %s are %s", where, p.kind), stem: a.stem(p.kind), pro: p.matched, of: a.seen, tools: []*toolFacts{f},
					rule: &rules.Rule{
						Kind: rules.KindRewrite, Match: rules.Match{Tools: []rules.Glob{rules.Glob(f.name.Value())}, Arg: a.path},
						Pattern: regexp.MustCompile(p.text), With: placeholder(a.name),
					},
				}
				if float64(covered) < minCovered*float64(a.seen) {
					left = append(left, rejected(c, fmt.Sprintf("its pattern matches %d of %d values", p.matched, a.seen)))
					continue
				}
				i, known := index[key]
				if !known {
					index[key] = len(found)
					found = append(found, c)
					continue
				}
				one := &found[i]
				one.pro, one.of, one.tools = one.pro+c.pro, one.of+c.of, append(one.tools, f)
				one.rule.Match.Tools = append(one.rule.Match.Tools, c.rule.Match.Tools...)
			}
		}
	}
	s.joinFew(found, isRead)
	return found, left
}

// joinFew adds tools with too few different values for a pattern of their own to the
// rules about the same argument of other tools, if the pattern matches what they
// have.
func (s *Suggester) joinFew(found []candidate, isRead func(*toolFacts) bool) {
	for _, f := range s.order {
		for i := range found {
			c := &found[i]
			a := f.args[c.rule.Match.Arg.String()]
			if a == nil || c.tools[0].address == a.path.String() || !f.nameable() || c.inWrites == isRead(f) || slices.Contains(c.tools, f) || len(a.patterns()) > 0 || s.hasRule(f, a.path, rules.KindRewrite, rules.KindDropArg) {
				continue
			}
			matched, of := 0, 0
			for text, n := range a.samples {
				of += n
				if c.rule.Pattern.MatchString(text) {
					matched += n
				}
			}
			if matched == 0 || float64(matched) < minCovered*float64(of) {
				continue
			}
			c.pro, c.of, c.tools = c.pro+matched, c.of+of, append(c.tools, f)
			c.rule.Match.Tools = append(c.rule.Match.Tools, rules.Glob(f.name.Value()))
		}
	}
}

// hasRule reports whether the rules to go on from speak of an argument of a tool.
func (s *Suggester) hasRule(f *toolFacts, path rules.Path, kinds ...rules.Kind) bool {
	return slices.ContainsFunc(s.base.Rules, func(r *rules.Rule) bool {
		return slices.Contains(kinds, r.Kind) && r.Match.MatchesTool(f.name.Value()) && r.Match.Arg.String() == path.String()
	})
}

// stem is what the id of a rewrite of values of a type begins with.
func (a *argFacts) stem(kind valueType) string {
	if kind == typeID && strings.Contains(strings.ToLower(a.name), "id") {
		return a.name
	}
	return a.name + "-" + strings.TrimSuffix(kind.String(), " addresses")
}

// valuePattern describes values of an argument.
type valuePattern struct {
	kind    valueType
	text    string
	matched int // values
}

// patterns returns what rewrites of the argument's values match, for each type and
// for each kind of ids a pattern of its own. Kinds of ids that differ in length and
// characters and nothing else would need one pattern for both, so they have none.
func (a *argFacts) patterns() []valuePattern {
	var found []valuePattern
	for kind := typeUUID; kind < typeID; kind++ {
		if f := a.forms[kind]; f != nil && len(f.distinct) >= minValues {
			found = append(found, valuePattern{kind, typePatterns[kind].String(), f.n})
		}
	}
	for _, s := range a.shapes {
		if s.isID() && !s.isMixed() {
			found = append(found, valuePattern{typeID, "^" + s.pattern() + "$", s.n})
		}
	}
	return found
}

// placeholder is what stands for the values of an argument.
func placeholder(name string) string {
	words := toolname.Words(name)
	if n := len(words); n > 1 && (words[n-1] == "id" || words[n-1] == "ids") {
		words = words[:n-1]
	}
	return "{" + strings.ToUpper(strings.Join(words, "_")) + "}"
}

// speaksOf reports whether the rules to go on from have one of a kind about a tool.
func (s *Suggester) speaksOf(f *toolFacts, kind rules.Kind) bool {
	return slices.ContainsFunc(s.base.Rules, func(r *rules.Rule) bool { return r.Kind == kind && r.Match.MatchesTool(f.name.Value()) })
}

// loopCandidates proposes that paging is one read.
func (s *Suggester) loopCandidates(isRead func(*toolFacts) bool) []candidate {
	index := map[string]int{}
	var found []candidate
	for _, f := range s.order {
		if !isRead(f) || !f.nameable() || s.speaksOf(f, rules.KindLoop) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(f.pages)) {
			i, known := index[name]
			if !known {
				i = len(found)
				index[name] = i
				path := rules.Path{{Kind: rules.SegmentName, Name: name}}
				found = append(found, candidate{
					stem: "paging-by-" + name, basis: "consecutive reads that differ in it alone",
					rule: &rules.Rule{Kind: rules.KindLoop, IgnoreArgs: []rules.Path{path}},
				})
			}
			c := &found[i]
			c.tools, c.pro = append(c.tools, f), c.pro+f.pages[name]
			c.rule.Match.Tools = append(c.rule.Match.Tools, rules.Glob(f.name.Value()))
		}
	}
	return found
}

// minRepeats is how often a write must have been repeated, with the same result,
// before a repetition is taken to change nothing.
const minRepeats = 5

// repeatCandidates proposes that a write that is made again right after itself,
// and returns the same, changes nothing more.
func (s *Suggester) repeatCandidates(isWrite func(*toolFacts) bool) []candidate {
	var found []candidate
	for _, f := range s.order {
		if name := f.name.Value(); isWrite(f) && f.nameable() && !s.speaksOf(f, rules.KindLoop) && f.repeated >= minRepeats && f.repeatedRuns > 1 && f.repeatedElse == 0 {
			found = append(found, candidate{
				stem: "repeated-" + name, basis: "made again right after itself it returns the same", tools: []*toolFacts{f}, pro: f.repeated,
				rule: &rules.Rule{Kind: rules.KindLoop, Match: rules.Match{Tools: []rules.Glob{rules.Glob(name)}}},
			})
		}
	}
	return found
}

// domainCandidates proposes that tools with one prefix are about one part of the
// world, if writes have at least two such prefixes.
func (s *Suggester) domainCandidates(isWrite func(*toolFacts) bool) []candidate {
	index := map[string]int{}
	var found []candidate
	for _, f := range s.order {
		name := f.name.Value()
		i := strings.IndexAny(name, "_.-/:")
		if i <= 0 || i == len(name)-1 || !isWrite(f) || !f.nameable() || s.speaksOf(f, rules.KindDomain) {
			continue
		}
		prefix := name[:i]
		if slices.ContainsFunc(toolname.Words(prefix), toolname.IsVerb) {
			continue
		}
		glob := name[:i+1] + "*"
		n, known := index[glob]
		if !known {
			n = len(found)
			index[glob] = n
			found = append(found, candidate{
				stem: prefix, basis: "the names of its writes begin alike",
				rule: &rules.Rule{Kind: rules.KindDomain, Match: rules.Match{Tools: []rules.Glob{rules.Glob(glob)}}, Domain: prefix},
			})
		}
		found[n].tools = append(found[n].tools, f)
		found[n].pro += f.calls
	}
	if len(found) < 2 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.pro, a.pro) })
	return found
}
