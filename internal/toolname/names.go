package toolname

import (
	"slices"
	"strings"
)

// Names are the names of tools that are used together. They tell a server or thing
// that stands in front of verbs (mail_list, mail_send) from a verb that nobody knows
// (expire_list): two different verbs follow it, of which one is nothing but a verb.
// The zero value knows no names.
type Names struct {
	known  map[string]bool
	verbs  map[string][]string // that follow words, by these words
	owners map[string]bool
}

// maxOwner is how many words may stand in front of a verb.
const maxOwner = 3

// Add adds a name, and reports whether more words are known to stand in front of
// verbs: other names may promise something else then.
func (n *Names) Add(name string) (more bool) {
	if n.known[name] {
		return false
	}
	if n.known == nil {
		n.known, n.verbs, n.owners = map[string]bool{}, map[string][]string{}, map[string]bool{}
	}
	n.known[name] = true
	words := Words(local(name))
	for i, word := range words[:min(len(words), maxOwner+1)] {
		if i > 0 && IsVerb(word) {
			more = n.follows(strings.Join(words[:i], " "), word) || more
		}
		if IsVerb(word) || slices.Contains(joining, word) {
			break
		}
	}
	return more
}

// follows notes that a verb stands behind words.
func (n *Names) follows(owner, verb string) (more bool) {
	verbs := n.verbs[owner]
	if n.owners[owner] || slices.Contains(verbs, verb) {
		return false
	}
	verbs = append(verbs, verb)
	n.verbs[owner] = verbs
	if len(verbs) > 1 && (slices.ContainsFunc(verbs, isIn(fetching)) || slices.ContainsFunc(verbs, isIn(writing))) {
		n.owners[owner] = true
	}
	return n.owners[owner]
}

// withoutOwner returns the words behind those that stand in front of verbs.
func (n *Names) withoutOwner(words []string) []string {
	if n == nil {
		return words
	}
	for i := min(len(words)-1, maxOwner); i > 0; i-- {
		if n.owners[strings.Join(words[:i], " ")] && IsVerb(words[i]) {
			return words[i:]
		}
	}
	return words
}
