package toolgraph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/awo-dev/awo/toolgraph/catalog"
	"github.com/awo-dev/awo/trace"
)

func TestPruneScore(t *testing.T) {
	for _, c := range []struct {
		r       Recent
		l, want float64
	}{
		{Recent{OK: 14, Calls: 100}, .5, .501}, // healthy and frequent
		{Recent{Failed: 14, Calls: 100}, .5, .751},
		{Recent{OK: 5, Failed: 9, Calls: 100}, .5, .680}, // 64 % fail
		{Recent{OK: 14, Calls: 1}, .5, .616},
		{Recent{OK: 14, Calls: .2}, .5, .747}, // not called any more
		{Recent{Failed: 14, Calls: 100}, .8, .9},
	} {
		if got := PruneScore(c.r, c.l); math.Abs(got-c.want) > .0005 {
			t.Errorf("PruneScore(%v, %v) = %.4f, want %v", c.r, c.l, got, c.want)
		}
	}
}

// A tool that begins to fail after 1,000 successes is pruned within 50 calls, however
// few of them an update brings. As long as it fails it stays pruned but for the tenth of
// the updates that try it again, and it is back for good within 20 calls once it works.
func TestPrunedAndBack(t *testing.T) {
	for _, each := range []int{1, 7, 50} {
		busy := func(status string, n int) *Observed {
			var list []*trace.Trajectory
			for range n {
				list = append(list, run("2026-03-01", status+"one"), run("2026-03-01", "other"))
			}
			return seen(append(list, run("2026-03-01", "other"))...)
		}
		g, _ := Update(Build(Input{Catalog: named("one", "other")}), Input{Observed: busy("", 1000)})
		at, _ := g.Find("one")
		calls := 0
		for g.Tools[at].State == Active && calls < 500 {
			g, _ = Update(g, Input{Observed: busy("!", each)})
			calls += each
		}
		t.Logf("%d an update: pruned after %d", each, calls)
		if calls > 50 {
			t.Errorf("%d calls an update: it is pruned after %d failures", each, calls)
		}
		// An agent calls it only when it is not pruned.
		update := func(status string) bool {
			o := seen(run("2026-03-01", "other"))
			if g.Tools[at].State == Active {
				o = busy(status, 1)
			}
			g, _ = Update(g, Input{Observed: o})
			return g.Tools[at].State == Active
		}
		tried := 0
		for range 400 {
			if update("!") {
				tried++
			}
		}
		if tried < 20 || tried > 60 {
			t.Errorf("a dead tool is tried at %d of 400 updates", tried)
		}
		probes, inRow := 0, 0
		for n := 0; inRow < 50 && n < 1000; n++ {
			if update("") {
				inRow++
			} else {
				inRow = 0
			}
			if inRow == 1 {
				probes++
			}
		}
		t.Logf("a dead tool was tried at %d of 400 updates; back after %d probes", tried, probes)
		if inRow < 50 || probes > 20 {
			t.Errorf("%d calls an update: back after %d probes", each, probes)
		}
	}
}

// A tool that is no more called goes, and comes back when it is called.
func TestObsolete(t *testing.T) {
	day := func(day string, tools ...string) Input { return Input{Observed: seen(run(day, tools...))} }
	g, _ := Update(Build(Input{Catalog: named("one", "other")}), day("2026-03-01", "one", "one", "one", "one", "one", "one", "other"))
	g, c := Update(g, day("2026-03-15", "other"))
	if len(c.Pruned) > 0 {
		t.Errorf("after two weeks %v is pruned", c.Pruned)
	}
	g, c = Update(g, day("2026-04-15", "other"))
	if !slices.Equal(c.Pruned, []string{"one"}) {
		t.Errorf("after six weeks %v is pruned", c.Pruned)
	}
	if _, c = Update(g, day("2026-04-16", "one")); !slices.Equal(c.Reactivated, []string{"one"}) || len(c.Probed) > 0 {
		t.Errorf("%+v", c)
	}
}

func TestStepWeight(t *testing.T) {
	if got := StepWeight(.5, 3, 4, .7); math.Abs(got-.575) > 1e-12 {
		t.Errorf("StepWeight = %v", got)
	}
	if got := StepWeight(.5, 0, 0, .7); got != .5 {
		t.Errorf("an empty window changes the weight to %v", got)
	}
}

