package analysis

import (
	"iter"
	"slices"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// sources traces arguments to where they came from while trajectories stream
// by. A nil links traces nothing.
type sources struct {
	collector dataflow.Collector
	links     *dataflow.Links
}

func newSources(o analyzeOptions) *sources {
	if !o.Sources {
		return &sources{}
	}
	return &sources{links: dataflow.NewLinks()}
}

// collect yields what in yields, in its order, and adds up the flow of each
// trajectory on the way.
func (s *sources) collect(workers int, in iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	if s.links == nil {
		return in
	}
	type item struct {
		t    *trace.Trajectory
		err  error
		flow *dataflow.Flow
	}
	items := func(yield func(item) bool) {
		for t, err := range in {
			if !yield(item{t: t, err: err}) {
				return
			}
		}
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		traced := par.Map(workers, items, func(x item) item {
			if x.err == nil {
				x.flow = s.collector.Collect(x.t)
			}
			return x
		})
		for x := range traced {
			if x.flow != nil {
				s.links.Add(x.flow)
			}
			if !yield(x.t, x.err) {
				return
			}
		}
	}
}

// result returns where what was collected came from, nil if nothing was to be.
func (s *sources) result() *origins {
	if s.links == nil {
		return nil
	}
	return sourcesResult(s.links.Set())
}

// origins is where the arguments of calls came from.
type origins struct {
	sourceTotals
	parameters []parameter
	autoTool   []samePair // what the paper's Table 2 counts
}

type sourceTotals struct {
	Classes []class `json:"classes"` // of all parameters together
	Dropped int     `json:"dropped"` // places and sources beyond the bounds on memory
}

type class struct {
	Class string        `json:"class"`
	Count int           `json:"count"` // uses
	Share stat.Estimate `json:"share"`
}

type parameter struct {
	Parameter     string  `json:"parameter"` // tool(path)
	Tool          string  `json:"tool"`
	Path          string  `json:"path"`
	Uses          int     `json:"uses"`
	Trajectories  int     `json:"trajectories"`
	Values        int     `json:"values"`          // different ones
	ValuesAtLeast bool    `json:"values_at_least"` // there are more
	Classes       []class `json:"classes"`
	NeverSeen     class   `json:"never_seen"` // uses whose value stood nowhere before
	Unattributed  int     `json:"unattributed"`
	Tried         int     `json:"sources_tried"`
	Rejected      int     `json:"links_rejected"` // by the chance guard
	Links         []link  `json:"links"`          // accepted, and the best source of some use
}

// link is one accepted link with the evidence for it. The fixed text of
// templates is text of the traces and stays out.
type link struct {
	From     string        `json:"from"`
	Class    string        `json:"class"`
	Relation string        `json:"relation"`
	Count    int           `json:"count"` // uses that it is the best source of
	Share    stat.Estimate `json:"share"`
	Trials   int           `json:"trials"`
	Hits     int           `json:"hits"`
	Values   int           `json:"values"`
	Rate     float64       `json:"rate"`
	Chance   float64       `json:"chance"`
	Log10P   stat.Figure   `json:"log10_p"`
	Limit    stat.Figure   `json:"log10_limit"`
	Pooled   bool          `json:"pooled"`
}

type samePair struct {
	To    string  `json:"to"`
	From  string  `json:"from"`
	Count int     `json:"count"`
	Share float64 `json:"share"`
}

// sourcesResult shapes a set of links as JSON.
func sourcesResult(s *dataflow.Set) *origins {
	classes := func(shares []dataflow.ClassShare) []class {
		return cli.Map(shares, func(c *dataflow.ClassShare) class { return classResult(string(c.Class), c.Proportion) })
	}
	pairs := s.AutoTool()
	return &origins{
		sourceTotals: sourceTotals{classes(classTotals(s)), s.Dropped},
		parameters: cli.Map(s.Params, func(p *dataflow.ParamSources) parameter {
			return parameter{
				Parameter: p.Param.String(), Tool: p.Param.ToolName(), Path: p.Param.Path, Uses: p.Uses, Trajectories: p.Trajectories,
				Values: p.Values, ValuesAtLeast: p.AtLeast, Classes: classes(p.Shares), NeverSeen: classResult("never-seen", p.Never),
				Unattributed: p.Unattributed, Tried: p.Tried, Rejected: p.Rejected,
				Links: cli.Map(p.Sources, func(l *dataflow.SourceShare) link {
					k, c := l.Link, classResult("", l.Proportion)
					return link{
						From: k.From.String(), Class: k.From.Side.String(), Relation: k.Relation.String(), Count: c.Count, Share: c.Share,
						Trials: k.Trials, Hits: k.Hits, Values: k.Values, Rate: k.Rate, Chance: k.Chance,
						Log10P: stat.Finite(k.Log10P, tooSmall), Limit: stat.Finite(k.Limit, tooSmall), Pooled: k.Pooled,
					}
				}),
			}
		}),
		autoTool: cli.Map(pairs, func(p *dataflow.SamePair) samePair {
			return samePair{To: p.To.String(), From: p.From.String(), Count: p.Count, Share: p.Share}
		}),
	}
}

// tooSmall is why a logarithm of a probability is not known.
const tooSmall = "beyond what a number can hold"

func classResult(name string, p stat.Proportion) class {
	const none = "no use could be attributed"
	if p.N == 0 {
		return class{name, p.Count, stat.Estimate{Figure: stat.Unknown(none), Interval: stat.NoInterval(none)}}
	}
	return class{name, p.Count, stat.Estimate{Figure: stat.Known(float64(p.Count) / float64(p.N)), Interval: p.Interval}}
}

// classTotals adds up the classes over all parameters.
func classTotals(s *dataflow.Set) []dataflow.ClassShare {
	var out []dataflow.ClassShare
	n := 0
	for i := range s.Params {
		n += s.Params[i].Uses - s.Params[i].Unattributed
		for j, c := range s.Params[i].Shares {
			if j == len(out) {
				out = append(out, dataflow.ClassShare{Class: c.Class})
			}
			out[j].Count += c.Count
		}
	}
	for j := range out {
		out[j].Proportion = stat.Share(out[j].Count, n)
	}
	return out
}

// byUses returns the parameters, those with the most uses first.
func byUses(s *origins) []parameter {
	out := slices.Clone(s.parameters)
	slices.SortStableFunc(out, func(a, b parameter) int { return b.Uses - a.Uses })
	return out
}
