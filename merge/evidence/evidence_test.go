package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/merge/internal/mergetest"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"pgregory.net/rapid"
)

// examined is the evidence about rules in trajectories.
func examined(set *rules.Set, runs ...*trace.Trajectory) *Evidence {
	e := NewExaminer(set, Options{})
	for _, t := range runs {
		e.Add(t)
	}
	return e.Evidence()
}

// blamed are the rules with contradictions, as id:count.
func blamed(e *Evidence) string {
	var out []string
	for _, r := range slices.Concat(e.Rules, e.Kinds) {
		if r.Contradictions > 0 {
			out = append(out, fmt.Sprintf("%s:%d", r.Rules[0].ID, r.Contradictions))
		}
	}
	return strings.Join(out, " ")
}

func TestChecks(t *testing.T) {
	reads := mergetest.Named("reads", mergetest.Effect("get_*", rules.Accessor))
	for _, test := range []struct {
		name   string
		set    *rules.Set
		runs   []*trace.Trajectory
		checks [numChecks]int
		blamed string
	}{
		{
			"the same state by different histories", mergetest.Set(reads, mergetest.Named("ids", mergetest.DropArg("move id"))),
			[]*trace.Trajectory{mergetest.Returning("a", `move{"id":1}=ok`, "get_all{}=x"), mergetest.Returning("b", `move{"id":2}=ok`, "get_all{}=y")},
			[numChecks]int{1, 0, 0},
			"ids:1",
		},
		{
			"alike", mergetest.Set(reads, mergetest.Named("ids", mergetest.DropArg("move id"))),
			[]*trace.Trajectory{mergetest.Returning("a", `move{"id":1}=ok`, "get_all{}=x"), mergetest.Returning("b", `move{"id":2}=ok`, "get_all{}=x")},
			[numChecks]int{1, 0, 0},
			"",
		},
		{
			"a read that takes away", mergetest.Set(reads),
			[]*trace.Trajectory{mergetest.Returning("a", "get_next{}=1", "get_next{}=2", "get_next{}=3")},
			[numChecks]int{0, 2, 0},
			"reads:2",
		},
		{
			"a write declared a read", mergetest.Set(reads, mergetest.Named("wrong", mergetest.Effect("move", rules.Accessor))),
			[]*trace.Trajectory{
				mergetest.Returning("a", "get_all{}=x", "move{}=ok", "get_all{}=y"),
				mergetest.Returning("b", "get_all{}=x", "get_b{}=1", "get_all{}=x"),
			},
			[numChecks]int{0, 0, 2},
			"wrong:1",
		},
		{
			"a note that writes", mergetest.Set(reads, mergetest.Named("notes", mergetest.Effect("think", rules.Annotator))),
			[]*trace.Trajectory{mergetest.Returning("a", "get_all{}=x", "think{}=", "get_all{}=y")},
			[numChecks]int{0, 0, 1},
			"notes:1",
		},
		{
			"a write in between", mergetest.Set(reads),
			[]*trace.Trajectory{mergetest.Returning("a", "get_all{}=x", "move{}=ok", "get_all{}=y")},
			[numChecks]int{},
			"",
		},
		{
			"a repetition that is none", mergetest.Set(reads, mergetest.Named("again", mergetest.Loop("add"))),
			[]*trace.Trajectory{mergetest.Returning("a", "add{}=ok", "get_all{}=1", "add{}=ok", "get_all{}=2")},
			[numChecks]int{0, 0, 1},
			"again:1",
		},
		{
			"domains that interact", mergetest.Set(reads, mergetest.Named("one", mergetest.Domain("pay", "money")), mergetest.Named("other", mergetest.Domain("move", "mail"))),
			[]*trace.Trajectory{mergetest.Returning("a", "pay{}=ok", "move{}=ok", "get_all{}=x"), mergetest.Returning("b", "move{}=ok", "pay{}=ok", "get_all{}=y")},
			[numChecks]int{1, 0, 0},
			"other:1", // without either they depend on each other: the later one
		},
		{
			"a failed read proves nothing", mergetest.Set(reads, mergetest.Named("ids", mergetest.DropArg("move id"))),
			[]*trace.Trajectory{mergetest.Returning("a", `move{"id":1}=ok`, "get_all{}=x"), mergetest.Returning("b", `move{"id":2}=ok`, "!get_all{}=y")},
			[numChecks]int{},
			"",
		},
		{
			"rules of which either is enough", mergetest.Set(reads, mergetest.Named("ids", mergetest.DropArg("move id")), mergetest.Named("all-ids", mergetest.DropArg("* id"))),
			[]*trace.Trajectory{mergetest.Returning("a", `move{"id":1}=ok`, "get_all{}=x"), mergetest.Returning("b", `move{"id":2}=ok`, "get_all{}=y")},
			[numChecks]int{1, 0, 0},
			"ids:1", // together, as the rules of their kind
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := examined(test.set, test.runs...)
			if e.Checks != test.checks {
				t.Errorf("checks %v, want %v", e.Checks, test.checks)
			}
			if got := blamed(e); got != test.blamed {
				t.Errorf("blamed %q, want %q", got, test.blamed)
			}
		})
	}
}

