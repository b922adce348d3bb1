package compare_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/gateway/compare"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// runs makes the sessions of an experiment about one meta-tool, find_and_get, of the
// calls find and get.
type runs struct {
	n int
	r *rand.Rand
}

// session is one of an arm. Of each word a turn is made: "find" and "get" are calls, "use"
// is the meta-tool, "fail" one that is handed back at its second step, and "ahead" is a
// find after which get is read ahead and not attached, "given" one where it is attached.
func (s *runs) session(arm, words string) *trace.Trajectory {
	s.n++
	at := time.Date(2026, 3, 2, 8, s.n, 0, 0, time.UTC)
	t := &trace.Trajectory{ID: fmt.Sprintf("s%04d", s.n), Agent: "desk", Relay: &trace.Relay{
		Arm: arm, Unit: "session", Share: 0.5, MetaTools: []string{"find_and_get"}, Prefetch: []string{"p1"},
	}}
	args := trace.JSONOf(fmt.Appendf(nil, `{"q":%d}`, s.n))
	call := func(tool string, origin trace.Origin, by, result string) *trace.Call {
		at = at.Add(time.Second)
		t.Calls = append(t.Calls, trace.Call{
			Tool: trace.Intern([]byte(tool)), Turn: len(t.Turns) - 1, Args: args, Origin: origin, By: by, HasResult: true,
			Result: trace.TextOf(result), Status: trace.StatusOK, Start: at, End: at.Add(100 * time.Millisecond),
		})
		t.Turns[len(t.Turns)-1].NumCalls++
		return &t.Calls[len(t.Calls)-1]
	}
	for _, word := range strings.Fields(words) {
		t.Turns = append(t.Turns, trace.Turn{FirstCall: len(t.Calls)})
		switch word {
		case "use", "fail":
			n := len(t.Calls)
			call("find_and_get", trace.OriginModel, "", "{}").AnsweredBy = trace.OriginMetaTool
			call("find", trace.OriginMetaTool, "find_and_get", "{}")
			get := call("get", trace.OriginMetaTool, "find_and_get", "{}")
			if word == "fail" {
				get.Status, t.Calls[n].Status = trace.StatusFailed, trace.StatusFailed
				t.Calls[n].Result = trace.TextOf("Handed back at step 2 of 2 (get): unexpected-result. It is safe to call it again.")
			}
		case "ahead", "given":
			find := len(t.Calls)
			call("find", trace.OriginModel, "", "{}")
			call("get", trace.OriginPrefetch, "p1", "{}")
			if word == "given" {
				t.Calls[find].Attached = trace.TextOf(fmt.Sprintf(`{"read_ahead":[{"tool":"get","arguments":{"q":%d},"result":{}}]}`, s.n))
			}
		case "refused":
			c := call("find", trace.OriginModel, "", "The tool find was not found yet, and was not called. Call search_tools with a query first: it answers definitions.")
			c.Status = trace.StatusFailed
		default:
			call(word, trace.OriginModel, "", "{}")
			if strings.HasPrefix(word, "other") { // a meta-tool of another name
				t.Calls[len(t.Calls)-1].AnsweredBy = trace.OriginMetaTool
				call("list", trace.OriginMetaTool, word, "{}")
				call("read", trace.OriginMetaTool, word, "{}")
			}
		}
	}
	return t
}

// places finds find with get in the turn after it.
func places(t *trace.Trajectory) (out []compare.Place) {
	n, before := 0, ""
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Origin == trace.OriginModel {
			if name := c.Tool.Value(); before == "find" && name == "get" {
				out = append(out, compare.Place{Tool: "find_and_get", Begin: n - 1, End: n + 1})
			}
			before = c.Tool.Value()
			n++
		}
	}
	return out
}

// compared compares sessions: one of each list in turn, often.
func compared(often int, treated, control []string) *compare.Result {
	return promised(0, often, treated, control)
}

// promised is compared where reads ahead promise to be asked for so often.
func promised(share float64, often int, treated, control []string) *compare.Result {
	s := runs{r: rand.New(rand.NewPCG(3, 4))}
	c := compare.New(compare.Options{Places: places, Known: []string{"find_and_get"}, Look: true, Stat: stat.Options{Seed: 1, Resamples: 600}, Promised: map[string]float64{"p1": share}})
	for range often {
		for _, words := range treated {
			c.Add(s.session(trace.ArmTreated, words))
		}
		for _, words := range control {
			c.Add(s.session(trace.ArmControl, words))
		}
	}
	return c.Result()
}

