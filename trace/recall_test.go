package trace

import (
	"slices"
	"testing"
)

// digested is a run of two calls whose record is one block.
func digested() (*Trajectory, []byte) {
	block := []byte(`{"a":1}{"b":[2,3]}"said"`)
	piece := func(from, to int, form Form) Raw { return Raw{Data: block[from:to], Form: form} }
	return &Trajectory{
		ID: "one", Tools: []ToolDef{{Name: Intern("t")}},
		Turns:    []Turn{{NumCalls: 2}},
		Messages: []Message{{Text: piece(18, 24, FormString)}},
		Calls: []Call{
			{Tool: Intern("t"), Args: piece(0, 7, FormJSON), Result: piece(7, 18, FormJSON), HasResult: true},
			{Tool: Intern("t"), Args: piece(0, 7, FormJSON)},
		},
	}, block
}

// What is remembered says what was worked out, until the trajectory is changed.
func TestRecallValues(t *testing.T) {
	run, block := digested()
	run.Recall()
	again := *run
	again.Calls = slices.Clone(run.Calls)
	for _, of := range []*Trajectory{run, &again} {
		args, ok := of.Calls[0].ArgsValue()
		if a, _ := args.Lookup("a"); !ok || a.Text != "1" {
			t.Errorf("arguments %v", args)
		}
		result, ok := of.Calls[0].ResultValue()
		if b, _ := result.Lookup("b"); !ok || len(b.Elems) != 2 {
			t.Errorf("result %v", result)
		}
		clear(block) // what was parsed stays
	}
	// Another text in the place of the one that was parsed is parsed anew.
	again.Calls[0].Result = JSONOf([]byte(`"other"`))
	if result, _ := again.Calls[0].ResultValue(); result.Text != "other" {
		t.Errorf("result %v", result)
	}
}

// Once it is told to, a trajectory remembers for itself and its copies, until it is changed.
func TestRecall(t *testing.T) {
	type key struct{}
	done := 0
	ask := func(t *Trajectory) int {
		return t.Remember(key{}, func() any { done++; return len(t.Calls) }).(int)
	}
	run, _ := digested()
	if ask(run); ask(run) != 2 || done != 2 {
		t.Errorf("work was done %d times where nothing is to be remembered", done)
	}
	done = 0
	run.Recall()
	if run.IsNoted() || run.Remembered(key{}) != nil {
		t.Error("something is remembered before there is anything")
	}
	again := *run
	if ask(run) != 2 || ask(&again) != 2 || done != 1 || run.Remembered(key{}) != 2 {
		t.Errorf("work was done %d times", done)
	}
	again.Calls = slices.Clone(again.Calls)
	again.Calls[0].Status = StatusFailed
	if ask(&again) != 2 || done != 1 {
		t.Errorf("work was done %d times for one whose calls ended otherwise", done)
	}
	again.Calls = again.Calls[:1]
	if ask(&again) != 1 || done != 2 || again.Remembered(key{}) != nil {
		t.Errorf("work was done %d times for a changed copy too", done)
	}
}

// What is noted is found by later readings under its number and key, while there is room, and
// not of a trajectory that was changed.
func TestNotes(t *testing.T) {
	type key struct{ n int }
	notes := NewNotes(100)
	read := func(i int) *Trajectory {
		run, _ := digested()
		run.NoteIn(notes, i)
		return run
	}
	for i, size := range []int{40, 70, 60, 1} {
		if got := read(i).Note(key{}, i, size); got != (i == 0 || i == 2) {
			t.Errorf("note %d of %d bytes: %v", i, size, got)
		}
	}
	for i, want := range []any{0, nil, 2, nil, nil} {
		if got := read(i).Noted(key{}); got != want {
			t.Errorf("of %d %v is noted, want %v", i, got, want)
		}
	}
	if got := read(0).Noted(key{1}); got != nil {
		t.Errorf("%v is noted under another key", got)
	}
	changed := read(0)
	changed.Calls = changed.Calls[:1]
	if changed.IsNoted() || changed.Noted(key{}) != nil || changed.Note(key{2}, 1, 0) {
		t.Error("notes are taken of a trajectory that was changed")
	}
	bare, _ := digested()
	if bare.IsNoted() || bare.Noted(key{}) != nil || bare.Note(key{}, 1, 0) {
		t.Error("notes are taken of a trajectory without any")
	}
}

// TestSharedToolLists: a list is known where it lies and in copies of it, however many, and
// another one is not.
func TestSharedToolLists(t *testing.T) {
	list := func(text string) []ToolDef {
		return []ToolDef{{Name: Intern("get"), Description: TextOf(text)}, {Name: Intern("put"), Description: TextOf(text)}}
	}
	var lists ToolLists[string]
	first := list("one")
	lists.Keep(first, "one", 4)
	lists.Keep(list("two"), "two", 4)
	var all [][]ToolDef
	for range 20 {
		all = append(all, first, list("one"), list("two"))
	}
	for range 2 {
		for i, tools := range all {
			want := "one"
			if i%3 == 2 {
				want = "two"
			}
			if got, ok := lists.Of(tools); !ok || got != want {
				t.Fatalf("list %d is known as %q, %v", i, got, ok)
			}
			if _, ok := lists.Of(tools[:1]); ok {
				t.Fatalf("the first of list %d is known as a list", i)
			}
		}
	}
	for _, other := range [][]ToolDef{list("six"), nil} {
		if got, ok := lists.Of(other); ok {
			t.Errorf("another list is known as %q", got)
		}
	}
}