// TestBlameNeedsMoreThanOneCheck: a right rule that was needed once, together with
// the wrong one, has failed in all of its checks and is not blamed.
func TestBlameNeedsMoreThanOneCheck(t *testing.T) {
	set := mergetest.Set(mergetest.Named("wrong", mergetest.DropArg("move id")), mergetest.Named("right", mergetest.DropArg("note text")), mergetest.Named("reads", mergetest.Effect("get_*", rules.Accessor)))
	var runs []*trace.Trajectory
	for i := range 20 {
		one := []string{`move{"id":1}=ok`, fmt.Sprintf(`note{"n":%d}=ok`, i), "get_all{}=x"}
		other := []string{`move{"id":2}=ok`, fmt.Sprintf(`note{"n":%d}=ok`, i), "get_all{}=y"}
		if i < 2 {
			other[2] = "get_all{}=x"
		}
		if i == 9 {
			one[1], other[1] = `note{"n":9,"text":"a"}=ok`, `note{"n":9,"text":"b"}=ok`
		}
		runs = append(runs, mergetest.Returning(fmt.Sprint(i), one...), mergetest.Returning(fmt.Sprint(i), other...))
	}
	e := examined(set, runs...)
	if right := e.Rules[1]; right.Checks != 1 || right.Involved != 1 {
		t.Fatalf("the right rule was needed in %d checks, %d contradicted", right.Checks, right.Involved)
	}
	if got := blamed(e); got != "wrong:18" {
		t.Errorf("blamed %q", got)
	}
}

// TestBaseline: what differs after identical histories is no rule's fault, call
// by call.
func TestBaseline(t *testing.T) {
	set := mergetest.Set(mergetest.Named("reads", mergetest.Effect("get_*", rules.Accessor)), mergetest.Named("notes", mergetest.Effect("think", rules.Annotator)))
	world := func(task, name string) []*trace.Trajectory {
		return []*trace.Trajectory{
			mergetest.Returning(task, "get_name{}="+name, "get_sum{}=1"),
			mergetest.Returning(task, "think{}=", "get_name{}="+name, "get_sum{}=1"),
		}
	}
	e := examined(set, slices.Concat(world("a", "x"), world("b", "y"))...)
	if blamed(e) != "" || e.Unstable == 0 || e.Baseline.Count == 0 {
		t.Errorf("blamed %q, unstable %d, baseline %+v", blamed(e), e.Unstable, e.Baseline)
	}
	if e.Checks[CheckHistories] == 0 {
		t.Error("trials of one task are compared all the same")
	}
	// Within one task the call is stable: there it still speaks against a rule.
	runs := slices.Concat(world("a", "x"), world("b", "y"), []*trace.Trajectory{mergetest.Returning("b", `think{"n":1}=`, "get_name{}=z")})
	if got := blamed(examined(set, runs...)); !strings.HasPrefix(got, "notes:") {
		t.Errorf("blamed %q", got)
	}
	// A call that differs within one task says nothing any more.
	runs = append(runs, mergetest.Returning("b", "get_name{}=w"))
	if got := blamed(examined(set, runs...)); got != "" {
		t.Errorf("blamed %q", got)
	}
}