// run returns a trajectory that calls tools, failing ones marked with a !.
func run(day string, tools ...string) *trace.Trajectory {
	t := &trace.Trajectory{}
	if day != "" {
		t.Start, _ = time.Parse(time.DateOnly, day)
	}
	for _, name := range tools {
		status := trace.StatusOK
		if name[0] == '!' {
			name, status = name[1:], trace.StatusFailed
		}
		t.Calls = append(t.Calls, trace.Call{Tool: trace.Intern(name), Turn: -1, Status: status})
	}
	return t
}

func seen(list ...*trace.Trajectory) *Observed {
	var o Observed
	for _, t := range list {
		o.Observe(t)
	}
	return &o
}

func named(names ...string) *catalog.Catalog {
	var tools []catalog.Tool
	for _, n := range names {
		tools = append(tools, catalog.Tool{Name: n, Defined: true})
	}
	c, _ := catalog.New(tools)
	return c
}

func weightOf(g *Graph, from, to string) float64 {
	for _, e := range g.Follows {
		if g.Tools[e.From].Name == from && g.Tools[e.To].Name == to {
			return e.Weight
		}
	}
	return 0
}

func TestUpdate(t *testing.T) {
	old := Build(Input{Catalog: named("a", "b", "c"), Observed: seen(run("2026-03-01", "a", "b"), run("2026-03-01", "c", "b"))})
	before := weightOf(old, "a", "b")
	fresh := seen(run("2026-03-10", "a", "b"), run("2026-03-10", "a", "b"), run("2026-03-10", "a", "b"), run("2026-03-10", "c", "b"))
	g, c := Update(old, Input{Observed: fresh})
	if want := rounded(.7*before + .3*.75); math.Abs(weightOf(g, "a", "b")-want) > 1e-9 {
		t.Errorf("the weight went from %v to %v, want %v", before, weightOf(g, "a", "b"), want)
	}
	if c.Days != 1 || g.Updated != "2026-03-10" || g.Trajectories != 6 {
		t.Errorf("%+v, %s, %d trajectories", c, g.Updated, g.Trajectories)
	}
	b, _ := g.Find("b")
	if g.Tools[b].Counts.OK != 6 {
		t.Errorf("b was called %d times", g.Tools[b].Counts.OK)
	}
	// Without times the weights stay.
	g, c = Update(old, Input{Observed: seen(run("", "a", "b"))})
	if weightOf(g, "a", "b") != before || !c.Untimed || c.Days != 0 {
		t.Errorf("without times the weight is %v, was %v (%+v)", weightOf(g, "a", "b"), before, c)
	}
}

func TestPruning(t *testing.T) {
	names := []string{"busy"}
	var list []*trace.Trajectory
	for range 100 {
		list = append(list, run("2026-03-01", "busy"))
	}
	for i := range 20 {
		name := fmt.Sprintf("broken%02d", i)
		names = append(names, name)
		for range 10 {
			list = append(list, run("2026-03-01", "!"+name))
		}
	}
	names = append(names, "rare")
	list = append(list, run("2026-03-01", "!rare"), run("2026-03-01", "!rare"), run("2026-03-01", "!rare"))
	empty := Build(Input{Catalog: named(names...)})
	g, c := Update(empty, Input{Observed: seen(list...)})
	if len(c.Pruned) != 20 || len(c.Probed) != 0 {
		t.Fatalf("%d tools pruned, %d put back; 4 calls are no judgement, 10 are", len(c.Pruned), len(c.Probed))
	}
	probed := 0
	for range 50 {
		next, c := Update(g, Input{Observed: seen(run("2026-03-02", "busy"))})
		_, again := Update(g, Input{Observed: seen(run("2026-03-02", "busy"))})
		if !slices.Equal(c.Probed, again.Probed) {
			t.Fatalf("the same update puts back %v and %v", c.Probed, again.Probed)
		}
		probed += len(c.Probed)
		g = next
	}
	if probed < 60 || probed > 140 { // of 1,000
		t.Errorf("a tenth of 20 tools was put back %d times in 50 updates", probed)
	}
}

