package toolgraph

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
)

// A Proof is what trajectories say of a value's way from a place in the results of a
// tool to an argument: that it went it, with the evidence, or that it did not.
type Proof struct {
	From, FromPath string
	To, ToPath     string
	Uses, Of       int  // uses of the argument that came from there, and all
	Hits, Trials   int  // trajectories in which one did, and in which one could have
	Whole          bool // the argument is the value, as it is or as its string or number twin
	Refused        bool
}

// A link that is no coincidence and no source keeps two places apart from this many
// trajectories on, if at most this share of them had equal values.
const (
	refusedFrom  = 10
	refusedShare = .05
)

// ProofsOf returns the links of dataflow as proofs: from results to arguments, those
// that are accepted, and those that are refused with evidence enough.
func ProofsOf(set *dataflow.Set) []Proof {
	if set == nil {
		return nil
	}
	uses := map[dataflow.Slot]int{}
	for i := range set.Params {
		uses[set.Params[i].Param] = set.Params[i].Uses
	}
	var out []Proof
	for i := range set.Links {
		l := &set.Links[i]
		if l.From.Side != dataflow.Output || l.To.Side != dataflow.Input {
			continue
		}
		p := Proof{
			From: l.From.ToolName(), FromPath: l.From.Path, To: l.To.ToolName(), ToPath: l.To.Path,
			Uses: l.Uses, Of: max(uses[l.To], l.Uses), Hits: l.Hits, Trials: l.Trials,
			Whole: l.Relation == dataflow.Equal || l.Relation == dataflow.Coerced,
		}
		switch {
		case l.Verdict == dataflow.Accepted && l.Relation <= dataflow.Template:
		case l.Verdict == dataflow.Chance && l.Trials >= refusedFrom && l.Rate < refusedShare:
			p.Refused = true
		default:
			continue
		}
		out = append(out, p)
	}
	slices.SortFunc(out, Proof.compare)
	return out
}

// compare orders proofs by their places, of equal ones accepted ones first, then by
// uses, most first.
func (p Proof) compare(q Proof) int {
	refused := func(p Proof) int {
		if p.Refused {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(p.From, q.From), cmp.Compare(p.FromPath, q.FromPath), cmp.Compare(p.To, q.To), cmp.Compare(p.ToPath, q.ToPath),
		cmp.Compare(refused(p), refused(q)), cmp.Compare(q.Uses, p.Uses), cmp.Compare(q.Hits, p.Hits))
}
