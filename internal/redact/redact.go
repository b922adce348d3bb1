// Package redact takes what was said and done out of trajectories and leaves
// how it hangs together.
//
// A trajectory comes in and is changed in place: every word of its texts,
// arguments and results becomes a keyed hash, every number another number, so
// that what was equal stays equal, what was part of a text stays part of it, and
// what was not stays not. Shapes stay: JSON, punctuation, lengths of numbers,
// the order of everything. Tools and their definitions, the names of arguments
// and of members, models and token counts, times and outcomes are kept; see
// Redactor.Trajectory for what follows from that.
//
// The package keeps a bounded cache of words. It reads and writes no files.
package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/trace"
)

// MinKey is how many bytes a key has at least.
const MinKey = 16

// Redactor redacts under one key: the same word always becomes the same, under
// another key another. It is not safe for concurrent use.
type Redactor struct {
	mac   hash.Hash
	words map[string]string
	sum   [sha256.Size]byte

	kept map[string]bool // texts that the definitions of the trajectory at hand list
}

// New returns a redactor with a key, of which nothing can be learnt from what is
// redacted. A short key can be guessed: see MinKey.
func New(key []byte) *Redactor {
	return &Redactor{mac: hmac.New(sha256.New, key), words: map[string]string{}, kept: map[string]bool{}}
}

// Trajectory redacts t in place. Kept are:
//
//   - names of tools, their definitions as recorded, and texts that these list
//     under enum or const;
//   - names of arguments; names of members that look like identifiers (ASCII
//     letters and underscores, a small letter first) or are in a definition;
//   - true, false, null, words that say how a call went (such as "Error"), and
//     numbers of one or two digits;
//   - names of agents and models, usage, times, outcomes, scores.
//
// Everything else that is text is redacted, identifiers of trajectories, tasks
// and calls too.
func (r *Redactor) Trajectory(t *trace.Trajectory) {
	r.kept = map[string]bool{}
	for i := range t.Tools {
		r.keepDefined(&t.Tools[i])
	}
	for _, id := range []*string{&t.ID, &t.Session, &t.Parent.Trajectory, &t.Parent.Call, &t.Continued, &t.Task, &t.Trial} {
		*id = r.Text(*id)
	}
	for i := range t.Messages {
		t.Messages[i].Text = r.raw(t.Messages[i].Text)
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		turn.Text, turn.Thought = r.raw(turn.Text), r.raw(turn.Thought)
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		c.ID = r.Text(c.ID)
		c.Args, c.Result, c.Error = r.arguments(c), r.raw(c.Result), r.raw(c.Error)
		for j := range c.Context {
			c.Context[j].Value = r.Text(c.Context[j].Value)
		}
	}
}

// keepDefined notes what a definition says of values and names.
func (r *Redactor) keepDefined(def *trace.ToolDef) {
	for _, raw := range []trace.Raw{def.Input, def.Output} {
		if schema, err := trace.ParseValue([]byte(raw.Text())); err == nil {
			r.Keep(schema)
		}
	}
}

// Keep keeps the names and values that a schema lists as they are, until the next
// trajectory.
func (r *Redactor) Keep(v trace.Value) {
	for _, e := range v.Elems {
		r.Keep(e)
	}
	for _, m := range v.Members {
		switch m.Name {
		case "enum", "const":
			for _, listed := range append(m.Value.Elems, m.Value) {
				if listed.Kind == trace.String {
					r.kept[listed.Text] = true
				}
			}
		case "properties":
			for _, p := range m.Value.Members {
				r.kept[p.Name] = true
			}
		}
		r.Keep(m.Value)
	}
}

// raw redacts a recorded text, or a recorded value.
func (r *Redactor) raw(raw trace.Raw) trace.Raw {
	if raw.IsZero() {
		return raw
	}
	text := raw.Text()
	if v, ok := structured(text); ok {
		return trace.TextOf(string(r.Value(v).AppendCanonical(nil)))
	}
	return trace.TextOf(r.Text(text))
}

// arguments redacts the arguments of a call. Their names are those of the tool's
// parameters.
func (r *Redactor) arguments(c *trace.Call) trace.Raw {
	if c.ArgsMissing() {
		return c.Args
	}
	v, err := trace.ParseValue([]byte(c.Args.Text()))
	if err != nil {
		return trace.TextOf(r.Text(c.Args.Text()))
	}
	return trace.JSONOf(r.Arguments(v).AppendCanonical(nil))
}

