package predict

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/trace"
)

func trace1(name string) trace.Name { return trace.Intern(name) }

var letters = []string{"a", "b", "c", "d"}

// drawn is a random trajectory.
func drawn(t *rapid.T, task string) *trace.Trajectory {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "a!", "b!", ".", ">hello R2D2", ">x", "a+b", `a={"id":"q1"}={"ids":["u1","u2"]}`, `b={"id":"u1"}`, `b={"id":"u2"}`}), 0, 12).Draw(t, "parts")
	x := trajectoryOf(task, parts...)
	return x
}

// Without states and answers the model is the interpolated Kneser-Ney model of
// package ngram.
func TestModelIsThatOfNgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		order := rapid.IntRange(1, 4).Draw(t, "order")
		n := rapid.IntRange(1, 8).Draw(t, "trajectories")
		g := NewGraph(order)
		trainer := ngram.NewTrainer(order)
		for i := range n {
			calls := rapid.SliceOfN(rapid.SampledFrom(letters), 1, 9).Draw(t, "calls")
			g.Add(runOf(trajectoryOf(fmt.Sprint(i), calls...)).Observation)
			var sequence []uint32
			for _, c := range calls {
				sequence = append(sequence, uint32(slices.Index(letters, c)+1))
			}
			trainer.AddN(sequence, 1)
		}
		for _, l := range letters {
			g.symbol(trace1(l))
		}
		m := g.Model(ModelOptions{NoState: true})
		want := trainer.Model(ngram.ModelOptions{Alphabet: 5}) // and the symbol of no call
		asked := rapid.SliceOfN(rapid.SampledFrom(letters), 0, 6).Draw(t, "asked")
		var context []uint32
		for _, c := range asked {
			context = append(context, m.Symbol(trace1(c)))
		}
		p := make([]float64, m.Alphabet())
		unknown := m.Distribution(m.ContextOf(0, names(asked...)), p)
		// The numbers of both are those of the letters, in order.
		before := want.Loss(context)
		for s, x := range append(slices.Clone(p), unknown) {
			expected := math.Exp2(before.Bits[order] - want.Loss(append(slices.Clone(context), uint32(s))).Bits[order])
			if d := x - expected; d > 1e-12 || d < -1e-12 {
				t.Fatalf("after %v symbol %d has %.15g, package ngram says %.15g", asked, s, x, expected)
			}
		}
	})
}

// Probabilities add up to 1, whatever the options.
func TestDistributionAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewGraph(3)
		for i := range rapid.IntRange(0, 6).Draw(t, "n") {
			o := runOf(drawn(t, fmt.Sprint(i))).Observation
			o.Period = int32(rapid.IntRange(0, 100).Draw(t, "day"))
			g.Add(o)
		}
		m := g.Model(ModelOptions{
			Order: rapid.IntRange(0, 3).Draw(t, "order"), NoState: rapid.Bool().Draw(t, "plain"),
			HalfLife: float64(rapid.IntRange(0, 30).Draw(t, "half-life")),
		})
		p := make([]float64, m.Alphabet())
		state := State(rapid.IntRange(0, states-1).Draw(t, "state"))
		asked := rapid.SliceOfN(rapid.SampledFrom(append([]string{"unheard"}, letters...)), 0, 5).Draw(t, "asked")
		sum := m.Distribution(m.ContextOf(state, names(asked...)), p)
		for s, x := range p {
			if x < 0 {
				t.Fatalf("symbol %d has %g", s, x)
			}
			sum += x
		}
		if d := sum - 1; d > 1e-9 || d < -1e-9 {
			t.Fatalf("probabilities add up to %.12g", sum)
		}
	})
}

// Merging is addition: any order and any grouping gives the model of one pass.
func TestMergeIsAddition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		whole := NewGraph(3)
		parts := make([]*Graph, 3)
		for i := range parts {
			parts[i] = NewGraph(3)
		}
		for i := range n {
			o := runOf(drawn(t, fmt.Sprint(i))).Observation
			o.Period = int32(rapid.IntRange(0, 9).Draw(t, "day"))
			whole.Add(o)
			parts[rapid.IntRange(0, 2).Draw(t, "part")].Add(o)
		}
		options := ModelOptions{HalfLife: float64(rapid.IntRange(0, 5).Draw(t, "half-life"))}
		want := whole.Model(options).print()
		sum := func(order ...int) string {
			g := NewGraph(3)
			for _, i := range order {
				if err := g.Merge(parts[i]); err != nil {
					t.Fatal(err)
				}
			}
			return g.Model(options).print()
		}
		nested := NewGraph(3)
		if err := nested.Merge(parts[2]); err != nil {
			t.Fatal(err)
		}
		if err := nested.Merge(parts[1]); err != nil {
			t.Fatal(err)
		}
		if err := nested.Merge(parts[0]); err != nil {
			t.Fatal(err)
		}
		for _, got := range []string{sum(0, 1, 2), sum(2, 0, 1), nested.Model(options).print()} {
			if got != want {
				t.Fatalf("merged:\n%s\nin one pass:\n%s", got, want)
			}
		}
	})
}

