package ngram_test

import (
	"math"
	"slices"
	"testing"

	"github.com/awo-dev/awo/entropy/ngram"
	"pgregory.net/rapid"
)

// mark stands for the start of a sequence in the reference implementation.
const mark = 1 << 20

// reference is interpolated Kneser-Ney written down from its definition, over
// maps and without any of the model's tricks.
type reference struct {
	k, alphabet int
	raw         map[string]map[uint32]float64         // context -> successor -> count
	before      map[string]map[uint32]map[uint32]bool // context -> successor -> what came before
	marked      map[string]bool                       // contexts that begin with the mark
	contexts    map[int]map[string]bool               // by length
}

func refer(k, alphabet int, sequences [][]uint32) *reference {
	r := &reference{
		k: k, alphabet: alphabet,
		raw:    map[string]map[uint32]float64{},
		before: map[string]map[uint32]map[uint32]bool{},
		marked: map[string]bool{}, contexts: map[int]map[string]bool{},
	}
	for _, s := range sequences {
		padded := append([]uint32{mark}, s...)
		for i := 1; i < len(padded); i++ {
			for l := 0; l <= k && l <= i; l++ {
				c := padded[i-l : i]
				if r.raw[key(c)] == nil {
					r.raw[key(c)] = map[uint32]float64{}
					r.before[key(c)] = map[uint32]map[uint32]bool{}
				}
				if r.contexts[l] == nil {
					r.contexts[l] = map[string]bool{}
				}
				r.contexts[l][key(c)] = true
				r.marked[key(c)] = l > 0 && c[0] == mark
				r.raw[key(c)][padded[i]]++
				if i-l-1 >= 0 {
					if r.before[key(c)][padded[i]] == nil {
						r.before[key(c)][padded[i]] = map[uint32]bool{}
					}
					r.before[key(c)][padded[i]][padded[i-l-1]] = true
				}
			}
		}
	}
	return r
}

// n returns the counts after context c, as the longest one or inside a chain.
func (r *reference) n(c string, inner bool) map[uint32]float64 {
	if !inner || r.marked[c] {
		return r.raw[c]
	}
	n := map[uint32]float64{}
	for s, before := range r.before[c] {
		n[s] = float64(len(before))
	}
	return n
}

func (r *reference) discount(length int, inner bool) float64 {
	var once, twice float64
	for c := range r.contexts[length] {
		for _, n := range r.n(c, inner) {
			if n == 1 {
				once++
			}
			if n == 2 {
				twice++
			}
		}
	}
	if once == 0 {
		return 0.1
	}
	return min(max(once/(once+2*twice), 0.1), 0.9)
}

// prob returns p(s) after the last k symbols of history, a mark in front.
func (r *reference) prob(k int, history []uint32, s uint32) float64 {
	padded := append([]uint32{mark}, history...)
	length := min(k, len(padded))
	return r.chain(k, padded[len(padded)-length:], s)
}

func (r *reference) chain(k int, c []uint32, s uint32) float64 {
	lower := 1 / float64(r.alphabet+1)
	if len(c) > 0 {
		lower = r.chain(k, c[1:], s)
	}
	inner := len(c) < k
	n, total := r.n(key(c), inner), 0.0
	for _, x := range n {
		total += x
	}
	if total == 0 {
		return lower
	}
	d := r.discount(len(c), inner)
	return max(n[s]-d, 0)/total + d*float64(len(n))/total*lower
}

func small() *rapid.Generator[[][]uint32] {
	return rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 4), 0, 8), 0, 12)
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a), math.Abs(b)) }

func TestModelAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 4).Draw(t, "k")
		sequences := small().Draw(t, "sequences")
		m := ngram.Train(k, slices.Values(sequences), ngram.ModelOptions{Alphabet: 7})
		r := refer(k, 7, sequences)
		test := rapid.SliceOfN(rapid.Uint32Range(0, 8), 1, 8).Draw(t, "test")
		for i, bits := range m.Bits(test) {
			for order, b := range bits {
				want := r.prob(order, test[:i], test[i])
				if !near(math.Exp2(-b), want) {
					t.Fatalf("order %d: p(%d | %v) = %v, want %v", order, test[i], test[:i], math.Exp2(-b), want)
				}
				if p := m.Shorter(order).Prob(test[:i], test[i]); !near(p, want) {
					t.Fatalf("order %d: Prob(%v, %d) = %v, want %v", order, test[:i], test[i], p, want)
				}
			}
		}
	})
}

func TestDistributionsAddUpToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 4).Draw(t, "k")
		sequences := small().Draw(t, "sequences")
		alphabet := rapid.IntRange(0, 9).Draw(t, "alphabet")
		m := ngram.Train(k, slices.Values(sequences), ngram.ModelOptions{Alphabet: alphabet})
		context := rapid.SliceOfN(rapid.Uint32Range(0, 10), 0, 6).Draw(t, "context")
		p := m.Distribution(context)
		if len(p) != m.Alphabet()+1 || m.Alphabet() < alphabet {
			t.Fatalf("%d probabilities of %d symbols, %d asked for", len(p), m.Alphabet(), alphabet)
		}
		sum := 0.0
		for s, x := range p {
			if x <= 0 || x > 1 {
				t.Fatalf("p(%d | %v) = %v", s, context, x)
			}
			if q := m.Prob(context, uint32(s)); !near(x, q) {
				t.Fatalf("p(%d | %v) = %v, by itself %v", s, context, x, q)
			}
			sum += x
		}
		if !near(sum, 1) {
			t.Fatalf("the probabilities after %v add up to %v", context, sum)
		}
		if a, b := m.Prob(context, uint32(m.Alphabet())), m.Prob(context, 1<<32-1); a != b {
			t.Fatalf("unknown symbols have probabilities %v and %v", a, b)
		}
	})
}

