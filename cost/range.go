package cost

import (
	"hash/fnv"
	"math"

	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// LeastUnscaled is the least that counted tokens stand for where no turn says how many were
// recorded for a counted one: other vocabularies than o200k come to four fifths of it at
// least. There is no most, because what is not recorded, such as a system prompt, is read
// too: recorded sets with usage have up to several hundred times the tokens of their texts.
const LeastUnscaled = 0.8

// outputWeight is what a token of output counts among those of input, as providers price it.
const outputWeight = 4

const allRecorded = "all of it is recorded"

// fitted is what one fit estimates of an amount.
type fitted struct {
	amount float64
	tasks  map[uint64]bool
}

// Range returns the bounds of what the accounts come to, in US dollars or in tokens, that
// hold 95 times of 100: null for a reason where nothing of it is estimated. Of turns that
// Apply scaled it is the interval over tasks of what was recorded by what is fitted to it,
// wider by the variation of the tasks that are estimated: those are a sample, too. Turns
// that nothing scales are LeastUnscaled of their tokens at least.
func (f *Fit) Range(accounts []*Account, money bool) stat.Interval {
	f.solve()
	out, unscaled := stat.Interval{Level: stat.DefaultLevel, Method: "recorded by fitted tokens, over tasks"}, false
	parts := map[fitKey]*fitted{}
	for _, a := range accounts {
		for i := range a.Turns {
			one := a.Turn(i)
			amount := float64(one.Tokens())
			if money {
				amount = one.Paid
			}
			switch a.Turns[i].Source {
			case Counted:
				out.Lo += LeastUnscaled * amount
				unscaled = true
			case Fitted:
				key := fitKey{a.Model(i), a.Prompt}
				if parts[key] == nil {
					parts[key] = &fitted{tasks: map[uint64]bool{}}
				}
				parts[key].amount += amount
				parts[key].tasks[a.task] = true
			default:
				out.Lo, out.Hi = out.Lo+amount, out.Hi+amount
			}
		}
	}
	if len(parts) == 0 && !unscaled {
		return stat.NoInterval(allRecorded)
	}
	for key, part := range parts {
		ratio := f.models[key].ratio
		if !ratio.Known() {
			return ratio
		}
		middle, wider := (ratio.Lo+ratio.Hi)/2, math.Sqrt(1+float64(ratio.N)/float64(len(part.tasks)))
		half := (ratio.Hi - ratio.Lo) / 2 * wider
		out.Lo += part.amount * max(min(middle-half, 1), 0)
		out.Hi += part.amount * max(middle+half, 1)
		out.N += ratio.N
	}
	if unscaled {
		out.Hi, out.Method = math.Inf(1), "counted from texts"
	}
	return out
}

// taskHash tells tasks from each other.
func taskHash(t *trace.Trajectory) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.TaskKey())) // a hash takes everything
	return h.Sum64()
}
