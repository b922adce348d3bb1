package compile

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// chatsOf makes trajectories of sequences such as "a b | c" (a user message
// where | stands), each so often; calls have no arguments, each in a turn.
func chatsOf(t *testing.T, sequences map[string]int, order ...string) []*trace.Trajectory {
	t.Helper()
	var b strings.Builder
	id := 0
	for _, sequence := range order {
		for range sequences[sequence] {
			b.WriteString(`{"messages":[{"role":"user","content":"go"}`)
			for _, word := range strings.Fields(sequence) {
				id++
				if word == "|" {
					b.WriteString(`,{"role":"user","content":"on"}`)
					continue
				}
				fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"%d","type":"function","function":{"name":"%s","arguments":"{}"}}]},{"role":"tool","tool_call_id":"%d","content":"ok"}`, id, word, id)
			}
			b.WriteString("]}\n")
		}
	}
	file := t.TempDir() + "/chats.jsonl"
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return recordings.Read(t, file)
}

func TestAbsence(t *testing.T) {
	type sequences = map[string]int
	for name, test := range map[string]struct {
		runs      sequences
		order     []string
		algorithm Algorithm
		tools     string
		code      string
		step      int
		count     int // of Absence
	}{
		"unknown":         {sequences{"a b": 9}, []string{"a b"}, AWO, "a x", "tool-unknown", 1, 0},
		"apart":           {sequences{"a b c": 9}, []string{"a b c"}, AWO, "a c", "never-in-a-row", 1, 0},
		"rare":            {sequences{"a b": 4, "a c": 9}, []string{"a b", "a c"}, AWO, "a b", "in-a-row-rare", 1, 4},
		"user":            {sequences{"a | b": 9, "a b": 3}, []string{"a | b", "a b"}, AWO, "a b", "user-message", 1, 3},
		"user, patterns":  {sequences{"a | b": 9, "a b": 3}, []string{"a | b", "a b"}, Patterns, "a b", "user-message", 1, 3},
		"majority":        {sequences{"a b": 6, "a c": 9}, []string{"a b", "a c"}, AWO, "a b", "other-majority", 1, 6},
		"no majority":     {sequences{"a b": 6, "a c": 6, "a d": 5}, []string{"a b", "a c", "a d"}, AWO, "a b", "no-majority", 1, 6},
		"states":          {sequences{"x a b": 4, "y a b": 4, "z a b": 4}, []string{"x a b", "y a b", "z a b"}, AWO, "a b", "states-differ", 0, 4},
		"taken":           {sequences{"a b c": 9}, []string{"a b c"}, AWO, "b c", "taken", 0, 0},
		"taken, patterns": {sequences{"a b c": 9}, []string{"a b c"}, Patterns, "b c", "taken", 0, 0},
		"repeated":        {sequences{"a b a": 9}, []string{"a b a"}, Patterns, "a b a", "call-repeated", 2, 0},
		"too long":        {sequences{"a b c d e f g h i j k l m": 9}, []string{"a b c d e f g h i j k l m"}, Patterns, "a b c d e f g h i j k l m", "too-long", 0, 12},
	} {
		t.Run(name, func(t *testing.T) {
			c := compiledRuns(t, chatsOf(t, test.runs, test.order...), nil, Options{Algorithm: test.algorithm})
			a := c.Absence(strings.Fields(test.tools))
			if a.Code != test.code || a.Step != test.step || a.Count != test.count {
				t.Errorf("%s, step %d, %d of %d; want %s, step %d, %d", a.Code, a.Step, a.Count, a.Of, test.code, test.step, test.count)
			}
			if turns := c.Merged.Turns; a.TurnsSaved >= turns {
				t.Errorf("%d of %d turns would be saved", a.TurnsSaved, turns)
			}
			if test.code == "taken" && len(a.Takers) == 0 {
				t.Error("nobody took the calls")
			}
		})
	}
}

// TestAbsenceUnproven tells an argument that nothing gave from one that a result gave each
// time, in too few calls to write by it.
func TestAbsenceUnproven(t *testing.T) {
	for _, test := range []struct {
		runs       int
		result     string // of find, with the number of the run
		code, from string
	}{
		{6, `{"room":"room-%d"}`, "argument-unproven", "find"},
		{6, `{"about":"%d rooms"}`, "argument-unknown", ""},
		{20, `{"room":"room-%d"}`, "", ""},
	} {
		var list []*trace.Trajectory
		for i := range test.runs {
			s := &scripted.Run{}
			s.User(fmt.Sprintf("Book one, request %d.", i)).Call("find", `{}`, fmt.Sprintf(test.result, 7919*(i+1)))
			s.Call("book", fmt.Sprintf(`{"room":"room-%d"}`, 7919*(i+1)), `{}`)
			s.T.Task = fmt.Sprint(i)
			list = append(list, &s.T)
		}
		c := compiledRuns(t, list, nil, Options{Algorithm: Patterns})
		a := c.Absence([]string{"find", "book"})
		if test.code == "" {
			if len(c.Definitions) == 0 || c.Definitions[0].Refusals != nil {
				t.Errorf("%d runs are too few", test.runs)
			}
			continue
		}
		if a.Code != test.code || a.Argument != "room" || a.From != test.from || a.Step != 1 {
			t.Errorf("%d runs, %s: %+v", test.runs, test.result, a)
		}
	}
}

// TestAbsenceSaves counts runs once that overlap.
func TestAbsenceSaves(t *testing.T) {
	c := compiledRuns(t, chatsOf(t, map[string]int{"a a a a b": 6}, "a a a a b"), nil, Options{})
	if a := c.Absence([]string{"a", "a"}); a.Joined.Occurrences != 18 || a.TurnsSaved != 12 {
		t.Errorf("%d runs save %d turns, want 18 that save 12", a.Joined.Occurrences, a.TurnsSaved)
	}
}

// TestAbsenceOfAll asks about all pairs of tools of the bundled runs: whatever is
// no candidate has a reason, and its figures do not contradict it.
func TestAbsenceOfAll(t *testing.T) {
	for _, algorithm := range []Algorithm{AWO, Patterns} {
		c := compiledOffice(t, Options{Algorithm: algorithm})
		var tools []string
		for _, tool := range c.Merged.Catalog.Tools() {
			tools = append(tools, tool.Name.Value())
		}
		if len(tools) > 24 && testing.Short() {
			tools = tools[:24]
		}
		codes := map[string]int{}
		for _, x := range tools {
			for _, y := range tools {
				a := c.Absence([]string{x, y})
				codes[a.Code]++
				if a.Joined.Occurrences > a.Runs.Occurrences || a.Runs.Trajectories > a.InOrder || a.InOrder > a.Called[0] {
					t.Errorf("%s, %s: %+v", x, y, a)
				}
				if (a.Code == "in-a-row-rare") != (a.Runs.Trajectories > 0 && a.Runs.Trajectories < a.Threshold) {
					t.Errorf("%s, %s: %s, and in a row in %d trajectories", x, y, a.Code, a.Runs.Trajectories)
				}
				if a.Code == "taken" && len(a.Takers) == 0 {
					t.Errorf("%s, %s (%s): nobody took them", x, y, algorithm)
				}
			}
		}
		if len(codes) < 5 {
			t.Errorf("%s: only %v", algorithm, codes)
		}
		t.Logf("%s: %v", algorithm, codes)
	}
}

// TestEnding wants every occurrence to go on in one way.
func TestEnding(t *testing.T) {
	for _, algorithm := range []Algorithm{AWO, Patterns} {
		c := compiledOffice(t, Options{Algorithm: algorithm})
		for _, d := range c.Definitions {
			e := c.Ending(d.Candidate)
			sum := e.Done + e.User + e.Barrier + e.Cut
			for _, n := range e.Next {
				sum += n.Occurrences
			}
			if sum > e.Occurrences || len(e.Next) < maxContinuations && sum != e.Occurrences {
				t.Errorf("%s: %+v", d.Name, e)
			}
			if (e.Majority != nil) != (algorithm == AWO) {
				t.Errorf("%s: %s has the majority %+v", d.Name, algorithm, e.Majority)
			}
		}
	}
	c := compiledRuns(t, chatsOf(t, map[string]int{"a b c": 6, "a b d": 4, "a b | c": 3, "a b": 2}, "a b c", "a b d", "a b | c", "a b"), nil, Options{})
	e := c.Ending(c.Definitions[0].Candidate)
	if len(e.Next) != 2 || e.Next[0] != (Continuation{"c", 6, 6}) || e.Next[1] != (Continuation{"d", 4, 4}) || e.User != 3 || e.Done != 2 {
		t.Errorf("%+v", e)
	}
	if m := e.Majority; m.Code != "no-majority" || m.Leave != 13 || m.Child != "c" || m.Joined != 6 {
		t.Errorf("%+v", m)
	}
}

// compiledRuns compiles trajectories that are in memory.
func compiledRuns(t testing.TB, list []*trace.Trajectory, set *rules.Set, o Options) *Compilation {
	t.Helper()
	c := Run(corpus.Filled(list, corpus.Options{Rules: set}), set, o)
	return c
}

// compiledOffice compiles the bundled runs.
func compiledOffice(t testing.TB, o Options) *Compilation {
	t.Helper()
	const folder = "../../testdata/office/"
	return compiledRuns(t, recordings.Read(t, folder+"trajectories.jsonl.gz"), recordings.Rules(t, folder+"rules.yaml"), o)
}
