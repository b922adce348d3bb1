package dataflow

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// Reason says why a value counts as known, or why not.
type Reason string

// The reasons.
const (
	KnownSeen    Reason = "seen"       // it stands in something that came before
	KnownNormal  Reason = "normalized" // the same date or number does, or the same words in other case or with other blanks
	KnownBoolean Reason = "boolean"    // true or false needs no source
	KnownEnum    Reason = "enum"       // one of the values that the tool's schema lists
	KnownEmpty   Reason = "empty"      // null, or an empty string, list or object
	TooShort     Reason = "too-short"  // fewer than three characters prove nothing
	NotKnown     Reason = "unknown"    // it had not been seen
)

// Known says whether a value was known at some point of a trajectory.
type Known struct {
	OK     bool
	Reason Reason
	Side   Side // where it was seen first, with KnownSeen and KnownNormal
	Index  int  // of that call or message
}

// KnownBefore reports whether the value of the use u was known when the model
// made the turn of the given call: from a message before it, or from the
// arguments or result of a call of an earlier turn, after making dates,
// numbers, case and blanks alike. Values under three characters prove nothing;
// booleans and empty values need no proof, and neither do the values that enums
// lists. For a whole object or array ask about its leaves. With the number of
// calls for call the question is about the end of the trajectory.
//
// Booleans and enumerated values pass although they could depend on results in
// between: whether they do is for the links to say.
func (f *Flow) KnownBefore(u *Use, call int, enums Enums) Known {
	return f.known(u, call, f.Slots[u.Param], enums)
}

func (f *Flow) known(u *Use, call int, param Slot, enums Enums) Known {
	switch {
	case u.Kind == trace.Bool:
		return Known{OK: true, Reason: KnownBoolean}
	case u.empty:
		return Known{OK: true, Reason: KnownEmpty}
	case enums.Has(param, u.Value):
		return Known{OK: true, Reason: KnownEnum}
	case u.Short:
		return Known{Reason: TooShort}
	case u.Seen.Turn < 0 || call < len(f.turns) && u.Seen.Turn > int(f.turns[call]):
		return Known{Reason: NotKnown}
	}
	return u.Seen.known()
}

// ToldBefore reports whether the value of the use u stood in a message or a
// result, however short it is, before the model made the turn of the given call.
func (f *Flow) ToldBefore(u *Use, call int) bool {
	return u.Seen.Turn >= 0 && u.Seen.Side != Input && !(call < len(f.turns) && u.Seen.Turn > int(f.turns[call]))
}

// KnownBefore reports whether v, as the value of a parameter (which may be the
// zero Slot), was known when the model of t made the turn of the given call;
// see Flow.KnownBefore. An object or array is known if all of its leaves are,
// and the answer is about the first that is not. It reads the trajectory up to
// that turn: where there is a Flow, ask that, and for many values or calls see
// Collector.Sightings.
func KnownBefore(t *trace.Trajectory, call int, param Slot, v trace.Value) Known {
	before := *t
	first, turn := turnBefore(t, call)
	asked := []byte(`{"value":`)
	asked = append(v.AppendCanonical(asked), '}')
	before.Calls = append(t.Calls[:first:first], trace.Call{Turn: turn, Args: trace.JSONOf(asked)})
	var c Collector
	f := c.CollectSeen(&before)
	enums := EnumsOf(t)
	known := Known{OK: true, Reason: KnownEmpty}
	for i := range f.Uses {
		u := &f.Uses[i]
		if u.Call != first || u.Whole {
			continue
		}
		leaf := Slot{Input, param.Tool, param.Path + strings.TrimPrefix(f.Slots[u.Param].Path, "$.value")}
		if known = f.known(u, first, leaf, enums); !known.OK {
			break
		}
	}
	return known
}

// Enums knows the values that tools' schemas list for their parameters. The
// zero value knows none.
type Enums struct {
	schemas map[trace.Name]*schema
	tools   []trace.ToolDef // whose schemas are read when they are asked for: mostly none is
	read    *Schemas        // that keeps them; may be nil
}