func TestAdvice(t *testing.T) {
	// What agents do by themselves: half of the sessions have a place.
	control := []string{"find get think", "think think"}
	for _, test := range []struct {
		name    string
		treated []string
		advice  compare.Advice
		reason  string
	}{
		{"used where its calls were made", []string{"use think", "think think"}, compare.Keep, "30 of 30 uses complete"},
		{"over-used", []string{"use think", "use think think"}, compare.Fix, "over-used"},
		{"over-used, and seldom", []string{"use think", "use think", "use think", "use think", "use think"}, compare.Fix, "over-used"},
		{"called again", []string{"use get think", "think think"}, compare.Withdraw, "saves no turn"},
		{"called again now and then", []string{"use think", "use get", "think", "think"}, compare.Fix, "after 30 of 60 uses"},
		{"handed back", []string{"fail get", "think think"}, compare.Withdraw, "most end with unexpected-result"},
		{"handed back now and then", []string{"fail get", "use think", "use think", "think", "think", "think"}, compare.Fix, "60 of 90 uses complete; most others end with unexpected-result"},
		{"never used where it could be", []string{"find get", "think think"}, compare.Fix, "never called in 30 sessions"},
		{"never used", []string{"think think"}, compare.Withdraw, "not called in 30 sessions"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := compared(30, test.treated, control)
			if len(r.Tools) != 1 {
				t.Fatalf("%d meta-tools", len(r.Tools))
			}
			if advice, reason := r.Tools[0].Advice, r.Tools[0].Reason; advice != test.advice || !strings.Contains(reason, test.reason) {
				t.Errorf("%s: %s; want %s: %s\n%+v", advice, reason, test.advice, test.reason, r.Tools[0])
			}
		})
	}
	r := compared(5, []string{"use think", "think think"}, control)
	if advice := r.Tools[0].Advice; advice != compare.Wait {
		t.Errorf("after five uses: %s", advice)
	}
}

// TestManyAtOnce: what is enough to speak against one meta-tool is not where it is one of
// many, of which one looks like that by chance.
func TestManyAtOnce(t *testing.T) {
	others := ""
	for i := range 20 {
		others += fmt.Sprintf(" other%d", i)
	}
	for more, want := range map[string]compare.Advice{"": compare.Fix, others: compare.Keep} {
		r := compared(5, []string{"use think" + more, "use think" + more, "use think" + more, "fail think" + more}, []string{"find get think"})
		for _, tool := range r.Tools {
			if advice, reason := tool.Advice, tool.Reason; tool.Name == "find_and_get" && advice != want {
				t.Errorf("one of %d: %s: %s; want %s", len(r.Tools), advice, reason, want)
			}
		}
	}
}

func TestRuleAdvice(t *testing.T) {
	for _, test := range []struct {
		name     string
		treated  []string
		promised float64
		advice   compare.Advice
		reason   string
	}{
		{"asked for", []string{"ahead get", "given think"}, 0.8, compare.Keep, "30 of 30 reads are asked for"},
		{"gone stale", []string{"ahead think", "given think"}, 0.8, compare.Withdraw, "0 of 30 reads are asked for, 80 % are promised"},
		{"asked for all the same", []string{"ahead get", "given get"}, 0.8, compare.Fix, "agents ask again for 30 of 30"},
		{"all are attached", []string{"given think"}, 0, compare.Wait, "0 reads were not attached"},
		{"nothing is read", []string{"think"}, 0, compare.Withdraw, "nothing was prefetched in 30 sessions"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := promised(test.promised, 30, test.treated, []string{"find get"})
			if advice, reason := r.Rules[0].Advice, r.Rules[0].Reason; advice != test.advice || !strings.Contains(reason, test.reason) {
				t.Errorf("%s: %s; want %s: %s\n%+v", advice, reason, test.advice, test.reason, r.Rules[0])
			}
		})
	}
}

// TestCountsWhetherUsedOrNot compares arms as they were drawn, by hand: sessions of
// treatment have 2, 3 and 2 calling turns, those of control 3 and 2.
func TestFigures(t *testing.T) {
	r := compared(40, []string{"use think", "find get think", "think think"}, []string{"find get think", "think think"})
	want := map[compare.Figure][2]float64{
		compare.CallingTurns: {7.0 / 3, 2.5}, compare.Calls: {7.0 / 3, 2.5}, compare.Upstream: {8.0 / 3, 2.5}, compare.Failures: {0, 0},
	}
	for i := range r.Figures {
		f := &r.Figures[i]
		if w, ok := want[f.Figure]; ok && (near(f.Treated.Float(), w[0]) || near(f.Control.Float(), w[1])) {
			t.Errorf("%s is %v with and %v without, want %v", f.Figure, f.Treated.Float(), f.Control.Float(), w)
		}
		if f.Figure == compare.CallingTurns {
			if in := f.DifferenceInterval; !in.Known() || in.N != 200 || in.Lo > -1.0/6 || in.Hi < -1.0/6 {
				t.Errorf("difference %v in %+v", f.Difference.Float(), in)
			}
			if always, once := f.Always, f.DifferenceInterval; !always.Known() || always.Hi-always.Lo <= once.Hi-once.Lo {
				t.Errorf("at every look %+v, once %+v", always, once)
			}
		}
	}
	if r.Treated.Units != 120 || r.Control.Units != 80 || r.Share != 0.5 || r.Unit != "session" {
		t.Errorf("%+v", r)
	}
	if len(r.Warnings) != 0 {
		t.Errorf("warnings %v", r.Warnings)
	}
}

