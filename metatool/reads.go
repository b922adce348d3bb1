package metatool

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Assumption is a tool that is taken to read only, although no rule says so.
//
// It widens what a binding may do, since a read that agents would not have made
// is harmless: a walk over a list need not be one that every run took to its end,
// and a link needs less evidence. States, labels and Algorithm 1 know nothing of
// it.
type Assumption struct {
	Tool string `json:"tool"`
	// Why is "annotation" (the definition says readOnlyHint) or "name" (its first
	// word is a verb of reading).
	Why string `json:"why"`
	// Checks counts the calls that were made before with the same arguments, and
	// nothing but such tools between; in Changed of them the result was another.
	Checks  int `json:"checks"`
	Changed int `json:"changed"`
}

// maxChanged is the share of checks above which a tool is not taken to read
// only: what it returns depends on something, and that may be the call before.
const maxChanged = 0.05

// readVerbs are what names of tools that only read begin with, writeWords what
// none of them holds.
var (
	readVerbs = []string{
		"count", "describe", "fetch", "find", "get", "inspect", "list", "lookup", "read", "retrieve", "search", "show", "view",
	}
	writeWords = []string{
		"add", "and", "book", "buy", "cancel", "change", "create", "delete", "drop", "execute", "insert", "log", "modify", "or", "pay", "post", "put",
		"remove", "reset", "run", "save", "send", "set", "start", "stop", "submit", "transfer", "update", "write",
	}
)

// readsByName reports whether the name of a tool says that it only reads: its
// first word, behind a namespace if it has one, is a verb of reading, and no other
// word is one of doing.
func readsByName(name string) bool {
	for _, separator := range []string{".", "/", ":", "__"} {
		if at := strings.LastIndex(name, separator); at >= 0 {
			name = name[at+len(separator):]
		}
	}
	words := nameWords(name)
	return len(words) > 0 && slices.Contains(readVerbs, words[0]) &&
		!slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(writeWords, w) })
}

// nameWords returns the words of get_user, get-user or getUser in lower case.
func nameWords(name string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			lower = false
			continue
		}
		if unicode.IsUpper(r) && lower {
			end()
		}
		lower = unicode.IsLower(r)
		word.WriteRune(r)
	}
	end()
	return words
}

// readEvidence holds against the traces that tools read only. The zero value has
// seen nothing.
type readEvidence struct {
	checks, changed map[trace.Name]int
}

// repeated is how often results of tools were seen again.
type repeated struct{ checks, changed map[trace.Name]int }

// repeatedCalls compares what calls returned that were made before with the same
// arguments, and only reads by name between. It is pure.
func repeatedCalls(t *trace.Trajectory) repeated {
	out := repeated{}
	named := map[trace.Name]bool{}
	results := map[string]uint64{}
	var key []byte
	for i := range t.Calls {
		c := &t.Calls[i]
		reads, known := named[c.Tool]
		if !known {
			reads = readsByName(c.Tool.Value())
			named[c.Tool] = reads
		}
		if !reads {
			clear(results)
			continue
		}
		if !c.HasResult || c.Status == trace.StatusFailed {
			continue
		}
		result, ok := c.ResultValue()
		if !ok {
			result = trace.Value{Kind: trace.String, Text: c.Result.Text()}
		}
		hash := dataflow.HashValue(result)
		key = c.AppendCanonicalArgs(append(append(key[:0], c.Tool.Value()...), 0))
		if before, again := results[string(key)]; again {
			if out.checks == nil {
				out.checks, out.changed = map[trace.Name]int{}, map[trace.Name]int{}
			}
			out.checks[c.Tool]++
			out.changed[c.Tool] += one(before != hash)
		}
		results[string(key)] = hash
	}
	return out
}

func (e *readEvidence) add(r repeated) {
	if e.checks == nil {
		e.checks, e.changed = map[trace.Name]int{}, map[trace.Name]int{}
	}
	for tool, n := range r.checks {
		e.checks[tool] += n
		e.changed[tool] += r.changed[tool]
	}
}

// assumptions returns the tools that may be taken to read only, in order of
// names: those that no effect rule is about, whose definition or name says so, and
// of which the traces do not show the contrary.
func (e *readEvidence) assumptions(m *merge.Merged) []Assumption {
	var list []Assumption
	for _, t := range m.Catalog.Tools() {
		name := t.Name.Value()
		if !t.Called || hasEffectRule(m.Set, name) {
			continue
		}
		a := Assumption{Tool: name, Checks: e.checks[t.Name], Changed: e.changed[t.Name]}
		switch reads, said := hint(t.Definition.Annotations, "readOnlyHint"); {
		case said && reads:
			a.Why = "annotation"
		case !said && readsByName(name):
			a.Why = "name"
		default:
			continue
		}
		if float64(a.Changed) > maxChanged*float64(a.Checks) {
			continue
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Assumption) int { return cmp.Compare(a.Tool, b.Tool) })
	return list
}

// hasEffectRule reports whether a rule says what calls of a tool do.
func hasEffectRule(set *rules.Set, tool string) bool {
	if set == nil {
		return false
	}
	return slices.ContainsFunc(set.Rules, func(r *rules.Rule) bool {
		return r.Kind == rules.KindEffect && slices.ContainsFunc(r.Match.Tools, func(g rules.Glob) bool { return g.Match(tool) })
	})
}