// TestJoinedAndTested counts states by hand: one that the rule joins and a check
// touches, one that it joins and none does.
func TestJoinedAndTested(t *testing.T) {
	set := mergetest.Set(mergetest.Named("reads", mergetest.Effect("get_*", rules.Accessor)), mergetest.Named("ids", mergetest.DropArg("move id")))
	e := examined(set,
		mergetest.Returning("a", `move{"id":1}=ok`, "get_all{}=x", "stop{}=ok"),
		mergetest.Returning("b", `move{"id":2}=ok`, "get_all{}=x", "stop{}=ok"))
	r := e.Rules[1]
	// After move, after get_all, after stop; a check is made after move.
	if r.States != 3 || r.Tested != 1 || r.Checks != 1 {
		t.Errorf("%d states, %d tested, %d checks", r.States, r.Tested, r.Checks)
	}
	if reads := e.Rules[0]; reads.States != 0 || reads.TestedShare() != 1 {
		t.Errorf("reads join %d states", reads.States)
	}
}

// TestNothingIsJoinedBesides: a trajectory without tools of a rule is not looked at without
// the rule, and its states are those of one that is.
func TestNothingIsJoinedBesides(t *testing.T) {
	for name, set := range map[string]*rules.Set{
		"domains": mergetest.Set(
			mergetest.Named("ids", mergetest.DropArg("move id")), mergetest.Named("moves", mergetest.Domain("move", "files")),
			mergetest.Named("posts", mergetest.Domain("post", "mail"))),
		"sides": mergetest.Set(
			mergetest.Named("ids", mergetest.Commute("move", "copy")), mergetest.Named("mails", mergetest.Commute("post", "send"))),
	} {
		e := examined(set,
			mergetest.Returning("a", "post{}=ok"),
			mergetest.Returning("b", "move{}=ok"),
			mergetest.Returning("c", "post{}=ok", "move{}=ok"))
		if got := e.Rules[0]; got.States != 0 {
			t.Errorf("%s: %d states are joined by a rule that joins none", name, got.States)
		}
	}
}

func TestMaxReads(t *testing.T) {
	e := NewExaminer(mergetest.Set(mergetest.Effect("get_*", rules.Accessor)), Options{MaxReads: 2})
	e.Add(mergetest.Returning("a", "get_a{}=1", "get_b{}=1"))
	if got := e.Evidence(); got.Unwatched != 1 {
		t.Errorf("%d reads unwatched", got.Unwatched)
	}
}

// TestNextCallIsADistribution adds the probabilities of all tools and of an
// unknown one.
func TestNextCallIsADistribution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tools := rapid.IntRange(1, 6).Draw(t, "tools")
		// Every pair has a number, also those that are never counted, and the last
		// state has no calls at all.
		calls := &numberedCalls{states: 5}
		for state := range uint32(calls.states) {
			for tool := range uint32(tools) {
				calls.pairs = append(calls.pairs, stateTool{state, tool})
			}
		}
		m := &toolModel{calls: calls, pairs: make([]int, len(calls.pairs)), states: make([]Share, calls.states), tools: make([]int, tools)}
		for range rapid.IntRange(0, 30).Draw(t, "calls") {
			pair := rapid.IntRange(0, 4*tools-1).Draw(t, "pair")
			m.pairs[pair]++
			m.tools[calls.pairs[pair].tool]++
		}
		m.finish()
		for state := range calls.states {
			alone, given := 0.0, 0.0
			for tool := range tools {
				a, g := m.probability(uint32(state*tools + tool))
				if a <= 0 || g <= 0 {
					t.Fatalf("probabilities %v and %v", a, g)
				}
				alone, given = alone+a, given+g
			}
			if alone > 1+1e-12 || given > 1+1e-12 {
				t.Fatalf("probabilities add up to %v and %v", alone, given)
			}
		}
	})
}

