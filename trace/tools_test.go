package trace

import "testing"

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
