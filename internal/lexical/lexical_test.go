package lexical

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"movie_id": {"movy", "id"}, "userIDs": {"user", "id"}, "HTTPServer2go": {"http", "server", "go"},
		"GET /movies/{movie_id}": {"get", "movy", "movy", "id"}, "address status bus": {"address", "status", "bus"},
		"categories": {"category"}, "": nil, "日本語 text": {"日本", "本語", "text"}, "中": {"中"}, "éclair’s": {"éclair", "s"},
	} {
		if got := Words(text); !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
	if got := Terms("Please find the cheapest flights to Rome"); !slices.Equal(got, []string{"find", "cheapest", "flight", "rome"}) {
		t.Errorf("Terms = %q", got)
	}
}

// BM25 by hand: two texts, the query holds a word of the first and one of both.
func TestBM25(t *testing.T) {
	x := NewBM25([][]string{{"a", "a", "b"}, {"b"}}, DefaultK1, DefaultB)
	scores := make([]float64, 2)
	x.Scores([]string{"a", "b"}, scores)
	idf := func(df float64) float64 { return math.Log(1 + (2-df+.5)/(df+.5)) }
	term := func(f, length float64) float64 { return f * 2.2 / (f + 1.2*(.25+.75*length/2)) }
	for i, want := range []float64{idf(1)*term(2, 3) + idf(2)*term(1, 3), idf(2) * term(1, 1)} {
		if math.Abs(scores[i]-want) > 1e-12 {
			t.Errorf("text %d scores %v, by hand %v", i, scores[i], want)
		}
	}
}

// The cosine of texts does not depend on the order of their words, and of a text with
// itself is 1.
func TestCosine(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
	rapid.Check(t, func(t *rapid.T) {
		one, other := rapid.SliceOfN(word, 1, 8).Draw(t, "one"), rapid.SliceOfN(word, 1, 8).Draw(t, "other")
		var v Vocabulary
		v.Add(one)
		v.Add(other)
		sorted := v.Sorted()
		a, b := sorted.TFIDF(one), sorted.TFIDF(other)
		shuffled := rapid.Permutation(one).Draw(t, "shuffled")
		if !slices.Equal(a, sorted.TFIDF(shuffled)) {
			t.Fatal("the order of words changes the vector")
		}
		if math.Abs(a.Dot(a)-1) > 1e-12 || a.Dot(b) != b.Dot(a) || a.Dot(b) > 1+1e-12 {
			t.Fatalf("cosines %v, %v, %v", a.Dot(a), a.Dot(b), b.Dot(a))
		}
		index := NewIndex(sorted.Len(), []Vector{a, b})
		scores := make([]float64, 2)
		index.Products(a, scores)
		if math.Abs(scores[1]-a.Dot(b)) > 1e-12 {
			t.Fatal("an index has another product")
		}
	})
}

func FuzzWords(f *testing.F) {
	f.Add("a_b cD 日本語\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range Words(text) {
			if w == "" || len(w) > 4*maxWord {
				t.Fatalf("the word %q", w)
			}
		}
		Terms(text)
		Grams(Words(text), 3, 5)
	})
}
