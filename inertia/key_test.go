package inertia

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

func TestNameParts(t *testing.T) {
	if got, want := nameParts("simple_note.login"), []string{"simple", "simple_note", "simple_note.login", "note", "note.login", "login"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The record of a list that the tool's name names is found, wherever it stands; and
// neither its values nor its key are kept.
func TestFillByName(t *testing.T) {
	g := NewGraph(2)
	for i := range 12 {
		records := []string{
			fmt.Sprintf(`{"app":"mail","password":"pm%d"}`, i), fmt.Sprintf(`{"app":"files","password":"pf%d"}`, i), fmt.Sprintf(`{"app":"chat","password":"pc%d"}`, i),
		}
		for range i % 3 {
			records = append(records[1:], records[0])
		}
		list := fmt.Sprintf(`passwords={}={"all":[%s,%s,%s]}`, records[0], records[1], records[2])
		tool, password := "mail_login", fmt.Sprintf("pm%d", i)
		if i%2 > 0 {
			tool, password = "files_login", fmt.Sprintf("pf%d", i)
		}
		g.Add(runOf(trajectoryOf(fmt.Sprint(i), list, fmt.Sprintf(`%s={"password":%q}`, tool, password))).Observation)
	}
	m := g.Model(ModelOptions{})
	data := m.AppendSnapshot(nil, g)
	for _, value := range []string{"pm3", "pf4", "chat"} {
		if bytes.Contains(data, []byte(value)) {
			t.Errorf("the snapshot holds the value %q", value)
		}
	}
	fill := func(list string) Fill {
		h := NewHistory(trajectoryOf("new", "passwords={}="+list))
		d := h.Now()
		return m.fill(h.viewAt(&d), m.Symbol(trace1("mail_login")), &FillOptions{})
	}
	got := fill(`{"all":[{"app":"chat","password":"x"},{"app":"files","password":"y"},{"app":"mail","password":"z"}]}`)
	if !got.Complete || len(got.Args) != 1 || got.Args[0].Value != `"z"` || got.Args[0].List {
		t.Errorf("filled in %+v", got)
	}
	for _, list := range []string{
		`{"all":[{"app":"mail","password":null}]}`,
		`{"all":[{"app":5,"password":"z"},"mail",["mail"]]}`,
	} {
		for _, a := range fill(list).Args {
			if a.Share > 0.9 { // what is left is the walk over the list
				t.Errorf("of %s filled in %+v", list, a)
			}
		}
	}
}
