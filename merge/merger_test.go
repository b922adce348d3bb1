package merge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/awo-dev/awo/merge/internal/mergetest"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
	"pgregory.net/rapid"
)

// TestInterleavingsOfCommutingWritesAreOneState interleaves writes that commute,
// with reads and notes among them, and looks where the walks end.
func TestInterleavingsOfCommutingWritesAreOneState(t *testing.T) {
	set := mergetest.Set(mergetest.Effect("get", rules.Accessor), mergetest.Effect("think", rules.Annotator),
		mergetest.Domain("mail_*", "mail"), mergetest.Domain("disk_*", "disk"),
		mergetest.Commute("label", "archive"), mergetest.Commute("append", ""))
	rapid.Check(t, func(t *rapid.T) {
		// The lists commute with each other as wholes; inside a list the order
		// counts.
		lists := rapid.SampledFrom([][]string{
			{"mail_send", "disk_write", "get", "think"},
			{"label", "archive", "get"},
			{"append"},
		}).Draw(t, "lists")
		var words [][]string
		for i, tool := range lists {
			n := rapid.IntRange(0, 4).Draw(t, "length")
			word := make([]string, n)
			for j := range word {
				word[j] = fmt.Sprintf(`%s{"n":%d}`, tool, rapid.IntRange(0, 2).Draw(t, "n")+10*i)
			}
			words = append(words, word)
		}
		anyOrder := lists[0] == "append"
		prefix := rapid.SampledFrom([][]string{nil, {"pay{}"}, {`mail_send{"n":1}`}, {`archive{}`}}).Draw(t, "prefix")
		suffix := rapid.SampledFrom([][]string{nil, {"pay{}"}}).Draw(t, "suffix")

		var runs []*trace.Trajectory
		for range 6 {
			runs = append(runs, mergetest.Run(slices.Concat(prefix, interleave(t, words, anyOrder), suffix)...))
		}
		m := merged(set, runs...)
		want := -1
		for i := range runs {
			all := states(m, i)
			end := 0
			if len(all) > 0 {
				end = all[len(all)-1]
			}
			if want < 0 {
				want = end
			}
			if end != want {
				t.Fatalf("trajectories 0 and %d end in states %d and %d", i, want, end)
			}
		}
	})
}

// interleave draws an interleaving of the words; in any order, if that is all
// the same.
func interleave(t *rapid.T, words [][]string, anyOrder bool) []string {
	var all []string
	at := make([]int, len(words))
	for {
		var open []int
		for i, w := range words {
			if at[i] < len(w) {
				open = append(open, i)
			}
		}
		if len(open) == 0 {
			break
		}
		i := rapid.SampledFrom(open).Draw(t, "next")
		all = append(all, words[i][at[i]])
		at[i]++
	}
	if anyOrder && len(all) > 0 {
		all = rapid.Permutation(all).Draw(t, "order")
	}
	return all
}

func TestOrderOfDependentWritesCounts(t *testing.T) {
	set := mergetest.Set(mergetest.Domain("mail_*", "mail"), mergetest.Domain("disk_*", "disk"), mergetest.Commute("label", "archive"))
	for _, pair := range [][2]string{
		{"mail_send{}", "mail_delete{}"},
		{"mail_send{}", "pay{}"}, // no domain: depends on all
		{"pay{}", "refund{}"},
		{"label{}", "mail_send{}"},
		{"label{}", `label{"n":1}`},
	} {
		m := merged(set, mergetest.Run(pair[0], pair[1]), mergetest.Run(pair[1], pair[0]))
		if a, b := states(m, 0), states(m, 1); a[1] == b[1] {
			t.Errorf("%v commute", pair)
		}
	}
}

