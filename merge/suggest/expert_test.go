package suggest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// TestAgainstAnExpert holds what is suggested from one half of the tasks to no rules, and to
// those that a person wrote for these tools, on the other half, and the other way round.
// The next call may cost no more than without rules, and there must be fewer states.
// docs/rules.md has the figures that it logs, and says where the expert is better.
func TestAgainstAnExpert(t *testing.T) {
	for _, set := range recordings.Sets {
		if !set.Rules {
			continue
		}
		t.Run(set.Oracle, func(t *testing.T) {
			runs := recordings.Read(t, recordings.Recorded(t, set.File))
			halves := halved(runs)
			var own, expert, none, same unseen
			for i := range halves {
				own.add(suggested(Options{}, halves[1-i]...).set(), halves[i])
				expert.add(recordings.AirlineRules(t), halves[i])
				none.add(nil, halves[i])
			}
			same.add(suggested(Options{}, runs...).set(), runs)
			var whole unseen
			whole.add(recordings.AirlineRules(t), runs)
			t.Logf("drafted from the tasks themselves: %s, %d states; the expert's rules %s, %d; difference %s",
				text(same.bits), count(same.states, nil), text(whole.bits), count(whole.states, nil), text(same.bits.Minus(whole.bits)))
			lo, hi := moreStates(own.states, expert.states)
			t.Logf("drafted from the other half: %s, %d states; the expert's rules %s, %d; difference %s and [%d, %d] states; without rules %s, %d",
				text(own.bits), count(own.states, nil), text(expert.bits), count(expert.states, nil), text(own.bits.Minus(expert.bits)), lo, hi, text(none.bits), count(none.states, nil))
			if apart := own.bits.Minus(none.bits).Interval(stat.Options{}); apart.Reason != "" || apart.Lo > 0 {
				t.Errorf("the next call costs more than without rules: %s", text(own.bits.Minus(none.bits)))
			}
			if _, hi := moreStates(own.states, none.states); hi >= 0 {
				t.Errorf("the states are not fewer than without rules: at most %d more", hi)
			}
		})
	}
}

func text(bits stat.ClusterRatio) string {
	i := bits.Interval(stat.Options{})
	if i.Reason != "" {
		return i.Reason
	}
	return fmt.Sprintf("%.3f bits [%.3f, %.3f]", bits.Value(), i.Lo, i.Hi)
}

// halved deals the tasks of runs into two.
func halved(runs []*trace.Trajectory) (halves [2][]*trace.Trajectory) {
	var keys []string
	for _, r := range runs {
		keys = append(keys, r.TaskKey())
	}
	dealt := holdout.NewFolds(keys, 2, 1)
	for _, r := range runs {
		half := dealt.Of(r.TaskKey())
		halves[half] = append(halves[half], r)
	}
	return halves
}

// unseen is what sets of rules do on tasks that they were not drafted from, by task.
type unseen struct {
	halves int
	bits   stat.ClusterRatio // of the next call, by call
	states []map[hash128.Hash]bool
}

func (u *unseen) add(set *rules.Set, runs []*trace.Trajectory) {
	loss, view := evidence.NewStateLoss(set), merge.NewView(set, nil, 0)
	states, index := []map[hash128.Hash]bool{}, map[string]int{}
	for _, r := range runs {
		loss.Add(r)
		i, known := index[r.TaskKey()]
		if !known {
			i = len(states)
			index[r.TaskKey()] = i
			states = append(states, map[hash128.Hash]bool{})
		}
		_, points := view.Look(r, nil)
		for _, p := range points {
			states[i][p.State] = true
		}
	}
	num, den := make([]float64, len(states)), make([]float64, len(states))
	for seed := range uint64(evidence.Partitions) {
		for _, one := range loss.Losses(0, seed).Tasks {
			num[one.Task] += one.Bits[1] / evidence.Partitions
			den[one.Task] = float64(one.N)
		}
	}
	// The two halves have rules of their own, so that their states are none in common.
	u.bits.Num, u.bits.Den = append(u.bits.Num, num...), append(u.bits.Den, den...)
	for _, s := range states {
		half := map[hash128.Hash]bool{}
		for h := range s {
			half[hash128.Mix(h, hash128.Of([]byte{byte(u.halves)}))] = true
		}
		u.states = append(u.states, half)
	}
	u.halves++
}

// count counts the states of the tasks that were drawn, of all for nil.
func count(tasks []map[hash128.Hash]bool, drawn []int) int {
	all := map[hash128.Hash]bool{}
	for i := range tasks {
		if drawn == nil || slices.Contains(drawn, i) {
			for h := range tasks[i] {
				all[h] = true
			}
		}
	}
	return len(all)
}

// moreStates returns the 95 % interval of how many states more one has, by drawing half of
// the tasks without putting them back.
func moreStates(own, expert []map[hash128.Hash]bool) (lo, hi int) {
	const samples = 400
	random := stat.Stream(1)
	n := len(own)
	differences := make([]float64, samples)
	for s := range samples {
		drawn := make([]int, 0, n/2)
		for len(drawn) < n/2 {
			if i := stat.Below(random, n); !slices.Contains(drawn, i) {
				drawn = append(drawn, i)
			}
		}
		differences[s] = 2 * float64(count(own, drawn)-count(expert, drawn))
	}
	mean, square := 0.0, 0.0
	for _, d := range differences {
		mean += d / samples
	}
	for _, d := range differences {
		square += (d - mean) * (d - mean) / (samples - 1)
	}
	all := float64(count(own, nil) - count(expert, nil))
	// Twice the sum over half of the tasks varies as the sum over all of them does.
	half := 1.96 * math.Sqrt(square)
	return int(math.Ceil(all - half)), int(math.Floor(all + half))
}