func TestMergeRefusesOtherOrders(t *testing.T) {
	if err := NewGraph(2).Merge(NewGraph(3)); err == nil {
		t.Error("graphs with contexts of different lengths were added")
	}
}

// Every turn is a decision, and a turn that makes no call enters no context.
func TestDecisions(t *testing.T) {
	run := runOf(trajectoryOf("1", ">hi", ".", ">book", "a", "b!", "b", "a+c", ".", ">thanks", "."))
	var b bytes.Buffer
	for _, d := range run.Observation.Decisions {
		next := nameText(d.Next)
		if d.None() {
			next = "none"
		}
		fmt.Fprintf(&b, "%s after %d in %d, multiple %v, after user %v\n", next, d.Before, d.State, d.Multiple, d.AfterUser)
	}
	want := `none after 0 in 1, multiple false, after user true
a after 0 in 1, multiple false, after user true
b after 1 in 0, multiple false, after user false
b after 2 in 2, multiple false, after user false
a after 3 in 0, multiple true, after user false
c after 4 in 8, multiple true, after user false
none after 5 in 4, multiple false, after user false
none after 5 in 5, multiple false, after user true
`
	if b.String() != want {
		t.Errorf("decisions are\n%swant\n%s", b.String(), want)
	}
}

// Old habits fade relative to the newest trajectory, not to today.
func TestDecay(t *testing.T) {
	g := NewGraph(2)
	for i, day := range []int32{0, 0, 0, 100} {
		next := "b"
		if day == 100 {
			next = "c"
		}
		o := runOf(trajectoryOf(fmt.Sprint(i), "a", next)).Observation
		o.Period = day
		g.Add(o)
	}
	after := func(m *Model) (b, c float64) {
		p := make([]float64, m.Alphabet())
		m.Distribution(m.ContextOf(0, names("a")), p)
		return p[m.Symbol(trace1("b"))], p[m.Symbol(trace1("c"))]
	}
	if b, c := after(g.Model(ModelOptions{})); b <= c {
		t.Errorf("without decay b has %g, c has %g", b, c)
	}
	if b, c := after(g.Model(ModelOptions{HalfLife: 10})); b >= c {
		t.Errorf("with a half-life of ten days b has %g, c has %g", b, c)
	}
}

// TestCallsOnly: a model of calls only gives the same in every state, also where a turn
// goes on.
func TestCallsOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewGraph(2)
		for i := range rapid.IntRange(1, 6).Draw(t, "n") {
			g.Add(runOf(drawn(t, fmt.Sprint(i))).Observation)
		}
		m := g.Model(ModelOptions{NoState: true})
		calls := names(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "calls")...)
		want := make([]float64, m.Alphabet())
		unknown := m.Distribution(m.ContextOf(0, calls), want)
		for state := range State(states) {
			got := make([]float64, m.Alphabet())
			if u := m.Distribution(m.ContextOf(state, calls), got); u != unknown || !slices.Equal(got, want) {
				t.Fatalf("state %d: %v, want %v", state, got, want)
			}
		}
	})
}

// What is known when a call is made is what earlier turns made, whatever is asked first.
func TestViewBeginsWithTheTurn(t *testing.T) {
	tr := &trace.Trajectory{}
	for i, turn := range []int{0, 1, 1, 1, -1, -1, 2, 2, 1, 3} {
		tr.Calls = append(tr.Calls, trace.Call{Tool: trace.Intern(fmt.Sprint(i)), Turn: turn, Origin: trace.OriginModel})
	}
	want := []int{0, 1, 1, 1, 4, 5, 6, 6, 8, 9}
	for _, first := range []int{0, 5, 9} {
		h := NewHistory(tr)
		for i := range want {
			place := (first + i) % len(want)
			if got := h.view(place).before; got != want[place] {
				t.Errorf("before call %d there are %d, want %d", place, got, want[place])
			}
		}
	}
}