func TestLoops(t *testing.T) {
	set := mergetest.Set(mergetest.Effect("get_*", rules.Accessor), mergetest.Domain("mail_*", "mail"), mergetest.Domain("disk_*", "disk"),
		mergetest.Loop("*", "cursor"), mergetest.Commute("tag", "star"))
	for _, test := range []struct {
		name  string
		calls []string
		want  []int // states
	}{
		{"the same write again", []string{"pay{}", "pay{}", "pay{}", "refund{}", "pay{}"}, []int{1, 1, 1, 2, 3}},
		{"less what is ignored", []string{`pay{"cursor":1}`, `pay{"cursor":2}`, `pay{"n":1}`}, []int{1, 1, 2}},
		{"reads that differ in it are one", []string{`get_a{"cursor":1}`, `get_b{}`, `get_a{"cursor":2}`}, []int{1, 2, 2}},
		{"a write of another domain between", []string{"mail_a{}", "disk_a{}", "mail_a{}", "disk_a{}"}, []int{1, 2, 2, 2}},
		{"a write of no domain between", []string{"mail_a{}", "pay{}", "mail_a{}"}, []int{1, 2, 3}},
		{"a read between", []string{"pay{}", "get_a{}", "pay{}"}, []int{1, 2, 2}},
		{"a commuting write between", []string{"tag{}", "star{}", "tag{}"}, []int{1, 2, 2}},
		{"no loop over another name", []string{"pay{}", "refund{}"}, []int{1, 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := states(merged(set, mergetest.Run(test.calls...)), 0); !slices.Equal(got, test.want) {
				t.Errorf("states %v, want %v", got, test.want)
			}
		})
	}
}

// TestLoopNeedsASoleMaximalWrite has a rule that puts equal labels into
// different domains, by an argument that a rule drops.
func TestLoopNeedsASoleMaximalWrite(t *testing.T) {
	in := func(name, pattern string) rules.Rule {
		return rules.Rule{Kind: rules.KindDomain, Match: mergetest.OnArgs("w,x,y", "d", pattern), Domain: name}
	}
	base := []rules.Rule{mergetest.DropArg("* d"), mergetest.Loop("*"), in("one", "^1$"), in("two", "^2$")}
	for _, commutes := range []bool{false, true} {
		set := mergetest.Set(base...)
		if commutes {
			set = mergetest.Set(append(base, mergetest.Commute("unused", ""))...)
		}
		for _, test := range []struct {
			name  string
			calls []string
			want  []int
		}{
			{"sole", []string{`w{"d":1}`, `w{}`}, []int{1, 1}},
			{"two of them", []string{`y{"d":2}`, `w{"d":1}`, `w{}`}, []int{1, 2, 3}},
			{"the other one below", []string{`y{"d":2}`, `x{}`, `w{"d":1}`, `w{}`}, []int{1, 2, 3, 3}},
			{"the last is none of its own", []string{`w{}`, `w{"d":1}`, `w{"d":2}`}, []int{1, 1, 1}},
		} {
			t.Run(fmt.Sprintf("%s, commute %t", test.name, commutes), func(t *testing.T) {
				if got := states(merged(set, mergetest.Run(test.calls...)), 0); !slices.Equal(got, test.want) {
					t.Errorf("states %v, want %v", got, test.want)
				}
			})
		}
	}
}

func TestContextEntersTheState(t *testing.T) {
	at := func(t *trace.Trajectory, urls ...string) *trace.Trajectory {
		for i, url := range urls {
			t.Calls[i].Context = []trace.ContextValue{{Name: "tab", Value: fmt.Sprint(i)}, {Name: "url", Value: url}}
		}
		return t
	}
	set := mergetest.Set(mergetest.Effect("read", rules.Accessor), mergetest.Loop("*"), rules.Rule{Kind: rules.KindState, Match: mergetest.On("*"), Keys: []string{"url"}})
	m := merged(set,
		at(mergetest.Run("read{}", "read{}", "read{}"), "a", "b", "a"),
		at(mergetest.Run("click{}", "click{}", "click{}"), "a", "b", "b"),
		at(mergetest.Run("click{}"), "b"))
	if got := fmt.Sprint(states(m, 0), states(m, 1), states(m, 2)); got != "[1 2 2] [3 4 4] [5]" {
		t.Errorf("states %s", got)
	}
}

