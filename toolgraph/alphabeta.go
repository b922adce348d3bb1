package toolgraph

import (
	"math"
	"slices"
)

// The constants of the paper's pruned search (appendix B.2), which the paper does not give.
const (
	firstHeight = .5 // h0 of the threshold H(d) = h0 .8^d
	heightDecay = .8
	firstBeta   = .5
	mostDegree  = 8 // edges of a node that are followed
	mostDepth   = 64
)

// AlphaBeta returns what the paper's search finds: depth first from the target
// backwards, S(v) = the score of the node before times the mean of the weight of the
// edge to it and, if there is one, of the edge to the target (Equation 22). A
// parameter is pruned if S < alpha and S < H(d), a tool if S < beta H(d); alpha rises
// to S D^d, beta falls to it. A node is expanded when it is met first.
func (n *Navigator) AlphaBeta(q Query) []Found { return n.alphaBeta(q, firstHeight, mostDegree) }

func (n *Navigator) alphaBeta(q Query, height float64, degree int) []Found {
	direct := map[int32]float64{} // weights of edges to the target
	for _, a := range n.back[q.Target] {
		direct[a.to] = max(direct[a.to], a.weight)
	}
	best := map[int32]float64{int32(q.Target): 1}
	alpha, beta := 0.0, firstBeta
	var down func(at int32, acc float64, depth int)
	down = func(at int32, acc float64, depth int) {
		if depth > mostDepth {
			return
		}
		followed := 0
		for _, a := range n.back[at] {
			if followed == degree {
				break
			}
			isTool := int(a.to) < n.tools
			if !isTool && q.Have[int(a.to)-n.tools] || isTool && q.Without[int(a.to)] || int(a.to) == q.Target {
				continue
			}
			followed++
			mean := a.weight
			if w, ok := direct[a.to]; ok && int(at) != q.Target {
				mean = (mean + w) / 2
			}
			s := acc * mean
			threshold := height * math.Pow(heightDecay, float64(depth))
			if isTool && s < beta*threshold || !isTool && s < alpha && s < threshold {
				continue
			}
			faded := s * math.Pow(Decay, float64(depth))
			alpha, beta = max(alpha, faded), min(beta, faded)
			old, met := best[a.to]
			best[a.to] = max(old, s)
			if !met {
				down(a.to, s, depth+1)
			}
		}
	}
	down(int32(q.Target), 1, 1)
	return n.foundIn(best, q)
}

// foundIn returns the tools among scored nodes but the target, best first.
func (n *Navigator) foundIn(scores map[int32]float64, q Query) []Found {
	var out []Found
	for node, s := range scores {
		if int(node) < n.tools && int(node) != q.Target {
			out = append(out, Found{int(node), s})
		}
	}
	slices.SortFunc(out, byScore)
	return out
}
