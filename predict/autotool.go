package predict

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/trace"
)

// The constants of AutoTool.
const (
	Window       = 2   // calls that candidates must have followed
	DefaultTheta = 0.1 // a call is made above this score
	DefaultAlpha = 0.5 // weight of the context's score
	confidence   = 1.1 // k of the inertia confidence factor
)

// A Candidate is a tool that has followed the last calls.
type Candidate struct {
	Symbol uint32
	Weight float64 // max(0, ok + unknown - failed)
	ICS    float64 // inertia confidence score
	CIPS   float64 // comprehensive inertia potential score
}

// ICS returns the inertia confidence score of AutoTool (App. A) of a candidate of
// weight w among candidates of weight total: w/W (1 - 1.1^-W), 0 where W is 0. It
// is no probability: the scores of the candidates add up to less than 1.
func ICS(w, total float64) float64 {
	if total <= 0 {
		return 0
	}
	return w / total * (1 - math.Pow(confidence, -total))
}

// CIPS returns the comprehensive inertia potential score of AutoTool (equation 1).
func CIPS(ics, context, alpha float64) float64 {
	return (1-alpha)*ics + alpha*context
}

// weight returns what a path weighs: successes less failures, never below 0. The
// authors' program keeps one signed number instead, in which a new path that
// failed counts as 1, and scores may leave 0 to 1.
func weight(c Counts) float64 {
	return max(0, float64(c.OK)+float64(c.Unknown)-float64(c.Failed))
}

// Candidates returns the tools that followed the last two calls without a gap
// anywhere in a trajectory, the highest CIPS first, of equal ones by name.
// similarity gives the context's score of a symbol, from 0 to 1; nil scores 0.
// There are none after fewer than two calls.
func (m *Model) Candidates(calls []trace.Name, alpha float64, similarity func(symbol uint32) float64) []Candidate {
	if len(calls) < Window || m.Info.Order < Window {
		return nil
	}
	sums := map[uint32]Counts{}
	for state := range uint32(states) {
		node, ok := m.child(0, state)
		for i := 0; ok && i < Window; i++ {
			symbol := m.symbols[calls[len(calls)-1-i]]
			if ok = symbol != 0; ok {
				node, ok = m.child(node, symbol)
			}
		}
		if !ok {
			continue
		}
		from, to := m.cellsOf(node)
		for i := from; i < to; i++ {
			if next := m.cellNext[i]; next != NoneSymbol && int(next) < len(m.tools) {
				sum := sums[next]
				sum.Add(m.cellScore[i])
				sums[next] = sum
			}
		}
	}
	total := 0.0
	for _, c := range sums {
		total += weight(c) // whole numbers: the order does not matter
	}
	var out []Candidate
	for _, symbol := range slices.Sorted(maps.Keys(sums)) {
		c := Candidate{Symbol: symbol, Weight: weight(sums[symbol])}
		c.ICS = ICS(c.Weight, total)
		context := 0.0
		if similarity != nil {
			context = similarity(symbol)
		}
		c.CIPS = CIPS(c.ICS, context, alpha)
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return cmp.Compare(b.CIPS, a.CIPS) })
	return out
}

// A Similarity scores how well tools fit a thought, from 0 to 1. Of a thought
// that is empty every score is 0.
type Similarity interface {
	Score(thought string, symbol uint32) float64
}

// Lexical is the similarity that needs no model of language: BM25 of the thought
// as a query and a tool's name and description as a document, b, becomes b/(b+1).
// AutoTool uses vectors of a model that is not named; figures that depend on it
// are not those of the paper.
type Lexical struct {
	documents []map[string]float64
	lengths   []float64
	mean      float64
	holders   map[string]float64
}

// The parameters of BM25.
const (
	bm25K = 1.2
	bm25B = 0.75
)

// NewLexical indexes the tools of m.
func NewLexical(m *Model) *Lexical {
	l := &Lexical{documents: make([]map[string]float64, len(m.tools)), lengths: make([]float64, len(m.tools)), holders: map[string]float64{}}
	for s := 1; s < len(m.tools); s++ {
		doc := map[string]float64{}
		for _, w := range terms(m.tools[s].Name.Value() + " " + m.tools[s].Description) {
			doc[w]++
			l.lengths[s]++
		}
		for w := range doc {
			l.holders[w]++
		}
		l.documents[s] = doc
		l.mean += l.lengths[s] / float64(len(m.tools)-1)
	}
	return l
}

// Score returns BM25/(BM25+1).
func (l *Lexical) Score(thought string, symbol uint32) float64 {
	if l.mean == 0 || int(symbol) >= len(l.documents) {
		return 0
	}
	score := 0.0
	n := float64(len(l.documents) - 1)
	query := terms(thought)
	slices.Sort(query)
	for _, w := range slices.Compact(query) {
		f := l.documents[symbol][w]
		if f == 0 {
			continue
		}
		idf := math.Log(1 + (n-l.holders[w]+0.5)/(l.holders[w]+0.5))
		length := 1 - bm25B + bm25B*l.lengths[symbol]/l.mean
		score += idf * f * (bm25K + 1) / (f + bm25K*length)
	}
	return score / (score + 1)
}

// terms returns the words of a text in lower case; names are split at signs and
// at changes of case.
func terms(text string) []string {
	var b strings.Builder
	lower := false
	for _, r := range text {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Thoughts finds what a model last thought before a turn. Turns that are asked for in
// their order are read once: a run may have many without a word.
type Thoughts struct {
	t    *trace.Trajectory
	read int // turns of t
	last string
}

// Before returns what the model last thought before a turn, or said if no reasoning is
// recorded; "" if neither is.
func (s *Thoughts) Before(t *trace.Trajectory, turn int) string {
	if s.t != t || turn < s.read {
		*s = Thoughts{t: t}
	}
	for ; s.read < min(turn, len(t.Turns)); s.read++ {
		if text := t.Turns[s.read].Thought.Text(); text != "" {
			s.last = text
		} else if text := t.Turns[s.read].Text.Text(); text != "" {
			s.last = text
		}
	}
	return s.last
}
