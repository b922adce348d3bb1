package bounds

import (
	"cmp"
	"slices"
	"sync"
)

// Reached notes which bounds were reached, and what was left out. It may be used
// concurrently; nil notes nothing. What is noted depends neither on the order nor on how
// often the same traces are read: of one place the most counts.
type Reached struct {
	mutex sync.Mutex
	at    map[place]int
}

// place is where a bound was reached: a trajectory, by what names it, or "".
type place struct {
	bound *Bound
	where string
}

// maxPlaces is how many places are told apart for all bounds.
const maxPlaces = 1 << 16

// Note notes that beyond a bound so much was left out, at a place such as a trajectory.
func (r *Reached) Note(b *Bound, where string, leftOut int) {
	if r == nil || leftOut <= 0 {
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.at == nil {
		r.at = map[place]int{}
	}
	at := place{b, where}
	if _, ok := r.at[at]; !ok && len(r.at) >= maxPlaces {
		at.where = ""
	}
	r.at[at] = max(r.at[at], leftOut)
}

// A Report is a bound that was reached.
type Report struct {
	Code    string `json:"code"`
	Of      string `json:"of"`
	Limit   int    `json:"limit"`
	Places  int    `json:"places"`   // trajectories, or the whole input, in which it was reached
	LeftOut int    `json:"left_out"` // units, over all of these
	Unit    string `json:"unit"`
}

// Reports returns what was noted, in the order of codes.
func (r *Reached) Reports() []Report {
	if r == nil {
		return nil
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	sums := map[*Bound]*Report{}
	var out []*Report
	for at, n := range r.at {
		sum := sums[at.bound]
		if sum == nil {
			sum = &Report{Code: at.bound.Code, Of: at.bound.Of, Limit: at.bound.Limit, Unit: at.bound.Unit}
			sums[at.bound] = sum
			out = append(out, sum)
		}
		sum.Places++
		sum.LeftOut += n
	}
	slices.SortFunc(out, func(a, b *Report) int { return cmp.Compare(a.Code, b.Code) })
	list := make([]Report, len(out))
	for i := range out {
		list[i] = *out[i]
	}
	return list
}