func TestReadsAfterWrite(t *testing.T) {
	set := mergetest.Set(mergetest.Effect("read", rules.Accessor), mergetest.Loop("pay"))
	calls := []string{"read{}", "pay{}", "read{}", "pay{}", "read{}", "pay{}"}
	if got := states(merged(set, mergetest.Run(calls...)), 0); !slices.Equal(got, []int{1, 2, 2, 2, 2, 2}) {
		t.Errorf("any time: states %v", got)
	}
	set.StateReads = rules.ReadsAfterWrite
	if got := states(merged(set, mergetest.Run(calls...)), 0); !slices.Equal(got, []int{1, 2, 3, 3, 3, 3}) {
		t.Errorf("after write: states %v", got)
	}
}

func TestFlagsOfWalks(t *testing.T) {
	set := mergetest.Set(rules.Rule{Kind: rules.KindBarrier, Match: mergetest.On("confirm")})
	set.Failed = rules.FailedSplit
	m := merged(set, mergetest.Run("?a{}", "confirm{}", "b{}", "?c{}", "!d{}", "e{}", "f{}"))
	first, last := m.Walks.Of(0)
	var got []stategraph.Flags
	for p := first; p < last; p++ {
		got = append(got, m.Walks.Flags(p))
	}
	want := []stategraph.Flags{stategraph.AfterUser, stategraph.Blocked, stategraph.Blocked, stategraph.AfterUser, stategraph.Cut, 0}
	if !slices.Equal(got, want) {
		t.Errorf("flags %v, want %v", got, want)
	}
	if m.Graph.Starts() != 2 || m.Graph.Executions() != 1 {
		t.Errorf("%d starts, %d executions", m.Graph.Starts(), m.Graph.Executions())
	}
}

// TestTurnsOfWalks has parallel calls, folded calls, inserted steps and turns
// without a step.
func TestTurnsOfWalks(t *testing.T) {
	set := mergetest.Set(
		rules.Rule{Kind: rules.KindFold, Match: mergetest.On("type"), Arg: mergetest.Path("t")},
		rules.Rule{Kind: rules.KindDrop, Match: mergetest.On("think")},
		rules.Rule{Kind: rules.KindInsert, Match: mergetest.On("type"), Step: rules.Step{Tool: "submit"}})
	m := merged(set, mergetest.Run("a{}", "&b{}", "think{}", "&type{}", "type{}", "&type{}", "&c{}", "type{}", "think{}", "d{}"))
	var got []string
	first, last := m.Walks.Of(0)
	for p := first; p < last; p++ {
		turn, lastTurn := m.Walks.Turns(p)
		call, lastCall, n := m.Walks.Calls(p)
		got = append(got, fmt.Sprintf("%s turns %d-%d calls %d-%d (%d)", m.Labels.Name(m.Graph.Label(m.Walks.Edge(p))), turn, lastTurn, call, lastCall, n))
	}
	want := []string{
		"a turns 0-0 calls 0-0 (1)", "b turns 0-0 calls 1-1 (1)", "type turns 1-2 calls 3-5 (3)", "submit turns 2-2 calls 5-5 (0)",
		"c turns 2-2 calls 6-6 (1)", "type turns 3-3 calls 7-7 (1)", "submit turns 3-3 calls 7-7 (0)", "d turns 4-4 calls 9-9 (1)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if m.Turns != 5 || m.Calls != 8 {
		t.Errorf("%d calls in %d turns, want 8 in 5", m.Calls, m.Turns)
	}
}

