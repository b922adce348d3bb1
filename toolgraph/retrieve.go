package toolgraph

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/lexical"
)

// MostTargets is how many tools that fit a text are closed, as in the paper (appendix
// C: the top three of the retriever).
const MostTargets = 3

// What a target and a way add to a tool's score: the match to the power of sharpness,
// so that the best target counts most, times the score of the search to the power of
// farness, because what is needed through others only is needed less surely.
const (
	sharpness   = 6
	farness     = 4
	leastNeeded = .2 // scores of the search below it add nothing
)

// A Retriever finds the tools that a text asks for, with what has to come before
// them. It is immutable.
type Retriever struct {
	n     *Navigator
	terms *lexical.Vocabulary // of runs of characters
	grams *lexical.Index
}

// NewRetriever returns a retriever of the tools that n may use.
func NewRetriever(n *Navigator) *Retriever {
	r := &Retriever{n: n, terms: &lexical.Vocabulary{}}
	grams := make([][]string, n.tools)
	for i := range n.g.Tools {
		t := &n.g.Tools[i]
		grams[i] = gramsOf(append(lexical.Terms(t.Name), lexical.Terms(t.Description)...))
		r.terms.Add(grams[i])
	}
	r.terms = r.terms.Sorted()
	vectors := make([]lexical.Vector, n.tools)
	for i := range grams {
		vectors[i] = r.terms.TFIDF(grams[i])
	}
	r.grams = lexical.NewIndex(r.terms.Len(), vectors)
	return r
}

func gramsOf(words []string) []string {
	return lexical.Grams(words[:min(gramWords, len(words))], 3, 5)
}

// Match returns the tools by how well they fit a text: the mean of BM25 over the best
// and of the cosine of character runs over the best.
func (r *Retriever) Match(text string) []Found {
	words, grams := make([]float64, r.n.tools), make([]float64, r.n.tools)
	terms := lexical.Terms(text)
	r.n.text.Scores(terms, words)
	r.grams.Products(r.terms.TFIDF(gramsOf(terms)), grams)
	overMost(words)
	overMost(grams)
	var out []Found
	for i := range words {
		if s := (words[i] + grams[i]) / 2; s > 0 && r.n.g.Tools[i].State != Pruned {
			out = append(out, Found{i, s})
		}
	}
	slices.SortFunc(out, byScore)
	return out
}

func overMost(x []float64) {
	most := 0.0
	for _, v := range x {
		most = max(most, v)
	}
	for i := range x {
		if most > 0 {
			x[i] /= most
		}
	}
}

// Needed returns the tools that a text asks for and those before them: the best
// matches, each with what the exact search finds from it. What several of them need
// comes first.
func (r *Retriever) Needed(text string, have map[int]bool) []Found {
	best := map[int]float64{}
	matches := r.Match(text)
	for _, m := range matches[:min(MostTargets, len(matches))] {
		weight := math.Pow(m.Score, sharpness)
		best[m.Tool] += weight
		for _, f := range r.n.Exact(Query{Target: m.Tool, Have: have, Least: leastNeeded}) {
			best[f.Tool] += weight * math.Pow(f.Score, farness)
		}
	}
	out := make([]Found, 0, len(best))
	for tool, s := range best {
		out = append(out, Found{tool, s})
	}
	slices.SortFunc(out, byScore)
	return out
}
