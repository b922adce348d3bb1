// Package uses says which values of a result are used later: in the arguments of a call
// or in what the model says.
//
// A trajectory and one of its results come in; how far the result is used goes out. A
// value is a word: a run of letters, digits and `. _ - @` within a text or a number, of at
// least three characters and without regard to case. What was known before the result
// does not count: messages, arguments, what the model said, and earlier results.
//
// Memory is O(words of the trajectory), once they are asked for. It knows no
// meta-tools: metatool/bind and execute/replay both judge by it.
package uses

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/trace"
)

// Uses are the words of a trajectory. It belongs to one goroutine.
type Uses struct {
	t     *trace.Trajectory
	args  func(call int) *trace.Value
	first map[string]int // by word: where it is first known, see place; nil until asked for
	last  map[string]int // by word: the call, or len(t.Calls), at which it was used last
	found map[int][]used // by call: the words of its result that are used anywhere
}

// used is a word of a result that is used somewhere.
type used struct {
	word       string
	name, text string // the value that it stands in, and the member that this is
	first      int    // the place where it is first known; -1 for nowhere
	last       int    // the call at which it was used last
	credential answer // whether text looks like a credential, at the first word of it
}

// answer is a yes or a no, once it was asked for.
type answer uint8

const (
	notAsked answer = iota
	no
	yes
)

// New returns the uses of t, whose arguments args returns.
func New(t *trace.Trajectory, args func(call int) *trace.Value) *Uses {
	return &Uses{t: t, args: args}
}

// HasTexts reports whether the trajectory tells what the model said: otherwise nothing
// can be said of what it used.
func (u *Uses) HasTexts() bool {
	for i := range u.t.Turns {
		if !u.t.Turns[i].Text.IsEmpty() {
			return true
		}
	}
	return false
}

// Words are words of results that are told anyway.
type Words map[string]struct{}

// Add adds the words of a value.
func (w Words) Add(v *trace.Value) {
	for _, text := range leaves("", v) {
		for word := range words(text) {
			w[word] = struct{}{}
		}
	}
}

// Last returns the last call, as an index into Trajectory.Calls, whose arguments hold a
// value of the result of a call, or before which the model said one; len(Calls) is for
// what it said after the last call, -1 for none. Values that were known before the call
// numbered before, or that are told, do not count. credential is the same for credentials
// alone. The result is that of the call as a value; it is read once.
func (u *Uses) Last(call int, result *trace.Value, before int, told Words) (last, credential int) {
	last, credential = -1, -1
	list := u.usedOf(call, result)
	for i := 0; i < len(list); {
		name, text, value := list[i].name, list[i].text, &list[i]
		for ; i < len(list) && list[i].name == name && list[i].text == text; i++ {
			w := &list[i]
			if _, is := told[w.word]; is || w.last <= credential || w.first >= 0 && w.first <= place(before, false) {
				continue
			}
			last = max(last, w.last)
			if value.credential == notAsked {
				value.credential = no
				if secret.LooksLike(name, text) {
					value.credential = yes
				}
			}
			if value.credential == yes {
				credential = w.last
			}
		}
	}
	return last, credential
}

// usedOf returns the words of a result that are used anywhere.
func (u *Uses) usedOf(call int, result *trace.Value) []used {
	list, read := u.found[call]
	if read {
		return list
	}
	if u.last == nil {
		u.readUses()
		u.readKnown()
		u.found = map[int][]used{}
	}
	for name, text := range leaves("", result) {
		for word := range words(text) {
			at, is := u.last[word]
			if !is {
				continue
			}
			first, known := u.first[word]
			if !known {
				first = -1
			}
			list = append(list, used{word: word, name: name, text: text, first: first, last: at})
		}
	}
	u.found[call] = list
	return list
}

// readUses notes where each word was used last.
func (u *Uses) readUses() {
	u.last = map[string]int{}
	note := func(text string, call int) {
		for word := range words(text) {
			u.last[word] = max(u.last[word], call)
		}
	}
	for i := range u.t.Calls {
		for _, text := range leaves("", u.args(i)) {
			note(text, i)
		}
	}
	for i := range u.t.Turns {
		turn := &u.t.Turns[i]
		note(turn.Text.Text(), turn.FirstCall)
		note(turn.Thought.Text(), turn.FirstCall)
	}
}

// place numbers what follows in time: what is before a call or in its arguments, and
// its result.
func place(call int, isResult bool) int {
	if isResult {
		return 2*call + 1
	}
	return 2 * call
}

// readKnown notes where each word was first known.
func (u *Uses) readKnown() {
	u.first = map[string]int{}
	note := func(text string, at int) {
		for word := range words(text) {
			if first, known := u.first[word]; !known || at < first {
				u.first[word] = at
			}
		}
	}
	for i := range u.t.Messages {
		note(u.t.Messages[i].Text.Text(), place(u.t.Messages[i].Call, false))
	}
	for i := range u.t.Turns {
		turn := &u.t.Turns[i]
		note(turn.Text.Text(), place(turn.FirstCall, false))
		note(turn.Thought.Text(), place(turn.FirstCall, false))
	}
	for i := range u.t.Calls {
		for _, text := range leaves("", u.args(i)) {
			note(text, place(i, false))
		}
		if c := &u.t.Calls[i]; c.HasResult {
			note(c.Result.Text(), place(i, true))
		}
	}
}

// leaves yields the texts and numbers in a value, each with the name of the member that
// it stands in.
func leaves(name string, v *trace.Value) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { walk(name, v, yield) }
}

func walk(name string, v *trace.Value, yield func(name, text string) bool) bool {
	switch v.Kind {
	case trace.String:
		return yield(name, v.Text)
	case trace.Number:
		return yield(name, jsonvalue.Number(v.Text))
	}
	for i := range v.Elems {
		if !walk(name, &v.Elems[i], yield) {
			return false
		}
	}
	for i := range v.Members {
		if !walk(v.Members[i].Name, &v.Members[i].Value, yield) {
			return false
		}
	}
	return true
}

// minWord is how many characters a word has at least: shorter ones, such as small
// numbers, are equal by chance.
const minWord = 3

// joins are the signs that may stand within a word.
const joins = "._-@"

// within reports whether a byte of ASCII may stand in a word.
var within = func() (table [utf8.RuneSelf]bool) {
	for b := range table {
		r := rune(b)
		table[b] = unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(joins, r)
	}
	return table
}()

// words yields the words of a text.
func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for start, i := -1, 0; i <= len(text); {
			size, inside := 1, false
			if i < len(text) {
				if b := text[i]; b < utf8.RuneSelf {
					inside = within[b]
				} else {
					var r rune
					r, size = utf8.DecodeRuneInString(text[i:])
					inside = unicode.IsLetter(r) || unicode.IsDigit(r)
				}
			}
			switch {
			case inside && start < 0:
				start = i
			case !inside && start >= 0:
				if word := strings.Trim(text[start:i], joins); len(word) >= minWord && !yield(strings.ToLower(word)) {
					return
				}
				start = -1
			}
			i += size
		}
	}
}
