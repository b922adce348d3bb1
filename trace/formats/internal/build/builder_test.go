package build_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// script feeds a builder: "u" user, "s" system, "t" turn, "c:id:tool" call,
// "o:id:tool" a call from code, "r:id" result, "n:tool" result without an id.
func script(steps ...string) *trace.Trajectory {
	b := build.New(0)
	for i, step := range steps {
		op, rest, _ := strings.Cut(step, ":")
		first, second, _ := strings.Cut(rest, ":")
		result := trace.TextOf(fmt.Sprint("result ", i))
		switch op {
		case "u":
			b.Message(trace.RoleUser, trace.TextOf("u"))
		case "s":
			b.Message(trace.RoleSystem, trace.TextOf("s"))
		case "t":
			b.Turn()
		case "c":
			b.Call(first, trace.Intern(second), trace.JSONOf([]byte("{}")), trace.OriginModel)
		case "o":
			b.Call(first, trace.Intern(second), trace.JSONOf([]byte("{}")), trace.OriginCode)
		case "r":
			b.Result([]byte(first), result)
		case "n":
			b.NamedResult([]byte(first), result)
		default:
			panic(step)
		}
	}
	return b.Finish()
}

func TestResults(t *testing.T) {
	for _, test := range []struct {
		name    string
		steps   string
		results string // by call: the step that its result came with, - for none
		orphans int
	}{
		{"in order", "t c:1:a r:1 t c:2:b r:2", "2 5", 0},
		{"parallel, reversed", "t c:1:a c:2:b r:2 r:1", "4 3", 0},
		{"ids repeat", "t c:1:a r:1 t c:1:b r:1", "2 5", 0},
		{"ids repeat before the answer", "t c:1:a c:1:b r:1 r:1", "3 4", 0},
		{"oldest first over turns", "t c:1:a t c:1:b r:1", "4 -", 0},
		{"too many", "t c:1:a r:1 r:1", "2", 1},
		{"unknown id", "t c:1:a r:2", "-", 1},
		{"before its call", "r:1 t c:1:a", "-", 1},
		{"by name", "t c::a c::b n:b n:a", "4 3", 0},
		{"by name in order", "t c::a t c::a n:a n:a", "4 5", 0},
		{"by name, unknown", "t c::a n:b", "-", 1},
		{"neither id nor name", "t c:1:a c:2:b n: n: n:", "3 4", 1},
		{"names also find calls with ids", "t c:1:a n:a r:1", "2", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr := script(strings.Fields(test.steps)...)
			var got []string
			for i := range tr.Calls {
				c := &tr.Calls[i]
				if c.HasResult != !c.Result.IsZero() {
					t.Errorf("call %d: HasResult %v, result %q", i, c.HasResult, c.Result.Data)
				}
				if !c.HasResult {
					got = append(got, "-")
				} else {
					got = append(got, strings.TrimPrefix(c.Result.Text(), "result "))
				}
			}
			if strings.Join(got, " ") != test.results || tr.Anomalies.ByCode[trace.CodeOrphanResult] != test.orphans {
				t.Errorf("results %v, %d orphans; want %s, %d", got, tr.Anomalies.ByCode[trace.CodeOrphanResult], test.results, test.orphans)
			}
		})
	}
}

func TestAfterUser(t *testing.T) {
	for _, test := range []struct{ steps, want string }{
		{"u t c:1:a t c:2:a", "--"},             // the first call never is
		{"u t c:1:a u t c:2:a t c:3:a", "-u-"},  // a message between two calls
		{"u t c:1:a r:1 t u t u t c:2:a", "-u"}, // answers between do not matter
		{"u t c:1:a u t c:2:a c:3:a", "-u-"},    // of parallel calls only the first
		{"u t c:1:a u c:2:a t c:3:a", "--u"},    // said between parallel calls: for the next turn
		{"u t c:1:a s t c:2:a", "--"},           // the system is no user
		{"c:1:a u c:2:a", "-u"},                 // without turns
		{"t o:1:a u t c:2:a u t c:3:a", "--u"},  // code's calls are no first call of the model
		{"t c:1:a u t o:2:a t c:3:a", "-uu"},    // and use up no message
	} {
		tr := script(strings.Fields(test.steps)...)
		got := ""
		for i := range tr.Calls {
			if tr.Calls[i].AfterUser {
				got += "u"
			} else {
				got += "-"
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.steps, got, test.want)
		}
	}
}

func TestPositions(t *testing.T) {
	tr := script(strings.Fields("s u t c:1:a c:2:b r:1 r:2 t u t c:1:c")...)
	wantTurns := []trace.Turn{{FirstCall: 0, NumCalls: 2}, {FirstCall: 2}, {FirstCall: 2, NumCalls: 1}}
	if !slices.Equal(formattest.TurnsOnly(tr), formattest.TurnsOnly(&trace.Trajectory{Turns: wantTurns})) {
		t.Errorf("turns %v", formattest.TurnsOnly(tr))
	}
	var positions []string
	for _, m := range tr.Messages {
		positions = append(positions, fmt.Sprintf("%d/%d", m.Turn, m.Call))
	}
	if got := strings.Join(positions, " "); got != "0/0 0/0 2/2" {
		t.Errorf("messages at %s", got)
	}
	for i, turn := range []int{0, 0, 2} {
		if tr.Calls[i].Turn != turn {
			t.Errorf("call %d is of turn %d, want %d", i, tr.Calls[i].Turn, turn)
		}
	}
	if n := tr.Anomalies.ByCode[build.CodeCallRepeatedID]; n != 1 {
		t.Errorf("%d repeated ids, want 1", n)
	}
}

