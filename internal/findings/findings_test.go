package findings_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/findings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

// found returns the findings of trajectories, whose failures are read from their results.
func found(list []*trace.Trajectory, o findings.Options) []findings.Finding {
	f, looker := findings.NewFinder(o), findings.Looker{}
	meter := cost.NewMeter(cost.Options{NoCounting: true})
	for _, t := range list {
		t.ReadFailures()
		f.Add(t, looker.Look(t, nil), meter.Trajectory(t))
	}
	return f.Findings()
}

// unreadOf returns the fields that nobody reads, by tool.
func unreadOf(list []*trace.Trajectory) map[string]*findings.Unread {
	f, looker, out := findings.NewFinder(findings.Options{}), findings.Looker{Fields: true}, map[string]*findings.Unread{}
	meter := cost.NewMeter(cost.Options{NoCounting: true})
	for _, t := range list {
		f.Add(t, looker.Look(t, nil), meter.Trajectory(t))
	}
	for _, x := range f.Findings() {
		if x.Code == findings.Fields {
			out[x.Tool] = x.Unread
		}
	}
	return out
}

// TestUnreadFields: of an order its parcel is used, its price is told, its note is not, and
// of whether it is a gift nobody can say. The address is read on half of the tasks.
func TestUnreadFields(t *testing.T) {
	runs := func(speaks bool, reads func(held bool) bool) []*trace.Trajectory {
		var list []*trace.Trajectory
		for i := range 160 {
			s := (&scripted.Run{}).User(fmt.Sprintf("order-%d", i))
			s.T.Task = fmt.Sprint("task ", i)
			h := fnv.New64a()
			h.Write([]byte(s.T.Task))
			said := fmt.Sprintf("It costs price-%d.", i)
			if reads(h.Sum64()>>32&1 == 1) {
				said += fmt.Sprintf(" It goes to street-%d.", i)
			}
			s.Call("get_order", fmt.Sprintf(`{"id":"order-%d"}`, i), fmt.Sprintf(`{"parcels":[{"id":"parcel-%d"}],"price":"price-%d","note":"note-%d","to":{"address":"street-%d"},"gift":true}`, i, i, i, i))
			s.Call("track", fmt.Sprintf(`{"parcel":"parcel-%d"}`, i), `"on its way"`)
			s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls)})
			if speaks {
				s.T.Turns[2].Text = trace.TextOf(said)
			}
			usage(s, "gpt-4o")
			list = append(list, &s.T)
		}
		return list
	}
	for name, tc := range map[string]struct {
		reads func(held bool) bool
		want  string // fields that nobody reads; "" for no finding
	}{
		"read by all":             {func(bool) bool { return true }, "note"},
		"read by none":            {func(bool) bool { return false }, "to.address note"},
		"read where it is learnt": {func(held bool) bool { return !held }, "note"},
		"read where it is held":   {func(held bool) bool { return held }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if u := unreadOf(runs(true, tc.reads))["get_order"]; u != nil {
				got = strings.Join(u.Fields, " ")
				if u.Read != 0 || u.Results < 50 {
					t.Errorf("%d of %d results", u.Read, u.Results)
				}
			}
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
	if got := unreadOf(runs(false, func(bool) bool { return false })); len(got) > 0 {
		t.Errorf("without texts %+v", got)
	}
}

// of returns the finding of a kind and tool.
func of(t *testing.T, list []findings.Finding, code findings.Code, tool string) findings.Finding {
	t.Helper()
	for _, f := range list {
		if f.Code == code && f.Tool == tool {
			return f
		}
	}
	t.Fatalf("no finding %s of %q in %+v", code, tool, list)
	return findings.Finding{}
}

// usage gives every turn of a run tokens: 1,000 of input and 100 of output.
func usage(s *scripted.Run, model string) {
	s.T.Model, s.T.Start = model, time.Date(2026, 3, 25, 0, 0, 0, 0, time.UTC)
	for i := range s.T.Turns {
		s.T.Turns[i].Usage = trace.Usage{Known: true, Input: 1000, Output: 100}
	}
}

func value(t *testing.T, f interface{ Value() (float64, bool) }) float64 {
	t.Helper()
	v, ok := f.Value()
	if !ok {
		t.Fatal("not known")
	}
	return v
}

// TestKnownAnswers builds an agent all of whose findings can be counted by hand.
func TestKnownAnswers(t *testing.T) {
	var list []*trace.Trajectory
	for i := range 10 {
		s := (&scripted.Run{}).User(fmt.Sprintf("order-%d", i))
		id := fmt.Sprintf(`{"id":"order-%d"}`, i)
		s.Call("get_order", id, `"Error: 503"`)
		s.Call("get_order", id, fmt.Sprintf(`{"state":"open-%d"}`, i)) // a retry that works
		for range 2 {
			s.Call("get_order", id, fmt.Sprintf(`{"state":"open-%d"}`, i)) // the same again
		}
		s.Call("set_order", id, `{"done":true}`)
		s.Call("get_order", id, `{"state":"closed"}`) // no repeat: something was changed
		s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls)})
		s.Call("pay", fmt.Sprintf(`{"n":%d}`, i), `{"error":"declined"}`)
		s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls)}) // the answer
		usage(s, "gpt-4o")
		s.T.Outcome = trace.OutcomeSuccess
		if i < 4 {
			s.T.Outcome = trace.OutcomeFailure
		}
		list = append(list, &s.T)
	}
	got := found(list, findings.Options{})
	for _, tc := range []struct {
		code                     findings.Code
		tool                     string
		count, of, failed, turns int
		advice                   string
		recovered, first         int
	}{
		{findings.Failures, "get_order", 10, 50, 4, 10, "get_order returns 503 in 20 % of its calls. The tool is at fault", 0, 503},
		{findings.Retry, "get_order", 10, 50, 4, 10, "and none of these retries failed. Let the client retry", 10, 0},
		{findings.Loop, "get_order", 20, 50, 4, 20, "repeats the same get_order call 20 times", 0, 0},
		{findings.Failures, "pay", 10, 10, 4, 10, "pay fails in 100 % of its calls", 0, 0},
		{findings.Silent, "", 10, 90, 4, 10, "11 % of all turns call nothing and answer nobody", 0, 0},
	} {
		f := of(t, got, tc.code, tc.tool)
		if f.Count != tc.count || f.Of != tc.of || f.Trajectories != 10 || f.Turns != tc.turns || f.TurnsUsage != tc.turns || f.Recovered != tc.recovered {
			t.Errorf("%s %s: %+v", tc.code, tc.tool, f)
		}
		if failed, in := value(t, f.FailedTrajectories), value(t, f.InFailed); int(failed) != tc.failed || int(in) != tc.count*4/10 {
			t.Errorf("%s %s: %v of %v failed", tc.code, tc.tool, failed, in)
		}
		if tokens := value(t, f.Tokens); tokens != float64(1100*tc.turns) {
			t.Errorf("%s %s: %v tokens", tc.code, tc.tool, tokens)
		}
		// gpt-4o: 2.50 USD a million of input, 10 of output.
		if usd, want := value(t, f.USD), float64(tc.turns)*(1000*2.5+100*10)/1e6; math.Abs(usd-want) > 1e-9 {
			t.Errorf("%s %s: %v USD, want %v", tc.code, tc.tool, usd, want)
		}
		if !strings.Contains(f.Advice, tc.advice) {
			t.Errorf("%s %s: %q", tc.code, tc.tool, f.Advice)
		}
		if tc.first != 0 && (len(f.Statuses) != 1 || f.Statuses[0] != findings.StatusCount{Status: tc.first, Count: 10}) {
			t.Errorf("%+v", f.Statuses)
		}
		if rate := value(t, f.Rate); rate != float64(tc.count)/float64(tc.of) || !f.Interval.Known() || rate < f.Interval.Lo || rate > f.Interval.Hi || f.Interval.N != 10 {
			t.Errorf("%s %s: rate %v in %+v", tc.code, tc.tool, rate, f.Interval)
		}
	}
	// What costs most stands first; answers are no finding.
	var order []string
	for _, f := range got {
		order = append(order, string(f.Code)+" "+f.Tool)
	}
	if order[0] != "loop get_order" {
		t.Errorf("order %q", order)
	}
	// A user message or a write stands between all reads but the repeated ones.
	for _, f := range got {
		if f.Code == findings.Batch {
			t.Errorf("%+v", f)
		}
	}
	// Thresholds: with 11 wanted, what happened ten times is none.
	if few := found(list, findings.Options{Least: 11}); len(few) != 1 {
		t.Errorf("%+v", few)
	}
}

