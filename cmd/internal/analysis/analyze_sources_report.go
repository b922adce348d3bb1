package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// sourceTables are the tables on where arguments came from: a line a parameter
// for people, with everything for CSV.
func sourceTables(s *dataflow.Set, o analyzeOptions, complete bool) []report.Block {
	if len(s.Params) == 0 {
		return []report.Block{report.Paragraph("No call has an argument that could have come from somewhere.")}
	}
	blocks := []report.Block{sourceSummary(s), sourceTable(s, o, complete)}
	if complete {
		blocks = append(blocks, classTable(s), linkTable(s))
	}
	if complete || o.Preset == "autotool" {
		blocks = append(blocks, samePairTable(s, o, complete))
	}
	return blocks
}

// sourceSummary says in two sentences what the table shows.
func sourceSummary(s *dataflow.Set) report.Paragraph {
	uses, never := 0, 0
	for i := range s.Params {
		uses += s.Params[i].Uses
		never += s.Params[i].Never.Count
	}
	var parts []string
	for _, c := range classTotals(s) {
		if c.Count > 0 {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", classWords[c.Class], 100*c.Share))
		}
	}
	return report.Paragraph(fmt.Sprintf("Of %s of %s: %s. The values of %.0f %% stood nowhere before the call.",
		cli.CountOf(uses, "use"), cli.CountOf(len(s.Params), "parameter"), strings.Join(parts, ", "), 100*float64(never)/float64(uses)))
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

func sourceTable(s *dataflow.Set, o analyzeOptions, complete bool) *report.Table {
	columns := []report.Column{
		{Key: "parameter", Max: 56},
		{Key: "uses", Align: report.Right},
		{Key: "values", Title: "values", Align: report.Right},
	}
	totals := classTotals(s)
	var shown []int // classes that occur, so that the table stays narrow
	for i, c := range totals {
		if c.Count > 0 || complete {
			shown = append(shown, i)
			columns = append(columns, report.Column{Key: string(c.Class), Title: classTitles[c.Class], Unit: "%", Align: report.Right})
		}
	}
	columns = append(columns,
		report.Column{Key: "never_seen", Title: "unseen", Unit: "%", Align: report.Right},
		report.Column{Key: "source", Title: "commonest source", Max: 50},
		report.Column{Key: "source_share", Title: "its share", Unit: "%", Interval: true, Align: report.Right},
		report.Column{Key: "rejected", Title: "rejected", Align: report.Right},
	)
	table := report.NewTable("parameter-sources", "", columns...)
	params := byUses(s)
	most := len(params)
	if o.Parameters > 0 && !complete {
		most = min(most, o.Parameters)
	}
	for _, p := range params[:most] {
		cells := []report.Cell{report.Name(p.Param.String()), report.Int(p.Uses), report.Int(p.Values)}
		for _, i := range shown {
			cells = append(cells, shareOf(p.Shares[i].Proportion))
		}
		source, interval := report.Missing("no source is better than chance"), report.Missing("no source, no interval")
		if len(p.Sources) > 0 {
			source, interval = sourceName(p.Sources[0].Link), report.ShareRange(p.Sources[0].Interval, 1)
		}
		table.Add(append(cells, shareOf(p.Never), source, interval, report.Int(p.Rejected))...)
	}
	if most < len(params) {
		table.Note("The %d parameters used most of %s; --parameters 0 shows all.", most, report.Grouped(len(params)))
	}
	table.Note("Result and argument are those of an earlier call, task is the first user message, user a later one. Of each use the nearest source counts whose link beats chance. Rejected: sources that held the same value now and then, as coincidence would have it. Constant: (nearly) always one value, which proves no source.")
	table.Note("Unseen: the value stood nowhere in the run before the call, so the model made it up or knew it. No program can fill in such an argument, unless it is constant.")
	table.Note("A list or object and its parts are parameters of their own. Intervals assume independence and are too narrow, because the uses of one run depend on each other. CSV and JSON have the interval of every share.")
	if s.Dropped > 0 {
		table.Note("%s beyond the bounds on memory were not followed.", cli.CountOf(s.Dropped, "place"))
	}
	return table
}

func shareOf(i stat.Proportion) report.Cell {
	if i.N == 0 {
		return report.Missing("no use could be attributed")
	}
	return report.Share(i.Share, 0)
}

// sourceName names the source of a link; what a template says around the value
// is text of the traces and stays out.
func sourceName(k *dataflow.Link) report.Cell {
	name := k.From.String()
	if k.Relation != dataflow.Equal {
		name += " (" + k.Relation.String() + ")"
	}
	return report.Name(name)
}

func classTable(s *dataflow.Set) *report.Table {
	table := report.NewTable("parameter-classes", "Shares of the classes",
		report.Column{Key: "parameter"},
		report.Column{Key: "class"},
		report.Column{Key: "count", Align: report.Right},
		report.Column{Key: "uses", Align: report.Right},
		report.Column{Key: "share", Unit: "%", Align: report.Right},
		report.Column{Key: "interval", Unit: "%", Interval: true, Align: report.Right},
	)
	add := func(name string, class string, p stat.Proportion) {
		table.Add(report.Name(name), report.Text(class), report.Int(p.Count), report.Int(p.N), shareOf(p), report.ShareRange(p.Interval, 1))
	}
	for _, p := range byUses(s) {
		for _, c := range p.Shares {
			add(p.Param.String(), string(c.Class), c.Proportion)
		}
		add(p.Param.String(), "never-seen", p.Never)
	}
	return table
}

func linkTable(s *dataflow.Set) *report.Table {
	table := report.NewTable("parameter-links", "Sources that beat chance",
		report.Column{Key: "parameter"},
		report.Column{Key: "source"},
		report.Column{Key: "relation"},
		report.Column{Key: "count", Align: report.Right},
		report.Column{Key: "share", Unit: "%", Align: report.Right},
		report.Column{Key: "interval", Unit: "%", Interval: true, Align: report.Right},
		report.Column{Key: "trials", Align: report.Right},
		report.Column{Key: "hits", Align: report.Right},
		report.Column{Key: "values", Align: report.Right},
		report.Column{Key: "chance", Align: report.Right},
		report.Column{Key: "log10_p", Align: report.Right},
		report.Column{Key: "log10_limit", Align: report.Right},
	)
	for _, p := range byUses(s) {
		for _, l := range p.Sources {
			k := l.Link
			table.Add(report.Name(p.Param.String()), report.Name(k.From.String()), report.Text(k.Relation.String()), report.Int(l.Count), shareOf(l.Proportion),
				report.ShareRange(l.Interval, 1), report.Int(k.Trials), report.Int(k.Hits), report.Int(k.Values),
				report.Float(k.Chance, 4), report.Float(k.Log10P, 1), report.Float(k.Limit, 1))
		}
	}
	return table
}

// samePairTable is AutoTool's Table 2.
func samePairTable(s *dataflow.Set, o analyzeOptions, complete bool) *report.Table {
	table := report.NewTable("autotool-pairs", "Arguments with the value of an earlier argument of another tool, as AutoTool counts them",
		report.Column{Key: "parameter", Max: 50},
		report.Column{Key: "earlier", Title: "earlier argument", Max: 50},
		report.Column{Key: "pairs", Align: report.Right},
		report.Column{Key: "share", Unit: "%", Align: report.Right},
	)
	pairs := s.AutoTool()
	// Whole parameters, those with the most pairs first.
	total := map[dataflow.Slot]int{}
	for _, p := range pairs {
		total[p.To] += p.Count
	}
	slices.SortStableFunc(pairs, func(a, b dataflow.SamePair) int { return total[b.To] - total[a.To] })
	params, last := 0, dataflow.Slot{}
	for _, p := range pairs {
		if p.To != last {
			params, last = params+1, p.To
		}
		if !complete && o.Parameters > 0 && params > o.Parameters {
			table.Note("Of %s; --parameters 0 shows all.", cli.CountOf(len(total), "parameter"))
			break
		}
		table.Add(report.Name(p.To.String()), report.Name(p.From.String()), report.Int(p.Count), report.Share(p.Share, 1))
	}
	table.Note("Every earlier call of another tool with an equal argument counts, and nothing guards against coincidence (arXiv 2511.14650, Table 2). Shares are of all such pairs of the parameter.")
	return table
}
