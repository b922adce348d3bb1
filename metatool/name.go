package metatool

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
// order if that is short enough, else the first and the last, else as much of
// them as has room, told apart by a hash.
func nameOf(tools []string) string {
	var parts []string
	for i := 0; i < len(tools); {
		run := 1
		for i+run < len(tools) && tools[i+run] == tools[i] {
			run++
		}
		part := validName(tools[i])
		if run > 1 {
			part = fmt.Sprintf("%s_x%d", part, run)
		}
		parts = append(parts, part)
		i += run
	}
	if all := strings.Join(parts, "_then_"); len(all) <= aimName {
		return all
	}
	first, last := parts[0], parts[len(parts)-1]
	if ends := first + "_to_" + last; len(ends) <= aimName && len(parts) > 2 {
		return ends
	}
	// Only the names of the tools are hashed: a hash of arguments could be
	// guessed from.
	sum := sha256.Sum256([]byte(strings.Join(tools, "\n")))
	hash := "_" + hex.EncodeToString(sum[:3])
	if len(parts) == 1 {
		return cutName(first, aimName-len(hash)) + hash
	}
	room := aimName - len("_to_") - len(hash)
	last = cutName(last, max(room/2, room-len(first)))
	first = cutName(first, room-len(last))
	return first + "_to_" + last + hash
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

// describeSteps says what a meta-tool of these steps does, when to use it, and
// what it replaces. It says nothing that changes with the next trace.
func describeSteps(m *merge.Merged, steps []Step) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Makes these %d calls in one go, in this order, and returns the result of each:", len(steps))
	for i := 0; i < len(steps); {
		run := 1
		for i+run < len(steps) && steps[i+run].Tool == steps[i].Tool {
			run++
		}
		fmt.Fprintf(&b, "\n%d", i+1)
		if run > 1 {
			fmt.Fprintf(&b, "-%d", i+run)
		}
		fmt.Fprintf(&b, ". %s", printable(steps[i].Tool, maxName))
		tool, _ := m.Labels.Tool(steps[i].Label)
		if t := m.Catalog.Tool(tool); t != nil && t.Definition.Description != "" {
			fmt.Fprintf(&b, ": %s", firstSentence(t.Definition.Description))
		}
		i += run
	}
	var tools []string
	for _, s := range steps {
		if name := printable(s.Tool, maxName); !slices.Contains(tools, name) {
			tools = append(tools, name)
		}
	}
	b.WriteString("\nUse it when you would make these calls one after the other and already know what to pass to each. ")
	fmt.Fprintf(&b, "It replaces separate calls of %s.", strings.Join(tools, ", "))
	return b.String()
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