// TestOverMergingCosts has an agent whose next call follows from the first: one
// state for all forgets it, and a state for each run has never been seen.
func TestOverMergingCosts(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 40 {
		kind := []string{"x", "y"}[i%2]
		runs = append(runs, mergetest.Returning(fmt.Sprint(i), fmt.Sprintf(`begin_%s{"id":%d}=ok`, kind, i), "end_"+kind+"{}=ok"))
	}
	bits := func(set *rules.Set) float64 {
		total := examined(set, runs...).Next.Total()
		return total.Bits[1] / float64(total.N)
	}
	right, over, under := bits(mergetest.Set(mergetest.DropArg("* id"))), bits(mergetest.Set(mergetest.Effect("*", rules.Annotator))), bits(nil)
	if right+0.3 > over || right+0.3 > under {
		t.Errorf("%.2f bits with the right rules, %.2f with one state, %.2f without rules", right, over, under)
	}
}

// TestFewTasksHaveNoLoss: one task cannot be held out.
func TestFewTasksHaveNoLoss(t *testing.T) {
	if got := examined(nil, mergetest.Run("a{}")).Next; got.Folds != 0 {
		t.Errorf("%d folds", got.Folds)
	}
}

const officeFolder = "../../testdata/office"

// office reads the runs of the office.
func office(t testing.TB) []*trace.Trajectory {
	t.Helper()
	return recordings.Read(t, filepath.Join(officeFolder, "trajectories.jsonl.gz"))
}

