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
	for _, c := range []struct{ fail, freq, l, want float64 }{
		{0, 1, .5, .616}, {0, 1, .8, .546}, // healthy and frequent
		{1, 1, .5, .731}, {1, 1, .8, .731}, // always failing, frequent
		{0, .01, .5, .75}, {0, .01, .8, .60}, // healthy at 1 %
	} {
		if got := PruneScore(c.fail, c.freq, c.l); math.Abs(got-c.want) > .0005 {
			t.Errorf("PruneScore(%v, %v, %v) = %.4f, want %v", c.fail, c.freq, c.l, got, c.want)
		}
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
	g, c := Update(old, Input{Observed: fresh}, Upkeep{})
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
	g, c = Update(old, Input{Observed: seen(run("", "a", "b"))}, Upkeep{})
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
	g, c := Update(empty, Input{Observed: seen(list...)}, Upkeep{})
	if len(c.Pruned) != 20 || len(c.Probed) != 0 {
		t.Fatalf("%d tools pruned, %d put back; 4 calls are no judgement, 10 are", len(c.Pruned), len(c.Probed))
	}
	next, c := Update(g, Input{Observed: seen(run("2026-03-02", "busy"))}, Upkeep{})
	if len(c.Probed) != 2 || len(c.Reactivated) != 2 {
		t.Fatalf("of 20 pruned tools %d are put back, want 2", len(c.Probed))
	}
	_, again := Update(g, Input{Observed: seen(run("2026-03-02", "busy"))}, Upkeep{})
	_, other := Update(g, Input{Observed: seen(run("2026-03-03", "busy"))}, Upkeep{})
	if !slices.Equal(c.Probed, again.Probed) || slices.Equal(c.Probed, other.Probed) {
		t.Errorf("what is put back depends on the day, and on nothing else: %v, %v, %v", c.Probed, again.Probed, other.Probed)
	}
	// A success brings a tool back at once.
	_, c = Update(next, Input{Observed: seen(run("2026-03-04", "broken07"))}, Upkeep{})
	if !slices.Contains(c.Reactivated, "broken07") {
		t.Errorf("a tool that succeeded is not back: %v", c.Reactivated)
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
	g, changes := Update(Build(Input{Catalog: c}), Input{Observed: seen(list...)}, Upkeep{})
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
			n.AlphaBeta(Query{Target: i}, AlphaBeta{})
			g.Substitutes(i, nil)
		}
		if _, err := g.Encode(); err != nil {
			t.Fatal(err)
		}
	})
}
