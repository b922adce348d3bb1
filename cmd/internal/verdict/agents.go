package verdict

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
)

// AgentJSON is one of several agents, and the verdict on it.
type AgentJSON struct {
	Names        []string `json:"names"` // as recorded
	Tools        []string `json:"tools"` // that it could see
	Rest         bool     `json:"rest"`  // it is several, with too few tasks each
	Trajectories int      `json:"test_trajectories"`
	Tasks        int      `json:"test_tasks"`
	CallingTurns int      `json:"calling_turns"`
	Verdict      *JSON    `json:"verdict"`
}

// AgentOf returns what a back-test says of an agent.
func AgentOf(a *backtest.AgentResult) AgentJSON {
	out := AgentJSON{
		Names: append([]string{}, a.Names...), Tools: append([]string{}, a.Tools...), Rest: a.Rest,
		Trajectories: a.Result.Trajectories, Tasks: a.TestTasks, Verdict: Of(a.Result),
	}
	if len(a.Techniques) > 0 {
		out.CallingTurns = a.Techniques[0].CallingTurns
	}
	return out
}

// toolsNamed is how many of its tools stand for an agent.
const toolsNamed = 2

// words name an agent by the names that are recorded of it, and by its tools.
func (a *AgentJSON) words() string {
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

// few says what to do in a few words, "" without a verdict.
func (j *JSON) few() string {
	switch {
	case j == nil:
		return ""
	case j.unknown != "":
		return j.unknown
	}
	words := strings.ReplaceAll(string(j.Action), "-", " ")
	if j.Options.Use > 0 {
		words += fmt.Sprintf(", from %g", j.Options.Use)
	}
	if j.Options.Select != "" {
		words += fmt.Sprintf(", --select %s --threshold %d", j.Options.Select, j.Options.Threshold)
	}
	if j.Options.MaxTools > 0 {
		words += fmt.Sprintf(" --max-tools %d", j.Options.MaxTools)
	}
	if j.Options.Lazily && j.Action != backtest.DoRegister {
		words += ", registered when needed"
	}
	return words
}

// AgentsTable says of each of several agents what to do, and what that saves; nil where
// there is one.
func AgentsTable(list []AgentJSON) *report.Table {
	if len(list) == 0 {
		return nil
	}
	none := list[0].Verdict == nil
	table := report.TableOf("agents", "By agent", list, []report.Column{
		{Key: "agent", Max: 48, Wrap: true, Cell: report.By(func(a *AgentJSON) report.Cell { return report.Name(a.words()) })},
		{Key: "test_tasks", Title: "tasks"},
		{Key: "calling_turns", Title: "calling turns"},
		{Key: "verdict", Max: 40, Wrap: true, Hide: none, Cell: report.By(func(a *AgentJSON) report.Cell { return report.Text(a.Verdict.few()) })},
		{Key: "calling_turns_saved", From: "verdict.calling_turns_saved", Title: "turns saved", Hide: none, Digits: report.Whole},
		{Key: "money_saved", From: "verdict.money_saved", Title: "saved", Unit: "USD", Hide: none, Digits: 4},
	})
	table.Note("Each is compiled and tested for itself, and pays for what it is offered alone; all other figures are sums. Agents are told apart by the tools that they could see: those of their definitions, or else those that are called together.")
	return table
}
