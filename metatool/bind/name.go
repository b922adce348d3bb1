package bind

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
)

// Names that are made are at most aimName long, names that rules give at most maxName, which
// all providers take.
const (
	aimName = 40
	maxName = 64
)

// name gives definitions their names: what rules call them, else words of their tools. Of
// several with one name that with the highest support keeps it, offered ones before refused
// ones; the others get a hash of their calls, as do those that are called like a tool. So
// names do not depend on the order of definitions, and seldom change with more traces.
func name(list []*Definition, m *merge.Merged) {
	given := map[string]bool{}
	for _, t := range m.Catalog.Tools() {
		given[t.Name.Value()] = true
	}
	hashes := map[*Definition]string{}
	for _, d := range list {
		hashes[d] = d.hash()
	}
	for _, d := range slices.SortedStableFunc(slices.Values(list), func(a, b *Definition) int {
		if (a.Refusals == nil) != (b.Refusals == nil) {
			if a.Refusals == nil {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.support(), a.support()), strings.Compare(hashes[a], hashes[b]))
	}) {
		base := d.baseName(m)
		if d.Name = base; given[d.Name] {
			d.Name = cutName(base, aimName-1-len(hashes[d])) + "_" + hashes[d]
		}
		for i := 2; given[d.Name]; i++ {
			d.Name = fmt.Sprintf("%s_%d", cutName(base, aimName-6), i)
		}
		given[d.Name] = true
	}
}

// support returns in how many trajectories the candidate occurs.
func (d *Definition) support() int {
	if d.Candidate == nil {
		return 0
	}
	return d.Candidate.Support
}

// baseName returns the name that a definition has by itself.
func (d *Definition) baseName(m *merge.Merged) string {
	if given := d.given(m); given != nil {
		return cutName(validName(given.Name), maxName)
	}
	var tools []string
	for _, s := range d.Steps {
		mark := ""
		if s.Each != nil {
			mark = eachMark
		}
		tools = append(tools, mark+s.Name)
	}
	return nameOf(tools)
}

// given returns what rules call a meta-tool of these calls, nil if they do not.
func (d *Definition) given(m *merge.Merged) *rules.MetaToolName {
	var tools []string
	for _, s := range d.Steps {
		tools = append(tools, s.Name)
	}
	return m.Set.MetaTool(tools)
}

// hash tells definitions of the same name apart: by their calls, and where the arguments
// come from. What it is made of is in the description as well.
func (d *Definition) hash() string {
	h := sha256.New()
	for i := range d.Steps {
		s := &d.Steps[i]
		fmt.Fprintf(h, "%q %t %q\n", s.Name, s.Each != nil, d.argumentWords(s))
	}
	return hex.EncodeToString(h.Sum(nil)[:3])
}

// eachMark begins the name of a tool that is called for each element of a list, where names
// are made.
const eachMark = "\x00"

// nameOf makes a name of tools, the same for the same tools, of at most aimName: the words
// of all of them in order; without the words that all begin and end with but once; without
// what follows "by", "with" and their like; of the first and the last; of as many of their
// words as fit.
func nameOf(tools []string) string {
	parts, runs := runsOf(tools)
	short := factor(parts)
	for _, list := range [][]string{parts, short, bare(short)} {
		if name := joinNames(list, runs, "_then_"); len(name) <= aimName {
			return name
		}
	}
	between, last := "_then_", len(parts)-1
	if last > 1 {
		between = "_to_"
	}
	ends, times := short[:1], runs[:1]
	if last > 0 {
		ends, times = []string{short[0], short[last]}, []int{runs[0], runs[last]}
	}
	if name := joinNames(ends, times, between); len(name) <= aimName {
		return name
	}
	ends = bare(ends)
	for {
		name := joinNames(ends, times, between)
		if len(name) <= aimName {
			return name
		}
		longest := 0
		if last > 0 && len(ends[1]) > len(ends[0]) {
			longest = 1
		}
		ends[longest] = shorter(ends[longest])
	}
}

