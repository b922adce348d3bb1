package predict

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/trace"
)

// A Source is a tier of argument filling.
type Source uint8

// The sources, in the order of AutoTool's Algorithm 2.
const (
	FromCall   Source = iota // an earlier result or argument, by a dependency edge
	FromState                // the key state that adapter rules keep
	FromText                 // what the user said, by the shape of an identifier
	NumSources = 3
)

// String returns "dependency", "state" or "text".
func (s Source) String() string { return [...]string{"dependency", "state", "text"}[s] }

// Sources returns all of them, in order.
func Sources() []Source { return []Source{FromCall, FromState, FromText} }

// A Filled is one argument that was filled in.
type Filled struct {
	Param  string
	Value  string // canonical JSON
	Source Source
	Class  Class
	Share  float64 // how often the rule is expected to be right
	List   bool    // taken from a list
	Left   int     // elements of the list that were not taken yet, this one included
	All    int     // elements of the list
	Named  bool    // the user has mentioned the value
	Other  bool    // the user has mentioned another identifier of this shape
}

// A Fill is the arguments of one call.
type Fill struct {
	Args     []Filled // in the order of their names
	Complete bool     // every required parameter has a value
	Repeated bool     // the same call was made before in this trajectory
}

// Share returns how often all arguments are expected to be right at once, taking
// rules for independent.
func (f *Fill) Share() float64 {
	p := 1.0
	for i := range f.Args {
		p *= f.Args[i].Share
	}
	return p
}

// FillOptions are the choices of filling. The zero value is the default.
type FillOptions struct {
	Adapter *Adapter  // rules for the key state; nil has none
	Schemas *Schemas  // nil checks no values
	Ordered bool      // AutoTool's Algorithm 2: a later source is asked only where no earlier one has a value that the schema allows
	_       [0]func() // not comparable
}

// fill fills in the arguments of a call of a tool, as far as it can.
//
// Required parameters without a value leave the fill incomplete. Other
// parameters get one where at least half of the recorded calls have them.
func (m *Model) fill(v view, symbol uint32, o *FillOptions) Fill {
	return m.fillAs(v, symbol, o, false)
}

// fillAs is fill. Of a fill that has to be complete no more is worked out once it cannot be.
func (m *Model) fillAs(v view, symbol uint32, o *FillOptions, complete bool) Fill {
	t := &m.tools[symbol]
	f := Fill{Complete: true}
	for i := range t.Params {
		p := &t.Params[i]
		if !p.Required && 2*p.Present < t.Calls {
			continue
		}
		filled, ok := m.fillParam(v, symbol, p.Name, o)
		if ok && o.Schemas != nil && !o.Schemas.Fits(t.Name, p.Name, filled.Value) {
			ok = false
		}
		if !ok {
			if p.Required {
				f.Complete = false
			}
			if complete && p.Required {
				return f
			}
			continue
		}
		f.Args = append(f.Args, filled)
	}
	for i := range f.Args {
		a := &f.Args[i]
		a.Named, a.Other = v.mentioned(a.Value)
	}
	f.Repeated = f.Complete && v.repeated(t.Name, f.Args)
	return f
}

// stateShare is how often the key state is taken to be right: nobody counts it.
const stateShare = .95

