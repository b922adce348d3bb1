package extraction

import (
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/internal/shell/habit"
	"github.com/awo-dev/awo/merge"
)

// shellHabits finds what the trajectories run in a shell over and over. It reads them
// again only if one of their tools is a shell.
func shellHabits(in *cli.Intake, merged *merge.Merged) ([]habit.Habit, error) {
	found := false
	for _, t := range merged.Catalog.Tools() {
		found = found || shell.IsTool(t.Name.Value())
	}
	if !found {
		return nil, nil
	}
	finder := habit.New()
	for t, err := range in.Source() {
		if err != nil {
			return nil, err
		}
		finder.Add(t)
	}
	return finder.Habits(), nil
}

// habitSection lists what could become a script, a command, a skill or a hook.
func habitSection(d *report.Document, out JSON) {
	if len(out.Habits) == 0 {
		return
	}
	table := report.TableOf("habits", "", out.Habits, []report.Column{
		{Key: "kind", Title: "could be a", Words: true},
		{Key: "name", Max: 42},
		{Key: "steps", Title: "runs", Max: 64, Wrap: true, Cell: report.By(func(h *habit.Habit) report.Cell { return report.Name(strings.Join(h.Steps, " → ")) })},
		{Key: "tasks", Title: "in tasks"},
		{Key: "of", Title: "of"},
		{Key: "occurrences", Title: "times"},
		{Key: "share", Title: "of edits", Unit: "%", Align: report.Right, Cell: report.By(func(h *habit.Habit) report.Cell {
			if h.Kind != habit.Hook {
				return report.Missing("only hooks follow edits")
			}
			return report.Share(h.Share, 1)
		})},
		{Key: "turns_saved", Title: "turns saved"},
	})
	table.Note("In tasks: tasks in which it occurs, of those that run commands; no less than %d. A script's lines are the same, word for word, in all of them. A command is what is run first after the user spoke, a hook what follows edits of files.", habit.MinTasks)
	table.Note("Saved: at most. An agent that is given one must use it, and what it does is then not looked at step by step.")
	table.Note("No meta-tool has one of these commands as a step: its words would need quoting that depends on the line, and its folder is not recorded. Meta-tools call the shell with whole lines.")
	d.Section("Habits of the shell", table)
}
