package analysis

import (
	"math"
	"slices"
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/process"
	"github.com/awo-dev/awo/internal/report"
)

// The process map and the trajectories of a page.

// timelinesShown is how many trajectories a page has: enough to find an example in, and some
// 60 bytes a turn.
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

// processMap and the types below are what page.js reads.
type processMap struct {
	Runs  int                `json:"runs"`
	Tools []process.Node     `json:"tools"`
	USD   map[string]float64 `json:"usd"`   // by tool
	Edges [][6]any           `json:"edges"` // from, to, count, trajectories, in one turn, median gap
}

func mapData(m *process.Map, r *pageInput) processMap {
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
	Tools   []string      `json:"tools"`
	Dearest int           `json:"dearest"`
	Failed  int           `json:"failed"`
	Median  int           `json:"median"`
	Runs    []timelineRun `json:"runs"`
}

type timelineRun struct {
	ID      string   `json:"id"`
	Outcome uint8    `json:"outcome"`
	Calls   int      `json:"calls"`
	Failed  int      `json:"failed"`
	Tokens  int64    `json:"tokens"`
	USD     float64  `json:"usd"`
	Length  float64  `json:"length"` // seconds, 0 if not recorded
	Left    int      `json:"left"`
	Turns   [][5]any `json:"turns"` // after a user message, tokens, start and end in milliseconds, calls: tool, status, start, end
}

func timelines(sample *process.Sample) timelineData {
	lines, notable := sample.Timelines()
	out := timelineData{Tools: []string{}, Dearest: notable.Dearest, Failed: notable.Failed, Median: notable.Median, Runs: []timelineRun{}}
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
		run := timelineRun{ID: report.Escape(l.ID), Outcome: uint8(l.Outcome), Calls: l.Calls, Failed: l.Failed, Tokens: l.Tokens, USD: math.Round(l.Paid*1e6) / 1e6, Length: l.Length.Seconds(), Left: l.Left, Turns: [][5]any{}}
		for k := range l.Turns {
			turn := &l.Turns[k]
			calls := [][4]any{}
			for _, c := range turn.Calls {
				calls = append(calls, [4]any{number(c.Tool), uint8(c.Status), millis(c.Start), millis(c.End)})
			}
			user := 0
			if turn.AfterUser {
				user = 1
			}
			run.Turns = append(run.Turns, [5]any{user, turn.Tokens, millis(turn.Start), millis(turn.End), calls})
		}
		out.Runs = append(out.Runs, run)
	}
	return out
}

// millis is a time since a trajectory began, -1 if it is not recorded.
func millis(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return d.Milliseconds()
}
