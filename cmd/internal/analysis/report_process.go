package analysis

import (
	"slices"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/process"
	"github.com/awo-dev/awo/internal/report"
)

// The section with the process map, and the timelines of single trajectories.

// timelinesShown is how many trajectories a page has as timelines: enough to look
// for an example in, and about 200 bytes a turn.
const timelinesShown = 200

// stepsShown is how many steps from tool to tool the table beside the map lists, and
// stepsDrawn how many the map can show.
const stepsShown, stepsDrawn = 15, 3000

// processFigures are those of the process map.
type processFigures struct {
	Trajectories int `json:"trajectories"` // with a call of the model
	OtherTools   int `json:"calls_of_other_tools"`
	LeftOut      int `json:"steps_left_out"`
}

var sectionProcess = reportSection{
	heading: "What the agents do, step by step",
	about: "The process map shows which tool was called right after which: the thicker an arrow, the more often. " +
		"It begins with the commonest steps; the slider adds rarer ones, and a click on a tool or an arrow says how often, how fast and how well. Only calls that the model decided on are in it.",
	blocks: func(r *reportInput) []report.Block {
		m := r.process.Map()
		if len(m.Nodes) == 0 {
			return nil
		}
		return []report.Block{r.app(report.AppProcessMap, mapData(m, r)), stepTable(m)}
	},
}

// app returns a part of the page that a script draws.
func (r *reportInput) app(name report.AppName, data any) report.Block {
	app, err := report.NewApp(name, data)
	if err != nil {
		r.err = err
		return nil
	}
	return app
}

// processMap and the types below are what page.js reads.
type processMap struct {
	Runs  int                `json:"runs"`
	Tools []process.Node     `json:"tools"`
	USD   map[string]float64 `json:"usd"`   // by tool
	Edges [][6]any           `json:"edges"` // from, to, count, trajectories, in one turn, median gap
}

func mapData(m *process.Map, r *reportInput) processMap {
	out := processMap{Runs: m.Trajectories, Tools: slices.Clone(m.Nodes), USD: map[string]float64{}, Edges: [][6]any{}}
	for i := range out.Tools {
		out.Tools[i].Tool = report.Escape(out.Tools[i].Tool)
	}
	for _, line := range r.cost.Tools {
		if usd, known := line.CostUSD.Value(); known && line.Tool != "" {
			out.USD[report.Escape(line.Tool)] = usd
		}
	}
	for i := range m.Edges[:min(len(m.Edges), stepsDrawn)] {
		e := &m.Edges[i]
		out.Edges = append(out.Edges, [6]any{e.From, e.To, e.Count, e.Trajectories, e.Parallel, e.Between})
	}
	return out
}

// stepTable lists the commonest steps.
func stepTable(m *process.Map) *report.Table {
	all := 0
	for i := range m.Edges {
		all += m.Edges[i].Count
	}
	table := report.TableOf("process_steps", "The commonest steps", m.Edges, []report.Column{
		{Key: "from", Empty: "(start)"},
		{Key: "to", Empty: "(end)"},
		{Key: "count", Title: "times"},
		{Key: "share", Title: "of all steps", Unit: "%", Align: report.Right, Cell: report.By(func(s *process.Edge) report.Cell { return report.Share(float64(s.Count)/float64(all), 1) })},
		{Key: "trajectories", Title: "in trajectories"},
		{Key: "in_one_turn", Title: "in one turn"},
		{Key: "median_seconds_between", Title: "median time between", Unit: "s", Digits: 2},
	})
	table.Most = stepsShown
	if m.OtherTools > 0 {
		table.Note("%s beyond the first %d tools are counted as %s.", cli.CountOf(m.OtherTools, "call"), process.MaxNodes, process.OtherTools)
	}
	if m.EdgesLeftOut > 0 {
		table.Note("%s beyond %d kinds are not counted.", cli.CountOf(m.EdgesLeftOut, "step"), process.MaxEdges)
	}
	return table
}

// timelineData is the sample of trajectories as page.js reads it.
type timelineData struct {
	Tools []string      `json:"tools"`
	Runs  []timelineRun `json:"runs"`
}

type timelineRun struct {
	ID      string         `json:"id"`
	Outcome uint8          `json:"outcome"`
	Calls   int            `json:"calls"`
	Failed  int            `json:"failed"`
	Tokens  int64          `json:"tokens"`
	Length  float64        `json:"length"` // seconds, 0 if not recorded
	Left    int            `json:"left"`
	Turns   []timelineTurn `json:"turns"`
}

type timelineTurn struct {
	User   bool     `json:"user,omitempty"`
	Tokens int64    `json:"tokens,omitempty"`
	Calls  [][3]any `json:"calls"` // tool, status, seconds
}

func timelines(lines []process.Timeline) timelineData {
	out := timelineData{Tools: []string{}, Runs: []timelineRun{}}
	numbers := map[string]int{}
	number := func(tool string) int {
		n, ok := numbers[tool]
		if !ok {
			n = len(out.Tools)
			numbers[tool] = n
			out.Tools = append(out.Tools, report.Escape(tool))
		}
		return n
	}
	for i := range lines {
		l := &lines[i]
		run := timelineRun{ID: report.Escape(l.ID), Outcome: uint8(l.Outcome), Calls: l.Calls, Failed: l.Failed, Tokens: l.Tokens, Length: l.Length.Seconds(), Left: l.Left, Turns: []timelineTurn{}}
		for _, turn := range l.Turns {
			t := timelineTurn{User: turn.AfterUser, Tokens: turn.Tokens, Calls: [][3]any{}}
			for _, c := range turn.Calls {
				var took any
				if c.Seconds >= 0 {
					took = c.Seconds
				}
				t.Calls = append(t.Calls, [3]any{number(c.Tool), uint8(c.Status), took})
			}
			run.Turns = append(run.Turns, t)
		}
		out.Runs = append(out.Runs, run)
	}
	return out
}
