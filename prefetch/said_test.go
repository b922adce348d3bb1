package prefetch

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
)

func TestShapes(t *testing.T) {
	for _, test := range []struct {
		shape Shape
		text  string
		want  []string
	}{
		{"#A9{7}", "orders #W1234567 and #W7654321, not #W123 or W1234567 nor #W12345678", []string{"#W1234567", "#W7654321"}},
		{"a+_a+_9+", "I am mia_li_3668 (not Mia_li_3668x)", []string{"mia_li_3668"}},
		{"X{6}", "EHGLP3, then 4WQ150; nothing in LONGWORD or abc", []string{"EHGLP3", "4WQ150"}},
		{"Aa+", "My name is José García", []string{"My"}},
		{"9{5}", "zip 19122 or 191220", []string{"19122"}},
		{`\w9{2}`, "w12", []string{"w12"}},
		{"9+.9{2}", "for 12.50", []string{"12.50"}},
		{ShapeEmail, "write to mia.li@example.com or <x@y.z>.", []string{"mia.li@example.com", "x@y.z"}},
	} {
		r := &Rule{ID: "r", Source: Source{Kind: KindUser, Slots: []Slot{{Argument: "v", Shapes: []Shape{test.shape}}}}, Target: Target{Tool: "read"}, Depth: 1}
		var got []string
		for _, o := range NewMatcher(r).Said(test.text) {
			v, _ := o.Arguments.Lookup("v")
			got = append(got, v.Text)
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s finds %q in %q, want %q", test.shape, got, test.text, test.want)
		}
	}
	for _, bad := range []Shape{"", "9{", "9{0}", "9{x}", "{3}", "+", `a\`, Shape(strings.Repeat("a", 300)), "\xff"} {
		if text, err := bad.Expression(); err == nil {
			t.Errorf("%q is the expression %s", bad, text)
		}
	}
}

// store are rules of a shop: who the customer is, and orders, once that is known.
var store = Set{
	Reads: []string{"find", "get_order", "get_user", "list"},
	Rules: []Rule{
		{ID: "find", Depth: 1, Target: Target{Tool: "find"}, Source: Source{Kind: KindUser, Slots: []Slot{
			{Argument: "first", Shapes: []Shape{"Aa+"}, After: []string{"am", "is"}}, {Argument: "last", Shapes: []Shape{"Aa+"}, Near: true}, {Argument: "zip", Shapes: []Shape{"9{5}"}},
		}}},
		{ID: "order", Depth: 1, Target: Target{Tool: "get_order"}, Source: Source{Kind: KindUser, Slots: []Slot{{Argument: "id", Shapes: []Shape{"#A9{3}"}}}, Trust: []string{"find"}}},
		{ID: "number", Depth: 1, When: When{Alone: true}, Target: Target{Tool: "get_user"}, Source: Source{Kind: KindUser, Slots: []Slot{{Argument: "n", Shapes: []Shape{"9{5}"}, Number: true}}}},
		{ID: "list", Depth: 1, Target: Target{Tool: "list"}, Source: Source{Kind: KindNone}},
		{ID: "user", Depth: 1, Source: Source{Tool: "find"}, Target: Target{Tool: "get_user", Argument: "id"}},
	},
}

func named(reads []Read) (out []string) {
	for _, r := range reads {
		out = append(out, fmt.Sprintf("%d %s %s", r.Level, r.Tool, r.Arguments.AppendCanonical(nil)))
	}
	return out
}

// TestSaid follows a customer: several arguments of one message, a value that waits until
// it is known who asks, what follows from an answer that was read ahead, and nothing twice.
func TestSaid(t *testing.T) {
	if err := store.Check(); err != nil {
		t.Fatal(err)
	}
	s := NewSession(&store)
	check := func(what string, reads []Read, want ...string) {
		t.Helper()
		if got := named(reads); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	check("the beginning", s.Said("Where is my order #W123?"), `0 list {}`)
	reads := s.Said("I am Mia Li, and my zip is 19122.")
	check("who it is", reads, `0 find {"first":"Mia","last":"Li","zip":"19122"}`)
	follow := s.Got(reads[0], trace.NewString("u1"))
	check("what follows", follow, `0 get_order {"id":"#W123"}`, `1 get_user {"id":"u1"}`)
	if _, level, is := s.Take(reads[0].Call); !is || level != 0 {
		t.Errorf("what was read is not there: %v at level %d", is, level)
	}
	check("again", s.Said("I am Mia Li again, and asked for #W123"))
	check("alone", s.Said("54321"), `0 get_user {"n":54321}`)
	check("not alone", s.Said("54322 and #W777"), `0 get_order {"id":"#W777"}`)
	s.Begin(Call{Tool: "cancel", Arguments: trace.NewObject()})
	if _, _, is := s.Has(Call{Tool: "get_order", Arguments: trace.NewObject(trace.Member{Name: "id", Value: trace.NewString("#W777")})}); is {
		t.Error("what was read is good after a write")
	}
}

// TestSaidIsBounded: a message that lists a thousand orders leads to as many reads as one
// with a few, and all messages together to a bounded number.
func TestSaidIsBounded(t *testing.T) {
	set := Set{Reads: []string{"get_order"}, Rules: []Rule{{ID: "order", Depth: 1, Target: Target{Tool: "get_order"}, Source: Source{Kind: KindUser, Slots: []Slot{{Argument: "id", Shapes: []Shape{"#A9{6}"}}}}}}}
	s := NewSession(&set)
	n, all := 100000, 0
	for range 100 {
		var text strings.Builder
		for range 1000 {
			n++
			fmt.Fprintf(&text, "#W%d ", n)
		}
		got := len(s.Said(text.String()))
		if got > MaxSaid {
			t.Fatalf("a message leads to %d reads", got)
		}
		all += got
	}
	if all != MaxSaidSession {
		t.Errorf("the session made %d reads, want %d", all, MaxSaidSession)
	}
}

// FuzzShape: any shape is refused or is an expression that compiles, and a message leads to
// calls of the rule's tool only.
func FuzzShape(f *testing.F) {
	f.Add("#A9{7}", "order #W1234567", "order")
	f.Add("a+_a+_9+", "mia_li_1", "")
	f.Add(`\{\}`, "{}", "is")
	f.Fuzz(func(t *testing.T, shape, text, word string) {
		r := &Rule{ID: "r", Depth: 1, Target: Target{Tool: "read"}, Source: Source{Kind: KindUser, Slots: []Slot{{Argument: "v", Shapes: []Shape{Shape(shape)}, After: []string{word}}}}}
		set := Set{Reads: []string{"read"}, Rules: []Rule{*r}}
		if set.Check() != nil {
			return
		}
		m := NewMatcher(r)
		if m.pattern == nil {
			t.Fatalf("%q passes the check and does not compile", shape)
		}
		for _, o := range m.Said(text) {
			if o.Tool != "read" {
				t.Fatalf("calls %s", o.Tool)
			}
		}
	})
}
