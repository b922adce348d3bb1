package ngram_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/awo-dev/awo/entropy/ngram"
	"pgregory.net/rapid"
)

// naive counts n-grams the obvious way: a map from their text.
type naive struct {
	k     int
	grams map[string]uint64
	seqs  [][]uint32
}

func key(gram []uint32) string {
	b := make([]byte, 0, 64)
	for _, s := range gram {
		b = binary.LittleEndian.AppendUint32(b, s)
	}
	return string(b)
}

func count(k int, sequences [][]uint32) naive {
	n := naive{k, map[string]uint64{}, sequences}
	for _, s := range sequences {
		for i := range s {
			for m := 1; m <= k+1 && i+m <= len(s); m++ {
				n.grams[key(s[i:i+m])]++
			}
		}
	}
	return n
}

// table returns n(c,s) over windows of length symbols, and the contexts in
// lexicographic order.
func (n naive) table(k, length int) (map[string]map[uint32]uint64, [][]uint32) {
	cells := map[string]map[uint32]uint64{}
	var contexts [][]uint32
	for _, s := range n.seqs {
		for i := length - 1; i < len(s); i++ {
			c := s[i-k : i]
			if cells[key(c)] == nil {
				cells[key(c)] = map[uint32]uint64{}
				contexts = append(contexts, c)
			}
			cells[key(c)][s[i]]++
		}
	}
	slices.SortFunc(contexts, slices.Compare)
	return cells, contexts
}

// check compares everything that counts can tell with the naive figures.
func (n naive) check(t interface {
	Helper()
	Fatalf(string, ...any)
}, c *ngram.Counts,
) {
	t.Helper()
	symbols, sequences := 0, 0
	for _, s := range n.seqs {
		symbols += len(s)
		if len(s) > 0 {
			sequences++
		}
	}
	if c.Symbols() != uint64(symbols) || c.Sequences() != uint64(sequences) {
		t.Fatalf("%d symbols in %d sequences, want %d in %d", c.Symbols(), c.Sequences(), symbols, sequences)
	}
	for k := range n.k + 1 {
		n.checkTable(t, c.Order(k), k+1)
		left := k
		for o := range c.Aligned(k + 1) {
			if o.K != left {
				t.Fatalf("windows of %d: order %d where %d was due", k+1, o.K, left)
			}
			n.checkTable(t, o, k+1)
			left--
		}
		if left != -1 {
			t.Fatalf("windows of %d: no table of order %d", k+1, left)
		}
	}
	for k := range n.k {
		n.checkTables(t, c, k)
	}
}

func (n naive) checkTable(t interface {
	Helper()
	Fatalf(string, ...any)
}, o ngram.Order, length int,
) {
	t.Helper()
	cells, contexts := n.table(o.K, length)
	var want ngram.Summary
	i := 0
	for x := range o.Contexts() {
		if i == len(contexts) || !slices.Equal(x.Symbols, contexts[i]) {
			t.Fatalf("order %d, windows of %d: context %d is %v, want one of %v", o.K, length, i, x.Symbols, contexts)
		}
		next := cells[key(x.Symbols)]
		if len(x.Next) != len(next) {
			t.Fatalf("order %d, windows of %d: %v has successors %v, want %v", o.K, length, x.Symbols, x.Next, next)
		}
		sum := uint64(0)
		for j, s := range x.Next {
			if s.N != next[s.Symbol] || s.N == 0 || j > 0 && x.Next[j-1].Symbol >= s.Symbol {
				t.Fatalf("order %d, windows of %d: %v has successors %v, want %v", o.K, length, x.Symbols, x.Next, next)
			}
			sum += s.N
			want.Cells++
			if s.N == 1 {
				want.Singletons++
			}
		}
		if x.N != sum {
			t.Fatalf("order %d, windows of %d: n(%v) = %d, want %d", o.K, length, x.Symbols, x.N, sum)
		}
		want.N += sum
		want.Contexts++
		i++
	}
	if i != len(contexts) {
		t.Fatalf("order %d, windows of %d: %d contexts, want %d", o.K, length, i, len(contexts))
	}
	if got := o.Summary(); got != want {
		t.Fatalf("order %d, windows of %d: summary %+v, want %+v", o.K, length, got, want)
	}
}

