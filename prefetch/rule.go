package prefetch

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Source is where the values of a rule come from.
type Source struct {
	Kind Kind
	Tool string        // whose results hold the values; with KindNone the tool whose answer begins the read, "" for the beginning of the session
	Path jsonpath.Path // of the values in the results: each scalar that it selects is one

	Slots []Slot   // of KindUser: the arguments that a message gives, in the order of the message
	Trust []string // of KindUser: tools of which one must have succeeded before the read is made, sorted; nil for none
}

// Kind is a kind of source.
type Kind string

// The kinds. The zero value is KindResult.
const (
	KindResult Kind = ""     // a value in an answer of a tool
	KindUser   Kind = "user" // values in a message of the user
	KindNone   Kind = "none" // nothing: all arguments are constants, or there are none
	KindSame   Kind = "same" // as KindResult, where the value was the same in all tasks, so that equality proves no link
)

// String returns the name of the kind.
func (k Kind) String() string {
	if k == KindResult {
		return "result"
	}
	return string(k)
}

// Target is the calls that read ahead.
type Target struct {
	Tool     string
	Argument string  // that takes the value; "" with KindUser and KindNone
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
	Turn  Turn // of the calls of the source in this run
	Last  Last // how the call before ended
	Alone bool // of KindUser: only after messages that give no other read to make, of another tool
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
	// MaxSaid is how many reads one message leads to at most, without those that follow from
	// their answers, and MaxSaidSession how many all messages of a session do.
	MaxSaid, MaxSaidSession = 4, 64
	// MaxMessage is how much of a message is looked at, in bytes.
	MaxMessage = 1 << 16
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
		if r.ID == "" || ids[r.ID] {
			return fmt.Errorf("rule %d: an id is missing or given twice", i+1)
		}
		ids[r.ID] = true
		if err := s.check(r); err != nil {
			return fmt.Errorf("rule %s: %w", r.ID, err)
		}
	}
	return nil
}

func (s *Set) check(r *Rule) error {
	answers := r.Source.Kind == KindResult || r.Source.Kind == KindSame
	switch {
	case answers && !s.reads(r.Source.Tool):
		return errors.New("nothing says that the tool of its source only reads")
	case !s.reads(r.Target.Tool):
		return errors.New("nothing says that the tool of its target only reads")
	case answers != (r.Target.Argument != ""):
		return errors.New("a value of an answer, and no other, has an argument that takes it")
	case r.Depth != 1 && r.Depth != 2:
		return errors.New("the depth is 1 or 2")
	case r.MaxElements < 0:
		return errors.New("a number of elements is not negative")
	}
	given := map[string]bool{}
	add := func(name string) error {
		if given[name] {
			return errors.New("an argument is given twice")
		}
		given[name] = true
		return nil
	}
	if answers {
		given[r.Target.Argument] = true
	}
	for k := range r.Target.Others {
		o := &r.Target.Others[k]
		if err := add(o.Argument); err != nil {
			return err
		}
		if !answers && o.Origin != FromConstant {
			return errors.New("only an answer gives further arguments that are not constant")
		}
	}
	if r.Source.Kind == KindUser {
		for i := range r.Source.Slots {
			if err := add(r.Source.Slots[i].Argument); err != nil {
				return err
			}
		}
		if _, err := Pattern(r.Source.Slots); err != nil {
			return err
		}
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

// Matcher finds what messages offer by a rule of KindUser.
type Matcher struct {
	rule    *Rule
	pattern *regexp.Regexp // nil matches nothing
}

// NewMatcher returns the matcher of a rule, which must not change; one of another kind
// matches nothing.
func NewMatcher(r *Rule) *Matcher {
	m := &Matcher{rule: r}
	if r.Source.Kind != KindUser {
		return m
	}
	if text, err := Pattern(r.Source.Slots); err == nil {
		m.pattern, _ = regexp.Compile(text)
	}
	return m
}

// Said returns the calls that a message of the user makes possible, in the order of the
// message, without regard to [Source.Trust] and to what was called before.
func (m *Matcher) Said(text string) []Offer {
	if m.pattern == nil {
		return nil
	}
	if len(text) > MaxMessage {
		text = strings.ToValidUTF8(text[:MaxMessage], "")
	}
	var out []Offer
	for range maxNodes {
		at := m.pattern.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		next := at[3] // behind the first value
		if members := m.rule.arguments(text, at); members != nil {
			out, next = append(out, m.rule.constant(members, len(out))), at[1]
		}
		text = text[max(next, 1):]
	}
	return out
}

// arguments returns the arguments that a match gives, nil if one of them is no value.
func (r *Rule) arguments(text string, at []int) []trace.Member {
	members := make([]trace.Member, 0, len(r.Source.Slots)+len(r.Target.Others))
	for i := range r.Source.Slots {
		s := &r.Source.Slots[i]
		begin, end := at[2*i+2], at[2*i+3]
		value := trace.NewString(text[begin:end])
		if _, not := slices.BinarySearch(s.Not, strings.ToLower(value.Text)); not || !isValue(&value) || isLetterAt(text[:begin], value.Text[0], utf8.DecodeLastRuneInString) || isLetterAt(text[end:], value.Text[len(value.Text)-1], utf8.DecodeRuneInString) {
			return nil
		}
		if s.Number {
			v, err := trace.ParseValue([]byte(value.Text))
			if err != nil || v.Kind != trace.Number {
				return nil
			}
			value = v
		}
		members = append(members, trace.Member{Name: s.Argument, Value: value})
	}
	return members
}

// isLetterAt reports whether a letter beyond ASCII goes on with the word that a value begins
// or ends with: expressions look at ASCII alone.
func isLetterAt(text string, edge byte, decode func(string) (rune, int)) bool {
	r, _ := decode(text)
	return (edge == '_' || '0' <= edge && edge <= '9' || 'a' <= edge|0x20 && edge|0x20 <= 'z') && r > unicode.MaxASCII && r != utf8.RuneError && unicode.IsLetter(r)
}

// constant returns the call with the given arguments and the constants.
func (r *Rule) constant(members []trace.Member, n int) Offer {
	for i := range r.Target.Others {
		o := &r.Target.Others[i]
		members = append(members, trace.Member{Name: o.Argument, Value: o.Constant})
	}
	return Offer{Call{Tool: r.Target.Tool, Arguments: trace.NewObject(members...)}, n}
}

// Offers returns the calls that an answer of the rule's source leads to, one for each
// value, without regard to [When] and to what was called before. Where a further argument
// has no single value there is none.
func (r *Rule) Offers(arguments, result trace.Value) []Offer {
	switch r.Source.Kind {
	case KindUser:
		return nil
	case KindNone:
		return []Offer{r.constant(nil, 0)}
	}
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
