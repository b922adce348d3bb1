package merge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// Label numbers a label: an index into Labels.
type Label = stategraph.Label

// Labels are the texts of labels, numbered by first appearance. A label is the
// name of a tool, as rules left it, followed directly by the canonical JSON of
// the arguments, as rules left them; a call whose arguments were not recorded
// has the name alone. It holds values of the traces: Masker writes it for people.
type Labels struct {
	numbers hash128.Table
	entries []labelEntry
	shapes  shapes
}

type labelEntry struct {
	bracketed string // with brackets around what may be shown
	nameLen   uint32
	shape     shapeID
	tool      trace.Name // as recorded
	mixed     bool       // calls of other tools have this label too
	effects   labelEffects
}

// labelEffects is what the steps of a label do, at worst.
type labelEffects uint8

const (
	writes     labelEffects = 1 << iota // some of them are mutators
	notTwice                            // some of these are not idempotent
	kept                                // of some of them a rule says that answers keep the result
	notLeftOut                          // of some of them no rule says that answers leave the result out
)

func effectsOf(a *action) labelEffects {
	var e labelEffects
	if a.effect == rules.Mutator {
		e |= writes
		if !a.idempotent {
			e |= notTwice
		}
	}
	switch a.answer {
	case rules.AnswerKeep:
		e |= kept | notLeftOut
	case rules.AnswerUndecided:
		e |= notLeftOut
	}
	return e
}

// Len returns how many labels there are.
func (l *Labels) Len() int { return len(l.entries) }

// Text returns the label with all its values.
func (l *Labels) Text(id Label) string {
	e := &l.entries[id]
	return e.bracketed[:e.nameLen] + stripBrackets(e.bracketed[e.nameLen:])
}

// Name returns the name of the tool as rules left it.
func (l *Labels) Name(id Label) string {
	e := &l.entries[id]
	return e.bracketed[:e.nameLen]
}

// Tool returns the name of the tool as recorded, which is another than Name
// where a rule renamed it. Of several tools that share the label it is the
// first; sole is false then.
func (l *Labels) Tool(id Label) (name trace.Name, sole bool) {
	return l.entries[id].tool, !l.entries[id].mixed
}

// ReadOnly reports whether no step of this label is a mutator.
func (l *Labels) ReadOnly(id Label) bool { return l.entries[id].effects&writes == 0 }

// Idempotent reports whether all steps of this label that are mutators are
// declared idempotent.
func (l *Labels) Idempotent(id Label) bool { return l.entries[id].effects&notTwice == 0 }

// Answer returns what the rules say of the results of these steps in the answer of
// a meta-tool. If they say different things of different steps, a result that is
// kept for one is kept for all, and one that is left out is left out for all.
func (l *Labels) Answer(id Label) rules.Answer {
	switch e := l.entries[id].effects; {
	case e&kept != 0:
		return rules.AnswerKeep
	case e&notLeftOut != 0:
		return rules.AnswerUndecided
	}
	return rules.AnswerLeaveOut
}

// HasArgs reports whether the arguments of the calls were recorded.
func (l *Labels) HasArgs(id Label) bool {
	return len(l.entries[id].bracketed) > int(l.entries[id].nameLen)
}

// Args returns the names of the top-level arguments with which calls of this
// label were recorded, in order, those that rules dropped included.
func (l *Labels) Args(id Label) []LabelArg { return l.shapes.args(l.entries[id].shape) }

// LabelArg is an argument of the calls that have a label.
type LabelArg struct {
	Name   string
	Always bool // all of the calls have it
}

// stripBrackets removes the brackets around what may be shown.
func stripBrackets(json string) string {
	if strings.IndexByte(json, shownOpen) < 0 {
		return json
	}
	return strings.NewReplacer(string(shownOpen), "", string(shownClose), "").Replace(json)
}