// TestLazy: where tools are looked up, it is compared how often, and how many calls are
// refused because nothing was looked up; elsewhere neither is a figure.
func TestLazy(t *testing.T) {
	figures := func(r *compare.Result) map[compare.Figure]string {
		out := map[compare.Figure]string{}
		for i := range r.Figures {
			out[r.Figures[i].Figure] = fmt.Sprintf("%.1f %.1f", r.Figures[i].Treated.Float(), r.Figures[i].Control.Float())
		}
		return out
	}
	got := figures(compared(10, []string{"search_tools find", "refused search_tools find tool_register get"}, []string{"find get"}))
	if got[compare.Lookups] != "1.5 0.0" || got[compare.Unregistered] != "0.5 0.0" || got[compare.CallingTurns] != "3.5 2.0" {
		t.Errorf("%v", got)
	}
	if got := figures(compared(10, []string{"find"}, []string{"find"})); got[compare.Lookups]+got[compare.Unregistered] != "" {
		t.Errorf("without lazy tools: %v", got)
	}
}

func near(a, b float64) bool { return a-b > 1e-9 || b-a > 1e-9 }

// TestNoEffect compares arms that differ in nothing: no figure of all may be declared
// different more often than in 5 % of experiments. With an effect it is seen.
func TestNoEffect(t *testing.T) {
	for _, effect := range []int{0, 3} {
		seen, declared := 0, 0
		for seed := range 100 {
			s := runs{r: rand.New(rand.NewPCG(uint64(seed), 9))}
			c := compare.New(compare.Options{Stat: stat.Options{Seed: uint64(seed), Resamples: 399}})
			for range 60 {
				arm, more := trace.ArmTreated, 0
				if s.r.Float64() < 0.5 {
					arm, more = trace.ArmControl, effect
				}
				c.Add(s.session(arm, strings.Repeat("think ", 1+s.r.IntN(8)+more)))
			}
			r := c.Result()
			if in := r.Figures[compare.CallingTurns].DifferenceInterval; in.Lo > 0 || in.Hi < 0 {
				seen++
			}
			if r.Different {
				declared++
			}
		}
		if effect == 0 && max(seen, declared) > 10 || effect > 0 && declared < 90 {
			t.Errorf("%d calls more in control: an interval of %d in 100 experiments shows a difference, and it is declared in %d", effect, seen, declared)
		}
	}
}

func TestWarnings(t *testing.T) {
	codes := func(r *compare.Result) (out []string) {
		for _, w := range r.Warnings {
			out = append(out, w.Code)
		}
		return out
	}
	if got := codes(compared(30, []string{"think"}, nil)); len(got) != 1 || got[0] != compare.WarnNoControl {
		t.Errorf("one arm: %v", got)
	}
	if got := codes(compared(8, []string{"think", "think think"}, []string{"think"})); len(got) != 1 || got[0] != compare.WarnFewUnits {
		t.Errorf("eight units: %v", got)
	}
	if got := codes(compared(30, []string{"think", "think", "think", "think"}, []string{"think"})); len(got) != 1 || got[0] != compare.WarnUnlike {
		t.Errorf("one of five is control: %v", got)
	}
	c := compare.New(compare.Options{})
	short := (&runs{}).session(trace.ArmTreated, "think")
	short.Anomalies.AddN(trace.CodeRecordingCut, 1)
	c.Add(short)
	if got := codes(c.Result()); len(got) != 2 || got[0] != compare.WarnCut {
		t.Errorf("a recording that was cut short: %v", got)
	}
	c = compare.New(compare.Options{})
	c.Add(&trace.Trajectory{ID: "t"})
	if r := c.Result(); r.Foreign != 1 || r.Treated.Sessions != 0 {
		t.Errorf("a trace of another: %+v", r)
	}
}

// TestJoin adds what transcripts say to the sessions that have one of their calls.
func TestJoin(t *testing.T) {
	s := runs{}
	c := compare.New(compare.Options{})
	for i := range 24 {
		arm := []string{trace.ArmTreated, trace.ArmControl}[i%2]
		x := s.session(arm, "think")
		x.Calls[0].ID = fmt.Sprintf("toolu_%d", i)
		c.Add(x)
		if !c.Join(compare.Joined{ModelTurns: int64(2 + i%2 + i%3), InputTokens: 100, Calls: []string{"toolu_none", x.Calls[0].ID}}) {
			t.Errorf("session %d is not found", i)
		}
	}
	if c.Join(compare.Joined{Calls: []string{"toolu_none"}}) {
		t.Error("a transcript of nobody's is joined")
	}
	r := c.Result()
	i := slices.IndexFunc(r.Figures, func(f compare.Compared) bool { return f.Figure == compare.ModelTurns })
	if f := r.Figures[i]; r.Joined != 24 || near(f.Treated.Float(), 3) || near(f.Control.Float(), 4) {
		t.Errorf("%d joined; model turns %+v", r.Joined, f)
	}
}
