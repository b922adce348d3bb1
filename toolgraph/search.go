package toolgraph

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/awo-dev/awo/internal/lexical"
)

// An arc leads from a node to one of what has to come before it.
type arc struct {
	to     int32 // a node: tools first, then parameters
	weight float64
	edge   int32 // index into Consumes, Produces or Follows, by what it joins
}

// A Navigator searches a graph from a tool backwards. It is immutable, and its
// methods may be called concurrently.
type Navigator struct {
	g     *Graph
	tools int
	back  [][]arc // by node, weightiest first, then by number
	text  *lexical.Index
	feeds map[argument][]int // of Graph.Feeds, by the argument that they give, best first
}

// An argument is a place of a tool.
type argument struct {
	tool int
	path string
}

// NewNavigator returns a navigator of the tools of g that are not pruned.
func NewNavigator(g *Graph) *Navigator {
	n := &Navigator{g: g, tools: len(g.Tools), back: make([][]arc, len(g.Tools)+len(g.Params)), text: textIndex(g), feeds: map[argument][]int{}}
	usable := func(t int) bool { return g.Tools[t].State != Pruned }
	for i, e := range g.Consumes {
		if e.Weight > 0 {
			n.back[e.Tool] = append(n.back[e.Tool], arc{n.param(e.Param), e.Weight, int32(i)})
		}
	}
	for i, e := range g.Produces {
		if usable(e.Tool) && e.Weight > 0 {
			n.back[n.param(e.Param)] = append(n.back[n.param(e.Param)], arc{int32(e.Tool), e.Weight, int32(i)})
		}
	}
	for i, e := range g.Follows {
		if usable(e.From) && e.Weight > 0 {
			n.back[e.To] = append(n.back[e.To], arc{int32(e.From), e.Weight, int32(i)})
		}
	}
	for i, e := range g.Feeds {
		if !e.Refused && usable(e.FromTool) {
			at := argument{e.ToTool, e.ToPath}
			n.feeds[at] = append(n.feeds[at], i)
		}
	}
	for _, list := range n.feeds {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(g.Feeds[b].Weight, g.Feeds[a].Weight) })
	}
	for _, arcs := range n.back {
		slices.SortFunc(arcs, func(a, b arc) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.to, b.to)) })
	}
	return n
}

func (n *Navigator) param(p int) int32 { return int32(n.tools + p) }

// Found is a tool that a search reached, with its score.
type Found struct {
	Tool  int
	Score float64
}

// The constants of the exact search.
const (
	Decay = .9   // D: of the score, a tool further from the target
	least = .001 // scores below it are not followed
	// TextWeight is what the best match of a task's words adds to a score.
	TextWeight = .35
)

// Query is what a search is asked.
type Query struct {
	Target int
	Also   []int        // further targets of a path
	Have   map[int]bool // parameters that the caller gives
	// Least is the score below which nothing is followed; 0 means .001.
	Least float64
	// Without are tools that are not to be used.
	Without map[int]bool
}

// Exact returns the tools before the target, best first: the score of a tool is the
// highest product of weights along any way back to it, times D for each tool on the
// way. Weights are at most 1, so the best node that is still open cannot be reached
// better later, and looking at the best first finds what looking at all ways finds
// (Dijkstra 1959). The target is not among them.
func (n *Navigator) Exact(q Query) []Found {
	found, _ := n.exact(q)
	return found
}

// exact also returns how many nodes were expanded.
func (n *Navigator) exact(q Query) (found []Found, expanded int) {
	if q.Least == 0 {
		q.Least = least
	}
	best := make([]float64, len(n.back))
	done := make([]bool, len(n.back))
	open := &frontier{{int32(q.Target), 1}}
	best[q.Target] = 1
	for open.Len() > 0 {
		at := heap.Pop(open).(ranked)
		if done[at.node] {
			continue
		}
		done[at.node] = true
		if int(at.node) < n.tools && int(at.node) != q.Target {
			found = append(found, Found{int(at.node), at.score})
		}
		expanded++
		for _, a := range n.back[at.node] {
			isTool := int(a.to) < n.tools
			if done[a.to] || !isTool && q.Have[int(a.to)-n.tools] || isTool && q.Without[int(a.to)] {
				continue
			}
			score := at.score * a.weight
			if isTool {
				score *= Decay
			}
			if score < q.Least || score <= best[a.to] {
				continue
			}
			best[a.to] = score
			heap.Push(open, ranked{a.to, score})
		}
	}
	return found, expanded
}

type ranked struct {
	node  int32
	score float64
}

// A frontier is a heap, the highest score first, of equal ones the lower number.
type frontier []ranked

func (f frontier) Len() int { return len(f) }
func (f frontier) Less(i, j int) bool {
	return f[i].score > f[j].score || f[i].score == f[j].score && f[i].node < f[j].node
}
func (f frontier) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)   { *f = append(*f, x.(ranked)) }
func (f *frontier) Pop() any {
	old := *f
	x := old[len(old)-1]
	*f = old[:len(old)-1]
	return x
}

// WithText adds to the scores of a search what a task's words say: TextWeight times
// the BM25 score of each tool over the best one. Tools that the search did not reach
// score 0 before.
func (n *Navigator) WithText(found []Found, target int, task string) []Found {
	scores := make([]float64, n.tools)
	n.text.Scores(lexical.Terms(task), scores)
	most := slices.Max(scores)
	if most == 0 {
		return found
	}
	total := make([]float64, n.tools)
	for _, f := range found {
		total[f.Tool] = f.Score
	}
	for i := range total {
		if n.g.Tools[i].State != Pruned {
			total[i] += TextWeight * scores[i] / most
		}
	}
	var out []Found
	for i, s := range total {
		if s > 0 && i != target {
			out = append(out, Found{i, s})
		}
	}
	slices.SortFunc(out, byScore)
	return out
}

func byScore(a, b Found) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Tool, b.Tool))
}

// textIndex returns BM25 over the tools: name twice, description, arguments.
func textIndex(g *Graph) *lexical.Index {
	texts := make([][]string, len(g.Tools))
	for i := range g.Tools {
		t := &g.Tools[i]
		name := lexical.Terms(t.Name)
		texts[i] = append(append(slices.Clone(name), name...), lexical.Terms(t.Description)...)
		for _, p := range t.Inputs {
			texts[i] = append(texts[i], lexical.Terms(p.Path)...)
		}
	}
	return lexical.NewBM25(texts, lexical.DefaultK1, lexical.DefaultB)
}
