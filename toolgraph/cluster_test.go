package toolgraph

import (
	"slices"
	"testing"
)

// The entities of 118 identifiers in the results of TMDB were labelled by hand.
func TestEntities(t *testing.T) {
	c := readCatalog(t, "restbench-tmdb/tools.json")
	f := newFrame(c.Tools)
	clusters := f.clusters(nil)
	names := map[int32]string{} // of arguments, by cluster
	for i := range f.places {
		if p := &f.places[i]; !p.out {
			names[clusters[i]] = p.at.Name()
		}
	}
	type label struct {
		Tool, Leaf string
		Entity     *string
	}
	labels := decodeLines[label](t, "restbench-tmdb/entities.jsonl")
	entities := map[string]bool{}
	for _, l := range labels {
		if l.Entity != nil {
			entities[*l.Entity] = true
		}
	}
	index := f.placeIndex()
	right, said, all := 0, 0, 0
	for _, l := range labels {
		got := names[clusters[index[placeKey(l.Tool, true, l.Leaf)]]]
		if l.Entity != nil {
			all++
		}
		if entities[got] {
			said++
			if l.Entity != nil && got == *l.Entity {
				right++
			}
		}
	}
	precision, recall := float64(right)/float64(said), float64(right)/float64(all)
	t.Logf("precision %.3f, recall %.3f of %d", precision, recall, all)
	if precision < .90 || recall < .75 {
		t.Errorf("precision %.3f and recall %.3f, wanted are .90 and .75", precision, recall)
	}
	if at := index[placeKey("GET /search/movie", true, "$.results[*].id")]; names[clusters[at]] != "movie_id" {
		t.Errorf("what the search for movies returns is %q", names[clusters[at]])
	}
}

// TaskBench's tools are typed, and a link exists exactly where the type of an output is
// that of an input. Signatures know nothing of types: they miss the four links of "url",
// a generic name, and find six of "Image", which is another type than "image".
func TestTypes(t *testing.T) {
	for file, want := range map[string]struct{ links, alike int }{"huggingface": {225, 225}, "multimedia": {449, 445}} {
		c := readCatalog(t, "taskbench-types/"+file+".tools.json")
		f := newFrame(c.Tools)
		gold := pairsOf(c, decodeLines[Link](t, "taskbench-types/"+file+".links.jsonl"))
		pairs := func(same func(out, in *place) bool) (list [][2]int32) {
			for a := range f.tools {
				for b := range f.tools {
					if a != b && slices.ContainsFunc(f.outputs[a], func(out int32) bool {
						return slices.ContainsFunc(f.inputs[b], func(in int32) bool { return same(&f.places[out], &f.places[in]) })
					}) {
						list = append(list, [2]int32{int32(a), int32(b)})
					}
				}
			}
			return list
		}
		typed := pairs(func(out, in *place) bool { return out.at.Format != "" && out.at.Format == in.at.Format })
		if len(typed) != want.links || !slices.Equal(typed, gold) {
			t.Errorf("%s: %d pairs of the same type, want %d", file, len(typed), want.links)
		}
		both := 0
		for _, p := range pairs(func(out, in *place) bool { return f.match(out, in) == 1 }) {
			if slices.Contains(gold, p) {
				both++
			}
		}
		if both != want.alike {
			t.Errorf("%s: %d links of the same signature, want %d", file, both, want.alike)
		}
	}
}

func TestCredentialsStayApart(t *testing.T) {
	c := parsed(t, "two.json", []byte(`[
		{"name": "a__login", "inputSchema": {"properties": {"user": {"type": "string"}}}, "outputSchema": {"properties": {"access_token": {"type": "string"}}}},
		{"name": "a__read", "inputSchema": {"properties": {"access_token": {"type": "string"}}, "required": ["access_token"]}},
		{"name": "b__read", "inputSchema": {"properties": {"access_token": {"type": "string"}}, "required": ["access_token"]}}]`))
	g := Build(Input{Catalog: c})
	login, _ := g.Find("a__login")
	own, _ := g.Find("a__read")
	other, _ := g.Find("b__read")
	token := func(tool int) int {
		return append(slices.Clone(g.Tools[tool].Inputs), g.Tools[tool].Outputs...)[0].Param
	}
	given := g.Tools[login].Outputs[0].Param
	if given != token(own) || given == token(other) {
		t.Errorf("tokens are parameters %d, %d of the same group, and %d of another", given, token(own), token(other))
	}
	if p := NewNavigator(g).Path(Query{Target: other}, nil); len(p.Steps) != 1 {
		t.Errorf("another group's login is a step: %v", p.Steps)
	}
}

func TestProofsOverrule(t *testing.T) {
	tools := []byte(`[
		{"name": "find", "outputSchema": {"properties": {"ref": {"type": "string"}, "order_id": {"type": "string"}}}},
		{"name": "use", "inputSchema": {"properties": {"ticket": {"type": "string"}, "order_id": {"type": "string"}}, "required": ["ticket", "order_id"]}}]`)
	c := parsed(t, "p.json", tools)
	g := Build(Input{Catalog: c, Proofs: []Proof{
		{From: "find", FromPath: "$.ref", To: "use", ToPath: "$.ticket", Uses: 9, Of: 10, Hits: 9, Trials: 9, Whole: true},
		{From: "find", FromPath: "$.order_id", To: "use", ToPath: "$.order_id", Uses: 0, Of: 10, Hits: 0, Trials: 12, Refused: true},
	}})
	find, _ := g.Find("find")
	use, _ := g.Find("use")
	param := func(list []Place, path string) int {
		return list[slices.IndexFunc(list, func(p Place) bool { return p.Path == path })].Param
	}
	if param(g.Tools[find].Outputs, "$.ref") != param(g.Tools[use].Inputs, "$.ticket") {
		t.Error("a proved link does not join")
	}
	if param(g.Tools[find].Outputs, "$.order_id") == param(g.Tools[use].Inputs, "$.order_id") {
		t.Error("a refused link does not split")
	}
	path := NewNavigator(g).Path(Query{Target: use}, nil)
	if len(path.Steps) != 2 || path.Steps[0].Evidence.String() != "proven 9/9" {
		t.Errorf("the path is %v", path.Steps)
	}
}
