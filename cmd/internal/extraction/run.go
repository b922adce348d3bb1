package extraction

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// runOptions are the flags of `awo run`.
type runOptions struct {
	Input      string   `mapstructure:"input"`
	Recordings []string `mapstructure:"recordings"`
	Trajectory string   `mapstructure:"trajectory"`
}

// NewRun returns `awo run`.
func NewRun(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "run DIR#NAME",
		Short: "Run one meta-tool against the recordings of a trajectory",
		Long: `Run the meta-tool NAME of the folder DIR (which awo extract --out wrote) with the inputs
given by --input. Its calls are answered by what the trajectory recorded; a call that was not
made then has no answer, and ends the run: it hands back what was done, which step failed and
whether it is safe to run again. No real tool is called.

Values are shown only with --show-values. The exit code is 1 if the run does not get to its
end.`,
		Example: `  awo run tools/#get_user_then_each_order --input '{"user_id":"u-1"}' --recordings traces.jsonl --trajectory run-17
  awo run tools/#login --input @input.json --recordings traces/ --trajectory run-17 --show-values`,
		GroupID: cli.GroupCompile,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !strings.Contains(args[0], "#") {
				return cli.Usagef("`%s` wants one meta-tool, as DIR#NAME", c.CommandPath())
			}
			return nil
		},
	}
	cli.Uses(c, cli.UseRules)
	f := c.Flags()
	f.String("input", "{}", "the inputs, as a `JSON` object, or @FILE to read them from a file")
	f.StringSlice("recordings", nil, "trace `FILES` that answer the calls")
	f.String("trajectory", "", "the `ID` of the trajectory that answers; optional if there is only one")
	return cli.Work(a, c, runTool)
}

// toolRun is a run of a meta-tool.
type toolRun struct {
	runFigures
	steps []runStep
	calls []runCall
}

// runFigures are those of `awo run`.
type runFigures struct {
	Name    string           `json:"name"`
	State   string           `json:"state"`
	Retry   bool             `json:"safe_to_retry"`
	Failure *runFailure      `json:"failure"` // null if it got to the end
	Output  *json.RawMessage `json:"output"`  // the answer, as an agent is given it; null without --show-values
}

type runStep struct {
	Step    int    `json:"step"` // from 1
	Tool    string `json:"tool"`
	Calls   int    `json:"calls"`
	Skipped int    `json:"skipped"`
}

type runCall struct {
	Step      int              `json:"step"`
	Tool      string           `json:"tool"`
	Arguments []string         `json:"arguments"` // their names
	Status    string           `json:"status"`
	Tries     int              `json:"tries"`
	Args      *json.RawMessage `json:"values"` // null without --show-values
	Result    *json.RawMessage `json:"result"` // null without --show-values
}

type runFailure struct {
	Step     int    `json:"step"` // from 1; 0 if none was begun
	Code     string `json:"code"`
	Argument string `json:"argument"`
	Message  string `json:"message"`

	Instead []string `json:"instead"` // tools that may stand in for the one that failed
}

func runTool(j *cli.Job, o runOptions, args []string) error {
	at := strings.LastIndex(args[0], "#")
	tools, err := ReadTools(j, args[0][:at])
	if err != nil {
		return err
	}
	tool, err := toolNamed(tools, args[0][at+1:])
	if err != nil {
		return err
	}
	inputs, err := readInputs(j, o.Input)
	if err != nil {
		return err
	}
	if len(o.Recordings) == 0 {
		return cli.Usagef("--recordings: say which traces answer the calls")
	}
	t, err := findTrajectory(j, o)
	if err != nil {
		return err
	}
	outcome := execute.Run(j.Context, tool, inputs, replay.NewRecordings(t, 0), execute.Options{})
	if err := j.Result(runDocument(tool, runResult(tool, outcome, j.ShowValues))); err != nil {
		return err
	}
	if outcome.State == execute.HandedBack {
		return cli.ErrProblems
	}
	return nil
}

// toolNamed returns the meta-tool with a name.
func toolNamed(tools []*metatool.Tool, name string) (*metatool.Tool, error) {
	var names []string
	for _, t := range tools {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	if near := diag.Nearest(name, names); near != "" {
		return nil, cli.Usagef("there is no meta-tool %s; did you mean %s?", report.Escape(name), near)
	}
	return nil, cli.Usagef("there is no meta-tool %s; there are: %s", report.Escape(name), strings.Join(names, ", "))
}

// readInputs reads the value of --input.
func readInputs(j *cli.Job, text string) (trace.Value, error) {
	src, name := []byte(text), "--input"
	if file, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if src, err = cli.ReadSmall(file); err != nil {
			return trace.Value{}, cli.FileProblem(file, err)
		}
		name = file
	}
	v, err := trace.ParseValue(src)
	if err != nil {
		if e, ok := err.(*diag.Error); ok { //nolint:errorlint // ParseValue returns nothing else
			e.Pos.File = name
		}
		return v, err
	}
	return v, nil
}

