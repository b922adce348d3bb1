package lexical

import "math"

// The usual parameters of BM25.
const (
	DefaultK1 = 1.2
	DefaultB  = 0.75
)

// An Index finds texts by words: postings by term. It is immutable once built.
type Index struct {
	vocabulary *Vocabulary // of BM25
	postings   [][]posting
	texts      int
}

type posting struct {
	text int32
	w    float64
}

// NewIndex returns the index of vectors over that many terms, numbered in their
// order.
func NewIndex(terms int, texts []Vector) *Index {
	x := &Index{postings: make([][]posting, terms), texts: len(texts)}
	for i, text := range texts {
		for _, w := range text {
			x.postings[w.Term] = append(x.postings[w.Term], posting{int32(i), w.W})
		}
	}
	return x
}

// NewBM25 returns an index of texts whose Scores are BM25; see WeighBM25.
func NewBM25(texts [][]string, k1, b float64) *Index {
	vocabulary := &Vocabulary{}
	for _, words := range texts {
		vocabulary.Add(words)
	}
	vocabulary = vocabulary.Sorted()
	vectors := make([]Vector, len(texts))
	for i, words := range texts {
		vectors[i] = vocabulary.Terms(words)
	}
	WeighBM25(vocabulary.Len(), vectors, k1, b)
	x := NewIndex(vocabulary.Len(), vectors)
	x.vocabulary = vocabulary
	return x
}

// WeighBM25 replaces counts of that many terms by what they add to a text's BM25
// score for each time that a query holds them: idf f (k1 + 1)/(f + k1 (1 - b + b
// length/mean length)), with idf = ln(1 + (n - df + .5)/(df + .5)).
func WeighBM25(terms int, texts []Vector, k1, b float64) {
	holds := make([]float64, terms)
	lengths := make([]float64, len(texts))
	mean := 0.0
	for i, text := range texts {
		for _, w := range text {
			holds[w.Term]++
			lengths[i] += w.W
		}
		mean += lengths[i]
	}
	n := float64(len(texts))
	mean /= max(1, n)
	for i, text := range texts {
		length := 1 - b
		if mean > 0 {
			length += b * lengths[i] / mean
		}
		for j := range text {
			w := &text[j]
			idf := math.Log(1 + (n-holds[w.Term]+.5)/(holds[w.Term]+.5))
			w.W = idf * w.W * (k1 + 1) / (w.W + float64(k1*length))
		}
	}
}

// Scores adds what every text scores for a query of a NewBM25 index to into, which
// has a place for each text: of the query's words each as often as it stands there.
func (x *Index) Scores(query []string, into []float64) {
	x.Products(x.vocabulary.Terms(query), into)
}

// Products adds the inner product of v with every text to into.
func (x *Index) Products(v Vector, into []float64) {
	for _, w := range v {
		for _, p := range x.postings[w.Term] {
			into[p.text] += float64(w.W * p.w)
		}
	}
}

// Touched adds the inner product of v with every text to into, where there are
// zeros, and returns the texts that have one. Terms that more than most texts hold
// are passed over.
func (x *Index) Touched(v Vector, most int, into []float64) []int32 {
	var out []int32
	for _, w := range v {
		if len(x.postings[w.Term]) > most {
			continue
		}
		for _, p := range x.postings[w.Term] {
			if into[p.text] == 0 {
				out = append(out, p.text)
			}
			into[p.text] += float64(w.W * p.w)
		}
	}
	return out
}