// officeRules parses a rule file of the office.
func officeRules(t testing.TB, file string) *rules.Set {
	t.Helper()
	load := func(name string) ([]byte, error) { return os.ReadFile(filepath.FromSlash(name)) }
	file = filepath.ToSlash(filepath.Join(officeFolder, file))
	src, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	set, err := rules.Options{Load: load}.Parse(file, src)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestOfficeRules: in a world whose truth is known no right rule is blamed, and
// each wrong one is.
func TestOfficeRules(t *testing.T) {
	runs := office(t)
	for _, test := range []struct{ file, wrong string }{
		{"rules.yaml", ""},
		{"wrong/write-as-read.yaml", "wrong-moves-are-reads"},
		{"wrong/ids-erased.yaml", "wrong-files-moved"},
		{"wrong/domains-apart.yaml", "wrong-payments-apart"},
	} {
		t.Run(test.file, func(t *testing.T) {
			e := examined(officeRules(t, test.file), runs...)
			for _, r := range slices.Concat(e.Rules, e.Kinds) {
				id := r.Rules[0].ID
				if isWrong := id == test.wrong; isWrong != (r.Contradictions > 0) || isWrong && (r.Rate.Interval.Lo < 0.5 || len(r.Examples) == 0) {
					t.Errorf("%s: %d contradictions in %d checks, %+v", id, r.Contradictions, r.Checks, r.Rate)
				}
			}
			if e.Unexplained.Count > 0 || e.Checks[CheckHistories] < 300 {
				t.Errorf("unexplained %+v, checks %v", e.Unexplained, e.Checks)
			}
		})
	}
}

// TestComparison says what a counter-example shows, without values.
func TestComparison(t *testing.T) {
	runs := office(t)
	compare := func(file, rule string) []string {
		e := examined(officeRules(t, file), runs...)
		c := e.Comparer(false)
		var out []string
		for _, r := range e.Rules {
			if r.Rules[0].ID != rule {
				continue
			}
			for _, x := range r.Examples {
				byID := func(i int) *trace.Trajectory {
					return runs[slices.IndexFunc(runs, func(t *trace.Trajectory) bool { return t.ID == e.Runs[i].ID })]
				}
				d, ok := c.Compare(x, byID(x.First.Run), byID(x.Second.Run))
				if !ok {
					t.Fatal("no comparison")
				}
				out = append(out, fmt.Sprintf("%+v", d))
			}
		}
		return out
	}
	ids := strings.Join(compare("wrong/ids-erased.yaml", "wrong-files-moved"), "\n")
	if !strings.Contains(ids, "files_move") || strings.Contains(ids, "fil_") || !strings.Contains(ids, "files_list") {
		t.Error(ids)
	}
	apart := compare("wrong/domains-apart.yaml", "wrong-payments-apart")
	if len(apart) == 0 || !strings.Contains(apart[0], "FirstOrder:[payments_pay_invoice") || !strings.Contains(apart[0], "SecondOrder:[mail_move") || !strings.Contains(apart[0], "Results:[folder]") {
		t.Error(apart)
	}
	asRead := strings.Join(compare("wrong/write-as-read.yaml", "wrong-moves-are-reads"), "\n")
	if !strings.Contains(asRead, "Second:[files_move") {
		t.Error(asRead)
	}
}

// TestEvidenceOfRandomRuns: the same evidence however often it is asked for, and
// sums that hold whatever the rules.
func TestEvidenceOfRandomRuns(t *testing.T) {
	results := []string{"1", "2", ""}
	rapid.Check(t, func(t *rapid.T) {
		var runs []*trace.Trajectory
		for i := range rapid.IntRange(1, 12).Draw(t, "runs") {
			var calls []string
			for range rapid.IntRange(0, 6).Draw(t, "calls") {
				calls = append(calls, fmt.Sprintf(`%s{"n":%d}=%s`, rapid.SampledFrom([]string{"get_a", "get_b", "mail_x", "disk_y", "think"}).Draw(t, "tool"),
					rapid.IntRange(0, 1).Draw(t, "n"), rapid.SampledFrom(results).Draw(t, "result")))
			}
			runs = append(runs, mergetest.Returning(fmt.Sprint(i%3), calls...))
		}
		set := mergetest.Set(mergetest.Named("reads", mergetest.Effect("get_*", rules.Accessor)), mergetest.Named("notes", mergetest.Effect("think", rules.Annotator)),
			mergetest.Named("n", mergetest.DropArg("* n")), mergetest.Named("mail", mergetest.Domain("mail_*", "mail")), mergetest.Named("disk", mergetest.Domain("disk_*", "disk")), mergetest.Named("again", mergetest.Loop("mail_*")))
		e, again := examined(set, runs...), examined(set, runs...)
		if fmt.Sprint(e.Checks, e.Contradictions, e.Unstable, blamed(e)) != fmt.Sprint(again.Checks, again.Contradictions, again.Unstable, blamed(again)) {
			t.Fatal("the evidence differs from one run to the next")
		}
		charged, found := e.Unexplained.Count, 0
		for _, r := range slices.Concat(e.Rules, e.Kinds) {
			charged += r.Contradictions
			if r.Contradictions > r.Involved || r.Involved > r.Checks || r.Tested > r.States || r.States > e.States {
				t.Fatalf("%s: %+v", r.Rules[0].ID, r)
			}
		}
		for _, n := range e.Contradictions {
			found += n
		}
		if charged != found {
			t.Fatalf("%d contradictions, %d charged", found, charged)
		}
	})
}

// TestDegenerateRules: one state for all, and no argument left, are contradicted
// by nothing, since nothing is tested; what reads is said, what is erased in
// writes is contradicted.
func TestDegenerateRules(t *testing.T) {
	runs := office(t)
	var erased []rules.Rule
	seen := map[string]bool{}
	for _, r := range runs {
		for i := range r.Calls {
			args, _ := r.Calls[i].ArgsValue()
			for _, m := range args.Members {
				if !seen[m.Name] {
					seen[m.Name] = true
					erased = append(erased, mergetest.Named("erased-"+m.Name, mergetest.DropArg("* "+m.Name)))
				}
			}
		}
	}
	for name, set := range map[string]*rules.Set{
		"everything an annotator": mergetest.Set(mergetest.Named("all", mergetest.Effect("*", rules.Annotator))),
		"every argument erased":   mergetest.Set(erased...),
	} {
		e := examined(set, runs...)
		joining := 0
		for _, r := range e.Rules {
			if r.States > 0 {
				joining++
				if r.TestedShare() > 0 || r.Checks > 0 {
					t.Errorf("%s: %s is tested in %d of %d states", name, r.Rules[0].ID, r.Tested, r.States)
				}
			}
		}
		if joining == 0 {
			t.Errorf("%s: no rule joins a state", name)
		}
	}
	reads := mergetest.Named("reads", mergetest.Effect("*_search,*_list,*_list_*,*_get,*_get_*,*_show_*,*_read,calendar_find_slot", rules.Accessor))
	if got := blamed(examined(mergetest.Set(append(erased, reads)...), runs...)); !strings.Contains(got, "erased-file_id") || strings.Contains(got, "reads") {
		t.Errorf("blamed %s", got)
	}
}
