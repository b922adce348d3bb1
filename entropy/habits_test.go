package entropy_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/awo-dev/awo/entropy"
	"pgregory.net/rapid"
)

// clustered returns trials of tasks that have tastes of their own, so that the
// calls of one task are alike: what makes a chi-square p too small.
func clustered(r *rand.Rand, tasks, trials int, first uint32) entropy.Sample {
	var s entropy.Sample
	for task := range uint32(tasks) {
		favourite := uint32(r.IntN(4))
		for range trials {
			q := make([]uint32, 8)
			for i := range q {
				if q[i] = uint32(r.IntN(4)); r.Float64() < 0.6 {
					q[i] = favourite
				}
			}
			s.Sequences, s.Tasks = append(s.Sequences, q), append(s.Tasks, first+task)
		}
	}
	return s
}

func TestEqualHabitsAreSeldomTold(t *testing.T) {
	const seeds = 400
	for name, draw := range map[string]func(r *rand.Rand) (a, b entropy.Sample){
		"other tasks": func(r *rand.Rand) (a, b entropy.Sample) {
			return clustered(r, 15, 3, 0), clustered(r, 20, 3, 100)
		},
		"the same tasks": func(r *rand.Rand) (a, b entropy.Sample) {
			// Three trials of each task in either group.
			all := clustered(r, 15, 6, 0)
			for i, q := range all.Sequences {
				to := &a
				if i%6 > 2 {
					to = &b
				}
				to.Sequences, to.Tasks = append(to.Sequences, q), append(to.Tasks, all.Tasks[i])
			}
			return a, b
		},
	} {
		t.Run(name, func(t *testing.T) {
			told, naive := 0, 0
			for seed := range uint64(seeds) {
				a, b := draw(rand.New(rand.NewPCG(seed, 21)))
				d := entropy.CompareHabits(1, a, b, entropy.Options{Permutations: 99, Seed: seed})
				if d.Permutation.P <= 0.05 {
					told++
				}
				if d.Log10P.Float() < math.Log10(0.05) {
					naive++
				}
				if both := map[string]int{"other tasks": 0, "the same tasks": 15}[name]; d.Both != both {
					t.Fatalf("%d tasks in both groups, want %d", d.Both, both)
				}
			}
			if lo, hi := band(seeds, 0.05); float64(told) < lo || float64(told) > hi {
				t.Errorf("%d of %d equal pairs are told apart, want %.0f to %.0f", told, seeds, lo, hi)
			}
			if name == "other tasks" && naive < seeds/4 {
				t.Errorf("the chi-square p rejects %d of %d: the tasks are not clustered, the test shows nothing", naive, seeds)
			}
		})
	}
}

func TestChangedHabitsAreTold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 22))
	a, b := clustered(r, 30, 2, 0), clustered(r, 30, 2, 0)
	for _, q := range b.Sequences {
		for i := 1; i < len(q); i++ {
			if q[i-1] == 2 && r.Float64() < 0.8 { // after 2 comes 3
				q[i] = 3
			}
		}
	}
	d := entropy.CompareHabits(1, a, b, entropy.Options{})
	if d.Permutation.P > 0.002 || d.Both != 30 || d.Tasks != [2]int{30, 30} || d.Sequences != [2]int{60, 60} {
		t.Errorf("%+v, want a difference", d)
	}
	s := d.Shifts[0]
	if !slices.Equal(s.Context, []uint32{2}) || s.Share < 0.5 {
		t.Errorf("the greatest shift is %+v, want it after 2", s)
	}
	for _, x := range s.Next {
		if x.Symbol == 3 && x.N[1] < 2*x.N[0] {
			t.Errorf("3 after 2: %v, want far more in the second group", x.N)
		}
	}
	if d.Effect.Float() <= d.Bias.Float() {
		t.Errorf("effect %v with bias %v", d.Effect.Float(), d.Bias.Float())
	}
	again := entropy.CompareHabits(1, a, b, entropy.Options{Each: parallel})
	one, _ := json.Marshal(d)
	other, _ := json.Marshal(again)
	if string(one) != string(other) {
		t.Errorf("with workers %s, without %s", other, one)
	}
}

func TestHabitsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 2).Draw(t, "k")
		var groups [2]entropy.Sample
		n, contexts, cells, follow := [2]uint64{}, map[string]*[2]float64{}, map[string]*[2]float64{}, map[string]map[string]bool{}
		for g := range groups {
			groups[g].Sequences = corpora().Draw(t, "sequences")
			for i, q := range groups[g].Sequences {
				groups[g].Tasks = append(groups[g].Tasks, uint32(i/2))
				for at := k; at < len(q); at++ {
					c, cell := key(q[at-k:at]), key(q[at-k:at+1])
					if contexts[c] == nil {
						contexts[c], follow[c] = &[2]float64{}, map[string]bool{}
					}
					if cells[cell] == nil {
						cells[cell] = &[2]float64{}
					}
					contexts[c][g]++
					cells[cell][g]++
					follow[c][cell] = true
					n[g]++
				}
			}
		}
		g2, df := 0.0, 0.0
		for c, in := range contexts {
			if in[0] == 0 || in[1] == 0 {
				continue
			}
			df += float64(len(follow[c]) - 1)
			for cell := range follow[c] {
				x := cells[cell]
				for g := range x {
					if x[g] > 0 {
						g2 += 2 * x[g] * math.Log(x[g]*(in[0]+in[1])/(in[g]*(x[0]+x[1])))
					}
				}
			}
		}
		d := entropy.CompareHabits(k, groups[0], groups[1], entropy.Options{Permutations: 19})
		if d.N != n {
			t.Fatalf("%v windows, want %v", d.N, n)
		}
		if n[0] == 0 || n[1] == 0 || df == 0 {
			if d.Permutation != nil || d.Log10P.Known() || len(d.Warnings) == 0 {
				t.Fatalf("nothing to compare gave %+v", d)
			}
			return
		}
		if d.DF != df || !near(d.G2, g2, 1e-9*(1+g2)) {
			t.Fatalf("G2 = %v with %v degrees of freedom, want %v with %v", d.G2.Float(), d.DF, g2, df)
		}
		if p := d.Permutation; p.P != float64(1+p.Exceeded)/20 || p.Samples != 19 {
			t.Fatalf("%+v", p)
		}
		shares := 0.0
		for i, s := range d.Shifts {
			shares += s.Share
			if i > 0 && s.Share > d.Shifts[i-1].Share {
				t.Fatalf("shifts are not in order: %+v", d.Shifts)
			}
		}
		if len(d.Shifts) < 10 && g2 > 1e-6 && math.Abs(shares-1) > 1e-6 {
			t.Fatalf("the shifts add up to %v of G2", shares)
		}
	})
}

func key(symbols []uint32) string {
	text, _ := json.Marshal(symbols)
	return string(text)
}
