package learn

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

const (
	// minSaid is how long a value must be, in bytes, to be looked for in a message: shorter
	// ones stand everywhere.
	minSaid = 3
	// maxSaidSlots is how many arguments of a read may stand in a message.
	maxSaidSlots = 4
)

// saying is a call whose arguments stood in a message, or are constants.
type saying struct {
	tool   string
	task   string
	slots  []saidSlot // in the order of the message; none of a call without arguments from there
	others []trace.Member
	before string // the tool of the call before, "" at the beginning
	key    string
}

// saidSlot is where one argument stood.
type saidSlot struct {
	argument string
	number   bool
	near     bool   // right behind the slot before
	word     string // before it, in small letters; "" for none
}

// sayings returns the first of equal reads, with those of their arguments that stood in one
// message: of several messages the one that holds most, of these the last. It is pure.
func sayings(r *run) []saying {
	var out []saying
	task := r.t.TaskKey()
	type message struct {
		text  string
		calls int // that came before
	}
	var messages []message
	for m := range r.t.UserMessages() {
		messages = append(messages, message{m.Text.Text(), m.Call})
	}
	before := ""
	for i := range r.calls {
		c := &r.calls[i]
		if c.model && c.answered && c.key != "" && r.first[c.key] == i {
			one := saying{tool: c.Tool, task: task, before: before, key: c.key}
			for _, m := range slices.Backward(messages) {
				if m.calls > i {
					continue
				}
				if slots := slotsIn(m.text, c.Arguments); len(slots) > len(one.slots) {
					one.slots = slots
				}
			}
			for _, m := range c.Arguments.Members {
				if !slices.ContainsFunc(one.slots, func(s saidSlot) bool { return s.argument == m.Name }) {
					one.others = append(one.others, m)
				}
			}
			if len(one.slots) <= maxSaidSlots {
				out = append(out, one)
			}
		}
		if c.model && c.Tool != "" {
			before = c.Tool
		}
	}
	return out
}

// slotsIn returns the arguments that stand in a message as words of it, in its order.
func slotsIn(text string, arguments trace.Value) []saidSlot {
	type place struct {
		saidSlot
		begin, end int
	}
	var places []place
	for _, m := range arguments.Members {
		v := m.Value
		if v.Kind != trace.String && v.Kind != trace.Number || len(v.Text) < minSaid || len(v.Text) > prefetch.MaxText || strings.ContainsFunc(v.Text, unicode.IsSpace) {
			continue
		}
		if at := wordAt(text, v.Text); at >= 0 {
			places = append(places, place{saidSlot{argument: m.Name, number: v.Kind == trace.Number, word: wordBefore(text[:at])}, at, at + len(v.Text)})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(a.begin-b.begin, a.end-b.end) })
	var out []saidSlot
	for i, p := range places {
		if i > 0 {
			gap := places[i].begin - places[i-1].end
			if gap < 0 {
				return nil // one word is two arguments: nothing says which
			}
			p.near = gap <= 3 && !strings.ContainsFunc(text[places[i-1].end:p.begin], isWord)
		}
		out = append(out, p.saidSlot)
	}
	return out
}

// wordAt returns where a value stands in a text with no letter or digit right before or
// behind it, -1 for nowhere.
func wordAt(text, value string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], value)
		if at < 0 {
			return -1
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		behind, _ := utf8.DecodeRuneInString(text[at+len(value):])
		if !isWord(before) && !isWord(behind) {
			return at
		}
		from = at + 1
	}
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// wordBefore returns the last word of a text if little stands behind it and it is of small
// ASCII letters, as which other ones count.
func wordBefore(text string) string {
	end := len(strings.TrimRightFunc(text, func(r rune) bool { return !isWord(r) }))
	if len(text)-end > 4 || end == len(text) {
		return ""
	}
	begin := end
	for begin > 0 && isLetter(text[begin-1]) {
		begin--
	}
	if begin == end || end-begin > 16 || begin > 0 && isWord(rune(text[begin-1])) {
		return ""
	}
	return strings.ToLower(text[begin:end])
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
