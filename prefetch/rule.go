package prefetch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// Set is rules with what has to be known of tools to follow them.
type Set struct {
	Rules []Rule   // in the order in which they are tried
	Reads []string // tools that are known to only read, sorted; what others do is not known
}

// Rule says that values at one place in a tool's results are arguments of calls of
// another tool that usually follow.
type Rule struct {
	ID     string
	Source Source
	Target Target
	When   When

	// MaxElements is how many values of one answer are read ahead, the first ones in the
	// order of the answer; 0 means all, up to [MaxReads].
	MaxElements int

	// Depth is 2 if the rule also follows answers that were themselves read ahead, else 1.
	Depth int
}

// Source is a place in the results of a tool.
type Source struct {
	Tool string
	Path jsonpath.Path // of the values: each scalar that it selects is one
}

// Target is the calls that read ahead.
type Target struct {
	Tool     string
	Argument string  // that takes the value
	Others   []Other // further arguments, sorted by name; what is not named is left out
}

// Origin says where a further argument of a target comes from.
type Origin string

// The origins.
const (
	FromConstant Origin = "constant" // the same in all calls
	FromAnswer   Origin = "answer"   // one value in the answer that the read follows
	FromElement  Origin = "element"  // one value in the element of the list that the value stands in
	FromArgument Origin = "argument" // an argument of the call that was answered
)

// Other is a further argument of a target.
type Other struct {
	Argument string
	Origin   Origin
	Constant trace.Value   // FromConstant
	Path     jsonpath.Path // FromAnswer and FromElement; of one step with FromArgument
}

// When says after which calls of its source a rule is followed. The zero value is after
// all of them that did not fail.
type When struct {
	Turn Turn // of the calls of the source in this run
	Last Last // how the call before ended
}

// Turn says which calls of a tool are meant.
type Turn string

// The turns.
const (
	AnyTime   Turn = ""
	FirstTime Turn = "first" // the tool was not called before in this run
	Again     Turn = "again"
)

// Last says how the call before the source's ended.
type Last string

// The ends.
const (
	LastAny    Last = ""
	LastOK     Last = "ok" // or there was none
	LastFailed Last = "failed"
)

const (
	// MaxReads is how many reads one answer leads to at most, those of the second level
	// included.
	MaxReads = 32
	// MaxText is how long a text may be, in bytes, to be taken for a value.
	MaxText = 256
	// MaxKnown is how many different calls a session remembers. Beyond, nothing more is
	// read ahead.
	MaxKnown = 1 << 14
	// maxNodes is how many nodes a path may select to be followed.
	maxNodes = 4096
)

// Check returns what is wrong with the set, nil if nothing is.
func (s *Set) Check() error {
	ids := map[string]bool{}
	for i := range s.Rules {
		r := &s.Rules[i]
		switch {
		case r.ID == "" || ids[r.ID]:
			return fmt.Errorf("rule %d: an id is missing or given twice", i+1)
		case !s.reads(r.Source.Tool):
			return fmt.Errorf("rule %s: nothing says that the tool of its source only reads", r.ID)
		case !s.reads(r.Target.Tool):
			return fmt.Errorf("rule %s: nothing says that the tool of its target only reads", r.ID)
		case r.Target.Argument == "":
			return fmt.Errorf("rule %s: no argument takes the value", r.ID)
		case r.Depth != 1 && r.Depth != 2:
			return fmt.Errorf("rule %s: the depth is 1 or 2", r.ID)
		case r.MaxElements < 0:
			return fmt.Errorf("rule %s: a number of elements is not negative", r.ID)
		}
		given := map[string]bool{r.Target.Argument: true}
		for k := range r.Target.Others {
			name := r.Target.Others[k].Argument
			if given[name] {
				return fmt.Errorf("rule %s: an argument is given twice", r.ID)
			}
			given[name] = true
		}
		ids[r.ID] = true
	}
	return nil
}

// reads reports whether a tool is known to only read.
func (s *Set) reads(tool string) bool {
	_, is := slices.BinarySearch(s.Reads, tool)
	return is
}

// Call is a tool with its arguments.
type Call struct {
	Tool      string
	Arguments trace.Value // an object

	key string // what Key returns; "" if it is worked out each time
}

// Key is what calls that ask for the same have in common.
func (c Call) Key() string {
	if c.key != "" {
		return c.key
	}
	return string(c.Arguments.AppendCanonical(append([]byte(c.Tool), 0)))
}

// Keyed returns the same call, of which Key is worked out now and not each time; tool and
// arguments must not be changed any more.
func (c Call) Keyed() Call {
	c.key = c.Key()
	return c
}

// Offer is a call that an answer makes possible by a rule.
type Offer struct {
	Call
	Element int // of the values of the answer, from 0
}

// Offers returns the calls that an answer of the rule's source leads to, one for each
// value, without regard to [When] and to what was called before. Where a further argument
// has no single value there is none.
func (r *Rule) Offers(arguments, result trace.Value) []Offer {
	if len(r.Source.Path) == 0 {
		return r.offer(nil, arguments, &result, &result, &result, 0)
	}
	list, inside := r.Source.Split()
	var out []Offer
	n := 0
	elements := list.Eval(result)
	if len(elements) > maxNodes {
		return nil
	}
	for i := range elements {
		values := inside.Eval(elements[i])
		for j := range values {
			before := len(out)
			if out = r.offer(out, arguments, &result, &elements[i], &values[j], n); len(out) > before || isValue(&values[j]) {
				n++
			}
		}
	}
	return out
}

// Split returns the path of the innermost list's elements, and the path from such an
// element to the value: the whole path is the latter where no list is on the way.
func (s *Source) Split() (element, value jsonpath.Path) {
	at := 0
	for i := range s.Path {
		if s.Path[i].Kind == jsonpath.Each {
			at = i + 1
		}
	}
	return s.Path[:at], s.Path[at:]
}

func (r *Rule) offer(out []Offer, arguments trace.Value, result, element, value *trace.Value, n int) []Offer {
	if !isValue(value) {
		return out
	}
	members := []trace.Member{{Name: r.Target.Argument, Value: *value}}
	for i := range r.Target.Others {
		o := &r.Target.Others[i]
		v, ok := o.value(arguments, result, element)
		if !ok {
			return out
		}
		members = append(members, trace.Member{Name: o.Argument, Value: v})
	}
	return append(out, Offer{Call{Tool: r.Target.Tool, Arguments: trace.NewObject(members...)}, n})
}

// isValue reports whether a node is worth asking a tool about.
func isValue(v *trace.Value) bool {
	return v.Kind == trace.Number || v.Kind == trace.String && strings.TrimSpace(v.Text) != "" && len(v.Text) <= MaxText
}

// value returns what the argument is after one answer.
func (o *Other) value(arguments trace.Value, result, element *trace.Value) (trace.Value, bool) {
	from := result
	switch o.Origin {
	case FromConstant:
		return o.Constant, true
	case FromArgument:
		from = &arguments
	case FromElement:
		from = element
	}
	v, ok := o.Path.Single(*from)
	return v, ok && (isValue(&v) || v.Kind == trace.Bool)
}
