// Package toolname reads the names of tools: the words of a name, and whether they
// say that the tool only reads. It is the only place that answers this.
//
// In come names as traces record them: snake_case, camelCase, PascalCase, kebab-case,
// with namespaces in front (`mcp__server__name`, `server.name`, `server/name`), or an
// HTTP method and a path. Out comes one of three answers: the name says that the tool
// reads, it says that the tool writes, or it says neither. It keeps nothing in memory.
//
// A name is weaker evidence than anything else: [Decide] asks rules first, then the
// annotations of the tool's definition, and the name last. It does not look at calls:
// whether results agree with a name is for those to say who read the traces.
package toolname

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/awo-dev/awo/trace"
)

// Effect says what is known about what the calls of a tool do.
type Effect uint8

// The effects. The zero value is Unknown.
const (
	Unknown Effect = iota
	Reads          // changes nothing
	Writes
)

func (e Effect) String() string { return [...]string{"unknown", "reads", "writes"}[e] }

// Basis says what an effect rests on.
type Basis uint8

// The bases, the strongest first.
const (
	NoBasis Basis = iota
	Rule
	Annotation
	Name
)

func (b Basis) String() string { return [...]string{"", "rule", "annotation", "name"}[b] }

// Decide says what a tool does: what a rule says of it, else what the annotations of
// its definition say, else what its name says. An empty name says nothing, so names
// are left out of it where a guess is not good enough.
func Decide(rule, annotation Effect, name string) (Effect, Basis) {
	return (*Names)(nil).Decide(rule, annotation, name)
}

// Decide is [Decide] for a name among others.
func (n *Names) Decide(rule, annotation Effect, name string) (Effect, Basis) {
	if rule != Unknown {
		return rule, Rule
	}
	if annotation != Unknown {
		return annotation, Annotation
	}
	if e := n.Of(name); e != Unknown {
		return e, Name
	}
	return Unknown, NoBasis
}

// Annotated returns what the annotations of a tool's definition say: Unknown unless
// they have a boolean readOnlyHint (Model Context Protocol, ToolAnnotations).
func Annotated(annotations trace.Value) Effect {
	hint, ok := annotations.Lookup("readOnlyHint")
	switch {
	case !ok || annotations.Kind != trace.Object || hint.Kind != trace.Bool:
		return Unknown
	case hint.Bool:
		return Reads
	}
	return Writes
}

// Of says what a name promises.
//
//   - A writing word anywhere makes it Writes, whatever else the name says
//     (find_and_delete_user). Of words that are nouns as well (order, comment) this
//     holds where a verb is expected: at the beginning, and after "and".
//   - A reading verb at the beginning makes it Reads: behind the namespace if there is
//     one, and behind other words for verbs that are no nouns (crm_get_lead). What
//     other words stand in front takes other names to know: see [Names].
//   - Anything else is Unknown: a verb that is not known, a language that is not
//     English, and words that leave open what they do (get_or_book, run_search, query_sql).
func Of(name string) Effect { return (*Names)(nil).Of(name) }

// answers are what single names were found to promise: those of a few tools are asked for in
// every trajectory.
var answers struct {
	sync.RWMutex
	of map[string]Effect
}

// answersKept is of how many names the answer is kept.
const answersKept = 4096

// Of says what a name promises, if the words that are known to stand in front of
// verbs are left out.
func (n *Names) Of(name string) Effect {
	if n != nil {
		return n.read(name)
	}
	answers.RLock()
	e, is := answers.of[name]
	answers.RUnlock()
	if is {
		return e
	}
	e = n.read(name)
	answers.Lock()
	defer answers.Unlock()
	if answers.of == nil || len(answers.of) >= answersKept {
		answers.of = map[string]Effect{}
	}
	answers.of[strings.Clone(name)] = e
	return e
}

// read is Of without what was found before.
func (n *Names) read(name string) Effect {
	if e, is := ofHTTP(name); is {
		return e
	}
	if strings.HasSuffix(name, ")") && strings.Contains(name, "(") {
		return Unknown // what a shell ran, such as Bash(find): the name does not say with which options
	}
	if slices.ContainsFunc(Words(withoutServer(name)), isIn(writing)) {
		return Writes
	}
	words := n.withoutOwner(Words(local(name)))
	if len(words) == 0 || strings.ContainsFunc(name, isForeign) {
		return Unknown
	}
	// Each part between "and", "or" and "then" promises something by itself.
	answer := Reads
	for more := true; more; {
		part := words
		at := slices.IndexFunc(words, isIn(joining))
		if more = at >= 0; more {
			part, words = words[:at], words[at+1:]
		}
		switch ofPart(part) {
		case Writes:
			return Writes
		case Unknown:
			answer = Unknown
		}
	}
	return answer
}