func (n naive) checkTables(t interface {
	Helper()
	Fatalf(string, ...any)
}, c *ngram.Counts, k int,
) {
	t.Helper()
	middles, contexts := n.table(k, k+2)
	rows, _ := n.table(k+1, k+2)
	i := 0
	for table := range c.Tables(k) {
		if i == len(contexts) || !slices.Equal(table.Context, contexts[i]) {
			t.Fatalf("table %d of order %d is of %v, want one of %v", i, k, table.Context, contexts)
		}
		columns, last := map[uint32]uint64{}, -1
		for _, row := range table.Rows {
			if int(row.Symbol) <= last {
				t.Fatalf("table of %v: row %d after row %d", table.Context, row.Symbol, last)
			}
			last = int(row.Symbol)
			want := rows[key(append([]uint32{row.Symbol}, table.Context...))]
			sum := uint64(0)
			for _, s := range row.Next {
				if s.N != want[s.Symbol] {
					t.Fatalf("table of %v: row %d is %v, want %v", table.Context, row.Symbol, row.Next, want)
				}
				columns[s.Symbol] += s.N
				sum += s.N
			}
			if len(row.Next) != len(want) || row.N != sum {
				t.Fatalf("table of %v: row %d is %v with sum %d, want %v", table.Context, row.Symbol, row.Next, row.N, want)
			}
		}
		if want := middles[key(table.Context)]; !maps.Equal(columns, want) {
			t.Fatalf("table of %v: columns %v, want %v", table.Context, columns, want)
		}
		i++
	}
	if i != len(contexts) {
		t.Fatalf("order %d: %d tables, want %d", k, i, len(contexts))
	}
}

// corpora generates sequences over alphabets from 1 to many symbols.
func corpora() *rapid.Generator[[][]uint32] {
	return rapid.Custom(func(t *rapid.T) [][]uint32 {
		alphabet := rapid.SampledFrom([]uint32{1, 2, 3, 5, 20, 300, 70000}).Draw(t, "alphabet")
		return rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, alphabet-1), 0, 12), 0, 20).Draw(t, "sequences")
	})
}

func counted(k int, sequences [][]uint32) *ngram.Counts {
	return ngram.Count(k, slices.Values(sequences))
}

func TestCountsAgreeWithNaiveCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 5).Draw(t, "k")
		sequences := corpora().Draw(t, "corpus")
		count(k, sequences).check(t, counted(k, sequences))
	})
}

func TestCountsDoNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sequences := corpora().Draw(t, "corpus")
		shuffled := rapid.Permutation(sequences).Draw(t, "shuffled")
		a, b := counted(3, sequences), counted(3, shuffled)
		for k := range 4 {
			if a, b := fmt.Sprint(contexts(a, k)), fmt.Sprint(contexts(b, k)); a != b {
				t.Fatalf("order %d: %s became %s", k, a, b)
			}
		}
	})
}

func contexts(c *ngram.Counts, k int) (all []ngram.Context) {
	for x := range c.Order(k).Contexts() {
		x.Symbols, x.Next = slices.Clone(x.Symbols), slices.Clone(x.Next)
		all = append(all, x)
	}
	return all
}

// TestLayouts grows the alphabet and the counts so that levels become dense,
// are laid out anew for wider symbols, and are given up again.
func TestLayouts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var sequences [][]uint32
	add := func(symbols, alphabet, length int) {
		for range symbols / length {
			s := make([]uint32, length)
			for i := range s {
				s[i] = uint32(r.IntN(alphabet))
			}
			sequences = append(sequences, s)
		}
	}
	add(100, 2, 10)
	add(40_000, 6, 40_000) // one sequence of several blocks
	add(60_000, 20, 30)
	add(40_000, 500, 20)
	add(1_000, 5_000, 20)
	add(60_000, 30, 30_000)
	n := count(3, sequences)
	n.check(t, counted(3, sequences))
}

