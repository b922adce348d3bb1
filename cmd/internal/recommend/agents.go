package recommend

import (
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
)

// Agent is one of several agents, and what is recommended for it.
type Agent struct {
	Names        []string `json:"names"` // as recorded
	Tools        []string `json:"tools"` // that it could see
	Rest         bool     `json:"rest"`  // it is several, with too few tasks each
	Trajectories int      `json:"test_trajectories"`
	Tasks        int      `json:"test_tasks"`
	CallingTurns int      `json:"calling_turns"`
	Recommended  *Figures `json:"recommendation"`
	Saves        *Row     `json:"saves"` // the row recommended
}

// AgentOf returns what a back-test says of an agent.
func AgentOf(a *backtest.AgentResult) Agent {
	out := Agent{
		Names: append([]string{}, a.Names...), Tools: append([]string{}, a.Tools...), Rest: a.Rest,
		Trajectories: a.Result.Trajectories, Tasks: a.TestTasks,
	}
	if r := Of(a.Result); r != nil {
		out.Recommended = &r.Figures
		if len(r.Rows) > 0 {
			out.Saves = &r.Rows[len(r.Rows)-1]
		}
	}
	if len(a.Techniques) > 0 {
		out.CallingTurns = a.Techniques[0].CallingTurns
	}
	return out
}

// toolsNamed is how many of its tools stand for an agent.
const toolsNamed = 2

// words name an agent by the names that are recorded of it, and by its tools.
func (a *Agent) words() string {
	words := cli.CountOf(len(a.Tools), "tool")
	if some := a.Tools[:min(len(a.Tools), toolsNamed)]; len(some) > 0 {
		words += " (" + strings.Join(some, ", ")
		if len(some) < len(a.Tools) {
			words += ", …"
		}
		words += ")"
	}
	switch {
	case a.Rest:
		return "others, with too few tasks each: " + words
	case len(a.Names) > 0:
		return strings.Join(a.Names, ", ") + ": " + words
	}
	return words
}

// AgentsTable says of each of several agents what to do, and what that saves.
func AgentsTable(list []Agent) *report.Table {
	table := report.TableOf("agents", "By agent", list, []report.Column{
		{Key: "agent", Max: 48, Wrap: true, Cell: report.By(func(a *Agent) report.Cell { return report.Name(a.words()) })},
		{Key: "test_tasks", Title: "tasks"},
		{Key: "calling_turns", Title: "calling turns"},
		{Key: "recommended", From: "recommendation.kind", Words: true},
		{Key: "calling_turns_saved", From: "saves.calling_turns", Title: "turns saved", Digits: report.Whole},
		{Key: "usd", From: "saves.usd", Title: "saved", Unit: "USD", Digits: 4},
	})
	table.Note("Each is compiled and tested for itself, and pays for what it is offered alone; all other figures are sums. Agents are distinguished by the tools that they could see: those of their definitions, or else those that are called together.")
	return table.IfAny()
}
