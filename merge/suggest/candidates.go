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
	inWrites     bool // a rewrite of what writes are about
}

// nameable reports whether a rule can name the tool by its name: as a glob, it
// must stand for itself alone.
func (f *toolFacts) nameable() bool {
	name := f.name.Value()
	return name != "" && len(name) <= 200 && utf8.ValidString(name) && strings.TrimSpace(name) == name &&
		!strings.ContainsAny(name, "*?[{|") && !strings.ContainsFunc(name, unicode.IsControl)
}

// effectCandidates proposes what a tool does, one rule a tool.
func (s *Suggester) effectCandidates() (found []candidate, left []Left) {
	for _, f := range s.order {
		name := f.name.Value()
		if f.calls == 0 || !f.nameable() {
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
			left = append(left, leftOut(c, fmt.Sprintf("%d of %d observations speak against it", c.against, c.pro+c.against)))
		case c.pro == 0 && c.stem != "read-only":
			left = append(left, leftOut(c, "no observation speaks for it"))
		default:
			found = append(found, c)
		}
	}
	return found, left
}

// rewriteCandidates proposes placeholders for arguments whose values are of one
// type, one rule an argument and type, for reads and for writes apart: what is
// written decides more often what happens next.
func (s *Suggester) rewriteCandidates(isRead func(*toolFacts) bool) []candidate {
	type place struct {
		path   string
		writes bool
	}
	type users struct {
		args  []*argFacts
		tools []*toolFacts
	}
	index := map[place]int{}
	var places []place
	var used []users
	for _, f := range s.order {
		if !f.nameable() {
			continue
		}
		for _, path := range slices.Sorted(maps.Keys(f.args)) {
			key := place{path, !isRead(f)}
			i, known := index[key]
			if !known {
				i = len(places)
				index[key] = i
				places, used = append(places, key), append(used, users{})
			}
			used[i].args, used[i].tools = append(used[i].args, f.args[path]), append(used[i].tools, f)
		}
	}
	var found []candidate
	for i, at := range places {
		for kind := typeUUID; kind <= typeID; kind++ {
			c := candidate{inWrites: at.writes, rule: &rules.Rule{Kind: rules.KindRewrite}}
			all := &argFacts{forms: map[valueType]*form{}}
			for j, a := range used[i].args {
				if n := a.count(kind); n > 0 {
					all.merge(a, kind)
					c.pro += n
					c.tools = append(c.tools, used[i].tools[j])
					c.rule.Match.Tools = append(c.rule.Match.Tools, rules.Glob(used[i].tools[j].name.Value()))
				}
			}
			pattern := all.pattern(kind)
			if pattern == "" {
				continue
			}
			a := used[i].args[0]
			c.rule.Match.Arg, c.rule.Pattern, c.rule.With = a.path, regexp.MustCompile(pattern), placeholder(a.name)
			c.stem = a.name + "-" + strings.TrimSuffix(kind.String(), " addresses")
			if kind == typeID && strings.Contains(strings.ToLower(a.name), "id") {
				c.stem = a.name
			}
			where := "reads"
			if at.writes {
				where = "calls that are no reads"
			}
			c.basis = fmt.Sprintf("its values in %s are %s", where, kind)
			found = append(found, c)
		}
	}
	return found
}

// count returns how many values of a type were seen.
func (a *argFacts) count(kind valueType) int {
	if kind == typeID {
		n := 0
		for _, s := range a.shapes {
			n += s.n
		}
		return n
	}
	if f := a.forms[kind]; f != nil {
		return f.n
	}
	return 0
}

// merge adds the values of a type that another argument had.
func (a *argFacts) merge(o *argFacts, kind valueType) {
	if kind != typeID {
		f := a.forms[kind]
		if f == nil {
			f = &form{}
			a.forms[kind] = f
		}
		f.merge(o.forms[kind])
		return
	}
	for _, s := range o.shapes {
		i := slices.IndexFunc(a.shapes, func(t *shape) bool { return t.separators == s.separators })
		if i < 0 {
			i = len(a.shapes)
			a.shapes = append(a.shapes, &shape{separators: s.separators, parts: slices.Clone(s.parts)})
		}
		t := a.shapes[i]
		t.form.merge(&s.form)
		t.digits += s.digits
		for j, p := range s.parts {
			q := &t.parts[j]
			q.least, q.most = min(q.least, p.least), max(q.most, p.most)
			q.lower, q.upper, q.digit = q.lower || p.lower, q.upper || p.upper, q.digit || p.digit
		}
	}
}

func (f *form) merge(o *form) {
	n := f.n + o.n
	for h := range o.distinct {
		f.add(h)
	}
	f.n = n
}

// pattern is what a rewrite of the type matches, "" if there are too few
// different values.
func (a *argFacts) pattern(kind valueType) string {
	if kind != typeID {
		if f := a.forms[kind]; f == nil || len(f.distinct) < minValues {
			return ""
		}
		return typePatterns[kind].String()
	}
	var patterns []string
	for _, s := range a.shapes {
		if s.isID() {
			patterns = append(patterns, s.pattern())
		}
	}
	slices.Sort(patterns)
	switch len(patterns) {
	case 0:
		return ""
	case 1:
		return "^" + patterns[0] + "$"
	}
	return "^(" + strings.Join(patterns, "|") + ")$"
}

// placeholder is what stands for the values of an argument.
func placeholder(name string) string {
	words := toolname.Words(name)
	if n := len(words); n > 1 && (words[n-1] == "id" || words[n-1] == "ids") {
		words = words[:n-1]
	}
	return "{" + strings.ToUpper(strings.Join(words, "_")) + "}"
}

// loopCandidates proposes that paging is one read.
func (s *Suggester) loopCandidates(isRead func(*toolFacts) bool) []candidate {
	index := map[string]int{}
	var found []candidate
	for _, f := range s.order {
		if !isRead(f) || !f.nameable() {
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
		if name := f.name.Value(); isWrite(f) && f.nameable() && f.repeated >= minRepeats && f.repeatedRuns > 1 && f.repeatedElse == 0 {
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
		if i <= 0 || i == len(name)-1 || !isWrite(f) || !f.nameable() {
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
