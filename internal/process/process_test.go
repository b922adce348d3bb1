package process_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/awo-dev/awo/internal/process"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

func run(id string, tools ...string) *trace.Trajectory {
	s := (&scripted.Run{}).User("do it")
	for _, tool := range tools {
		s.Call(tool, "{}", "{}")
	}
	s.T.ID = id
	return &s.T
}

func edges(m *process.Map) []string {
	name := func(i int) string {
		switch i {
		case process.Start:
			return "start"
		case process.End:
			return "end"
		}
		return m.Nodes[i].Tool
	}
	var out []string
	for _, e := range m.Edges {
		out = append(out, fmt.Sprintf("%s>%s %d/%d", name(e.From), name(e.To), e.Count, e.Trajectories))
	}
	slices.Sort(out)
	return out
}

// TestMap is a case worked by hand: abb, ab, and a run without calls.
func TestMap(t *testing.T) {
	b := process.NewBuilder()
	b.Add(run("1", "a", "b", "b", "a", "b"))
	b.Add(run("2", "a", "b"))
	b.Add(run("3"))
	m := b.Map()
	if m.Trajectories != 2 {
		t.Errorf("%d trajectories, want 2", m.Trajectories)
	}
	want := []string{"a>b 3/2", "b>a 1/1", "b>b 1/1", "b>end 2/2", "start>a 2/2"}
	if got := edges(m); !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
	if n := m.Nodes[0]; n.Tool != "b" || n.Calls != 4 || n.Trajectories != 2 || n.Judged != 0 {
		t.Errorf("the first node is %+v", n)
	}
}

// TestOnlyTheModelsCalls says that what a program called between two calls of the
// model is neither a node nor comes between them.
func TestOnlyTheModelsCalls(t *testing.T) {
	r := run("1", "a", "inner", "b")
	r.Calls[1].Origin = trace.OriginCode
	b := process.NewBuilder()
	b.Add(r)
	if got, want := edges(b.Map()), []string{"a>b 1/1", "b>end 1/1", "start>a 1/1"}; !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
}

func TestParallelFailedAndTimes(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(1_000_000 + ms)) }
	s := (&scripted.Run{}).User("x").Call("a", "{}", "{}").Also("b", "{}", "{}").Call("c", "{}", "{}")
	c := s.T.Calls
	c[0].Start, c[0].End, c[0].Status = at(0), at(100), trace.StatusOK
	c[1].Start, c[1].End, c[1].Status = at(10), at(400), trace.StatusFailed
	c[2].Start, c[2].End = at(1400), at(1500)
	b := process.NewBuilder()
	b.Add(&s.T)
	m := b.Map()
	for _, e := range m.Edges {
		if e.From < 0 || e.To < 0 {
			continue
		}
		switch from := m.Nodes[e.From].Tool; from {
		case "a":
			if e.Parallel != 1 || e.Gap.N() != 0 {
				t.Errorf("a>b: %d parallel, %d gaps", e.Parallel, e.Gap.N())
			}
		case "b":
			if gap := e.Gap.Quantile(0.5); e.Parallel != 0 || math.Abs(gap-1e9) > 1e7 {
				t.Errorf("b>c: %d parallel, a gap of %v", e.Parallel, gap)
			}
		}
	}
	for _, n := range m.Nodes {
		if n.Tool == "b" && (n.Failed != 1 || n.Judged != 1) || n.Tool == "c" && n.Judged != 0 {
			t.Errorf("%+v", n)
		}
	}
	sample := process.NewSample(1)
	sample.Add(&s.T, 0, 0)
	lines, _ := sample.Timelines()
	if len(lines) != 1 || len(lines[0].Turns) != 2 || lines[0].Failed != 1 || lines[0].Length != 1500*time.Millisecond {
		t.Fatalf("timelines %+v", lines)
	}
	if c := lines[0].Turns[0].Calls[1]; c.Start != 10*time.Millisecond || c.End != 400*time.Millisecond || lines[0].Turns[0].Start != -1 {
		t.Errorf("the turn %+v", lines[0].Turns[0])
	}
}