// TestBatchKnown counts the turns of reads whose arguments the user gave.
func TestBatchKnown(t *testing.T) {
	var list []*trace.Trajectory
	for i := range 3 {
		s := (&scripted.Run{}).User(fmt.Sprintf("compare item-%d and thing-%d and stuff-%d", i, i, i))
		for _, id := range []string{"item", "thing", "stuff"} {
			s.Call("get_product", fmt.Sprintf(`{"id":"%s-%d"}`, id, i), fmt.Sprintf(`{"price":"%s-price-%d"}`, id, i))
		}
		s.Call("set_note", fmt.Sprintf(`{"id":"item-%d"}`, i), `"ok"`)
		s.Call("get_product", fmt.Sprintf(`{"id":"stuff-%d","full":true}`, i), `{}`)
		s.Call("compare", fmt.Sprintf(`{"prices":["item-price-%d","thing-price-%d"]}`, i, i), `"ok"`)
		list = append(list, &s.T)
	}
	f := of(t, found(list, findings.Options{}), findings.Batch, "")
	if f.Count != 6 || f.Turns != 6 || f.Trajectories != 3 || f.Of != 18 || !strings.Contains(f.Advice, "most often with get_product. Turn on parallel tool calls, and ask for them in the prompt. That needs up to 6 turns fewer") {
		t.Errorf("%+v", f)
	}
	if _, known := f.Tokens.Value(); known {
		t.Error("tokens of turns that record none")
	}
	if _, known := f.FailedTrajectories.Value(); known {
		t.Error("failed trajectories, where no outcome is recorded")
	}
}

