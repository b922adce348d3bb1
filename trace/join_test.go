package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// script feeds a builder: "u" user, "s" system, "t" turn, "c:id:tool" call,
// "o:id:tool" a call from code, "r:id" result, "n:tool" result without an id.
func script(steps ...string) *Trajectory {
	b := newBuilder(0)
	for i, step := range steps {
		op, rest, _ := strings.Cut(step, ":")
		first, second, _ := strings.Cut(rest, ":")
		result := TextOf(fmt.Sprint("result ", i))
		switch op {
		case "u":
			b.message(RoleUser, TextOf("u"))
		case "s":
			b.message(RoleSystem, TextOf("s"))
		case "t":
			b.turn()
		case "c":
			b.call(first, Intern(second), JSONOf([]byte("{}")), OriginModel)
		case "o":
			b.call(first, Intern(second), JSONOf([]byte("{}")), OriginCode)
		case "r":
			b.result([]byte(first), result)
		case "n":
			b.namedResult([]byte(first), result)
		default:
			panic(step)
		}
	}
	return b.finish()
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
			if strings.Join(got, " ") != test.results || tr.Oddities.ByCode[CodeOrphanResult] != test.orphans {
				t.Errorf("results %v, %d orphans; want %s, %d", got, tr.Oddities.ByCode[CodeOrphanResult], test.results, test.orphans)
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
	wantTurns := []Turn{{FirstCall: 0, NumCalls: 2}, {FirstCall: 2}, {FirstCall: 2, NumCalls: 1}}
	if !slices.Equal(turnsOnly(tr), turnsOnly(&Trajectory{Turns: wantTurns})) {
		t.Errorf("turns %v", turnsOnly(tr))
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
	if n := tr.Oddities.ByCode[CodeCallRepeatedID]; n != 1 {
		t.Errorf("%d repeated ids, want 1", n)
	}
}

// TestResultsModel compares the joining of results with the plainest one, with
// few calls waiting and with so many that they are indexed.
func TestResultsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lead := rapid.SampledFrom([]int{0, 0, fewWaiting - 3, 3 * fewWaiting}).Draw(t, "calls at first")
		b := newBuilder(0)
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
			b.call(id, Intern(tool), Raw{}, OriginModel)
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
		b.turn()
		for range lead {
			add()
		}
		for n := range rapid.IntRange(0, 150).Draw(t, "events") {
			result := TextOf(fmt.Sprint(n))
			switch rapid.IntRange(0, 4).Draw(t, "event") {
			case 0, 1:
				add()
			case 2:
				id := rapid.SampledFrom([]string{"1", "2", "3", "none"}).Draw(t, "id")
				b.result([]byte(id), result)
				answer(n, func(p plain) bool { return p.id == id })
			case 3:
				tool := rapid.SampledFrom([]string{"a", "b", "c", "none"}).Draw(t, "tool")
				b.namedResult([]byte(tool), result)
				answer(n, func(p plain) bool { return p.tool == tool })
			case 4:
				b.namedResult(nil, result)
				answer(n, func(plain) bool { return true })
			}
		}
		tr := b.finish()
		for i, c := range tr.Calls {
			want := ""
			if calls[i].result >= 0 {
				want = fmt.Sprint(calls[i].result)
			}
			if c.Result.Text() != want || c.HasResult != (want != "") {
				t.Fatalf("call %d has the result %q, want %q", i, c.Result.Text(), want)
			}
		}
		if tr.Oddities.ByCode[CodeOrphanResult] != orphans {
			t.Fatalf("%d orphans, want %d", tr.Oddities.ByCode[CodeOrphanResult], orphans)
		}
		seen, repeated := map[string]bool{}, 0
		for _, c := range calls {
			if c.id != "" && seen[c.id] {
				repeated++
			}
			seen[c.id] = true
		}
		if tr.Oddities.ByCode[CodeCallRepeatedID] != repeated {
			t.Fatalf("%d repeated ids, want %d", tr.Oddities.ByCode[CodeCallRepeatedID], repeated)
		}
	})
}

// TestJoiningIsLinear joins results in an order that takes a search through all
// calls each time, if they are searched.
func TestJoiningIsLinear(t *testing.T) {
	const n = 200_000
	start := time.Now()
	b := newBuilder(0)
	b.turn()
	ids := make([]string, n)
	tool := Intern("tool")
	for i := range ids {
		ids[i] = fmt.Sprint("call-", i)
		b.call(ids[i], tool, Raw{}, OriginModel)
	}
	for i := range ids {
		b.result([]byte("nobody's"), Raw{})
		b.result([]byte(ids[n-1-i]), TextOf(ids[n-1-i]))
	}
	tr := b.finish()
	for i := range tr.Calls {
		if tr.Calls[i].Result.Text() != ids[i] {
			t.Fatalf("call %d has the result %q", i, tr.Calls[i].Result.Text())
		}
	}
	if tr.Oddities.ByCode[CodeOrphanResult] != n {
		t.Errorf("%d orphans", tr.Oddities.ByCode[CodeOrphanResult])
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("joining %d results took %v", 2*n, took)
	}
}

func TestArgsOddities(t *testing.T) {
	var many strings.Builder
	for i := range 2 * fewWaiting {
		fmt.Fprintf(&many, `"k%d":1,"k%d":2,`, i, i)
	}
	for _, test := range []struct {
		args Raw
		code string
		n    int
	}{
		{JSONOf([]byte(`{"a":{"b":1}}`)), "", 0},
		{Raw{}, "", 0},
		{textToken(`{"a":`), CodeArgsNotJSON, 1},
		{textToken(``), CodeArgsNotJSON, 1},
		{textToken(`[1]`), CodeArgsNotObject, 1},
		{JSONOf([]byte(`null`)), CodeArgsNotObject, 1},
		{textToken(`{"a":1,"\u0061":2,"b":[{"c":1,"c":2,"c":3}]}`), CodeKeyDuplicate, 3},
		{JSONOf([]byte(`{` + many.String() + `"k1":3}`)), CodeKeyDuplicate, 2*fewWaiting + 1},
	} {
		b := newBuilder(0)
		b.call("1", Intern("a"), test.args, OriginModel)
		odd := b.finish().Oddities
		if odd.ByCode[test.code] != test.n || odd.Total != test.n {
			t.Errorf("%.30s: %v, want %d %s", test.args.Data, odd, test.n, test.code)
		}
	}
}

func TestNameCache(t *testing.T) {
	var c nameCache
	for range 3 {
		for i := range 300 {
			name := fmt.Sprint("server__tool_", i)
			if got := c.intern([]byte(name)); got != Intern(name) {
				t.Fatalf("%s became %s", name, got.Value())
			}
		}
		if c.intern(nil) != Intern("") {
			t.Fatal("the empty name")
		}
	}
	name := []byte("get_reservation_details")
	c.intern(name)
	if n := testing.AllocsPerRun(100, func() { c.intern(name) }); n != 0 {
		t.Errorf("%v allocations for a known name", n)
	}
}

func TestTextArena(t *testing.T) {
	var a textArena
	var got, want []string
	for i := range 500 {
		s := strings.Repeat(fmt.Sprint(i, "é"), i%60)
		want = append(want, s)
		got = append(got, a.add([]byte(s)))
	}
	if !slices.Equal(got, want) {
		t.Error("strings changed")
	}
}