// The only producer of what a tool requires is never pruned.
func TestFailingStays(t *testing.T) {
	c := parsed(t, "x", []byte(`[
		{"name": "find_order", "outputSchema": {"properties": {"order_id": {"type": "string"}}}},
		{"name": "get_order", "inputSchema": {"properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}}]`))
	var list []*trace.Trajectory
	for range 10 {
		list = append(list, run("2026-03-01", "!find_order", "get_order"))
	}
	g, changes := Update(Build(Input{Catalog: c}), Input{Observed: seen(list...)})
	at, _ := g.Find("find_order")
	if g.Tools[at].State != Failing || !slices.Equal(changes.Failing, []string{"find_order"}) {
		t.Errorf("the only producer is %s", g.Tools[at].State)
	}
}

// What Encode writes Decode reads, and the order in which anything is given changes
// nothing.
func TestEncodeAndOrder(t *testing.T) {
	c := readCatalog(t, "restbench-tmdb/tools.json")
	list := []*trace.Trajectory{
		run("2026-03-01", "GET /search/movie", "GET /movie/{movie_id}/credits"),
		run("", "GET /search/tv", "!GET /tv/{tv_id}", "GET /tv/{tv_id}/images"),
		run("2026-03-04", "GET /search/movie", "GET /movie/{movie_id}"),
	}
	var first []byte
	for i := range 4 {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		tools, runs := slices.Clone(c.Tools), slices.Clone(list)
		if i > 0 {
			r.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
			r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		}
		shuffled, _ := catalog.New(tools)
		data, err := Build(Input{Catalog: shuffled, Observed: seen(runs...)}).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if string(first) != string(data) {
			t.Fatal("another order gives another graph")
		}
	}
	g, err := Decode("graph.json", first)
	if err != nil {
		t.Fatal(err)
	}
	again, err := g.Encode()
	if err != nil || string(again) != string(first) {
		t.Fatal("what was decoded is encoded as something else", err)
	}
}

func TestSubstitutes(t *testing.T) {
	movies := Build(Input{Catalog: readCatalog(t, "restbench-tmdb/tools.json")})
	music := Build(Input{Catalog: readCatalog(t, "restbench-spotify/tools.json")})
	pairs := func(g *Graph, a, b string) bool {
		at, ok1 := g.Find(a)
		other, ok2 := g.Find(b)
		if !ok1 || !ok2 {
			t.Fatalf("%s or %s is no tool", a, b)
		}
		return slices.ContainsFunc(g.Substitutes(at, nil), func(s Substitute) bool { return s.Tool == other })
	}
	for _, c := range []struct {
		g    *Graph
		a, b string
		want bool
	}{
		{movies, "GET /movie/{movie_id}/similar", "GET /movie/{movie_id}/recommendations", true},
		{movies, "GET /movie/{movie_id}/recommendations", "GET /movie/{movie_id}/similar", true},
		{movies, "GET /search/collection", "GET /search/tv", false},
		{movies, "GET /search/movie", "GET /search/person", false},
		{music, "DELETE /playlists/{playlist_id}/tracks", "POST /playlists/{playlist_id}/tracks", false},
	} {
		if got := pairs(c.g, c.a, c.b); got != c.want {
			t.Errorf("%s for %s: %v, want %v", c.b, c.a, got, c.want)
		}
	}
	for i := range music.Tools {
		for _, s := range music.Substitutes(i, nil) {
			if music.Tools[i].Effect != Reads || music.Tools[s.Tool].Effect != Reads {
				t.Errorf("%s for %s: one of them writes", music.Tools[s.Tool].Name, music.Tools[i].Name)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	data, err := Build(Input{Catalog: named("a", "b"), Observed: seen(run("2026-03-01", "a", "b"))}).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"schema":"awo.tool-world/v1","tools":[{"name":"a","effect":"reads","state":"active"}],"follows":[{"from":"a","to":"b"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Decode("graph.json", data)
		if err != nil {
			return
		}
		n := NewNavigator(g)
		for i := range min(3, len(g.Tools)) {
			n.Path(Query{Target: i}, n.Exact(Query{Target: i}))
			n.AlphaBeta(Query{Target: i})
			g.Substitutes(i, nil)
		}
		if _, err := g.Encode(); err != nil {
			t.Fatal(err)
		}
	})
}