// fillParam asks the sources for the value of one parameter. Of what they give it takes
// what is most often right, of equal ones that with the newest source; with Ordered it
// takes the first source that gives a value, and the best of that.
func (m *Model) fillParam(v view, symbol uint32, param string, o *FillOptions) (Filled, bool) {
	best, found, newestBest := Filled{}, false, -1
	t := m.tools[symbol].Name
	take := func(f Filled, newest int) {
		if o.Ordered {
			if o.Schemas != nil && !o.Schemas.Fits(t, param, f.Value) || found && f.Source > best.Source {
				return
			}
			if found && f.Source < best.Source {
				found = false
			}
		}
		if !found || f.Share > best.Share || f.Share == best.Share && newest > newestBest {
			best, found, newestBest = f, true, newest
		}
	}
	if o.Adapter != nil {
		if value, ok := o.Adapter.value(v, t, param); ok {
			take(Filled{Param: param, Value: value, Source: FromState, Class: v.class(t, -1), Share: stateShare}, -1)
		}
	}
	for i := range m.rules[symbol] {
		r := &m.rules[symbol][i]
		if r.Param != param {
			continue
		}
		newest := -1
		source := FromText
		if r.Side <= dataflow.Input {
			source = FromCall
			if newest = v.newest(r.From); newest < 0 {
				continue
			}
		}
		class := v.class(t, newest)
		share := r.Share(class)
		if found && !o.Ordered && (share < best.Share || share == best.Share && newest <= newestBest) {
			continue // reading would be for nothing
		}
		var got reading
		var ok bool
		if source == FromText {
			got.value, ok = v.readText(r.Path, t, param)
		} else {
			got, ok = v.read(r.key(), newest, t, param)
		}
		if ok {
			take(Filled{
				Param: param, Value: string(got.value.AppendCanonical(nil)), Source: source, Class: class, Share: share,
				List: strings.Contains(r.Path, "[*]"), Left: got.left, All: got.all,
			}, newest)
		}
	}
	return best, found
}

// mentioned reports whether the user has mentioned a value, and whether another
// identifier of its shape.
func (v view) mentioned(value string) (named, other bool) {
	if !strings.HasPrefix(value, `"`) {
		return false, false
	}
	parsed, err := trace.ParseValue([]byte(value))
	if err != nil || parsed.Kind != trace.String {
		return false, false
	}
	shape, ok := shapeOf(parsed.Text)
	if !ok {
		return false, false
	}
	for i := since(v.messages); i < v.messages; i++ {
		if v.h.t.Messages[i].Role != trace.RoleUser {
			continue
		}
		for _, w := range v.h.messageWords(i) {
			named = named || w.text == parsed.Text
			other = other || w.shape == shape && w.text != parsed.Text
		}
	}
	return named, other
}

// Schemas are what definitions allow as values of parameters.
type Schemas struct {
	params map[paramOf]allowed
}

type paramOf struct {
	tool  trace.Name
	param string
}

type allowed struct {
	kinds []string
	enum  []string // canonical JSON; nil allows all
}

// SchemasOf reads the input schemas of definitions: types and enumerations of
// parameters, which is as far as values are checked.
func SchemasOf(defs []trace.ToolDef) *Schemas {
	s := &Schemas{params: map[paramOf]allowed{}}
	for i := range defs {
		if defs[i].Input.IsZero() {
			continue
		}
		schema, err := trace.ParseValue([]byte(defs[i].Input.Text()))
		if err != nil {
			continue
		}
		properties, _ := schema.Lookup("properties")
		for _, m := range properties.Members {
			var a allowed
			if kind, ok := m.Value.Lookup("type"); ok {
				if kind.Kind == trace.String {
					a.kinds = []string{kind.Text}
				}
				for _, e := range kind.Elems {
					a.kinds = append(a.kinds, e.Text)
				}
			}
			if enum, ok := m.Value.Lookup("enum"); ok {
				a.enum = []string{}
				for _, e := range enum.Elems {
					a.enum = append(a.enum, string(e.AppendCanonical(nil)))
				}
			}
			s.params[paramOf{defs[i].Name, m.Name}] = a
		}
	}
	return s
}

// Fits reports whether a parameter's schema allows a value, given as canonical
// JSON. Parameters without a schema allow all.
func (s *Schemas) Fits(tool trace.Name, param, value string) bool {
	a, ok := s.params[paramOf{tool, param}]
	if !ok {
		return true
	}
	if a.enum != nil && !slices.Contains(a.enum, value) {
		return false
	}
	if len(a.kinds) == 0 {
		return true
	}
	v, err := trace.ParseValue([]byte(value))
	if err != nil {
		return false
	}
	integer := v.Kind == trace.Number && !strings.ContainsAny(v.Text, ".eE")
	return slices.ContainsFunc(a.kinds, func(kind string) bool {
		switch kind {
		case "string":
			return v.Kind == trace.String
		case "integer":
			return integer
		case "number":
			return v.Kind == trace.Number
		case "boolean":
			return v.Kind == trace.Bool
		case "array":
			return v.Kind == trace.Array
		case "object":
			return v.Kind == trace.Object
		case "null":
			return v.Kind == trace.Null
		}
		return true
	})
}
