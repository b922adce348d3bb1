package toolgraph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/lexical"
)

// The thresholds of substitutes.
const (
	equivalentAt = .8  // need times give
	sameMatterAt = .35 // cosine of name and description
	// MostAttempts is after how many ways around failures an agent should stop: the
	// paper leaves that open.
	MostAttempts = 3
)

// A Substitute is a tool that can stand in for another: it takes what the other was
// given and gives what is used of the other's results.
type Substitute struct {
	Tool   int
	Need   float64 // share of its required parameters that are among the other's arguments
	Give   float64 // share of the used parameters of the other's results that it gives
	Cosine float64 // of the descriptions
}

// Substitutes returns the tools that can stand in for a tool, best first. used are
// the parameters of its results that later steps take; nil means all that any tool
// takes. Only tools that read have substitutes, and only such are: a write that failed
// may have been done (recovery i, I/O-equivalent substitution, section 3.3).
func (g *Graph) Substitutes(tool int, used map[int]bool) []Substitute {
	a := &g.Tools[tool]
	if a.Effect != Reads {
		return nil
	}
	takenBy := map[int]bool{}
	for _, c := range g.Consumes {
		takenBy[c.Param] = true
	}
	wanted := map[int]int{} // parameters, with the least lists around the value
	for _, p := range a.Outputs {
		if used != nil && used[p.Param] || used == nil && takenBy[p.Param] {
			if n, ok := wanted[p.Param]; !ok || lists(p.Path) < n {
				wanted[p.Param] = lists(p.Path)
			}
		}
	}
	if len(wanted) == 0 {
		return nil // nothing is known of what it would have to give
	}
	has := map[int]bool{}
	for _, p := range a.Inputs {
		has[p.Param] = true
	}
	texts := g.texts()
	var out []Substitute
	for i := range g.Tools {
		b := &g.Tools[i]
		if i == tool || b.Effect != Reads || b.State != Active {
			continue
		}
		s := Substitute{Tool: i, Need: 1}
		required, met := map[int]bool{}, 0
		for _, p := range b.Inputs {
			if p.Required && !required[p.Param] {
				required[p.Param] = true
				if has[p.Param] {
					met++
				}
			}
		}
		if len(required) > 0 {
			s.Need = float64(met) / float64(len(required))
		}
		gives := map[int]bool{}
		for _, p := range b.Outputs {
			// Deeper inside it is a value of something else: movies that a person is known
			// for are no answer to a search for movies.
			if n, ok := wanted[p.Param]; ok && lists(p.Path) <= n {
				gives[p.Param] = true
			}
		}
		s.Give = float64(len(gives)) / float64(len(wanted))
		if s.Need*s.Give < equivalentAt {
			continue
		}
		if s.Cosine = texts[tool].Dot(texts[i]); s.Cosine >= sameMatterAt {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(x, y Substitute) int {
		return cmp.Or(cmp.Compare(y.Need*y.Give, x.Need*x.Give), cmp.Compare(y.Cosine, x.Cosine), cmp.Compare(x.Tool, y.Tool))
	})
	return out
}

// lists returns how many lists are around the value at a path.
func lists(path string) int { return strings.Count(path, "[*]") }

// texts returns the vectors of the tools' names and descriptions.
func (g *Graph) texts() []lexical.Vector {
	words := make([][]string, len(g.Tools))
	var v lexical.Vocabulary
	for i := range g.Tools {
		words[i] = append(lexical.Terms(g.Tools[i].Name), lexical.Terms(g.Tools[i].Description)...)
		v.Add(words[i])
	}
	sorted := v.Sorted()
	out := make([]lexical.Vector, len(words))
	for i := range words {
		out[i] = sorted.TFIDF(words[i])
	}
	return out
}

// Recovery is the ways around a failed step of a path, in the order in which they
// are to be tried.
type Recovery struct {
	Substitutes []Substitute
	Reroute     *Path  // another way to the nearest step that used the result; nil if there is none
	At          int    // that step
	Switch      []Path // ways to other targets that the task's words name
	// Writes says that the failed tool may have changed something: nothing is retried.
	Writes bool
}

// Recover returns the ways around a tool that failed as a step of a path (section
// 3.3): another tool in its place; another way to the step that needed it, with all
// that earlier steps gave as known; and the next targets of the task's words. Tools
// that write are in no way around.
func (n *Navigator) Recover(p *Path, failed int, task string) Recovery {
	r := Recovery{At: -1, Writes: n.g.Tools[failed].Effect != Reads}
	at := slices.IndexFunc(p.Steps, func(s PathStep) bool { return s.Tool == failed })
	used, known := map[int]bool{}, map[int]bool{}
	for i, s := range p.Steps {
		if i < at {
			for _, place := range n.g.Tools[s.Tool].Outputs {
				known[place.Param] = true
			}
		}
		if at < 0 || i <= at {
			for _, place := range n.g.Tools[s.Tool].Inputs {
				known[place.Param] = true
			}
		}
		if i > at && at >= 0 {
			for _, place := range n.g.Tools[s.Tool].Inputs {
				used[place.Param] = true
			}
		}
	}
	if len(used) == 0 {
		used = nil
	}
	r.Substitutes = n.g.Substitutes(failed, used)
	without := map[int]bool{failed: true}
	for i := range n.g.Tools {
		if n.g.Tools[i].Effect == Writes {
			without[i] = true
		}
	}
	if at >= 0 && p.Steps[at].For >= 0 {
		r.At = p.Steps[at].For
		for _, place := range n.g.Tools[failed].Outputs {
			delete(known, place.Param)
		}
		q := Query{Target: r.At, Have: known, Without: without}
		way := n.Path(q, nil)
		if len(way.Steps) > 1 {
			r.Reroute = way
		}
	}
	if task != "" {
		for _, f := range n.WithText(nil, failed, task) {
			if len(r.Switch) == MostAttempts {
				break
			}
			if f.Tool != p.Target && !without[f.Tool] {
				r.Switch = append(r.Switch, *n.Path(Query{Target: f.Tool, Have: known, Without: without}, nil))
			}
		}
	}
	return r
}
