package toolrank

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/lexical"
)

// The constants of features.
const (
	nearTasks = 15  // tasks whose use of a tool counts
	grownB    = .9  // b of BM25 over grown documents
	farther   = .8  // what a second step over the graph keeps
	lessSure  = 1.0 // calls that are added to the denominator of a weight
)

// features is how many there are before their square roots.
const (
	fBM25 = iota
	fGrown
	fNear
	fUsage
	fBack
	fForward
	fSchema
	fGroupNear
	fGroupBM25
	fGroupUsage
	features
)

// A base is what is known of the use of tools from some tasks: everything that the
// features of another task are made of. It is immutable.
type base struct {
	corpus *Corpus
	own    *lexical.Index // documents
	grown  *lexical.Index // documents with the words of the tasks that used the tool
	near   *lexical.Index // tasks
	idf    []float64      // of tasks' words
	used   [][]int32      // by task of near
	usage  []float64      // share of tasks
	back   [][]edge       // by tool: what came before it, with N(i->j)/N(j)
	next   [][]edge       // by tool: what came after it, with N(i->j)/N(i)
	schema [][]edge       // by tool: what gives a required argument
}

type edge struct {
	tool int32
	w    float64
}

// newBase returns what tasks teach, given by their numbers.
func (c *Corpus) newBase(train []int) *base {
	n := len(c.documents)
	b := &base{corpus: c, usage: make([]float64, n), back: make([][]edge, n), next: make([][]edge, n), schema: make([][]edge, n)}
	terms := c.vocabulary.Len()
	own := make([]lexical.Vector, n)
	for i, d := range c.documents {
		own[i] = slices.Clone(d)
	}
	lexical.WeighBM25(terms, own, lexical.DefaultK1, lexical.DefaultB)
	b.own = lexical.NewIndex(terms, own)
	b.grown = c.grow(train)
	b.nearest(train)
	follows, calls := map[[2]int32]float64{}, make([]float64, n)
	for _, i := range train {
		t := &c.tasks[i]
		for _, tool := range t.used {
			b.usage[tool] += 1 / float64(len(train))
		}
		for j, tool := range t.steps {
			calls[tool]++
			if j > 0 && t.steps[j-1] != tool {
				follows[[2]int32{t.steps[j-1], tool}]++
			}
		}
	}
	pairs := make([][2]int32, 0, len(follows))
	for p := range follows {
		pairs = append(pairs, p)
	}
	slices.SortFunc(pairs, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	for _, p := range pairs {
		b.back[p[1]] = append(b.back[p[1]], edge{p[0], follows[p] / (calls[p[1]] + lessSure)})
		b.next[p[0]] = append(b.next[p[0]], edge{p[1], follows[p] / (calls[p[0]] + lessSure)})
	}
	for _, f := range c.feeds {
		b.schema[f[1]] = append(b.schema[f[1]], edge{f[0], 1})
	}
	return b
}

// grow returns the index of documents with the words of tasks.
func (c *Corpus) grow(train []int) *lexical.Index {
	by := make([][]int, len(c.documents))
	for _, i := range train {
		for _, tool := range c.tasks[i].used {
			by[tool] = append(by[tool], i)
		}
	}
	terms := c.vocabulary.Len()
	counts := make([]float64, terms)
	grown := make([]lexical.Vector, len(c.documents))
	for tool, d := range c.documents {
		var touched []int32
		add := func(v lexical.Vector) {
			for _, w := range v {
				if counts[w.Term] == 0 {
					touched = append(touched, w.Term)
				}
				counts[w.Term] += w.W
			}
		}
		add(d)
		for _, i := range by[tool] {
			add(c.tasks[i].words)
		}
		slices.Sort(touched)
		for _, term := range touched {
			grown[tool] = append(grown[tool], lexical.Weight{Term: term, W: counts[term]})
			counts[term] = 0
		}
	}
	lexical.WeighBM25(terms, grown, lexical.DefaultK1, grownB)
	return lexical.NewIndex(terms, grown)
}

// nearest prepares the search for near tasks.
func (b *base) nearest(train []int) {
	c := b.corpus
	b.idf = make([]float64, c.vocabulary.Len())
	for _, i := range train {
		for _, w := range c.tasks[i].words {
			b.idf[w.Term]++
		}
		b.used = append(b.used, c.tasks[i].used)
	}
	for t, df := range b.idf {
		b.idf[t] = math.Log((float64(len(train))+1)/(df+1)) + 1
	}
	vectors := make([]lexical.Vector, len(train))
	for j, i := range train {
		vectors[j] = b.vector(c.tasks[i].words)
	}
	b.near = lexical.NewIndex(len(b.idf), vectors)
}

// vector returns the TF-IDF vector of a task's words.
func (b *base) vector(words lexical.Vector) lexical.Vector {
	v := slices.Clone(words)
	for i := range v {
		v[i].W = (1 + math.Log(v[i].W)) * b.idf[v[i].Term]
	}
	if norm := v.Norm(); norm > 0 {
		for i := range v {
			v[i].W /= norm
		}
	}
	return v
}

// scratch is memory for the features of one task after the other.
type scratch struct {
	byTool [features][]float64
	tasks  []float64
	seeds  []float64
	near   []float64
	group  []float64
	row    [2 * features]float64
}

func (b *base) scratch() *scratch {
	s := &scratch{tasks: make([]float64, len(b.used)), seeds: make([]float64, len(b.usage)), near: make([]float64, len(b.usage)), group: make([]float64, b.corpus.groups)}
	for f := range s.byTool {
		s.byTool[f] = make([]float64, len(b.usage))
	}
	return s
}

// features fills s.byTool with the features of every tool for a task, given by its
// words.
func (b *base) features(words lexical.Vector, s *scratch) {
	for f := range s.byTool {
		clear(s.byTool[f])
	}
	b.own.Products(words, s.byTool[fBM25])
	b.grown.Products(words, s.byTool[fGrown])
	b.use(words, s)
	copy(s.byTool[fUsage], b.usage)
	for _, f := range [...]int{fBM25, fGrown, fNear} {
		overMax(s.byTool[f])
	}
	for i := range s.seeds {
		bm := s.byTool[fBM25][i]
		s.seeds[i] = max(bm*bm, s.byTool[fNear][i])
	}
	reach(b.back, s.seeds, s.byTool[fBack], s.near)
	reach(b.next, s.seeds, s.byTool[fForward], s.near)
	reach(b.schema, s.seeds, s.byTool[fSchema], s.near)
	for _, f := range [...]int{fBack, fForward, fSchema} {
		overMax(s.byTool[f])
	}
	for _, f := range [...][2]int{{fNear, fGroupNear}, {fBM25, fGroupBM25}, {fUsage, fGroupUsage}} {
		b.overGroups(s.byTool[f[0]], s.byTool[f[1]], s.group)
	}
}

// use adds the mean use of tools by the nearest tasks, weighted by squared cosine.
func (b *base) use(words lexical.Vector, s *scratch) {
	clear(s.tasks)
	b.near.Products(b.vector(words), s.tasks)
	type hit struct {
		task int
		w    float64
	}
	var best [nearTasks + 1]hit
	n := 0
	for i, c := range s.tasks {
		if c <= 0 || n == nearTasks && c <= best[n-1].w {
			continue
		}
		at := n
		for at > 0 && best[at-1].w < c {
			at--
		}
		copy(best[at+1:], best[at:n])
		best[at] = hit{i, c}
		n = min(n+1, nearTasks)
	}
	all := 0.0
	for _, h := range best[:n] {
		all += float64(h.w * h.w)
	}
	if all == 0 {
		return
	}
	for _, h := range best[:n] {
		for _, tool := range b.used[h.task] {
			s.byTool[fNear][tool] += float64(h.w*h.w) / all
		}
	}
}

// reach gives every tool the best product of a seed and the weights of at most two
// edges that lead from the seed to it, the second one times .8. One edge first: only the
// best product there can be the best one edge further, so each edge is looked at twice and
// not once for every way to it. near is scratch.
func reach(edges [][]edge, seeds, into, near []float64) {
	step(edges, seeds, into, 1)
	copy(near, into)
	step(edges, near, into, farther)
}

// step raises what edges lead to to the product of where they begin, their weight and by.
func step(edges [][]edge, from, into []float64, by float64) {
	const least = 1e-3
	for tool, s := range from {
		if s < least {
			continue
		}
		for _, e := range edges[tool] {
			into[e.tool] = max(into[e.tool], by*s*e.w)
		}
	}
}

func overMax(x []float64) {
	if len(x) == 0 {
		return
	}
	if most := slices.Max(x); most > 0 {
		for i := range x {
			x[i] /= most
		}
	}
}

func (b *base) overGroups(from, into, best []float64) {
	clear(best)
	for tool, g := range b.corpus.group {
		if g >= 0 {
			best[g] = max(best[g], from[tool])
		}
	}
	for tool, g := range b.corpus.group {
		if g >= 0 {
			into[tool] = best[g]
		}
	}
}

// of fills s.row with the features of one tool and their square roots.
func (s *scratch) of(tool int) []float64 {
	for f := range features {
		x := s.byTool[f][tool]
		s.row[f], s.row[features+f] = x, math.Sqrt(x)
	}
	return s.row[:]
}
