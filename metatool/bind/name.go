package bind

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/merge"
)

// Names are as long as aimName where that can be had, and never longer than
// maxName, which all providers take.
const (
	aimName = 40
	maxName = 64
)

// names gives out names of meta-tools, each once.
type names struct{ taken map[string]bool }

// newNames returns names that differ from those of all tools in the traces.
func newNames(m *merge.Merged) *names {
	n := &names{taken: map[string]bool{}}
	for _, t := range m.Catalog.Tools() {
		n.taken[t.Name.Value()] = true
	}
	return n
}

// of returns a name for calls of these tools.
func (n *names) of(tools []string) string { return n.unique(nameOf(tools)) }

// eachMark begins the name of a tool that is called for each element of a list,
// where names are made.
const eachMark = "\x00"

// unique returns the name, made valid, with a number behind it if it is taken.
func (n *names) unique(name string) string {
	name = cutName(validName(name), maxName)
	unique := name
	for i := 2; n.taken[unique]; i++ {
		suffix := fmt.Sprintf("_%d", i)
		unique = cutName(name, maxName-len(suffix)) + suffix
	}
	n.taken[unique] = true
	return unique
}

// nameOf makes a name of tools, the same for the same tools: all of them in
// order if that is short enough; else with the words that all begin and end with
// only once; else the first and the last; else as much of these as has room,
// told apart by a hash.
func nameOf(tools []string) string {
	parts, runs := runsOf(tools)
	if name := joinNames(parts, runs, "_then_"); len(name) <= aimName {
		return name
	}
	short := factor(parts)
	if name := joinNames(short, runs, "_then_"); len(name) <= aimName {
		return name
	}
	last := len(parts) - 1
	if last > 1 {
		ends := []string{short[0], short[last]}
		if name := joinNames(ends, []int{runs[0], runs[last]}, "_to_"); len(name) <= aimName {
			return name
		}
	}
	// Only the names of the tools are hashed: a hash of arguments could be
	// guessed from.
	sum := sha256.Sum256([]byte(strings.Join(tools, "\n")))
	hash := "_" + hex.EncodeToString(sum[:3])
	if last == 0 {
		return cutName(parts[0], aimName-len(hash)) + hash
	}
	room := aimName - len("_to_") - len(hash)
	end := cutName(short[last], max(room/2, room-len(short[0])))
	return cutName(short[0], room-len(end)) + "_to_" + end + hash
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
