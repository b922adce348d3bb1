package backtest

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/trace"
)

// notedIn is a source of trajectories of which notes are taken that have so much room.
func notedIn(room int64, list []*trace.Trajectory) compile.Source {
	notes := trace.NewNotes(room)
	return func() iter.Seq2[*trace.Trajectory, error] {
		return func(yield func(*trace.Trajectory, error) bool) {
			for i, t := range list {
				again := *t
				again.Calls = slices.Clone(t.Calls)
				if again.NoteIn(notes, i); !yield(&again, nil) {
					return
				}
			}
		}
	}
}

// TestRemembered holds that a back-test says the same whatever its folds remember.
func TestRemembered(t *testing.T) {
	for name, list := range map[string][]*trace.Trajectory{
		"lookups": append(lookups(40, true), others(28)...), "routines": offering(routines(40), "open", "find", "get_order", "note", "stop"),
	} {
		var want string
		for _, room := range []int64{0, 2_000, 20_000, 1 << 30} {
			o := togetherOf("get_order", "find")
			o.Techniques, o.Verdict, o.Workers = nil, &VerdictOptions{}, 2
			r, err := Run(notedIn(room, list), o)
			if err != nil {
				t.Fatal(err)
			}
			v := *r.Verdict
			r.Verdict = nil
			got := fmt.Sprintf("%+v %+v", *r, v)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s with %d bytes of room:\n%s\nwithout any:\n%s", name, room, got, want)
			}
		}
	}
}

// TestRecalled holds that what is remembered for another list is what is found for this one.
func TestRecalled(t *testing.T) {
	list := lookups(40, true)
	c, err := compile.Run(sourceOf(list...), nil, compile.Options{Algorithm: compile.Patterns})
	if err != nil || len(c.Definitions) == 0 {
		t.Fatal(err, len(c.Definitions))
	}
	tool := &c.Definitions[0].Tool
	other := *tool
	other.Name, other.Steps = "first", tool.Steps[:1]
	var shared pool
	shared.add(tool)
	plays := &plays{}
	newFinder(append(shared.tools, &other), plays, true)
	for run := range notedIn(1<<30, list)() {
		k := newLabeller(nil, false).of(run)
		own, again := newFinder(shared.tools, nil, false), newFinder(shared.tools, plays, true)
		want, got := own.use(k), again.recall(k)
		if got == nil || len(got.places) != 1 || len(want.places) != 1 || len(got.moments) != len(want.moments) {
			t.Fatalf("%+v\nwant %+v", got, want)
		}
		p, q := &got.places[0], &want.places[0]
		if fmt.Sprint(p.calls.occurrence(), p.removed, p.tool, p.begin, p.end, p.exact, p.saves, p.calls.len()) != fmt.Sprint(q.calls.occurrence(), q.removed, q.tool, q.begin, q.end, q.exact, q.saves, q.calls.len()) {
			t.Errorf("place %+v\nwant %+v", p, q)
		}
		for i := range got.moments {
			m, n := &got.moments[i], &want.moments[i]
			if fmt.Sprint(m.calls.occurrence(), m.removed, m.call, m.followed, m.spent()) != fmt.Sprint(n.calls.occurrence(), n.removed, n.call, n.followed, n.spent()) {
				t.Errorf("moment %+v\nwant %+v", m, n)
			}
		}
	}
}