// findTrajectory reads the trajectory that answers.
func findTrajectory(j *cli.Job, o runOptions) (*trace.Trajectory, error) {
	in, err := j.IntakeOf(o.Recordings, cli.InputOptions{}, trace.Options{})
	if err != nil {
		return nil, err
	}
	var found *trace.Trajectory
	var ids []string
	for t, err := range in.All() {
		if err != nil {
			return nil, err
		}
		if o.Trajectory != "" && t.ID != o.Trajectory {
			ids = append(ids, t.ID)
			continue
		}
		if found != nil {
			return nil, cli.Usagef("--trajectory: there are several to choose from; name one (awo inspect lists them)")
		}
		found = t
		if o.Trajectory != "" {
			break
		}
	}
	if found == nil {
		if near := diag.Nearest(o.Trajectory, ids); near != "" {
			return nil, cli.Usagef("--trajectory: there is no %s; did you mean %s?", report.Escape(o.Trajectory), report.Escape(near))
		}
		return nil, cli.Usagef("--trajectory: there is no %s among the %s", report.Escape(o.Trajectory), cli.CountOf(len(ids), "trajectory"))
	}
	NewMarker(j.Set).Marks(found)
	return found, nil
}

func runResult(tool *metatool.Tool, o *execute.Outcome, values bool) *toolRun {
	show := func(v trace.Value) *json.RawMessage {
		if !values {
			return nil
		}
		raw := json.RawMessage(v.AppendCanonical(nil))
		return &raw
	}
	out := &toolRun{runFigures: runFigures{Name: tool.Name, State: string(o.State), Retry: o.Retry}}
	for i, s := range o.Steps {
		step := runStep{i + 1, tool.Steps[s.Step].Tool, len(s.Calls), s.Skipped}
		out.steps = append(out.steps, step)
		for _, c := range s.Calls {
			call := runCall{Step: step.Step, Tool: step.Tool, Status: c.Result.Status.String(), Tries: c.Tries, Args: show(c.Args)}
			for _, m := range c.Args.Members {
				call.Arguments = append(call.Arguments, m.Name)
			}
			if c.Err != nil {
				call.Status = "no answer"
			} else {
				call.Result = show(c.Result.Value)
			}
			out.calls = append(out.calls, call)
		}
	}
	if f := o.Failure; f != nil {
		out.Failure = &runFailure{Step: f.Step + 1, Code: f.Code, Argument: f.Argument, Message: f.Error(), Instead: f.Instead(tool)}
		if f.Err != nil {
			out.Failure.Message += ": " + f.Err.Error()
		}
	}
	out.Output = show(o.Answer(tool, execute.AnswerOptions{}))
	return out
}

func runDocument(tool *metatool.Tool, out *toolRun) *report.Document {
	d := &report.Document{Title: out.Name, Figures: out.runFigures}
	if out.Failure != nil {
		retry := "It is not safe to run it again: something was written that may not be written twice."
		if out.Retry {
			retry = "It is safe to run it again."
		}
		d.Answer = fmt.Sprintf("Handed back %s. %s", report.Escape(out.Failure.Message), retry)
		if len(out.Failure.Instead) > 0 {
			d.Add(report.Paragraph("In place of the tool that failed may stand: " + report.Escape(strings.Join(out.Failure.Instead, ", ")) + ". That is a hint by names and schemas; nothing was called."))
		}
	} else {
		d.Answer = fmt.Sprintf("Ended: %s, after %s.", out.State, cli.CountOf(len(tool.Steps), "step"))
	}
	d.Add(report.TableOf("calls", "", out.calls, []report.Column{
		{Key: "step"},
		{Key: "tool", Max: 42},
		{Key: "arguments", Max: 60, Wrap: true, Cell: report.By(func(c *runCall) report.Cell {
			if c.Args != nil {
				return report.Name(string(*c.Args))
			}
			return report.Name(strings.Join(c.Arguments, ", "))
		})},
		{Key: "status"},
	}).IfAny(), report.TableOf("steps", "", out.steps, nil).Hidden())
	switch {
	case out.Output != nil:
		d.Section("Answer", report.Code{Text: string(*out.Output)})
	case out.Failure == nil:
		d.Add(report.Paragraph("Values are not shown; --show-values shows them."))
	}
	return d
}