// Arguments redacts the arguments of a call, whose names are kept.
func (r *Redactor) Arguments(v trace.Value) trace.Value {
	if v.Kind != trace.Object {
		return r.Value(v)
	}
	members := make([]trace.Member, len(v.Members))
	for i, m := range v.Members {
		members[i] = trace.Member{Name: m.Name, Value: r.Value(m.Value)}
	}
	return trace.NewObject(members...)
}

// structured returns the object or array that a text holds.
func structured(text string) (trace.Value, bool) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return trace.Value{}, false
	}
	v, err := trace.ParseValue([]byte(text))
	return v, err == nil
}

// Value redacts a JSON value. A text that holds an object or an array is gone through as
// such.
func (r *Redactor) Value(v trace.Value) trace.Value {
	switch v.Kind {
	case trace.String:
		if inner, ok := structured(v.Text); ok {
			return trace.NewString(string(r.Value(inner).AppendCanonical(nil)))
		}
		return trace.NewString(r.Text(v.Text))
	case trace.Number:
		return r.number(v)
	case trace.Array:
		elems := make([]trace.Value, len(v.Elems))
		for i, e := range v.Elems {
			elems[i] = r.Value(e)
		}
		return trace.Value{Kind: trace.Array, Elems: elems}
	case trace.Object:
		members := make([]trace.Member, len(v.Members))
		for i, m := range v.Members {
			members[i] = trace.Member{Name: r.name(m.Name), Value: r.Value(m.Value)}
		}
		return trace.NewObject(members...)
	}
	return v
}

// name redacts the name of a member unless it is one of a schema's: maps have
// data for names.
func (r *Redactor) name(name string) string {
	if r.kept[name] || isIdentifier(name) {
		return name
	}
	return r.Text(name)
}

// isIdentifier reports whether a name is like those of schemas: an ASCII word
// that begins with a small letter or an underscore, without digits.
func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case c == '_' || 'a' <= c && c <= 'z':
		case i > 0 && 'A' <= c && c <= 'Z':
		default:
			return false
		}
	}
	return name != "" && len(name) <= 40
}

// number redacts a JSON number. One that is not left as text is kept: 1e300 has
// no digits to speak of.
func (r *Redactor) number(v trace.Value) trace.Value {
	text := r.Text(v.Text)
	if n, err := trace.ParseValue([]byte(text)); err == nil && n.Kind == trace.Number {
		return n
	}
	return v
}

// Text redacts a text word by word; what stands between words is kept. A text
// that a tool's definition lists is kept whole.
func (r *Redactor) Text(text string) string {
	if r.kept[text] {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		if !isWord(c) {
			b.WriteString(text[i : i+size])
			i += size
			continue
		}
		end, digits := i, true
		for end < len(text) {
			c, size := utf8.DecodeRuneInString(text[end:])
			if !isWord(c) {
				break
			}
			digits = digits && '0' <= c && c <= '9'
			end += size
		}
		b.WriteString(r.word(text[i:end], digits))
		i = end
	}
	return b.String()
}

func isWord(c rune) bool {
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c))
}

// status are words that rules read the status of a call from.
var status = [...]string{"true", "false", "null", "none", "error", "errors", "failed", "failure", "fail", "exception", "success", "successful", "successfully", "ok"}

// maxWords bounds the cache.
const maxWords = 1 << 17

// word redacts one word. Words that differ in case only do so afterwards, as far
// as a first or all letters are large.
func (r *Redactor) word(word string, digits bool) string {
	if digits {
		return r.digits(word)
	}
	if out, ok := r.words[word]; ok {
		return out
	}
	lower := strings.ToLower(word)
	for _, s := range status {
		if lower == s {
			return word
		}
	}
	out := r.letters(lower)
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case word != lower && word == strings.ToUpper(word) && utf8.RuneCountInString(word) > 1:
		out = strings.ToUpper(out)
	case unicode.IsUpper(first):
		out = strings.ToUpper(out[:1]) + out[1:]
	}
	if len(r.words) == maxWords {
		clear(r.words)
	}
	r.words[strings.Clone(word)] = out
	return out
}

// letters returns the hash of a word as 13 small letters: 61 bits, so that two
// of ten million words become one with a probability of 1 in 50,000. There are
// no digits in it, which would be redacted otherwise where they stand alone.
func (r *Redactor) letters(word string) string {
	n := binary.LittleEndian.Uint64(r.hash("word", word))
	var out [13]byte
	for i := range out {
		out[i] = 'a' + byte(n%26)
		n /= 26
	}
	return string(out[:])
}

func (r *Redactor) hash(kind, text string) []byte {
	r.mac.Reset()
	r.mac.Write([]byte(kind))
	r.mac.Write([]byte{0})
	r.mac.Write([]byte(text))
	return r.mac.Sum(r.sum[:0])
}
