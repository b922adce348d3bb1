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

func first(t *testing.T, d *Digest) *Trajectory {
	t.Helper()
	all := slices.Collect(d.All())
	if len(all) == 0 {
		t.Fatal("nothing is kept")
	}
	return all[0]
}

// What is kept says what was added, whatever becomes of the block or of a copy.
func TestDigestKeeps(t *testing.T) {
	run, block := digested()
	d := NewDigest(1 << 20)
	d.Add(run)
	for range 2 {
		got := first(t, d)
		args, ok := got.Calls[0].ArgsValue()
		if a, _ := args.Lookup("a"); !ok || a.Text != "1" {
			t.Errorf("arguments %v", args)
		}
		result, ok := got.Calls[0].ResultValue()
		if b, _ := result.Lookup("b"); !ok || len(b.Elems) != 2 {
			t.Errorf("result %v", result)
		}
		if said := got.Messages[0].Text.Text(); said != "said" || got.Calls[0].Status != StatusUnknown {
			t.Errorf("said %q, status %v", said, got.Calls[0].Status)
		}
		got.Calls[0].Status = StatusFailed
		clear(block)
	}
	// Another text in the place of the one that was kept is parsed anew.
	got := first(t, d)
	got.Calls[0].Result = JSONOf([]byte(`"other"`))
	if result, _ := got.Calls[0].ResultValue(); result.Text != "other" {
		t.Errorf("result %v", result)
	}
}

// Work is done once for a trajectory as it was kept, and each time for one that was
// changed, is not kept, or finds no room.
func TestDigestRemembers(t *testing.T) {
	run, _ := digested()
	d := NewDigest(1 << 20)
	d.Add(run)
	type key struct{}
	done := 0
	ask := func(t *Trajectory, size int) int {
		return t.Remember(key{}, func() (any, int) { done++; return len(t.Calls), size }).(int)
	}
	changed := first(t, d)
	changed.Calls = changed.Calls[:1]
	if ask(changed, 1); ask(changed, 1) != 1 || done != 2 {
		t.Errorf("work was done %d times for a changed trajectory", done)
	}
	if ask(first(t, d), 1<<30); ask(first(t, d), 1<<30) != 2 || done != 4 {
		t.Errorf("work was done %d times without room", done)
	}
	other := first(t, d)
	other.Calls[0].Status = StatusOK
	if ask(first(t, d), 1); ask(other, 1) != 2 || done != 5 {
		t.Errorf("work was done %d times for what is kept", done)
	}
	if ask(run, 1); ask(run, 1) != 2 || done != 7 {
		t.Errorf("work was done %d times for what is not kept", done)
	}
}

// What no digest keeps remembers for itself once it is told to, in a copy too.
func TestRecall(t *testing.T) {
	run, _ := digested()
	run.Recall()
	type key struct{}
	if run.IsKept() || run.Remembered(key{}) != nil {
		t.Error("something is remembered before there is anything")
	}
	done := 0
	ask := func(t *Trajectory) int {
		return t.Remember(key{}, func() (any, int) { done++; return len(t.Calls), 1 << 40 }).(int)
	}
	again := *run
	if ask(run) != 2 || ask(&again) != 2 || done != 1 || run.Remembered(key{}) != 2 {
		t.Errorf("work was done %d times", done)
	}
	again.Calls = again.Calls[:1]
	if ask(&again) != 1 || done != 2 || again.Remembered(key{}) != nil {
		t.Errorf("work was done %d times for a changed copy too", done)
	}
	d := NewDigest(1 << 20)
	if kept := d.Add(run); !kept.IsKept() || !first(t, d).IsKept() || run.IsKept() {
		t.Error("what a digest keeps is not known to be kept")
	}
}

// The first that finds no room ends what is kept.
func TestDigestIsBounded(t *testing.T) {
	run, _ := digested()
	d := NewDigest(4000)
	for range 100 {
		d.Add(run)
	}
	if d.IsWhole() || d.Len() == 0 || d.Len() > 10 {
		t.Errorf("%d are kept", d.Len())
	}
	large, _ := digested()
	large.Calls = slices.Repeat(large.Calls, 1000)
	d = NewDigest(4000)
	d.Add(large)
	d.Add(run)
	if d.IsWhole() || d.Len() != 0 {
		t.Errorf("%d are kept behind one that has no room", d.Len())
	}
}

// What is put together from records all over the input counts for less.
func TestDigestKeepsAssembled(t *testing.T) {
	kept := func(offset int64) int {
		d := NewDigest(10_000)
		for range 100 {
			run, _ := digested()
			run.Offset = offset
			d.Add(run)
		}
		return d.Len()
	}
	if alone, among := kept(0), kept(-1); among < 2*alone {
		t.Errorf("%d are kept that were put together, and %d that were not", among, alone)
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