// TestWorthOfUsage says that money of turns without a price and tokens of turns without
// usage are not made up.
func TestWorthOfUsage(t *testing.T) {
	s := (&scripted.Run{}).User("x")
	for range 5 {
		s.Call("get_a", `{"a":1}`, `1`)
	}
	usage(s, "nobody/sells-this")
	s.T.Turns[4].Usage = trace.Usage{}
	f := of(t, found([]*trace.Trajectory{&s.T}, findings.Options{}), findings.Loop, "get_a")
	if f.Turns != 4 || f.TurnsUsage != 3 || value(t, f.Tokens) != 3300 {
		t.Errorf("%+v", f)
	}
	if _, known := f.USD.Value(); known {
		t.Error("a price of a model that has none")
	}
	if f.Interval.Known() {
		t.Error("an interval of one trajectory")
	}
}

// TestOverlap: a turn that two findings would do without is charged to the first of them.
func TestOverlap(t *testing.T) {
	s := (&scripted.Run{}).User("x")
	for range 5 {
		s.Call("get_a", `{"a":1}`, `"Error: 503"`) // four of them are retries, all fail
	}
	usage(s, "gpt-4o")
	got := found([]*trace.Trajectory{&s.T}, findings.Options{})
	failures, retry := of(t, got, findings.Failures, "get_a"), of(t, got, findings.Retry, "get_a")
	if got[0].Code != findings.Failures || failures.Count != 5 || failures.Turns != 5 || retry.Count != 4 || retry.Turns != 0 {
		t.Errorf("%+v", got)
	}
}

// cached gives the turns of a run inputs that grow by 1,000 tokens, of which so many are
// read from a cache.
func cached(s *scripted.Run, model string, tokens ...int64) {
	s.T.Model = model
	for i := range s.T.Turns {
		s.T.Turns[i].Usage = trace.Usage{Known: true, Input: int64(2000 + 1000*i), Output: 100, CachedInput: tokens[i%len(tokens)]}
	}
}

// TestCaching: what each turn reads again at the full price is counted by hand. gpt-4o costs
// 2.50 USD a million tokens of input, and 1.25 of cached input.
func TestCaching(t *testing.T) {
	const prompt = "You are an agent. It is %d o'clock. Be kind to everybody, look things up before you answer, and never guess."
	build := func(task int, tokens ...int64) *trace.Trajectory {
		s := (&scripted.Run{}).User(fmt.Sprint("task ", task))
		for i := range 4 {
			s.Call("set_a", fmt.Sprintf(`{"a":%d}`, i), `1`)
		}
		cached(s, "gpt-4o", tokens...)
		s.T.Messages = append([]trace.Message{{Role: trace.RoleSystem, Text: trace.TextOf(fmt.Sprintf(prompt, task))}}, s.T.Messages...)
		return &s.T
	}
	var off, broken, paid []*trace.Trajectory
	for task := range 3 {
		off = append(off, build(task, 0))
		broken = append(broken, build(task, 0, 2000, 100, 4000)) // the third turn could read 3,000
		one, usd := build(task, 0), 0.001
		for i := range one.Turns {
			one.Turns[i].Usage.CostUSD = &usd // far below the list price
		}
		paid = append(paid, one)
	}
	f := of(t, found(off, findings.Options{}), findings.NoCache, "")
	if f.Turns != 9 || value(t, f.Tokens) != 3*(2000+3000+4000) || math.Abs(value(t, f.USD)-27000*1.25e-6) > 1e-12 || f.Differs != 25 || !strings.Contains(f.Advice, "at character 25") {
		t.Errorf("%+v", f)
	}
	f = of(t, found(broken, findings.Options{}), findings.BrokenCache, "")
	if f.Turns != 3 || value(t, f.Tokens) != 3*2900 || math.Abs(value(t, f.USD)-8700*1.25e-6) > 1e-12 {
		t.Errorf("%+v", f)
	}
	for _, f := range found(paid, findings.Options{}) {
		if f.Code == findings.NoCache {
			t.Errorf("who paid so little had a cache: %+v", f)
		}
	}
	// Five minutes later a cache holds nothing any more.
	for _, one := range off {
		for i := range one.Turns {
			one.Turns[i].Start = time.Date(2026, 3, 25, 0, 6*i, 0, 0, time.UTC)
		}
	}
	for _, f := range found(off, findings.Options{}) {
		if f.Code == findings.NoCache {
			t.Errorf("after six minutes: %+v", f)
		}
	}
}

