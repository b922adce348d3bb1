package predict

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/lexical"
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

// Lexical says how well tools fit a thought without a model of language: BM25 of the
// thought as a query and a tool's name and description as a document, b, becomes b/(b+1).
// AutoTool uses vectors of SimCSE, which is such a model; figures that depend on it
// are not those of the paper. It is not safe for concurrent use.
type Lexical struct {
	index   *lexical.Index
	thought string    // that scores are of
	scores  []float64 // by symbol, from 1
}

// NewLexical indexes the tools of m.
func NewLexical(m *Model) *Lexical {
	texts := make([][]string, len(m.tools)-1)
	for i, t := range m.Tools() {
		texts[i] = lexical.Words(t.Name.Value() + " " + t.Description)
	}
	return &Lexical{index: lexical.NewBM25(texts, lexical.DefaultK1, lexical.DefaultB), scores: make([]float64, len(texts))}
}

// Score returns BM25/(BM25+1), from 0 to 1. Of a thought that is empty every score is 0.
func (l *Lexical) Score(thought string, symbol uint32) float64 {
	if thought != l.thought {
		l.thought = thought
		clear(l.scores)
		l.index.Scores(slices.Compact(slices.Sorted(slices.Values(lexical.Words(thought)))), l.scores)
	}
	score := l.scores[symbol-1]
	return score / (score + 1)
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