// TestOrderDoesNotMatter adds the same trajectories in other orders.
func TestOrderDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []*trace.Trajectory
	for i := range 300 {
		var tools []string
		for range r.IntN(9) {
			tools = append(tools, fmt.Sprintf("t%d", r.IntN(6)))
		}
		all = append(all, run(fmt.Sprintf("run-%03d", i), tools...))
	}
	type found struct {
		*process.Map
		lines   []process.Timeline
		notable process.Notable
	}
	of := func() (out found) {
		b, s := process.NewBuilder(), process.NewSample(20)
		for _, t := range all {
			b.Add(t)
			s.Add(t, float64(len(t.Calls)/3), 0)
		}
		out.Map = b.Map()
		out.lines, out.notable = s.Timelines()
		return out
	}
	first := of()
	m, at := first.Map, first.notable
	if n := len(first.lines); n < 20 || n > 21 || at.Dearest < 0 || at.Failed != -1 {
		t.Fatalf("%d timelines, want 20 and the one that costs most: %+v", n, at)
	}
	cheaper := 0
	for i := range first.lines {
		if first.lines[i].Paid > first.lines[at.Dearest].Paid {
			t.Errorf("%s costs more than the dearest", first.lines[i].ID)
		}
		if first.lines[i].Paid < first.lines[at.Median].Paid {
			cheaper++
		}
	}
	if cheaper > len(first.lines)/2 {
		t.Errorf("%d cost less than the median", cheaper)
	}
	calls, from, into := 0, map[int]int{}, map[int]int{}
	for _, n := range m.Nodes {
		calls += n.Calls
	}
	for _, e := range m.Edges {
		from[e.From] += e.Count
		into[e.To] += e.Count
	}
	for i, n := range m.Nodes {
		if from[i] != n.Calls || into[i] != n.Calls {
			t.Errorf("%s: %d calls, %d steps from it, %d to it", n.Tool, n.Calls, from[i], into[i])
		}
	}
	if from[process.Start] != m.Trajectories || into[process.End] != m.Trajectories {
		t.Errorf("%d starts and %d ends of %d", from[process.Start], into[process.End], m.Trajectories)
	}
	for range 5 {
		r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		if !reflect.DeepEqual(first, of()) {
			t.Fatal("another order gives another map")
		}
	}
}

func TestBoundsAreSaid(t *testing.T) {
	b := process.NewBuilder()
	var tools []string
	for i := range process.MaxNodes + 5 {
		tools = append(tools, fmt.Sprintf("tool-%d", i))
	}
	b.Add(run("1", tools...))
	m := b.Map()
	if m.OtherTools != 5 || len(m.Nodes) != process.MaxNodes+1 {
		t.Errorf("%d calls of other tools, %d nodes", m.OtherTools, len(m.Nodes))
	}
	s := process.NewSample(1)
	s.Add(run("1", tools...), 0, 0)
	lines, _ := s.Timelines()
	line := lines[0]
	if len(line.Turns) != process.MaxTurns || line.Left != len(tools)-process.MaxTurns {
		t.Errorf("%d turns, %d left out", len(line.Turns), line.Left)
	}
}

// TestWaits is worked by hand: a run whose times all are recorded, one that only says when
// responses and results were complete, and one without times.
func TestWaits(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(int64(1_000_000+seconds), 0) }
	full := (&scripted.Run{}).User("x").Call("a", "{}", "{}").Also("b", "{}", "{}").User("and?").Call("a", "{}", "{}")
	full.T.Messages[0].Time, full.T.Messages[1].Time = at(0), at(20)
	full.T.Turns[0].Start, full.T.Turns[0].End = at(1), at(4)   // 4 s since the message
	full.T.Turns[1].Start, full.T.Turns[1].End = at(21), at(22) // 2 s
	for i, x := range [][2]int{{4, 6}, {4, 10}, {22, 23}} {     // 2, 6 and 1 s, 7 s of waiting
		full.T.Calls[i].Start, full.T.Calls[i].End = at(x[0]), at(x[1])
	}
	ends := (&scripted.Run{}).User("x").Call("a", "{}", "{}").Call("a", "{}", "{}")
	ends.T.Start = at(0) // the message has no time: what the first turn took is not known
	for i, x := range [][2]int{{5, 6}, {9, 9}} {
		ends.T.Turns[i].End, ends.T.Calls[i].End = at(x[0]), at(x[1]) // 3 s, and calls of 1 and 0 s
	}
	var w process.Waits
	for _, x := range []*scripted.Run{full, ends, (&scripted.Run{}).User("x").Call("a", "{}", "{}")} {
		w.Add(&x.T)
	}
	want := []struct {
		what, tool  string
		n           int
		median, sum float64
	}{{"trajectory", "", 2, 9, 32}, {"turn", "", 3, 3, 9}, {"call", "", 5, 1, 8}, {"other", "", 0, math.NaN(), 15}, {"call", "b", 1, 6, 6}, {"call", "a", 4, 1, 4}}
	rows := w.Rows()
	if len(rows) != len(want) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, x := range want {
		r := &rows[i]
		if median := r.Median.Float(); r.What != x.what || r.Tool != x.tool || r.N != x.n || math.Abs(median-x.median) > 0.01*x.median || r.Total.Float() != x.sum || math.Abs(r.Share.Float()-x.sum/32) > 1e-9 {
			t.Errorf("row %d is %+v, want %+v", i, r, x)
		}
	}
	const words = "A trajectory takes 9.0 s in the median, a turn 3.0 s, a call 1.0 s; the model takes 28 % of the time, tools 25 %."
	if got := process.Words(rows); got != words {
		t.Errorf("it says %q", got)
	}
	if rows := new(process.Waits).Rows(); len(rows) != 0 || process.Words(rows) != "" {
		t.Errorf("nothing gives %v", rows)
	}
}

func BenchmarkAdd(b *testing.B) {
	r := run("1", "a", "b", "c", "a", "b", "d", "e", "f")
	m := process.NewBuilder()
	b.ReportAllocs()
	for b.Loop() {
		m.Add(r)
	}
}