// TestMergingTwiceChangesNothing adds everything again: no state, edge or label
// is new.
func TestMergingTwiceChangesNothing(t *testing.T) {
	runs := randomRuns(rand.New(rand.NewPCG(9, 10)), 150)
	once, twice := merged(everyKind(), runs...), merged(everyKind(), slices.Concat(runs, runs)...)
	for i := range once.Table {
		got, want := twice.Table[i], once.Table[i]
		if i == 0 { // disjoint: nothing is shared
			want.States, want.Edges, want.Sinks = 2*want.States-1, 2*want.Edges, 2*want.Sinks
		}
		if got != want {
			t.Errorf("%+v became %+v", want, got)
		}
	}
	for id := range stategraph.EdgeID(once.Graph.Edges()) {
		want := once.Graph.Edge(id)
		want.Weight, want.Occurrences, want.Free = 2*want.Weight, 2*want.Occurrences, 2*want.Free
		if got := twice.Graph.Edge(id); got != want {
			t.Errorf("edge %d: %+v, want %+v", id, got, want)
		}
	}
	if once.Labels.Len() != twice.Labels.Len() {
		t.Errorf("%d labels became %d", once.Labels.Len(), twice.Labels.Len())
	}
}

// TestMergingConservesVisits counts arrivals in states under every strategy of
// the recorded rules.
func TestMergingConservesVisits(t *testing.T) {
	runs := randomRuns(rand.New(rand.NewPCG(11, 12)), 150)
	set := everyKind()
	for _, s := range Strategies(set) {
		r := NewRewriter(set, s, &Labels{}, nil)
		w := NewWalker(r, s, 0)
		var b stategraph.Builder
		steps := 0
		for _, tr := range runs {
			list := r.Rewrite(tr)
			steps += len(list)
			b.Add(w.Walk(list, nil), nil)
		}
		visits := 0
		for _, n := range b.Graph().Visits() {
			visits += n
		}
		if g := b.Graph(); visits != steps+g.Starts() || g.States() != w.States() {
			t.Errorf("%s: %d visits by %d steps and %d starts; %d states and %d", s.Name, visits, steps, g.Starts(), g.States(), w.States())
		}
	}
}

func TestMaxStates(t *testing.T) {
	runs := []*trace.Trajectory{mergetest.Run("a{}", "b{}", "c{}", "d{}"), mergetest.Run("a{}", "x{}", "y{}"), mergetest.Run("a{}", "b{}")}
	m := NewMerger(nil, Options{MaxStates: 3, Table: true})
	for _, tr := range runs {
		m.Add(tr)
	}
	got := m.Merged()
	if got.Graph.States() != 3 || got.LeftOut != 4 || got.Graph.Steps() != 5 {
		t.Errorf("%d states, %d steps left out, %d walked", got.Graph.States(), got.LeftOut, got.Graph.Steps())
	}
	if got.Table[0].States != 3 || got.Table[0].LeftOut != 7 {
		t.Errorf("disjoint: %+v", got.Table[0])
	}
}

func TestArgsOfLabels(t *testing.T) {
	set := mergetest.Set(mergetest.DropArg("* token"))
	m := merged(set, mergetest.Run(`a{"x":1,"token":2}`, `a{"x":1}`, `b{}`))
	if got := fmt.Sprint(m.Labels.Args(0), m.Labels.Args(1)); got != "[{token false} {x true}] []" {
		t.Errorf("arguments %s", got)
	}
}

func TestToolsOfLabels(t *testing.T) {
	set := mergetest.Set(rules.Rule{Kind: rules.KindRename, Match: mergetest.On("get_*"), To: "get"})
	m := merged(set, mergetest.Run("get_a{}", `get_a{"x":1}`, "get_b{}"))
	a, soleA := m.Labels.Tool(0)
	b, soleB := m.Labels.Tool(1)
	if a.Value() != "get_a" || soleA || b.Value() != "get_a" || !soleB || m.Labels.Name(0) != "get" {
		t.Errorf("%s %t, %s %t, %s", a.Value(), soleA, b.Value(), soleB, m.Labels.Name(0))
	}
}
