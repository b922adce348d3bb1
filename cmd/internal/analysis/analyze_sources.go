package analysis

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/report"
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
	return func(yield func(*trace.Trajectory, error) bool) {
		for x, err := range par.With(workers, in, s.collector.Collect) {
			if err == nil {
				s.links.Add(x.Is)
			}
			if !yield(x.From, err) {
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
	if p.N == 0 {
		return class{name, p.Count, stat.NoEstimate("no use could be attributed")}
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

// sourceTables are the tables on where arguments came from: a line a parameter
// for people, with everything for CSV.
func sourceTables(s *origins, o analyzeOptions) []report.Block {
	if len(s.parameters) == 0 {
		return []report.Block{report.Paragraph("No call has an argument that could have come from somewhere.")}
	}
	pairs := samePairTable(s)
	if o.Preset != "autotool" {
		pairs = pairs.Hidden()
	}
	return []report.Block{sourceSummary(s), sourceTable(s), report.TableOf("parameter_sources", "", s.parameters, nil).Hidden(), pairs}
}

// parametersShown is how many parameters texts list.
const parametersShown = 15

// sourceSummary says in two sentences what the table shows.
func sourceSummary(s *origins) report.Paragraph {
	uses, never := 0, 0
	for _, p := range s.parameters {
		uses += p.Uses
		never += p.NeverSeen.Count
	}
	var parts []string
	for _, c := range s.Classes {
		if c.Count > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", classWords[dataflow.Class(c.Class)], 100*c.Share.Float()))
		}
	}
	return report.Paragraph(fmt.Sprintf("Of %s of %s: %s. The values of %.0f %% stood nowhere before the call.",
		cli.CountOf(uses, "use"), cli.CountOf(len(s.parameters), "parameter"), strings.Join(parts, ", "), 100*float64(never)/float64(uses)))
}

// classWords name the classes in a sentence.
var classWords = map[dataflow.Class]string{
	dataflow.ClassOutput: "from earlier results", dataflow.ClassInput: "from earlier arguments", dataflow.ClassTask: "from the task",
	dataflow.ClassUser: "from later user messages", dataflow.ClassSystem: "from system prompts", dataflow.ClassConstant: "constants", dataflow.ClassUnknown: "unknown",
}

// classTitles are the headings of the classes.
var classTitles = map[dataflow.Class]string{
	dataflow.ClassOutput: "result", dataflow.ClassInput: "argument", dataflow.ClassTask: "task",
	dataflow.ClassUser: "user", dataflow.ClassSystem: "system", dataflow.ClassConstant: "constant", dataflow.ClassUnknown: "unknown",
}

func sourceTable(s *origins) *report.Table {
	columns := []report.Column{{Key: "parameter", Max: 56}, {Key: "uses"}, {Key: "values"}}
	for i, c := range s.Classes {
		if c.Count > 0 { // so that the table stays narrow
			columns = append(columns, report.Column{Key: c.Class, From: fmt.Sprintf("classes.%d.share", i), Title: classTitles[dataflow.Class(c.Class)], Unit: "%", Digits: report.Whole, NoRange: true})
		}
	}
	table := report.TableOf("parameter_sources", "", byUses(s), append(columns,
		report.Column{Key: "never_seen", From: "never_seen.share", Title: "unseen", Unit: "%", Digits: report.Whole, NoRange: true},
		report.Column{Key: "source", Title: "commonest source", Max: 50, Cell: report.By(func(p *parameter) report.Cell {
			switch {
			case len(p.Links) == 0:
				return report.Missing("no source is better than chance")
			case p.Links[0].Relation != dataflow.Equal.String():
				return report.Name(p.Links[0].From + " (" + p.Links[0].Relation + ")")
			}
			return report.Name(p.Links[0].From)
		})},
		report.Column{Key: "source_share", Title: "its share", Unit: "%", Interval: true, Align: report.Right, Cell: report.By(func(p *parameter) report.Cell {
			if len(p.Links) == 0 {
				return report.Missing("no source, no interval")
			}
			return report.ShareRange(p.Links[0].Share.Interval, 1)
		})},
		report.Column{Key: "rejected", From: "links_rejected"},
	))
	table.Most = parametersShown
	table.Note("Result and argument are those of an earlier call, task is the first user message, user a later one. Of each use the nearest source counts whose link beats chance. Rejected: sources that held the same value now and then, as coincidence would have it. Constant: (nearly) always one value, which proves no source.")
	table.Note("Unseen: the value stood nowhere in the run before the call, so the model made it up or knew it. No program can fill in such an argument, unless it is constant.")
	table.Note("A list or object and its parts are parameters of their own. Intervals assume independence and are too narrow, because the uses of one run depend on each other. JSON has the interval of every share.")
	table.NoteIf(s.Dropped > 0, "%s beyond the bounds on memory were not followed.", cli.CountOf(s.Dropped, "place"))
	return table.View()
}

// samePairTable is AutoTool's Table 2.
func samePairTable(s *origins) *report.Table {
	// Whole parameters, those with the most pairs first.
	pairs, total := slices.Clone(s.autoTool), map[string]int{}
	for _, p := range pairs {
		total[p.To] += p.Count
	}
	slices.SortStableFunc(pairs, func(a, b samePair) int { return total[b.To] - total[a.To] })
	shown, params, last := len(pairs), 0, ""
	for i, p := range pairs {
		if p.To != last {
			params, last = params+1, p.To
		}
		if params > parametersShown {
			shown = i
			break
		}
	}
	table := report.TableOf("autotool_pairs", "Arguments with the value of an earlier argument of another tool, as AutoTool counts them", pairs, []report.Column{
		{Key: "parameter", From: "to", Max: 50},
		{Key: "earlier", From: "from", Title: "earlier argument", Max: 50},
		{Key: "pairs", From: "count"},
		{Key: "share", Unit: "%"},
	})
	table.Most = shown
	table.Note("Every earlier call of another tool with an equal argument counts, and nothing guards against coincidence (arXiv 2511.14650, Table 2). Shares are of all such pairs of the parameter.")
	return table
}
