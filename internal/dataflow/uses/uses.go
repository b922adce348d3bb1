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
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/internal/lookup"
	"github.com/awo-dev/awo/trace"
)

// Uses are the words of a trajectory. It belongs to one goroutine.
type Uses struct {
	t      *trace.Trajectory
	args   func(call int) *trace.Value
	number lookup.Table   // of the words that are used anywhere, by hash
	words  []known        // by number
	found  map[int][]used // by call: the words of its result that are used anywhere; nil until asked for
	hashes []uint64       // of the text that is read

	hasTexts bool
}

// known is where a word is.
type known struct {
	first int // the place where it is first known, see place; math.MaxInt for nowhere
	last  int // the call, or len(t.Calls), at which it was used last
}

// used is a word of a result that is used somewhere.
type used struct {
	known
	word uint64
}

// New returns the uses of t, whose arguments args returns.
func New(t *trace.Trajectory, args func(call int) *trace.Value) *Uses {
	return &Uses{t: t, args: args, hasTexts: slices.ContainsFunc(t.Turns, func(turn trace.Turn) bool { return !turn.Text.IsEmpty() })}
}

// HasTexts reports whether the trajectory tells what the model said: otherwise nothing
// can be said of what it used.
func (u *Uses) HasTexts() bool { return u.hasTexts }

// Words are words of results that are told anyway, by their hashes.
type Words map[uint64]struct{}

// Add adds the words of a value.
func (w Words) Add(v *trace.Value) {
	var room [32]uint64
	for text := range leaves(v) {
		for _, word := range appendWords(room[:0], text) {
			w[word] = struct{}{}
		}
	}
}

// Last returns the last call, as an index into Trajectory.Calls, whose arguments hold a
// value of the result of a call, or before which the model said one; len(Calls) is for
// what it said after the last call, -1 for none. Values that were known before the call
// numbered before, or that are told, do not count. The result is that of the call as a
// value; it is read once.
func (u *Uses) Last(call int, result *trace.Value, before int, told Words) int {
	last := -1
	for _, w := range u.usedOf(call, result) {
		if _, is := told[w.word]; !is && (w.first < 0 || w.first > place(before, false)) {
			last = max(last, w.last)
		}
	}
	return last
}

// IsRead reports whether a word of a text or number in the result of a call is used behind the
// call. One without a word, such as a small number or a boolean, cannot be recognised, and is.
func (u *Uses) IsRead(call int, value *trace.Value) bool {
	u.read()
	judged := false
	for text := range leaves(value) {
		u.hashes = appendWords(u.hashes[:0], text)
		for _, word := range u.hashes {
			judged = true
			if i := u.number.Find(word); i >= 0 && u.words[i].last > call {
				return true
			}
		}
	}
	return !judged
}

// read reads the trajectory, once.
func (u *Uses) read() {
	if u.found == nil {
		u.readUses()
		u.readKnown()
		u.found = map[int][]used{}
	}
}

// usedOf returns the words of a result that are used anywhere.
func (u *Uses) usedOf(call int, result *trace.Value) []used {
	list, read := u.found[call]
	if read {
		return list
	}
	u.read()
	for text := range leaves(result) {
		u.hashes = appendWords(u.hashes[:0], text)
		for _, word := range u.hashes {
			if i := u.number.Find(word); i >= 0 {
				list = append(list, used{known: u.words[i], word: word})
			}
		}
	}
	u.found[call] = list
	return list
}

// readUses notes where each word was used last.
func (u *Uses) readUses() {
	note := func(call int) {
		for _, word := range u.hashes {
			next := int32(len(u.words))
			i := u.number.Insert(word, next)
			if i == next {
				u.words = append(u.words, known{first: math.MaxInt})
			}
			u.words[i].last = max(u.words[i].last, call)
		}
	}
	for i := range u.t.Calls {
		for text := range leaves(u.args(i)) {
			u.hashes = appendWords(u.hashes[:0], text)
			note(i)
		}
	}
	var room []byte
	for i := range u.t.Turns {
		turn := &u.t.Turns[i]
		for _, text := range [...]trace.Raw{turn.Text, turn.Thought} {
			room = text.AppendText(room[:0])
			u.hashes = appendWords(u.hashes[:0], room)
			note(turn.FirstCall)
		}
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

// readKnown notes where each word that is used was first known.
func (u *Uses) readKnown() {
	note := func(at int) {
		for _, word := range u.hashes {
			if i := u.number.Find(word); i >= 0 {
				u.words[i].first = min(u.words[i].first, at)
			}
		}
	}
	var room []byte
	read := func(text trace.Raw, at int) {
		room = text.AppendText(room[:0])
		u.hashes = appendWords(u.hashes[:0], room)
		note(at)
	}
	for i := range u.t.Messages {
		read(u.t.Messages[i].Text, place(u.t.Messages[i].Call, false))
	}
	for i := range u.t.Turns {
		turn := &u.t.Turns[i]
		read(turn.Text, place(turn.FirstCall, false))
		read(turn.Thought, place(turn.FirstCall, false))
	}
	for i := range u.t.Calls {
		for text := range leaves(u.args(i)) {
			u.hashes = appendWords(u.hashes[:0], text)
			note(place(i, false))
		}
		if c := &u.t.Calls[i]; c.HasResult {
			read(c.Result, place(i, true))
		}
	}
}

// leaves yields the texts and numbers in a value.
func leaves(v *trace.Value) iter.Seq[string] {
	return func(yield func(string) bool) { walk(v, yield) }
}

func walk(v *trace.Value, yield func(text string) bool) bool {
	switch v.Kind {
	case trace.String:
		return yield(v.Text)
	case trace.Number:
		return yield(jsonvalue.Number(v.Text))
	}
	for i := range v.Elems {
		if !walk(&v.Elems[i], yield) {
			return false
		}
	}
	for i := range v.Members {
		if !walk(&v.Members[i].Value, yield) {
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

// appendWords appends the hashes of the words of a text, in lower case.
func appendWords[T string | []byte](to []uint64, text T) []uint64 {
	for start, i := -1, 0; i <= len(text); {
		size, inside := 1, false
		if i < len(text) {
			if b := text[i]; b < utf8.RuneSelf {
				inside = within[b]
			} else {
				var r rune
				r, size = utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
				inside = unicode.IsLetter(r) || unicode.IsDigit(r)
			}
		}
		switch {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			end := i
			for start < end && isJoin(text[start]) {
				start++
			}
			for start < end && isJoin(text[end-1]) {
				end--
			}
			if end-start >= minWord {
				to = append(to, hashWord(text[start:end]))
			}
			start = -1
		}
		i += size
	}
	return to
}

func isJoin(b byte) bool { return b == '.' || b == '_' || b == '-' || b == '@' }

// hashWord returns the hash of a word in lower case.
func hashWord[T string | []byte](word T) uint64 {
	var room [64]byte
	if len(word) > len(room) {
		return jsonvalue.HashString(strings.ToLower(string(word)))
	}
	n := copy(room[:], word)
	for i, b := range room[:n] {
		switch {
		case b >= utf8.RuneSelf:
			return jsonvalue.HashString(strings.ToLower(string(word)))
		case b >= 'A' && b <= 'Z':
			room[i] = b | 0x20
		}
	}
	return jsonvalue.HashBytes(room[:n])
}