// shorter returns a name without its last word, or one long word without its last letter.
func shorter(name string) string {
	if cut := strings.TrimRight(name[:max(strings.LastIndexAny(name, "_-"), 0)], "_-"); cut != "" {
		return cut
	}
	return name[:len(name)-1]
}

// qualifiers begin what a name says of how something is found.
var qualifiers = []string{"by", "with", "from", "for", "in", "on", "of", "using"}

// bare returns names without what follows a qualifier.
func bare(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		words := strings.Split(name, "_")
		if at := slices.IndexFunc(words[1:], func(w string) bool { return slices.Contains(qualifiers, w) }); at >= 0 {
			words = words[:at+1]
		}
		out[i] = strings.Join(words, "_")
	}
	return out
}

// runsOf returns the tools as valid names, repetitions taken together, and how
// many there are of each, 0 for a fan-out.
func runsOf(tools []string) (parts []string, runs []int) {
	for i, tool := range tools {
		if name, each := strings.CutPrefix(tool, eachMark); each {
			parts, runs = append(parts, validName(name)), append(runs, 0)
			continue
		}
		if i > 0 && tools[i-1] == tool {
			runs[len(runs)-1]++
			continue
		}
		parts, runs = append(parts, validName(tool)), append(runs, 1)
	}
	return parts, runs
}

func joinNames(parts []string, runs []int, between string) string {
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteString(part)
		switch {
		case runs[i] == 0:
			b.WriteString("_each")
		case runs[i] > 1:
			fmt.Fprintf(&b, "_x%d", runs[i])
		}
	}
	return b.String()
}

// factor takes the words that all names begin with from all but the first, and
// the words that all end with from all but the last: get_user_details and
// get_order_details become get_user and order_details.
func factor(parts []string) []string {
	if len(parts) < 2 {
		return parts
	}
	words := make([][]string, len(parts))
	least := len(parts[0])
	for i, part := range parts {
		words[i] = strings.Split(part, "_")
		least = min(least, len(words[i])-1) // every name keeps a word of its own
	}
	all := func(same func(w []string) bool) bool {
		return !slices.ContainsFunc(words, func(w []string) bool { return !same(w) })
	}
	head, tail := 0, 0
	for head < least && all(func(w []string) bool { return w[head] == words[0][head] }) {
		head++
	}
	for head+tail < least && all(func(w []string) bool { return w[len(w)-1-tail] == words[0][len(words[0])-1-tail] }) {
		tail++
	}
	short := make([]string, len(parts))
	for i, w := range words {
		if i > 0 {
			w = w[head:]
		}
		if i < len(parts)-1 {
			w = w[:len(w)-tail]
		}
		short[i] = strings.Join(w, "_")
	}
	return short
}

// cutName shortens a name, between two words if that loses not too much.
func cutName(name string, length int) string {
	if len(name) <= length {
		return name
	}
	name = name[:length]
	if at := strings.LastIndexAny(name, "_-"); at > length/2 {
		name = name[:at]
	}
	return strings.TrimRight(name, "_-")
}

// validName makes of a text a name that fits ^[A-Za-z_][A-Za-z0-9_-]*$.
func validName(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' || r == '-':
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	name := strings.Trim(b.String(), "_-")
	switch {
	case name == "":
		return "tool"
	case name[0] >= '0' && name[0] <= '9':
		return "_" + name
	}
	return name
}

// firstSentence returns the first sentence of a description, at most 160
// characters of it.
func firstSentence(text string) string {
	text = strings.TrimSpace(text)
	for i, r := range text {
		end := r == '\n' || (r == '.' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n'))
		if end {
			text = text[:i]
			break
		}
	}
	return printable(strings.TrimSpace(text), 160) + "."
}

// printable returns at most so many characters of a text, on one line.
func printable(text string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range text {
		if n == limit {
			b.WriteString("…")
			break
		}
		if !unicode.IsPrint(r) {
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
