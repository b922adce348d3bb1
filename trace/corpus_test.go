package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/deal"
)

// played builds a trajectory from words: a tool, with + before it if it shares the
// turn of the call before, ! behind it if it failed, and > where the user speaks.
// The argument of a call is what follows an equals sign.
func played(task, words string) *Trajectory {
	t := &Trajectory{Task: task}
	asked := false
	for word := range strings.FieldsSeq(words) {
		if word == ">" {
			t.Messages = append(t.Messages, Message{Role: RoleUser, Text: TextOf("and?"), Turn: len(t.Turns), Call: len(t.Calls)})
			asked = true
			continue
		}
		if word == "." {
			t.Turns = append(t.Turns, Turn{FirstCall: len(t.Calls)})
			continue
		}
		name, parallel := strings.CutPrefix(word, "+")
		if !parallel || len(t.Turns) == 0 {
			t.Turns = append(t.Turns, Turn{FirstCall: len(t.Calls)})
		}
		name, failed := strings.CutSuffix(name, "!")
		name, arg, _ := strings.Cut(name, "=")
		c := Call{Tool: Intern(name), Turn: len(t.Turns) - 1, Args: JSONOf(fmt.Appendf(nil, `{"q":%q}`, arg)), HasResult: true, Result: TextOf("r"), Status: StatusOK}
		if !parallel && len(t.Calls) > 0 {
			c.AfterUser, asked = asked, false
		}
		if failed {
			c.Status = StatusFailed
		}
		t.Turns[c.Turn].NumCalls++
		t.Calls = append(t.Calls, c)
	}
	return t
}

func TestCorpus(t *testing.T) {
	c := NewCorpus(CorpusOptions{Group: func(t *Trajectory) string { return t.Task[:1] }})
	for _, x := range []*Trajectory{
		played("x1", "a b +b > c!"), played("y1", "a b +b > c!"), played("x1", ""), played("x2", "a b b > c!"), played("y2", "c"),
	} {
		c.Add(x)
	}
	if all, stored := c.Calls(); all != 13 || stored != 9 {
		t.Errorf("%d calls, %d stored, want 13 and 9: the first two trajectories are the same", all, stored)
	}
	if got := len(c.Tools()); got != 3 || c.Tools()[2].Value() != "c" {
		t.Errorf("tools are %v", c.Tools())
	}
	q := c.Sequence(1)
	if want := []CallFlags{FlagOK, FlagOK, FlagOK, FlagFailed | FlagAfterUser}; !slices.Equal(q.Flags, want) {
		t.Errorf("flags are %v, want %v", q.Flags, want)
	}
	if c.Tasks()[c.Task(3)] != deal.HashOf("x2") || c.Groups()[c.Group(4)] != "y" || c.Sequence(2).Len() != 0 {
		t.Error("a task, group or sequence is another's")
	}
	variants := c.Variants()
	if len(variants) != 2 || variants[0].Trajectories != 3 || len(variants[0].Tools) != 4 || variants[1].Example != 4 {
		t.Errorf("variants are %+v: turns do not tell them apart, and nothing is no variant", variants)
	}
	collapsed := NewCorpus(CorpusOptions{CollapseRepeats: true})
	collapsed.Add(played("t", "a a b b a"))
	if got := collapsed.Sequence(0).Tools; !slices.Equal(got, []uint32{0, 1, 0}) {
		t.Errorf("collapsed to %v, want a b a", got)
	}
}

// Sequences come out as they went in, whatever was stored before.
func TestCorpusKeepsSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := NewCorpus(CorpusOptions{})
		var in []*Trajectory
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "+a", "a!", ">", "."}), 0, 6).Draw(t, "words")
			x := played("t", strings.Join(words, " "))
			in = append(in, x)
			c.Add(x)
		}
		for i, x := range in {
			q := c.Sequence(i)
			if q.Len() != len(x.Calls) {
				t.Fatalf("trajectory %d has %d calls, want %d", i, q.Len(), len(x.Calls))
			}
			for j := range x.Calls {
				if c.Tools()[q.Tools[j]] != x.Calls[j].Tool || int(int32(q.Turns[j])) != x.Calls[j].Turn || q.Flags[j]&FlagAfterUser != 0 != x.Calls[j].AfterUser {
					t.Fatalf("call %d of trajectory %d is another", j, i)
				}
			}
		}
	})
}

