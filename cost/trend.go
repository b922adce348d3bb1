package cost

import (
	"maps"
	"math"
	"slices"
)

// Effects say by how much money changed from one period to the next, and what for. They
// add up to Change exactly: logarithmic mean Divisia index, additive (Ang 2005,
// doi:10.1016/j.enpol.2003.10.010).
type Effects struct {
	Change       float64 `json:"change_usd"`
	Trajectories float64 `json:"by_trajectories_usd"` // more of them
	Models       float64 `json:"by_models_usd"`       // other shares of models
	Turns        float64 `json:"by_turns_usd"`        // more turns a trajectory
	Tokens       float64 `json:"by_tokens_usd"`       // more tokens a turn: longer prompts and answers
	Price        float64 `json:"by_price_usd"`        // what a token costs: prices, caching, the share of output
}

// Compare explains the change from before to after, each with the lines of its models. A
// model that has no money in one of them counts as a change of models as a whole.
func Compare(before, after map[string]Line) Effects {
	total := func(lines map[string]Line) (n float64) {
		for _, l := range lines {
			n += float64(l.Trajectories)
		}
		return n
	}
	had, has := total(before), total(after)
	var out Effects
	explain := func(name string) {
		x, y := before[name], after[name]
		change := y.Paid - x.Paid
		out.Change += change
		if x.Paid <= 0 || y.Paid <= 0 || x.Trajectories*y.Trajectories*x.Turns*y.Turns == 0 || x.Tokens() == 0 || y.Tokens() == 0 {
			out.Models += change
			return
		}
		weight := x.Paid // the logarithmic mean of both, which is either where they are equal
		if change != 0 {
			weight = change / math.Log(y.Paid/x.Paid)
		}
		effect := func(x1, x2, y1, y2 float64) float64 { return weight * math.Log(y1/y2/(x1/x2)) }
		out.Trajectories += weight * math.Log(has/had)
		out.Models += effect(float64(x.Trajectories), had, float64(y.Trajectories), has)
		out.Turns += effect(float64(x.Turns), float64(x.Trajectories), float64(y.Turns), float64(y.Trajectories))
		out.Tokens += effect(float64(x.Tokens()), float64(x.Turns), float64(y.Tokens()), float64(y.Turns))
		out.Price += effect(x.Paid, float64(x.Tokens()), y.Paid, float64(y.Tokens()))
	}
	for _, name := range namesOf(before, after) {
		explain(name)
	}
	return out
}

// namesOf returns the names of both, in order, so that sums do not depend on a map.
func namesOf(a, b map[string]Line) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
