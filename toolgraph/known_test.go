package toolgraph

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/catalog"
	"github.com/awo-dev/awo/internal/recordings"
)

func readCatalog(t testing.TB, file string) *catalog.Catalog {
	t.Helper()
	tools, problems := catalog.Parse(file, recordings.Bytes(t, recordings.Recorded(t, file)))
	if len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	c, problems := catalog.New(tools)
	if len(problems) > 0 {
		t.Log(problems)
	}
	return c
}

func TestEntities(t *testing.T) {
	c := readCatalog(t, "toolgraph/restbench-tmdb/tools.json")
	f := newFrame(c.Tools, nil)
	clusters := f.clusters(nil)
	// The entity of a cluster is the argument of that name in it.
	names := map[int32]string{}
	for i := range f.places {
		if p := &f.places[i]; !p.out {
			names[clusters[i]] = p.at.Name()
		}
	}
	entities := map[string]bool{}
	type row struct {
		Tool, Leaf string
		Entity     *string
	}
	var rows []row
	for line := range strings.Lines(string(recordings.Bytes(t, recordings.Recorded(t, "toolgraph/restbench-tmdb/entities.jsonl")))) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
		if r.Entity != nil {
			entities[*r.Entity] = true
		}
	}
	right, said, gold := 0, 0, 0
	for _, r := range rows {
		got := ""
		for i := range f.places {
			if p := &f.places[i]; p.out && f.tools[p.tool].Name == r.Tool && p.at.Path == r.Leaf {
				got = names[clusters[i]]
			}
		}
		if !entities[got] {
			got = ""
		}
		want := ""
		if r.Entity != nil {
			want = *r.Entity
			gold++
		}
		if got != "" {
			said++
		}
		if got != "" && got == want {
			right++
		} else if got != want {
			t.Logf("%s %s: got %q want %q", r.Tool, r.Leaf, got, want)
		}
	}
	t.Logf("P %.3f R %.3f (%d said, %d gold)", float64(right)/float64(said), float64(right)/float64(gold), said, gold)
}

func readLinks(t testing.TB, c *catalog.Catalog, file string) [][2]int32 {
	var out [][2]int32
	seen := map[[2]int32]bool{}
	for line := range strings.Lines(string(recordings.Bytes(t, recordings.Recorded(t, file)))) {
		var r struct{ From, To string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		a, ok1 := c.Find(r.From)
		b, ok2 := c.Find(r.To)
		if !ok1 || !ok2 {
			t.Fatal(r)
		}
		if p := [2]int32{int32(a), int32(b)}; a != b && !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	return out
}

func observed(t testing.TB, file string) *Observed {
	var o Observed
	for _, one := range recordings.Read(t, recordings.Recorded(t, file)) {
		o.Observe(one)
	}
	return &o
}

func followLinks(c *catalog.Catalog, o *Observed) [][2]int32 {
	var out [][2]int32
	for s := range o.Follows {
		a, ok1 := c.Find(s.From)
		b, ok2 := c.Find(s.To)
		if ok1 && ok2 && a != b {
			out = append(out, [2]int32{int32(a), int32(b)})
		}
	}
	slices.SortFunc(out, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	return out
}

func TestAUC(t *testing.T) {
	run := func(name string, c *catalog.Catalog, o *Observed, links [][2]int32) {
		start := time.Now()
		var results func(string) []catalog.Place
		if o != nil {
			results = o.Results
		}
		m := matcherOf(newFrame(c.Tools, results))
		for seed := range uint64(3) {
			u, p, x, y := m.evaluate(links, seed)
			t.Logf("%s: %d tools %d links: uniform %.3f matched %.3f unseen %.3f/%.3f (%v)", name, len(c.Tools), len(links), u.AUC, p.AUC, y.AUC, x.AUC, time.Since(start))
		}
	}
	c := readCatalog(t, "toolgraph/toollinkos/tools.json")
	run("toollinkos", c, nil, readLinks(t, c, "toolgraph/toollinkos/links.jsonl"))
	c = readCatalog(t, "toolgraph/ultratool260/tools.json")
	o := observed(t, "toolgraph/ultratool260/traces.atif.jsonl")
	run("ultratool", c, o, followLinks(c, o))
	c = readCatalog(t, "toolgraph/livemcp/tools.json")
	o = observed(t, "toolgraph/livemcp/traces.atif.jsonl")
	run("livemcp", c, o, followLinks(c, o))
}

func matcherOf(f *frame) *matcher {
	effect, _ := effects(f.tools)
	reads := make([]bool, len(effect))
	for i, e := range effect {
		reads[i] = e == Reads
	}
	return newMatcher(f, reads)
}