// TestNoWordsOfTheTraces says that nothing of an argument or a result gets out.
func TestNoWordsOfTheTraces(t *testing.T) {
	const secret = "hunter2"
	s := (&scripted.Run{}).User(secret)
	for range 4 {
		s.Call("login", `{"password":"`+secret+`"}`, `"Error: `+secret+` is wrong 503"`)
	}
	for _, f := range found([]*trace.Trajectory{&s.T}, findings.Options{}) {
		if text := fmt.Sprintf("%+v", f); strings.Contains(text, secret) || strings.Contains(text, "503") {
			t.Errorf("%s", text)
		}
	}
}

// TestProperties holds findings of any calls to what must be true of them.
func TestProperties(t *testing.T) {
	tools := []string{"get_a", "set_a", "list_b", "think"}
	results := []string{`"Error: 503"`, `{"ok":1}`, `{"error":"no"}`, `"fine"`, `"HTTP 404"`}
	rapid.Check(t, func(t *rapid.T) {
		var list []*trace.Trajectory
		calls, turns := 0, 0
		for i := range rapid.IntRange(0, 6).Draw(t, "trajectories") {
			s := (&scripted.Run{}).User(fmt.Sprint("user ", i))
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				tool, args, result := rapid.SampledFrom(tools).Draw(t, "tool"), fmt.Sprintf(`{"x":%d}`, rapid.IntRange(0, 2).Draw(t, "x")), rapid.SampledFrom(results).Draw(t, "result")
				switch rapid.IntRange(0, 4).Draw(t, "kind") {
				case 0:
					s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls)})
				case 1:
					if n := len(s.T.Turns); n > 0 && s.T.Turns[n-1].NumCalls > 0 {
						s.Also(tool, args, result)
						continue
					}
					fallthrough
				default:
					s.Call(tool, args, result)
				}
			}
			usage(s, "gpt-4o")
			s.T.Outcome = trace.Outcome(rapid.IntRange(0, 2).Draw(t, "outcome"))
			calls, turns = calls+len(s.T.Calls), turns+len(s.T.Turns)
			list = append(list, &s.T)
		}
		got := found(list, findings.Options{Least: 1})
		again, retried, failed, charged := 0, 0, 0, 0
		for i, f := range got {
			if f.Count < 1 || f.Count > f.Of || f.Turns > turns || f.Trajectories > len(list) || f.TurnsUsage != f.Turns || f.Advice == "" {
				t.Fatalf("%+v", f)
			}
			if v, ok := f.InFailed.Value(); ok && int(v) > f.Count {
				t.Fatalf("%+v", f)
			}
			if v, ok := f.Tokens.Value(); ok && int(v) != 1100*f.Turns {
				t.Fatalf("%v tokens in %d turns", v, f.Turns)
			}
			if i > 0 && f.Turns > got[i-1].Turns {
				t.Fatalf("%d turns after %d", f.Turns, got[i-1].Turns)
			}
			charged += f.Turns
			switch f.Code {
			case findings.Loop:
				again += f.Count
			case findings.Retry:
				retried += f.Count
			case findings.Failures:
				failed += f.Count
			}
		}
		if charged > turns {
			t.Fatalf("%d turns are charged, of %d", charged, turns)
		}
		if again+retried > calls || retried > failed {
			t.Fatalf("%d again, %d retried, %d failed of %d", again, retried, failed, calls)
		}
		// The order of trajectories does not matter where sums are exact.
		turned := make([]*trace.Trajectory, len(list))
		for i, one := range list {
			turned[len(list)-1-i] = one
		}
		other := found(turned, findings.Options{Least: 1})
		for i := range got {
			a, b := got[i], other[i]
			if x, ok := a.USD.Value(); ok {
				if y, _ := b.USD.Value(); math.Abs(x-y) > 1e-9 {
					t.Fatalf("%v and %v USD", x, y)
				}
			}
			if worthless(a) != worthless(b) {
				t.Fatalf("%+v\n%+v", a, b)
			}
		}
	})
}

