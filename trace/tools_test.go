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
