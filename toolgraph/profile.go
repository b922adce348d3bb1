package toolgraph

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/lexical"
	"github.com/awo-dev/awo/toolgraph/catalog"
)

// A profile is what the predictor compares of a tool beside its places.
type profile struct {
	document lexical.Vector   // of name, description and arguments
	text     lexical.Vector   // of name and description, in the terms of documents
	grams    lexical.Vector   // runs of 3 to 5 characters of name and description
	nouns    lexical.Vector   // of the name
	params   []lexical.Vector // of each argument's name and description, in the terms of documents
	reads    bool
	inSigs   []int32 // different signatures of the arguments, with one place each
	outSigs  []int32
	required []int32
}

// The bounds of profiles.
const (
	gramWords = 60  // of name and description
	mostGrams = 200 // the weightiest
	mostPlace = 128 // different places of a tool that are compared, each way
)

// profiles returns the profiles of the tools of a frame.
func (f *frame) profiles(reads []bool) []profile {
	out := make([]profile, len(f.tools))
	documents, grams, nouns := make([][]string, len(f.tools)), make([][]string, len(f.tools)), make([][]string, len(f.tools))
	texts := make([][]string, len(f.tools))
	var ofDocuments, ofGrams, ofNouns lexical.Vocabulary
	for i := range f.tools {
		t := &f.tools[i]
		texts[i] = append(lexical.Terms(t.Name), lexical.Terms(t.Description)...)
		documents[i] = slices.Clone(texts[i])
		for j := range t.Inputs {
			documents[i] = append(documents[i], placeTerms(&t.Inputs[j])...)
		}
		grams[i] = lexical.Grams(texts[i][:min(gramWords, len(texts[i]))], 3, 5)
		nouns[i] = nameNouns(t.Name)
		ofDocuments.Add(documents[i])
		ofGrams.Add(grams[i])
		ofNouns.Add(nouns[i])
	}
	vd, vg, vn := ofDocuments.Sorted(), ofGrams.Sorted(), ofNouns.Sorted()
	for i := range f.tools {
		t := &f.tools[i]
		p := &out[i]
		p.document, p.text, p.nouns = vd.TFIDF(documents[i]), vd.TFIDF(texts[i]), vn.Set(nouns[i])
		p.grams = heaviest(vg.TFIDF(grams[i]), mostGrams)
		for j := range t.Inputs[:min(mostPlace, len(t.Inputs))] {
			p.params = append(p.params, vd.TFIDF(placeTerms(&t.Inputs[j])))
		}
		p.reads = reads[i]
		p.inSigs, p.required = f.distinct(f.inputs[i], false), f.distinct(f.inputs[i], true)
		p.outSigs = f.distinct(f.outputs[i], false)
	}
	return out
}

func placeTerms(p *catalog.Place) []string {
	return append(lexical.Terms(p.Name()), lexical.Terms(p.Description)...)
}

// distinct returns one place for each signature, type and scope.
func (f *frame) distinct(places []int32, required bool) []int32 {
	type key struct {
		sig, scope int32
		kind       kind
		list       bool
	}
	seen := map[key]bool{}
	var out []int32
	for _, id := range places {
		p := &f.places[id]
		if k := (key{p.sig, p.scope, p.kind, p.list}); !seen[k] && (!required || p.required) && len(out) < mostPlace {
			seen[k] = true
			out = append(out, id)
		}
	}
	return out
}

// heaviest returns the n weights of most weight, by term.
func heaviest(v lexical.Vector, n int) lexical.Vector {
	if len(v) <= n {
		return v
	}
	weights := make([]float64, len(v))
	for i, w := range v {
		weights[i] = w.W
	}
	slices.Sort(weights)
	least := weights[len(weights)-n]
	out := make(lexical.Vector, 0, n)
	for _, w := range v {
		if w.W >= least && len(out) < n {
			out = append(out, w)
		}
	}
	return out
}

// A net is the links of a predictor: which tools feed which.
type net struct {
	out, in [][]int32 // by tool, rising
	has     map[[2]int32]bool
}

func newNet(n int, links [][2]int32) *net {
	g := &net{out: make([][]int32, n), in: make([][]int32, n), has: make(map[[2]int32]bool, len(links))}
	for _, l := range links {
		if l[0] != l[1] && !g.has[l] {
			g.has[l] = true
			g.out[l[0]] = append(g.out[l[0]], l[1])
			g.in[l[1]] = append(g.in[l[1]], l[0])
		}
	}
	for i := range n {
		slices.Sort(g.out[i])
		slices.Sort(g.in[i])
	}
	return g
}

// contentFeatures and graphFeatures are how many features there are before their
// square roots; the list is that of section "Link prediction" in docs/tools.md.
const (
	contentFeatures = 15
	graphFeatures   = 9
)

