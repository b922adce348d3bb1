package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestAliasesUnite holds what aliases make of keys, whatever the budget.
func TestAliasesUnite(t *testing.T) {
	format := &Format{Name: "x", Assemble: func(key string, parts []Fragment) ([]*Trajectory, error) {
		var said []string
		for _, p := range parts {
			said = append(said, string(p.Data))
		}
		return []*Trajectory{{ID: key + ": " + strings.Join(said, " ")}}, nil
	}}
	for _, budget := range []int64{1, 250, 1 << 20} {
		a := newAssembler(&Options{SpillBudget: budget, TempDir: t.TempDir(), MaxRecord: 20})
		for i, f := range []Fragment{
			{Key: "a", Order: 1},
			{Key: "b", Order: 0},
			{Key: "c"},
			{Key: "big1", Order: 3},
			{Key: "big2"},
			{Key: "d", Order: 2, Aliases: []string{"x", "y"}},
			{Key: "y", Order: 1},
			{Key: "b", Order: 1, Aliases: []string{"d", "a"}},
			{Key: "a", Order: 9, Aliases: []string{"a", "z"}},
			{Key: "z", Order: 1},
			{Key: "big3", Aliases: []string{"big2", "big1"}},
		} {
			f.Data = fmt.Appendf(nil, "%d", i)
			if strings.HasPrefix(f.Key, "big") {
				f.Data = []byte("12345678901")
			}
			if err := a.add(format, 0, f); err != nil {
				t.Fatal(err)
			}
		}
		keys := a.canonical()
		var got, divided []string
		for m := range a.assemblies() {
			if problem := m.problem(); problem != nil {
				divided = append(divided, m.group.key+": "+problem.Error())
			}
			trajectories, err := m.join()
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, trajectories[0].ID)
		}
		if err := a.close(); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"a: 1 0 6 7 9 5 8", "c: 2", "big1: 12345678901", "big2: 12345678901", "big3: 12345678901",
		}
		if !slices.Equal(got, want) {
			t.Errorf("with a budget of %d, the groups are %q, want %q", budget, got, want)
		}
		want = []string{"big1: trajectory-divided: 3 sets of parts belong together and have 33 bytes; the limit is 20, so each was read alone"}
		if !slices.Equal(divided, want) {
			t.Errorf("the divided groups are %q, want %q", divided, want)
		}
		if len(keys) != 5 || keys[refKey{"x", "z"}] != "a" {
			t.Errorf("the keys of others are %v", keys)
		}
	}
}
