package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/report"
)

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