// ofPart says what words with one verb promise, of which none only means to write.
func ofPart(words []string) Effect {
	if len(words) == 0 {
		return Unknown
	}
	first := words[0]
	fetches := slices.ContainsFunc(words, isIn(fetching))
	switch {
	case slices.Contains(nounOrWriting, first):
		if fetches || slices.Contains(looking, words[len(words)-1]) {
			return Unknown // order_search
		}
		return Writes
	case slices.ContainsFunc(words, isIn(doubtful)):
		return Unknown
	case slices.Contains(looking, first) && (len(words) == 1 || !slices.Contains(turning, words[1])), fetches:
		return Reads
	}
	return Unknown
}

// ofHTTP reads names that are an HTTP method and a path.
func ofHTTP(name string) (e Effect, is bool) {
	method, path, found := strings.Cut(name, " ")
	if !found || !strings.HasPrefix(strings.TrimLeft(path, " "), "/") {
		return Unknown, false
	}
	switch method {
	case "GET", "HEAD", "OPTIONS":
		words := Words(path)
		switch {
		case slices.ContainsFunc(words, isIn(writing)):
			return Writes, true
		case slices.ContainsFunc(words, isIn(doubtful)) || strings.ContainsFunc(path, isForeign):
			return Unknown, true
		}
		return Reads, true
	case "POST", "PUT", "PATCH", "DELETE":
		return Writes, true
	}
	return Unknown, true
}

// Notes reports whether the first verb of a name says that the tool is for notes of
// the model to itself: such a tool changes nothing but what the model reads again.
func Notes(name string) bool {
	for _, word := range Words(name) {
		if slices.Contains(noting, word) {
			return true
		}
		if IsVerb(word) {
			return false
		}
	}
	return false
}

// IsVerb reports whether a word is one of the verbs that names are judged by.
func IsVerb(word string) bool {
	return slices.ContainsFunc([][]string{fetching, looking, writing, nounOrWriting, noting}, func(list []string) bool { return slices.Contains(list, word) })
}

// withoutServer returns a name without the server that the Model Context Protocol's
// clients put in front: mcp__server__name. How a server is called says nothing.
func withoutServer(name string) string {
	if rest, is := strings.CutPrefix(name, "mcp__"); is {
		if _, tool, found := strings.Cut(rest, "__"); found {
			return tool
		}
	}
	return name
}

// local returns a name without its namespaces: what is before the last dot, slash,
// colon or double underscore.
func local(name string) string {
	for _, separator := range []string{".", "/", ":", "__"} {
		trimmed := strings.TrimRight(name, separator)
		if at := strings.LastIndex(trimmed, separator); at >= 0 {
			name = trimmed[at+len(separator):]
		}
	}
	return name
}

// Words splits a name into words in lower case: at everything that is no letter and
// no digit, between letters and digits, before a capital behind a small letter
// (getUser), and before the last capital of several (URLFetch).
func Words(name string) []string {
	var words []string
	letters := []rune(name)
	start := 0
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			words = appendWord(words, letters[start:i])
			start = i + 1
		case i > start && begins(letters, i):
			words = appendWord(words, letters[start:i])
			start = i
		}
	}
	return appendWord(words, letters[start:])
}

// begins reports whether a word begins at a letter or digit that is not the first of
// its word.
func begins(letters []rune, i int) bool {
	r, last := letters[i], letters[i-1]
	if unicode.IsDigit(r) != unicode.IsDigit(last) {
		return true
	}
	return unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && i+1 < len(letters) && unicode.IsLower(letters[i+1]))
}

func appendWord(words []string, letters []rune) []string {
	if len(letters) == 0 {
		return words
	}
	return append(words, strings.ToLower(string(letters)))
}

// isForeign reports whether a letter is not one of those that English names have.
func isForeign(r rune) bool {
	return r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsMark(r))
}

func isIn(list []string) func(string) bool {
	return func(word string) bool { return slices.Contains(list, word) }
}