// content appends the features of the ordered pair (a, b) that need no links.
func (m *matcher) content(dst []float64, a, b int32) []float64 {
	f, pa, pb := m.frame, &m.profiles[a], &m.profiles[b]
	best, many := m.bestMatch(pa.outSigs, pb.inSigs)
	bestRequired, _ := m.bestMatch(pa.outSigs, pb.required)
	byName := 0.0
	if f.named[a] >= 0 {
		byName, _ = m.bestMatch([]int32{f.named[a]}, pb.inSigs)
	}
	told := 0.0
	for _, p := range pb.params {
		told = max(told, p.Dot(pa.text))
	}
	outputs := len(f.outputs[a])
	if f.guessed[a] {
		outputs = 0
	}
	return append(dst,
		best, bestRequired, math.Log1p(many), byName, told,
		pa.document.Dot(pb.document), pa.grams.Dot(pb.grams), pa.nouns.Dot(pb.nouns),
		indicator(f.tools[a].Group != "" && f.tools[a].Group == f.tools[b].Group),
		indicator(pa.reads), indicator(pb.reads),
		math.Log1p(float64(len(f.inputs[a]))), math.Log1p(float64(len(f.inputs[b]))),
		math.Log1p(float64(outputs)), math.Log1p(float64(len(pb.required))),
	)
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// bestMatch returns the best m of any output to any input, and how many inputs have
// one above .8.
func (m *matcher) bestMatch(outs, ins []int32) (best, many float64) {
	for _, in := range ins {
		own := 0.0
		for _, out := range outs {
			if own = max(own, m.frame.match(&m.frame.places[out], &m.frame.places[in])); own == 1 {
				break
			}
		}
		best = max(best, own)
		if own > .8 {
			many++
		}
	}
	return best, many
}

// A matcher gives the features of pairs of tools.
type matcher struct {
	*frame
	profiles []profile
	near     [][]int32 // by tool, its nearest ones by their documents
}

const nearest = 10

func newMatcher(f *frame, reads []bool) *matcher {
	m := &matcher{frame: f, profiles: f.profiles(reads)}
	documents := make([]lexical.Vector, len(m.profiles))
	terms := int32(0)
	for i := range m.profiles {
		documents[i] = m.profiles[i].document
		if n := len(documents[i]); n > 0 {
			terms = max(terms, documents[i][n-1].Term+1)
		}
	}
	m.near = neighbours(documents, int(terms), nearest)
	return m
}

// maxPosting is how many tools may hold a word that neighbours are looked up by.
const maxPosting = 2000

// neighbours returns for each document the n others with the highest cosine,
// highest first, ties by number.
func neighbours(documents []lexical.Vector, terms, n int) [][]int32 {
	index := lexical.NewIndex(terms, documents)
	out := make([][]int32, len(documents))
	scores := make([]float64, len(documents))
	for i, d := range documents {
		touched := index.Touched(d, maxPosting, scores)
		out[i] = top(touched, scores, int32(i), n)
		for _, t := range touched {
			scores[t] = 0
		}
	}
	return out
}

// top returns the n of some texts with the highest scores above 0 but for one of
// them.
func top(touched []int32, scores []float64, but int32, n int) []int32 {
	better := func(a, b int32) bool {
		return scores[a] > scores[b] || scores[a] == scores[b] && a < b
	}
	out := make([]int32, 0, n+1)
	for _, t := range touched {
		if t == but || scores[t] <= 0 || len(out) == n && !better(t, out[n-1]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(out, t, func(x, y int32) int {
			if better(x, y) {
				return -1
			}
			return 1
		})
		out = slices.Insert(out, at, t)
		if len(out) > n {
			out = out[:n]
		}
	}
	return out
}

// cos2 returns the squared cosine of two documents.
func (m *matcher) cos2(a, b int32) float64 {
	c := m.profiles[a].document.Dot(m.profiles[b].document)
	return c * c
}

// mostLinked bounds how many links of a tool are compared.
const mostLinked = 256

// graph appends the features of (a, b) that links give. The pair's own link is
// never among them.
func (m *matcher) graph(dst []float64, g *net, a, b int32) []float64 {
	meanOut, maxOut, nOut := m.alike(g.out[a], b, b)
	meanIn, maxIn, nIn := m.alike(g.in[b], a, a)
	adamic := 0.0
	both(g.out[a], g.in[b], func(c int32) {
		if d := len(g.out[c]) + len(g.in[c]); d > 1 {
			adamic += 1 / math.Log(float64(d))
		}
	})
	fed, all := 0.0, 0.0
	for _, c := range m.near[b] {
		w := m.cos2(b, c)
		all += w
		if c != a && g.has[[2]int32{a, c}] {
			fed += w
		}
	}
	if all > 0 {
		fed /= all
	}
	return append(dst, math.Log1p(nOut), math.Log1p(nIn), meanOut, maxOut, meanIn, maxIn,
		adamic, indicator(g.has[[2]int32{b, a}]), fed)
}

// alike returns the mean and the maximum of cos2 of a tool to others but one, and
// how many these are.
func (m *matcher) alike(others []int32, to, but int32) (mean, most, n float64) {
	for i, o := range others {
		if o == but {
			continue
		}
		n++
		if i >= mostLinked {
			continue
		}
		c := m.cos2(o, to)
		mean += c
		most = max(most, c)
	}
	if n > 0 {
		mean /= min(n, mostLinked)
	}
	return mean, most, n
}

// both calls do for what two rising lists share.
func both(a, b []int32, do func(int32)) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			do(a[i])
			i, j = i+1, j+1
		}
	}
}

// features appends all features of (a, b) and their square roots; g may be nil.
func (m *matcher) features(dst []float64, g *net, a, b int32) []float64 {
	from := len(dst)
	dst = m.content(dst, a, b)
	if g != nil {
		dst = m.graph(dst, g, a, b)
	}
	for _, x := range dst[from:] {
		dst = append(dst, math.Sqrt(max(0, x)))
	}
	return dst
}