func TestDropCalls(t *testing.T) {
	for _, test := range []struct{ words, want string }{
		{"a b > x c", "a0 b1 c3*"}, // what the user said stands before c now
		{"x > a > b", "a1 b2*"},    // a is the first call, which is never after a user
		{"a +x +b . > c", "a0 b0 c2*"},
		{"x x", ""},
	} {
		x := played("t", test.words)
		before := len(x.Calls)
		dropped := x.DropCalls(func(c *Call) bool { return c.Tool.Value() == "x" })
		var got []string
		for i, c := range x.Calls {
			mark := ""
			if c.AfterUser {
				mark = "*"
			}
			got = append(got, fmt.Sprintf("%s%d%s", c.Tool.Value(), c.Turn, mark))
			if turn := x.Turns[c.Turn]; i < turn.FirstCall || i >= turn.FirstCall+turn.NumCalls {
				t.Errorf("%s: call %d is not among those of its turn, %+v", test.words, i, turn)
			}
		}
		if strings.Join(got, " ") != test.want || before-dropped != len(x.Calls) {
			t.Errorf("%s: left %q after dropping %d, want %q", test.words, got, dropped, test.want)
		}
	}
}

func BenchmarkCorpus(b *testing.B) {
	x := played("t", strings.Repeat("a b c d ", 10))
	b.ReportAllocs()
	for b.Loop() {
		c := NewCorpus(CorpusOptions{})
		for range 100 {
			c.Add(x)
		}
	}
	b.ReportMetric(4000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcalls/s")
}

// TestTools holds that lists are told apart by everything that they say, and that a
// copy does not hold on to what it was made from.
func TestTools(t *testing.T) {
	text := []byte(`{"type":"object"}`)
	list := []ToolDef{{Name: Intern("a"), Input: Raw{Data: text, Form: FormJSON}, Description: TextOf("reads")}, {Name: Intern("b")}}
	own := OwnTools(list)
	if !SameTools(list, own) || !SameTools(list, list) || !SameTools(nil, []ToolDef{}) {
		t.Error("a copy is another list")
	}
	for name, change := range map[string]func(d *ToolDef){
		"name":        func(d *ToolDef) { d.Name = Intern("c") },
		"input":       func(d *ToolDef) { d.Input = JSONOf([]byte(`{"type":"string"}`)) },
		"description": func(d *ToolDef) { d.Description = TextOf("writes") },
		"form":        func(d *ToolDef) { d.Description.Form = FormJSON },
		"output":      func(d *ToolDef) { d.Output = JSONOf([]byte(`{}`)) },
		"annotations": func(d *ToolDef) { d.Annotations = JSONOf([]byte(`{}`)) },
	} {
		other := OwnTools(list)
		if change(&other[0]); SameTools(list, other) {
			t.Errorf("a list with another %s is the same", name)
		}
	}
	if SameTools(list, list[:1]) {
		t.Error("a shorter list is the same")
	}
	text[2] = 'x'
	if SameTools(list, own) || string(own[0].Input.Data) != `{"type":"object"}` {
		t.Error("the copy is no copy")
	}
}

// TestToolLists remembers the latest lists, an equal one as the same, and forgets the
// one that was not asked for longest.
func TestToolLists(t *testing.T) {
	list := func(name string) []ToolDef { return []ToolDef{{Name: Intern(name), Description: TextOf(name)}} }
	var known ToolLists[int]
	if _, ok := known.Of(nil); ok {
		t.Error("something is known of nothing")
	}
	for i, name := range []string{"a", "b"} {
		known.Keep(list(name), i+1, 2)
	}
	if v, ok := known.Of(list("a")); !ok || v != 1 {
		t.Errorf("a is %d, %v", v, ok)
	}
	known.Keep(list("c"), 3, 2)
	for name, want := range map[string]int{"a": 1, "b": 0, "c": 3} {
		if v, ok := known.Of(list(name)); v != want || ok != (want > 0) {
			t.Errorf("%s is %d, %v, want %d", name, v, ok, want)
		}
	}
}

// Lists of the same names and sizes are told apart.
func TestToolListsTellApart(t *testing.T) {
	list := func(text string) []ToolDef {
		return []ToolDef{{Name: Intern("a"), Description: TextOf(text)}, {Name: Intern("b")}}
	}
	var lists ToolLists[string]
	for _, text := range []string{"one", "two"} {
		if got, known := lists.Of(list(text)); known {
			t.Errorf("%q is known as %q", text, got)
		}
		lists.Keep(list(text), text, 4)
	}
	for _, text := range []string{"one", "two"} {
		if got, _ := lists.Of(list(text)); got != text {
			t.Errorf("%q is known as %q", text, got)
		}
	}
}