// worthless leaves out what is not exported, and bounds that rounding may change.
func worthless(f findings.Finding) string {
	return fmt.Sprint(f.Code, f.Tool, f.Count, f.Of, f.Trajectories, f.FailedTrajectories, f.InFailed, f.Turns, f.Tokens, f.Recovered, f.Statuses, f.Advice,
		fmt.Sprintf("%.9f %.9f", f.Interval.Lo, f.Interval.Hi))
}

// TestManyTools bounds the tools that are told apart.
func TestManyTools(t *testing.T) {
	f, looker := findings.NewFinder(findings.Options{}), findings.Looker{}
	s := (&scripted.Run{}).User("x")
	for i := range findings.MaxTools + 5 {
		s.Call(fmt.Sprintf("get_%06d", i), `{}`, `"Error: 500"`)
	}
	s.T.ReadFailures()
	f.Add(&s.T, looker.Look(&s.T, nil), nil)
	if got := f.Beyond(); got != 5 {
		t.Errorf("%d calls beyond", got)
	}
}

// TestProgramsAreNotBlamed: what a program calls is nothing that the model did, however often
// it repeats a call, fails, or reads one thing after the other.
func TestProgramsAreNotBlamed(t *testing.T) {
	var list []*trace.Trajectory
	for i := range 10 {
		s := (&scripted.Run{}).User(fmt.Sprintf("order-%d", i))
		s.Call("code_execution", `{"code":"..."}`, `"done"`)
		for n := range 4 {
			s.T.Calls = append(s.T.Calls, trace.Call{
				Tool: trace.Intern("get_order"), Args: trace.JSONOf(fmt.Appendf(nil, `{"id":"order-%d"}`, n/3)),
				Result: trace.JSONOf([]byte(`{"error":"503"}`)), HasResult: true, Status: trace.StatusFailed, Origin: trace.OriginCode,
			})
			s.T.Turns[0].NumCalls++
		}
		s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls)})
		usage(s, "gpt-4o")
		list = append(list, &s.T)
	}
	for _, f := range found(list, findings.Options{Least: 1}) {
		if f.Code != findings.NoCache {
			t.Errorf("%+v", f)
		}
	}
}

// TestTools: what findings cost is divided by tool, and a recommendation is charged with what
// no finding does without.
func TestTools(t *testing.T) {
	s := (&scripted.Run{}).User("x")
	for range 5 {
		s.Call("get_a", `{"a":1}`, `"Error: 503"`)
	}
	s.Call("get_b", `{}`, `1`).Also("get_c", `{}`, `1`).Call("get_b", `{"b":2}`, `1`).Call("get_b", `{"b":3}`, `1`)
	usage(s, "gpt-4o")
	f, looker := findings.NewFinder(findings.Options{Tools: true}), findings.Looker{}
	s.T.ReadFailures()
	account := cost.NewMeter(cost.Options{NoCounting: true}).Trajectory(&s.T)
	seen := looker.Look(&s.T, nil)
	seen.Without([]int{4, 5, 6, 7}) // the first of them is charged to failures
	f.Add(&s.T, seen, account)
	list := f.Findings()
	tools := map[string]int{}
	for _, x := range list {
		sum := 0.0
		for _, c := range x.Tools {
			sum += c.USD
			tools[string(x.Code)+" "+c.Tool]++
		}
		if usd, _ := x.USD.Value(); math.Abs(sum-usd) > 1e-12 {
			t.Errorf("%s costs %v, and by tool %v", x.Code, usd, sum)
		}
	}
	if last := list[len(list)-1]; last.Code != findings.Recommended || last.Turns != 3 {
		t.Errorf("the last is %+v", last)
	}
	for _, want := range []string{"failures get_a", "recommended get_b", "recommended get_c"} {
		if tools[want] != 1 {
			t.Errorf("%s is not there: %v", want, tools)
		}
	}
}
