package toolgraph

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/lexical"
	"github.com/awo-dev/awo/toolgraph/catalog"
)

// Words are in the form that lexical.Singular gives.
var (
	// generic words name no entity: what a place of such a name holds is said by
	// what stands around it.
	generic = wordSet("id key name code value url uri title type status result data item slug")
	// identifying words make a name that of a thing, whatever stands before them:
	// order_id is no setting.
	identifying = wordSet("id key code url uri slug")
	// settings are what a caller chooses for a call: that some result holds a limit or
	// an order too says nothing of where the caller's comes from.
	settings = wordSet(`limit offset page per size count max min total position index sort order direction by asc desc field include exclude
		format language locale lang market region timezone verbose pretty timeout query q keyword filter search from to first last since until depth mode`)
	// verbs of tools' names say what is done, not to what.
	verbs = wordSet(`get list search find fetch read show view retrieve lookup query check count describe inspect
		create add insert post put patch delete remove update set modify change edit send cancel book make run execute start stop submit
		generate compute calculate convert validate verify call do use open close head options trace api tool`)
	// credentials are of one group alone: the token of one service opens no other.
	credentials = [][]string{{"token"}, {"access", "token"}, {"session"}, {"session", "token"}, {"session", "id"}, {"password"}, {"api", "key"}, {"refresh", "token"}}
)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[lexical.Singular(word)] = true
	}
	return set
}

func allGeneric(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !generic[w] })
}

// isSetting reports whether words are those of a setting.
func isSetting(words []string) bool {
	some := false
	for _, w := range words {
		some = some || settings[w]
		if !settings[w] && !generic[w] || identifying[w] {
			return false
		}
	}
	return some
}

func isCredential(words []string) bool {
	return slices.ContainsFunc(credentials, func(c []string) bool { return slices.Equal(c, words) })
}

// signature returns the words by which a place is compared with others: those of
// its name, and, where these are all generic, before them those of the nearest
// name on the way to it that is not, else those of the tool. Of the argument that
// stands in a path (`/albums/{id}`) it is the segment before.
func signature(t *catalog.Tool, p *catalog.Place, out bool) []string {
	words := lexical.Words(p.Name())
	if !allGeneric(words) {
		return words
	}
	for i := len(p.Names) - 2; i >= 0; i-- {
		if parent := lexical.Words(p.Names[i]); !allGeneric(parent) {
			return append(entity(parent), words...)
		}
	}
	// The root of what /movie/{movie_id}/keywords returns is about the movie.
	braced := p.Name()
	if out {
		braced = lastBraced(t.Name)
	}
	if segment := segmentBefore(t.Name, braced); braced != "" && len(segment) > 0 {
		return append(segment, words...)
	}
	return append(nameNouns(t.Name), words...)
}

// entity returns the words that are not generic.
func entity(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return generic[w] })
}

// segmentBefore returns the words of the segment before {name} in a path.
func segmentBefore(path, name string) []string {
	before, _, ok := strings.Cut(path, "/{"+name+"}")
	if !ok {
		return nil
	}
	return lexical.Words(before[strings.LastIndexByte(before, '/')+1:])
}

// lastBraced returns the name in the last braces of a path, "" if there are none.
func lastBraced(path string) string {
	from := strings.LastIndex(path, "/{")
	if from < 0 {
		return ""
	}
	name, _, _ := strings.Cut(path[from+2:], "}")
	return name
}

// nameNouns returns the words of a tool's name without its group, verbs, and what
// stands in braces; all of its words if nothing is left.
func nameNouns(name string) []string {
	bare := withoutBraces(name)
	for _, separator := range []string{".", "__", ":"} {
		if at := strings.LastIndex(bare, separator); at >= 0 && at+len(separator) < len(bare) {
			bare = bare[at+len(separator):]
		}
	}
	words := lexical.Words(bare)
	nouns := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return verbs[w] || w == "by" || w == "to" || w == "for" || w == "of" || w == "and" || w == "from" || w == "in"
	})
	if len(nouns) == 0 {
		return words
	}
	return nouns
}

// withoutBraces returns a name without {...}.
func withoutBraces(name string) string {
	var b strings.Builder
	depth := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '{':
			depth++
		case c == '}':
			depth = max(0, depth-1)
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}