func TestSmallExampleByHand(t *testing.T) {
	const a, b, c = 0, 1, 2
	counts := counted(2, [][]uint32{{a, b, a, b, c}, {}, {b, c}})
	for _, x := range []struct {
		gram []uint32
		want uint64
	}{
		{nil, 7},
		{[]uint32{a}, 2},
		{[]uint32{b}, 3},
		{[]uint32{a, b}, 2},
		{[]uint32{b, c}, 2},
		{[]uint32{c, b}, 0}, // the windows do not cross from one sequence to the next
		{[]uint32{a, b, a}, 1},
		{[]uint32{9}, 0},
	} {
		if got := counts.Occurrences(x.gram); got != x.want {
			t.Errorf("Occurrences(%v) = %d, want %d", x.gram, got, x.want)
		}
	}
	if i, ok := counts.Place([]uint32{b, c}); i != 2 || !ok { // after ab and ba
		t.Errorf("Place(bc) = %d, %v, want 2", i, ok)
	}
	if n := counts.Follows([]uint32{c}, b) + counts.Follows([]uint32{9}, b); n != 0 {
		t.Errorf("b follows c and an unknown symbol %d times", n)
	}
	if _, ok := counts.Context([]uint32{9}); ok {
		t.Error("an unknown symbol has successors")
	}
	x, ok := counts.Context([]uint32{b})
	if !ok || x.N != 3 || !slices.Equal(x.Next, []ngram.Successor{{a, 1}, {c, 2}}) {
		t.Errorf("after b: %+v, want a once and c twice", x)
	}
	if x, ok := counts.Context([]uint32{c}); ok {
		t.Errorf("after c: %+v, want nothing", x)
	}
	if n := counts.Follows([]uint32{a, b}, c); n != 1 {
		t.Errorf("n(ab,c) = %d, want 1", n)
	}
	if s := counts.Order(1).Summary(); s != (ngram.Summary{N: 5, Contexts: 2, Cells: 3, Singletons: 1}) {
		t.Errorf("order 1: %+v, want 5 windows, contexts a and b, cells ab ba bc", s)
	}
}

func TestCountsBeyond32Bits(t *testing.T) {
	const many = 1<<33 + 5
	for _, symbol := range []uint32{1, 5_000_000} { // dense and hashed
		c := ngram.NewCounter(1)
		c.AddN([]uint32{0, symbol}, many)
		c.AddN([]uint32{0, symbol}, 1<<32-1)
		c.AddN([]uint32{0, symbol, symbol}, many)
		counts := c.Counts()
		const want = 2*many + 1<<32 - 1
		if n := counts.Follows([]uint32{0}, symbol); n != want {
			t.Errorf("n = %d, want %d", n, uint64(want))
		}
		if n := counts.Symbols(); n != 2*want+many {
			t.Errorf("%d symbols, want %d", n, uint64(2*want+many))
		}
		if x, _ := counts.Context(nil); x.N != counts.Symbols() {
			t.Errorf("the empty context is followed %d times, want %d", x.N, counts.Symbols())
		}
	}
}

func TestAddN(t *testing.T) {
	a, b := ngram.NewCounter(2), ngram.NewCounter(2)
	s := []uint32{1, 2, 3, 1, 2}
	a.AddN(s, 3)
	a.AddN(s, 0)
	for range 3 {
		b.Add(s)
	}
	if a, b := fmt.Sprint(contexts(a.Counts(), 2)), fmt.Sprint(contexts(b.Counts(), 2)); a != b {
		t.Errorf("three at once: %s, one at a time: %s", a, b)
	}
}

func TestCountsEmptyTheCounter(t *testing.T) {
	c := ngram.NewCounter(1)
	c.Add([]uint32{1, 2})
	c.Counts()
	c.Add([]uint32{3})
	if n := c.Counts().Symbols(); n != 1 {
		t.Errorf("%d symbols after the counts were taken, want 1", n)
	}
}

func TestNothingCounted(t *testing.T) {
	c := counted(3, [][]uint32{{}, nil})
	for k := range 4 {
		if got := contexts(c, k); len(got) != 0 {
			t.Errorf("order %d of nothing: %v", k, got)
		}
		if s := c.Order(k).Summary(); s != (ngram.Summary{}) {
			t.Errorf("order %d of nothing: %+v", k, s)
		}
	}
	for table := range c.Tables(0) {
		t.Errorf("a table of nothing: %+v", table)
	}
}
