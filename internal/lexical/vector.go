package lexical

import (
	"cmp"
	"math"
	"slices"
)

// A Weight is one word of a Vector.
type Weight struct {
	Term int32
	W    float64
}

// A Vector is a text as its words, by rising term, of length 1 unless it is empty.
type Vector []Weight

// Dot returns the inner product of two vectors: their cosine.
func (v Vector) Dot(w Vector) float64 {
	sum := 0.0
	for i, j := 0, 0; i < len(v) && j < len(w); {
		switch {
		case v[i].Term < w[j].Term:
			i++
		case v[i].Term > w[j].Term:
			j++
		default:
			sum += float64(v[i].W * w[j].W)
			i, j = i+1, j+1
		}
	}
	return sum
}

// Norm returns the Euclidean length.
func (v Vector) Norm() float64 {
	sum := 0.0
	for _, w := range v {
		sum += float64(w.W * w.W)
	}
	return math.Sqrt(sum)
}

// A Vocabulary numbers words and knows how many texts hold each. The zero value
// is empty.
type Vocabulary struct {
	terms map[string]int32
	words []string
	holds []int // texts, by term
	texts int
}

// Add counts a text, given by its words.
func (v *Vocabulary) Add(words []string) {
	v.texts++
	if v.terms == nil {
		v.terms = map[string]int32{}
	}
	var seen []int32
	for _, w := range words {
		term, ok := v.terms[w]
		if !ok {
			term = int32(len(v.words))
			v.terms[w] = term
			v.words = append(v.words, w)
			v.holds = append(v.holds, 0)
		}
		seen = append(seen, term)
	}
	slices.Sort(seen)
	for _, term := range slices.Compact(seen) {
		v.holds[term]++
	}
}

// Len returns how many words there are.
func (v *Vocabulary) Len() int { return len(v.words) }

// Word returns the word of a term.
func (v *Vocabulary) Word(term int32) string { return v.words[term] }

// Holds returns how many texts hold a term.
func (v *Vocabulary) Holds(term int32) int { return v.holds[term] }

// IDF returns ln((n+1)/(df+1)) + 1, which is positive also for words that all texts
// hold.
func (v *Vocabulary) IDF(term int32) float64 {
	return math.Log(float64(v.texts+1)/float64(v.holds[term]+1)) + 1
}

// Terms counts the words of a text that the vocabulary has, by rising term. It
// does not depend on the order of the words.
func (v *Vocabulary) Terms(words []string) Vector {
	counts := map[int32]float64{}
	for _, w := range words {
		if term, ok := v.terms[w]; ok {
			counts[term]++
		}
	}
	out := make(Vector, 0, len(counts))
	for term, n := range counts {
		out = append(out, Weight{term, n})
	}
	slices.SortFunc(out, func(a, b Weight) int { return cmp.Compare(a.Term, b.Term) })
	return out
}

// TFIDF returns the vector of a text: (1 + ln tf) IDF, of length 1.
func (v *Vocabulary) TFIDF(words []string) Vector {
	out := v.Terms(words)
	for i := range out {
		out[i].W = (1 + math.Log(out[i].W)) * v.IDF(out[i].Term)
	}
	return out.unit()
}

// Set returns the vector of a set of words, each with its IDF, of length 1.
func (v *Vocabulary) Set(words []string) Vector {
	out := v.Terms(words)
	for i := range out {
		out[i].W = v.IDF(out[i].Term)
	}
	return out.unit()
}

func (v Vector) unit() Vector {
	norm := v.Norm()
	if norm == 0 {
		return v[:0]
	}
	for i := range v {
		v[i].W /= norm
	}
	return v
}

// Sorted returns a vocabulary with the same counts whose terms are numbered in the
// order of the words: what is summed by term then does not depend on the order in
// which texts were added.
func (v *Vocabulary) Sorted() *Vocabulary {
	out := &Vocabulary{terms: make(map[string]int32, len(v.words)), words: slices.Clone(v.words), texts: v.texts}
	slices.Sort(out.words)
	out.holds = make([]int, len(out.words))
	for i, w := range out.words {
		out.terms[w] = int32(i)
		out.holds[i] = v.holds[v.terms[w]]
	}
	return out
}

// Grams returns the runs of lo to hi characters of a text's words, with a blank
// around each word, as words for a Vocabulary.
func Grams(words []string, lo, hi int) []string {
	var out []string
	for _, w := range words {
		runes := []rune(" " + w + " ")
		for n := lo; n <= hi; n++ {
			for i := 0; i+n <= len(runes); i++ {
				out = append(out, string(runes[i:i+n]))
			}
		}
	}
	return out
}
