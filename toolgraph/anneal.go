package toolgraph

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// The constants of the paper's heuristic search (appendix B.2), which the paper does not give.
const (
	firstHeat    = 1. // the first temperature
	cooling      = .9 // its factor a round
	population   = 16
	rounds       = 30
	annealDepth  = 6   // edges between the target and what is looked at
	annealDegree = 8   // edges of a node that are followed
	annealNodes  = 256 // nodes that individuals are made of
)

// A pond is the nodes near the target, numbered from it on: what individuals are
// sets of.
type pond struct {
	nodes []int32
	tool  []bool
	back  [][]arc // to numbers of nodes
}

func (n *Navigator) pond(q Query) *pond {
	p := &pond{nodes: []int32{int32(q.Target)}}
	number := map[int32]int32{int32(q.Target): 0}
	depth := []int{0}
	for i := 0; i < len(p.nodes); i++ {
		var arcs []arc
		for _, a := range n.back[p.nodes[i]] {
			isTool := int(a.to) < n.tools
			if len(arcs) == annealDegree {
				break
			}
			if !isTool && q.Have[int(a.to)-n.tools] || isTool && q.Without[int(a.to)] {
				continue
			}
			at, known := number[a.to]
			if !known {
				if depth[i] == annealDepth || len(p.nodes) == annealNodes {
					continue
				}
				at = int32(len(p.nodes))
				number[a.to] = at
				p.nodes = append(p.nodes, a.to)
				depth = append(depth, depth[i]+1)
			}
			arcs = append(arcs, arc{at, a.weight, a.edge})
		}
		p.back = append(p.back, arcs)
		p.tool = append(p.tool, int(p.nodes[i]) < n.tools)
	}
	return p
}

// An individual is a set of nodes of a pond, all of them connected to the target.
type individual struct {
	has     []bool
	fitness float64
}

// pruned returns what of a set is connected to the target, with its fitness.
func (p *pond) pruned(has []bool) individual {
	depth := make([]int, len(has))
	queue := []int32{0}
	in := make([]bool, len(has))
	in[0] = true
	for i := 0; i < len(queue); i++ {
		for _, a := range p.back[queue[i]] {
			if has[a.to] && !in[a.to] {
				in[a.to] = true
				depth[a.to] = depth[queue[i]] + 1
				queue = append(queue, a.to)
			}
		}
	}
	return individual{in, p.fitness(queue, in, depth)}
}

// products returns, for each node of a set, the highest product of weights along a way
// from the target within the set, times D for each tool on the way: what the exact search
// gives where there is nothing but the set. It is 0 for other nodes.
func (p *pond) products(has []bool) []float64 {
	best := make([]float64, len(has))
	done := make([]bool, len(has))
	best[0] = 1
	for open := (&frontier{{0, 1}}); open.Len() > 0; {
		at := heap.Pop(open).(ranked)
		if done[at.node] {
			continue
		}
		done[at.node] = true
		for _, a := range p.back[at.node] {
			score := at.score * a.weight
			if p.tool[a.to] {
				score *= Decay
			}
			if has[a.to] && !done[a.to] && score > best[a.to] {
				best[a.to] = score
				heap.Push(open, ranked{a.to, score})
			}
		}
	}
	return best
}

// fitness returns Equation 23 with every weight 1, which the paper leaves open: mean
// 1/(1 + depth) of the tools - share of parameters + exp(-mean depth/|V|) + sum of
// weights/|E| + 1/(1 + |E| - |V| + 1).
func (p *pond) fitness(set []int32, in []bool, depth []int) float64 {
	tools, params, edges := 0.0, 0.0, 0.0
	compact, deep, weight := 0.0, 0.0, 0.0
	for _, v := range set {
		deep += float64(depth[v])
		if p.tool[v] {
			tools++
			compact += 1 / float64(1+depth[v])
		} else {
			params++
		}
		for _, a := range p.back[v] {
			if in[a.to] {
				edges++
				weight += a.weight
			}
		}
	}
	n := float64(len(set))
	f := compact/tools - params/n + math.Exp(-deep/n/n)
	if edges > 0 {
		f += weight / edges
	}
	return f + 1/(1+max(0, edges-n+1))
}

// Anneal returns what the paper's combination of simulated annealing and a genetic
// algorithm finds: sets of nodes around the target are united, changed at 1 + 3T
// places, pruned to what is connected, and kept if they are fitter, or with exp(dF/T).
// The paper does not say how tools of the sets rank. Here the score of a tool is what the
// exact search would give it if there were nothing but the set, on average over the last
// sets, 0 in those without it. The same seed gives the same result.
//
// Note: the mean fitness of the sets that held a tool ranks hardly better than chance,
// because a set is fit for all of its nodes alike.
func (n *Navigator) Anneal(q Query, seed uint64) []Found {
	p := n.pond(q)
	random := rand.New(rand.NewPCG(seed, uint64(q.Target)))
	size := len(p.nodes)
	sets := make([]individual, population)
	for i := range sets {
		has := make([]bool, size)
		for j := range has {
			has[j] = j == 0 || random.IntN(2) == 0
		}
		sets[i] = p.pruned(has)
	}
	heat := firstHeat
	for range rounds {
		for i := range sets {
			mate := sets[random.IntN(len(sets))]
			child := slices.Clone(sets[i].has)
			for j, has := range mate.has {
				child[j] = child[j] || has
			}
			for range 1 + int(3*heat) {
				if size > 1 {
					j := 1 + random.IntN(size-1)
					child[j] = !child[j]
				}
			}
			next := p.pruned(child)
			if d := next.fitness - sets[i].fitness; d >= 0 || random.Float64() < math.Exp(d/heat) {
				sets[i] = next
			}
		}
		heat *= cooling
	}
	scores := map[int32]float64{}
	for i := range sets {
		for j, product := range p.products(sets[i].has) {
			if product > 0 {
				scores[p.nodes[j]] += product / float64(len(sets))
			}
		}
	}
	return n.foundIn(scores, q)
}