// add numbers the label of an action, given as its hash and its text, a name of
// that length with bracketed arguments behind it, of a call that was recorded with
// arguments of the given shape.
func (l *Labels) add(h hash128.Hash, text []byte, nameLen int, of *action, shape shapeID) Label {
	id, known := l.numbers.Number(h)
	if !known {
		l.entries = append(l.entries, labelEntry{
			bracketed: string(text), nameLen: uint32(nameLen), shape: shape, tool: of.tool, effects: effectsOf(of),
		})
		return Label(id)
	}
	e := &l.entries[id]
	e.shape = l.shapes.union(e.shape, shape)
	e.mixed = e.mixed || e.tool != of.tool
	e.effects |= effectsOf(of)
	if e.bracketed != string(text) {
		old, bracketed := e.bracketed[nameLen:], string(text[nameLen:])
		e.bracketed = e.bracketed[:nameLen] + intersectBrackets(old, bracketed, stripBrackets(old))
	}
	return Label(id)
}

// hashLabel hashes the text of a label. The length of the name keeps apart what
// concatenation would join.
func hashLabel(text []byte, nameLen int) hash128.Hash {
	h := hash128.Of(text)
	h.Lo ^= uint64(nameLen)
	return h
}

// intersectBrackets returns the text with brackets around what both forms show: a
// value that one call may show and another not is not shown.
func intersectBrackets(a, b, plain string) string {
	shownA, shownB := shownBytes(a), shownBytes(b)
	var out strings.Builder
	open := false
	for i := range len(plain) {
		if shown := shownA[i] && shownB[i]; shown != open {
			open = shown
			if open {
				out.WriteByte(shownOpen)
			} else {
				out.WriteByte(shownClose)
			}
		}
		out.WriteByte(plain[i])
	}
	if open {
		out.WriteByte(shownClose)
	}
	return out.String()
}

// shownBytes says for every byte of the plain text whether it is shown.
func shownBytes(bracketed string) []bool {
	shown := make([]bool, 0, len(bracketed))
	open := false
	for i := range len(bracketed) {
		switch bracketed[i] {
		case shownOpen:
			open = true
		case shownClose:
			open = false
		default:
			shown = append(shown, open)
		}
	}
	return shown
}

// shapes are sets of argument names, numbered: most labels of a tool share one.
type shapes struct {
	sets  [][]LabelArg
	index map[string]shapeID
	key   []byte // scratch
}

type shapeID uint32

// maxShape bounds how many names a shape holds: calls whose arguments are a map
// of data have as many as they please.
const maxShape = 200

// of returns the shape of an object.
func (s *shapes) of(args trace.Value) shapeID {
	members := args.Members[:min(len(args.Members), maxShape)]
	s.key = s.key[:0]
	for _, m := range members {
		s.key = appendShape(s.key, m.Name, true)
	}
	if id, known := s.index[string(s.key)]; known {
		return id
	}
	set := make([]LabelArg, len(members))
	for i, m := range members {
		set[i] = LabelArg{m.Name, true}
	}
	return s.number(set)
}

// appendShape appends an argument to the key of a shape.
func appendShape(key []byte, name string, always bool) []byte {
	key = strconv.AppendInt(key, int64(len(name)), 10)
	key = append(key, ':')
	key = append(key, name...)
	return strconv.AppendBool(key, always)
}

func (s *shapes) number(set []LabelArg) shapeID {
	s.key = s.key[:0]
	for _, a := range set {
		s.key = appendShape(s.key, a.Name, a.Always)
	}
	if id, known := s.index[string(s.key)]; known {
		return id
	}
	if s.index == nil {
		s.index = map[string]shapeID{}
	}
	id := shapeID(len(s.sets))
	s.sets = append(s.sets, set)
	s.index[string(s.key)] = id
	return id
}

func (s *shapes) args(id shapeID) []LabelArg { return s.sets[id] }

// union returns the shape of calls that have one or the other.
func (s *shapes) union(a, b shapeID) shapeID {
	if a == b {
		return a
	}
	set := slices.Clone(s.sets[a])
	for i := range set {
		set[i].Always = set[i].Always && slices.Contains(s.sets[b], set[i])
	}
	for _, other := range s.sets[b] {
		if !slices.ContainsFunc(set, func(x LabelArg) bool { return x.Name == other.Name }) && len(set) < maxShape {
			set = append(set, LabelArg{other.Name, false})
		}
	}
	slices.SortFunc(set, func(x, y LabelArg) int { return strings.Compare(x.Name, y.Name) })
	return s.number(set)
}
