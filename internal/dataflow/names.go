package dataflow

import "strings"

// Tools that belong together name things alike: what next_page is to page in one
// of them, it is in the others, and what has one name on both sides is mostly
// one thing. How far that holds in a corpus, its links tell that have evidence of
// their own; where a parameter's values are too few to say anything by
// themselves, it can decide.

const (
	// minNamedRate is the share of a parameter's values that a source must give
	// to be taken by its name.
	minNamedRate = 0.9
	// minNamedHits is in how many trajectories.
	minNamedHits = 3
)

// nameKey is what a link is called, whatever the tools.
type nameKey struct {
	side     Side
	from, to string // names of members; from is empty for messages, both are for all links with names that are alike
	own      bool   // the source is of the parameter's own tool
}

// names counts the links of one nameKey that were judged on their own evidence.
type names struct {
	accepted, refused int
	// presence is log10 of the chance that all other links told when their
	// parameters are used, each in all of its trials.
	presence float64
	tried    int
}

// hold reports whether more of the links are real than are coincidence, without
// one that has the given verdict.
func (n names) hold(without Verdict) bool {
	if without == Chance {
		n.refused--
	}
	return n.accepted > n.refused
}

// named returns what the link is called, and whether it has names.
func (k *Link) named() (key nameKey, ok bool) {
	to := lastMember(k.To.Path)
	switch {
	case k.From.Side.text() && k.Relation == Substring:
		return nameKey{side: k.From.Side, to: to}, to != ""
	case k.Relation != Equal:
		return nameKey{}, false
	}
	key = nameKey{k.From.Side, lastMember(k.From.Path), to, k.From.Tool == k.To.Tool}
	return key, key.from != "" && to != ""
}

// alike reports whether the two ends of the link have names that are alike:
// page and next_page, or, of a text, minutes in "30 minutes", wherever the value
// was found.
func (k *Link) alike(at nameKey) bool {
	if !at.side.text() {
		return endsWithName(at.from, at.to) || endsWithName(at.to, at.from)
	}
	return isWordOf(at.to, lastWord(k.Before)) || isWordOf(at.to, firstWord(k.After))
}

// allAlike is the key of all links of a side whose names are alike.
func allAlike(side Side) nameKey { return nameKey{side: side} }

// lastMember returns the name that a path ends with; the elements of a list go
// by the name of the list. It is "" for a path without names.
func lastMember(path string) string {
	for strings.HasSuffix(path, "[*]") {
		path = strings.TrimSuffix(path, "[*]")
	}
	if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
		return path[dot+1:]
	}
	return ""
}

// endsWithName reports whether the last words of name are those of end: the
// names are equal, or something that is no small letter stands between, as in
// next_page and nextPage.
func endsWithName(name, end string) bool {
	head := len(name) - len(end)
	if head < 0 || !strings.EqualFold(name[head:], end) {
		return false
	}
	return head == 0 || name[head-1] == '_' || name[head-1] == '-' || isUpper(name[head]) && !isUpper(name[head-1])
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// minNameWord is how long a word of a text must be to stand for a longer name.
const minNameWord = 4

// isWordOf reports whether a word of a text is the name, or begins like it:
// folder for folder_name, minute for minutes.
func isWordOf(name, word string) bool {
	return strings.EqualFold(name, word) ||
		len(word) >= minNameWord && len(word) < len(name) && strings.EqualFold(name[:len(word)], word)
}

// firstWord returns the word that a text begins with, after blanks and signs.
func firstWord(text string) string {
	for i := range text {
		if beginsWord(text[i:]) {
			t := appendTokens(nil, text[i:])[0]
			return t.of(text[i:])
		}
	}
	return ""
}

// lastWord returns the word that a text ends with, before blanks and signs.
func lastWord(text string) string {
	if tokens := appendTokens(nil, text); len(tokens) > 0 {
		return tokens[len(tokens)-1].of(text)
	}
	return ""
}

// knownNames counts what links are called: how many with the same names are
// accepted on their own evidence, and how many are refused as coincidence.
func knownNames(s *Set) map[nameKey]names {
	known := map[nameKey]names{}
	count := func(at nameKey, k *Link) {
		n := known[at]
		switch {
		case k.Verdict == Accepted && !k.Pooled:
			n.accepted++
		case k.Verdict == Chance:
			n.refused++
		}
		if k.Verdict != Accepted && k.Rate == 1 {
			n.presence, n.tried = n.presence+k.presence, max(n.tried, k.Tried)
		}
		known[at] = n
	}
	for i := range s.Links {
		k := &s.Links[i]
		if at, ok := k.named(); ok {
			count(at, k)
			if k.alike(at) {
				count(allAlike(at.side), k)
			}
		}
	}
	return known
}

// acceptNamed accepts links that have too little evidence of their own and
// names that speak for them. The source must give nearly all of the parameter's
// values, and
//   - most links with the same names are real, by their own evidence or, for
//     results, because they tell together when the parameter is used; this one gives
//     nearly all uses of the parameter, wherever they are; and, if it is from a
//     message, the parameter is no constant; or
//   - its names are alike, most such links of the corpus are real, and chance
//     explains it, or when the parameters of such links are used, in less than 1 %.
func (l *Links) acceptNamed(s *Set, order []int32) {
	known := knownNames(s)
	for i := range s.Links {
		k := &s.Links[i]
		at, ok := k.named()
		if !ok || k.Verdict == Accepted || k.Hits < minNamedHits || k.Rate < minNamedRate {
			continue
		}
		n, all := known[at], float64(k.Uses) >= minNamedRate*float64(l.slots[l.links[order[i]].key.param].used)
		told := 0.0
		if n.refused == 0 || n.refused == 1 && k.Verdict == Chance {
			told = n.presence
		}
		elsewhere := all && at.side != Input && (n.hold(k.Verdict) || told < log10Limit(n.tried)) &&
			!(at.side.text() && k.Verdict == Constant)
		alike := k.alike(at) && known[allAlike(at.side)].hold(k.Verdict) && (k.Log10P < log10PoolP || all && told < log10PoolP)
		if elsewhere || alike {
			k.Verdict, k.Pooled = Accepted, true
		}
	}
}