func TestModelByHand(t *testing.T) {
	// Two sequences, a b and a c. Order 1: contexts are the mark (a twice) and a
	// (b once, c once).
	const a, b, c = 0, 1, 2
	m := ngram.Train(1, slices.Values([][]uint32{{a, b}, {a, c}}), ngram.ModelOptions{})
	// Bigrams: mark a twice, a b once, a c once: D = 2/(2+2*1) = 1/2.
	if d := m.Discount(1); d != 0.5 {
		t.Fatalf("D of order 1 is %v, want 0.5", d)
	}
	// Inside the chain a, b and c were each seen after one symbol: T = 3, D is
	// 3/3 kept to 0.9, so p0(b) = 0.1/3 + 0.9 * 1/4.
	low := 0.1/3 + 0.9/4
	// p(b | a) = (1 - 1/2)/2 + 1/2 * 2/2 * p0(b).
	if p, want := m.Prob([]uint32{a}, b), 0.25+0.5*low; !near(p, want) {
		t.Errorf("p(b|a) = %v, want %v", p, want)
	}
	// p(a | start) = (2 - 1/2)/2 + 1/2 * 1/2 * p0(a).
	if p, want := m.Prob(nil, a), 0.75+0.25*low; !near(p, want) {
		t.Errorf("p(a|start) = %v, want %v", p, want)
	}
	// Nothing followed b: the shorter context decides.
	if p := m.Prob([]uint32{a, b}, c); !near(p, low) {
		t.Errorf("p(c|b) = %v, want %v", p, low)
	}
	// Of order 0 the counts are a twice, b and c once: D = 2/(2+2) and
	// p(a) = (2 - 1/2)/4 + 1/2 * 3/4 * 1/4.
	if p, want := m.Shorter(0).Prob([]uint32{c}, a), 1.5/4+0.5*0.75/4; !near(p, want) {
		t.Errorf("p(a) = %v, want %v", p, want)
	}
}

func TestModelKnowsTheStart(t *testing.T) {
	// x starts every sequence and never comes later.
	var sequences [][]uint32
	for range 50 {
		sequences = append(sequences, []uint32{0, 1, 2, 1, 2, 1})
	}
	m := ngram.Train(2, slices.Values(sequences), ngram.ModelOptions{})
	if p := m.Prob(nil, 0); p < 0.99 {
		t.Errorf("p(x | start) = %v, want nearly 1", p)
	}
	if p := m.Prob([]uint32{1, 2}, 0); p > 0.01 {
		t.Errorf("p(x | in the middle) = %v, want nearly 0", p)
	}
}

func TestCyclesCostNothing(t *testing.T) {
	var sequences [][]uint32
	for i := range 200 {
		var s []uint32
		for j := range 30 {
			s = append(s, uint32(i+j)%5)
		}
		sequences = append(sequences, s)
	}
	m := ngram.Train(2, slices.Values(sequences), ngram.ModelOptions{})
	loss := m.Loss(sequences[0])
	if loss.N != 30 || loss.Unseen != 0 {
		t.Fatalf("%d symbols predicted and %d unseen, want 30 and 0", loss.N, loss.Unseen)
	}
	// Only where a sequence begins is a matter of chance: log2 5 bits.
	if bits := loss.Bits[1] - math.Log2(5); bits > 0.1 {
		t.Errorf("30 steps of a cycle cost %v bits beside the start's", bits)
	}
}

func TestUntrainedModel(t *testing.T) {
	m := ngram.Train(2, slices.Values([][]uint32{}), ngram.ModelOptions{Alphabet: 3})
	for s := range uint32(5) {
		if p := m.Prob([]uint32{1}, s); p != 0.25 {
			t.Errorf("p(%d) = %v, want 1/4 for three symbols and the unknown", s, p)
		}
	}
	if l := m.Loss([]uint32{0, 7}); l.N != 2 || l.Unseen != 2 || l.Bits[2] != 4 {
		t.Errorf("loss %+v, want 2 unseen symbols at 2 bits", l)
	}
}

func TestTrainerWeighs(t *testing.T) {
	a, b := ngram.NewTrainer(2), ngram.NewTrainer(2)
	a.AddN([]uint32{1, 2, 1}, 4)
	for range 4 {
		b.Add([]uint32{1, 2, 1})
	}
	test := []uint32{1, 2, 2, 1}
	x, y := a.Model(ngram.ModelOptions{}).Loss(test), b.Model(ngram.ModelOptions{}).Loss(test)
	if !slices.Equal(x.Bits, y.Bits) {
		t.Errorf("four at once: %v, one at a time: %v", x.Bits, y.Bits)
	}
}