// EnumsOf returns what the input schemas of the tools that t offered to the
// model list.
func EnumsOf(t *trace.Trajectory) Enums { return Enums{tools: t.Tools} }

// EnumsIn returns what these input schemas list, by tool.
func EnumsIn(schemas map[trace.Name]trace.Value) Enums {
	e := Enums{schemas: make(map[trace.Name]*schema, len(schemas))}
	for tool, v := range schemas {
		e.schemas[tool] = &schema{value: v, ok: true}
	}
	return e
}

// Has reports whether the schema of a parameter lists a value, given by its
// hash, under `enum` or `const`. Of several schemas of a tool the last that is
// one counts.
func (e Enums) Has(param Slot, value uint64) bool {
	if s, ok := e.schemas[param.Tool]; ok {
		return s.lists(param.Path, value)
	}
	for i := len(e.tools) - 1; i >= 0; i-- {
		if e.tools[i].Name != param.Tool {
			continue
		}
		read := e.read
		if read == nil {
			read = &Schemas{}
		}
		if s := read.of(e.tools[i].Input); s.ok {
			return s.lists(param.Path, value)
		}
	}
	return false
}

// search gathers what a schema lists.
type search struct {
	root   *trace.Value // where references begin
	values map[uint64]bool
	steps  int
}

// maxSchema bounds the schemas that are visited: references may go in circles.
const maxSchema = 1000

// visit gathers what the schema s, or what it refers to, lists at a path below it.
func (x *search) visit(s *trace.Value, path jsonpath.Path) {
	if x.steps++; s.Kind != trace.Object || x.steps > maxSchema {
		return
	}
	if len(path) == 0 {
		if c, ok := s.Lookup("const"); ok {
			x.add(&c)
		}
		options, _ := s.Lookup("enum")
		for i := range options.Elems {
			x.add(&options.Elems[i])
		}
	}
	if ref, ok := s.Lookup("$ref"); ok {
		if target, ok := pointer(x.root, ref.Text); ok {
			x.visit(&target, path)
		}
	}
	for _, word := range [...]string{"anyOf", "oneOf", "allOf"} {
		options, _ := s.Lookup(word)
		for i := range options.Elems {
			x.visit(&options.Elems[i], path)
		}
	}
	if len(path) == 0 {
		return
	}
	for _, word := range childWords(path[0]) {
		child, ok := s.Lookup(word)
		if ok && word == "properties" {
			child, ok = child.Lookup(path[0].Name)
		}
		if ok {
			x.visit(&child, path[1:])
		}
	}
}

func (x *search) add(v *trace.Value) {
	if x.values == nil {
		x.values = map[uint64]bool{}
	}
	x.values[jsonvalue.Hash(v)] = true
}

// childWords are the schema words that describe what a step leads to.
func childWords(s jsonpath.Step) []string {
	if s.Kind == jsonpath.Member {
		return []string{"properties", "additionalProperties"}
	}
	return []string{"items", "additionalProperties"}
}

// pointer follows a local reference such as #/$defs/name.
func pointer(root *trace.Value, ref string) (trace.Value, bool) {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return trace.Value{}, false
	}
	at := *root
	for _, name := range strings.Split(strings.TrimPrefix(rest, "/"), "/") {
		if name == "" && rest == "" {
			break
		}
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		if i, err := strconv.Atoi(name); err == nil && at.Kind == trace.Array && i >= 0 && i < len(at.Elems) {
			at = at.Elems[i]
		} else if at, ok = at.Lookup(name); !ok {
			return trace.Value{}, false
		}
	}
	return at, true
}

// isShort reports whether a scalar has too few characters to be recognised.
func isShort(v *trace.Value) bool {
	return (v.Kind == trace.Number || v.Kind == trace.String) && utf8.RuneCountInString(v.Text) < minText
}