// TestResultsModel compares the joining of results with the plainest one, with
// few calls waiting and with so many that they are indexed.
func TestResultsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lead := rapid.SampledFrom([]int{0, 0, build.FewWaiting - 3, 3 * build.FewWaiting}).Draw(t, "calls at first")
		b := build.New(0)
		type plain struct {
			id, tool string
			result   int
		}
		var calls []plain
		orphans := 0
		add := func() {
			id := rapid.SampledFrom([]string{"", "1", "2", "3", "x"}).Draw(t, "id")
			tool := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "tool")
			calls = append(calls, plain{id, tool, -1})
			b.Call(id, trace.Intern(tool), trace.Raw{}, trace.OriginModel)
		}
		answer := func(n int, fits func(plain) bool) {
			for i := range calls {
				if calls[i].result < 0 && fits(calls[i]) {
					calls[i].result = n
					return
				}
			}
			orphans++
		}
		b.Turn()
		for range lead {
			add()
		}
		for n := range rapid.IntRange(0, 150).Draw(t, "events") {
			result := trace.TextOf(fmt.Sprint(n))
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0, 1:
				add()
			case 2:
				id := rapid.SampledFrom([]string{"1", "2", "3", "none"}).Draw(t, "id")
				b.Result([]byte(id), result)
				answer(n, func(p plain) bool { return p.id == id })
			case 3:
				tool := rapid.SampledFrom([]string{"a", "b", "c", "none"}).Draw(t, "tool")
				b.NamedResult([]byte(tool), result)
				answer(n, func(p plain) bool { return p.tool == tool })
			case 4:
				b.NamedResult(nil, result)
				answer(n, func(plain) bool { return true })
			}
		}
		tr := b.Finish()
		for i, c := range tr.Calls {
			want := ""
			if calls[i].result >= 0 {
				want = fmt.Sprint(calls[i].result)
			}
			if c.Result.Text() != want || c.HasResult != (want != "") {
				t.Fatalf("call %d has the result %q, want %q", i, c.Result.Text(), want)
			}
		}
		if tr.Anomalies.ByCode[trace.CodeOrphanResult] != orphans {
			t.Fatalf("%d orphans, want %d", tr.Anomalies.ByCode[trace.CodeOrphanResult], orphans)
		}
		seen, repeated := map[string]bool{}, 0
		for _, c := range calls {
			if c.id != "" && seen[c.id] {
				repeated++
			}
			seen[c.id] = true
		}
		if tr.Anomalies.ByCode[build.CodeCallRepeatedID] != repeated {
			t.Fatalf("%d repeated ids, want %d", tr.Anomalies.ByCode[build.CodeCallRepeatedID], repeated)
		}
	})
}

// TestJoiningIsLinear joins results in an order that takes a search through all
// calls each time, if they are searched.
func TestJoiningIsLinear(t *testing.T) {
	const n = 200_000
	start := time.Now()
	b := build.New(0)
	b.Turn()
	ids := make([]string, n)
	tool := trace.Intern("tool")
	for i := range ids {
		ids[i] = fmt.Sprint("call-", i)
		b.Call(ids[i], tool, trace.Raw{}, trace.OriginModel)
	}
	for i := range ids {
		b.Result([]byte("nobody's"), trace.Raw{})
		b.Result([]byte(ids[n-1-i]), trace.TextOf(ids[n-1-i]))
	}
	tr := b.Finish()
	for i := range tr.Calls {
		if tr.Calls[i].Result.Text() != ids[i] {
			t.Fatalf("call %d has the result %q", i, tr.Calls[i].Result.Text())
		}
	}
	if tr.Anomalies.ByCode[trace.CodeOrphanResult] != n {
		t.Errorf("%d orphans", tr.Anomalies.ByCode[trace.CodeOrphanResult])
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("joining %d results took %v", 2*n, took)
	}
}

func TestArgsOddities(t *testing.T) {
	var many strings.Builder
	for i := range 2 * build.FewWaiting {
		fmt.Fprintf(&many, `"k%d":1,"k%d":2,`, i, i)
	}
	for _, test := range []struct {
		args trace.Raw
		code string
		n    int
	}{
		{trace.JSONOf([]byte(`{"a":{"b":1}}`)), "", 0},
		{trace.Raw{}, "", 0},
		{formattest.TextToken(`{"a":`), build.CodeArgsNotJSON, 1},
		{formattest.TextToken(``), build.CodeArgsNotJSON, 1},
		{formattest.TextToken(`[1]`), build.CodeArgsNotObject, 1},
		{trace.JSONOf([]byte(`null`)), build.CodeArgsNotObject, 1},
		{formattest.TextToken(`{"a":1,"\u0061":2,"b":[{"c":1,"c":2,"c":3}]}`), build.CodeKeyDuplicate, 3},
		{trace.JSONOf([]byte(`{` + many.String() + `"k1":3}`)), build.CodeKeyDuplicate, 2*build.FewWaiting + 1},
	} {
		b := build.New(0)
		b.Call("1", trace.Intern("a"), test.args, trace.OriginModel)
		anomalies := b.Finish().Anomalies
		if anomalies.ByCode[test.code] != test.n || anomalies.Total != test.n {
			t.Errorf("%.30s: %v, want %d %s", test.args.Data, anomalies, test.n, test.code)
		}
	}
}
