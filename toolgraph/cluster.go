package toolgraph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/lexical"
)

// The thresholds of clusters.
const (
	joinAt      = .75 // two places are one parameter from this m on
	shapeAt     = .6  // two objects are alike from this Jaccard index of their members on
	shapeLeast  = 3   // members that an object must have for that
	clusterSpan = 64  // places of one kind and signature that are joined by a star, not pairwise
)

// A proof is what trajectories say of two places: that values went from one to the
// other, or that they never did.
type proof struct {
	from, to int32 // places
	joins    bool
	n        int // trajectories
}

// clusters joins places that hold the same parameter: the paper's clustering by
// semantic similarity (section 3.2.1, appendix A), which leaves method and threshold
// open. It returns the cluster of each place, numbered by their first places; places
// of tools' names are in none (-1).
func (f *frame) clusters(proofs []proof) []int32 {
	u := newUnion(len(f.places))
	for _, p := range proofs {
		if !p.joins {
			u.forbid(p.from, p.to)
		}
	}
	for _, p := range proofs {
		if p.joins {
			u.join(p.from, p.to)
		}
	}
	// Equal signatures and types first, then pairs of kinds by falling m.
	type key struct {
		sig, scope int32
		kind       kind
	}
	groups := map[key][]int32{}
	var order []key
	for i := range f.places {
		if p := &f.places[i]; p.at.Path != "$" {
			k := key{p.sig, p.scope, p.kind}
			if groups[k] == nil {
				order = append(order, k)
			}
			groups[k] = append(groups[k], int32(i))
		}
	}
	for _, k := range order {
		for _, p := range groups[k][1:] {
			u.join(groups[k][0], p)
		}
	}
	type edge struct {
		a, b int32
		m    float64
	}
	var edges []edge
	bySig := map[int32][]key{}
	for _, k := range order {
		bySig[k.sig] = append(bySig[k.sig], k)
	}
	try := func(a, b key) {
		p, q := &f.places[groups[a][0]], &f.places[groups[b][0]]
		if m := max(f.match(p, q), f.match(q, p)); m >= joinAt {
			edges = append(edges, edge{groups[a][0], groups[b][0], m})
		}
	}
	var sigs []int32
	for _, k := range order {
		if bySig[k.sig][0] == k {
			sigs = append(sigs, k.sig)
		}
		for _, other := range bySig[k.sig] {
			if other != k {
				try(k, other)
			}
		}
	}
	for _, s := range f.similar(sigs, sigs, joinAt) {
		for _, a := range bySig[s.a] {
			for _, b := range bySig[s.b] {
				try(a, b)
			}
		}
	}
	slices.SortStableFunc(edges, func(x, y edge) int {
		return cmp.Or(cmp.Compare(y.m, x.m), cmp.Compare(min(x.a, x.b), min(y.a, y.b)), cmp.Compare(max(x.a, x.b), max(y.a, y.b)))
	})
	for _, e := range edges {
		u.join(e.a, e.b)
	}
	out := f.numbered(u)
	f.labelShapes(out, u)
	return out
}

// labelShapes gives an `id` that nothing takes the parameter of the `id` of objects
// with the same members: cast[*].id is a person's, because the elements of cast
// look as what the search for persons returns. It moves places one by one: of two
// places with the signature of cast[*].id one may be a person's and one a movie's.
func (f *frame) labelShapes(clusters []int32, u *union) {
	taken := map[int32]bool{}
	for i := range f.places {
		if !f.places[i].out {
			taken[clusters[i]] = true
		}
	}
	type object struct {
		id      int32 // the place
		members []string
	}
	var decided, open []object
	for tool := range f.tools {
		members := map[string][]string{}
		for _, p := range f.outputs[tool] {
			at := f.places[p].at
			if len(at.Names) > 0 {
				members[parentPath(at.Path)] = append(members[parentPath(at.Path)], strings.ToLower(at.Name()))
			}
		}
		for _, p := range f.outputs[tool] {
			at := f.places[p].at
			if len(at.Names) == 0 || !isID(at.Name()) {
				continue
			}
			list := members[parentPath(at.Path)]
			if len(list) < shapeLeast {
				continue
			}
			slices.Sort(list)
			o := object{p, slices.Compact(list)}
			if taken[clusters[p]] {
				decided = append(decided, o)
			} else {
				open = append(open, o)
			}
		}
	}
	if len(open)*len(decided) > 20_000_000 {
		return // a catalogue of that size is beyond comparing pairwise
	}
	for _, o := range open {
		best, at := 0.0, int32(-1)
		for _, d := range decided {
			if j := jaccard(o.members, d.members); j >= shapeAt && j > best {
				best, at = j, d.id
			}
		}
		if at >= 0 && !u.apart[u.root(o.id)][u.root(at)] {
			clusters[o.id] = clusters[at]
		}
	}
}

// isID reports whether a name is that of an identifier without an entity.
func isID(name string) bool {
	words := lexical.Words(name)
	return len(words) == 1 && words[0] == "id"
}

func parentPath(path string) string {
	return path[:max(0, strings.LastIndexByte(path, '.'))]
}

// jaccard returns the Jaccard index of two sorted sets.
func jaccard(a, b []string) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := cmp.Compare(a[i], b[j]); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

func (f *frame) numbered(u *union) []int32 {
	out := make([]int32, len(f.places))
	numbers := map[int32]int32{}
	for i := range f.places {
		if f.places[i].at.Path == "$" {
			out[i] = -1
			continue
		}
		root := u.root(int32(i))
		if _, ok := numbers[root]; !ok {
			numbers[root] = int32(len(numbers))
		}
		out[i] = numbers[root]
	}
	return out
}

// A union is a union-find structure in which some pairs may never meet.
type union struct {
	parent []int32
	size   []int32
	apart  map[int32]map[int32]bool // by root
}

func newUnion(n int) *union {
	u := &union{parent: make([]int32, n), size: make([]int32, n), apart: map[int32]map[int32]bool{}}
	for i := range u.parent {
		u.parent[i], u.size[i] = int32(i), 1
	}
	return u
}

func (u *union) root(i int32) int32 {
	for u.parent[i] != i {
		u.parent[i] = u.parent[u.parent[i]]
		i = u.parent[i]
	}
	return i
}

func (u *union) forbid(a, b int32) {
	for range 2 {
		if u.apart[a] == nil {
			u.apart[a] = map[int32]bool{}
		}
		u.apart[a][b] = true
		a, b = b, a
	}
}

// join makes two sets one, unless they hold a pair that must stay apart.
func (u *union) join(a, b int32) {
	a, b = u.root(a), u.root(b)
	if a == b || u.apart[a][b] {
		return
	}
	if u.size[a] < u.size[b] || u.size[a] == u.size[b] && b < a {
		a, b = b, a
	}
	u.parent[b] = a
	u.size[a] += u.size[b]
	for other := range u.apart[b] {
		if u.apart[a] == nil {
			u.apart[a] = map[int32]bool{}
		}
		u.apart[a][other] = true
		delete(u.apart[other], b)
		u.apart[other][a] = true
	}
	delete(u.apart, b)
}
