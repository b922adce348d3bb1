package comparing

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/trace"
)

// OutcomeOptions say which runs succeeded, beyond what is recorded.
type OutcomeOptions struct {
	Outcomes string `mapstructure:"outcomes"`
	Success  string `mapstructure:"success"`
}

// OutcomeFlags adds their flags.
func OutcomeFlags(f *pflag.FlagSet) {
	f.String("outcomes", "", "which runs succeeded: a `FILE` of JSON lines or CSV with a session or trajectory id, and success or score")
	f.String("success", "", "a run succeeded if this `CONDITION` holds, in the language of --where: reward >= 0.6, or tool(\"submit_*\")")
}

// outcome is what a file says of a run.
type outcome struct {
	success trace.Outcome
	score   *float64
}

// Judge gives trajectories their outcomes.
type Judge struct {
	known     map[string]outcome
	condition *filter.Expression
	rewarded  bool // the condition asks for what not every run has
	err       error
}

// Judge returns what the options say of outcomes.
func (o OutcomeOptions) Judge() (*Judge, error) {
	known, err := readOutcomes(o.Outcomes)
	if err != nil {
		return nil, err
	}
	j := &Judge{known: known, rewarded: strings.Contains(o.Success, "score") || strings.Contains(o.Success, "reward")}
	if o.Success != "" {
		j.condition, err = filter.Compile("--success", o.Success)
	}
	return j, err
}

// Err returns the first trajectory that the condition could not be evaluated on.
func (j *Judge) Err() error { return j.err }

// Outcome sets the outcome of a trajectory.
func (j *Judge) Outcome(t *trace.Trajectory) {
	of, is := j.known[t.ID]
	if !is {
		of, is = j.known[t.Session]
	}
	if is && of.score != nil {
		t.Score = of.score
	}
	if is && of.success != trace.OutcomeUnknown {
		t.Outcome = of.success
		return
	}
	if j.condition == nil || j.rewarded && t.Score == nil {
		return
	}
	holds, err := j.condition.Holds(t)
	if err != nil {
		j.err = cmp.Or(j.err, err)
		return
	}
	t.Outcome = outcomeOf(holds)
}

func outcomeOf(success bool) trace.Outcome {
	if success {
		return trace.OutcomeSuccess
	}
	return trace.OutcomeFailure
}

// readOutcomes reads a file of outcomes, by id; none of "".
func readOutcomes(name string) (map[string]outcome, error) {
	if name == "" {
		return nil, nil
	}
	data, err := cli.ReadSmall(name)
	if err != nil {
		return nil, cli.FileProblem(name, err)
	}
	known := map[string]outcome{}
	add := func(line int, fields map[string]string) error {
		of, id := outcome{}, ""
		for _, column := range []string{"id", "session", "trajectory", "session_id", "trajectory_id"} {
			if id == "" {
				id = fields[column]
			}
		}
		if text := fields["score"]; text != "" {
			score, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return diag.New(diag.Pos{File: name, Line: line, Col: 1}, "outcome-invalid", "the score is no number")
			}
			of.score = &score
		}
		switch text := strings.ToLower(fields["success"]); text {
		case "true", "1", "yes", "success":
			of.success = trace.OutcomeSuccess
		case "false", "0", "no", "failure":
			of.success = trace.OutcomeFailure
		case "":
		default:
			return diag.New(diag.Pos{File: name, Line: line, Col: 1}, "outcome-invalid", "success is neither true nor false")
		}
		if id == "" || of == (outcome{}) {
			return diag.New(diag.Pos{File: name, Line: line, Col: 1}, "outcome-invalid", "a line wants an id (of a session or trajectory), and success or score")
		}
		known[id] = of
		return nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return known, readOutcomeLines(name, data, add)
	}
	return known, readOutcomeTable(name, data, add)
}

// readOutcomeLines reads JSON lines.
func readOutcomeLines(name string, data []byte, add func(line int, fields map[string]string) error) error {
	number := 0
	for text := range bytes.Lines(data) {
		if number++; len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var values map[string]json.RawMessage
		if err := json.Unmarshal(text, &values); err != nil {
			return diag.New(diag.Pos{File: name, Line: number, Col: 1}, "outcome-invalid", "the line is no JSON object")
		}
		fields := map[string]string{}
		for key, raw := range values {
			text := ""
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			fields[key] = text
		}
		if err := add(number, fields); err != nil {
			return err
		}
	}
	return nil
}

// readOutcomeTable reads CSV with a line of names.
func readOutcomeTable(name string, data []byte, add func(line int, fields map[string]string) error) error {
	r := csv.NewReader(bytes.NewReader(data))
	names, err := r.Read()
	for err == nil {
		var row []string
		if row, err = r.Read(); err != nil {
			break
		}
		fields := map[string]string{}
		for i, column := range names {
			fields[strings.ToLower(strings.TrimSpace(column))] = row[i]
		}
		line, _ := r.FieldPos(0)
		if err := add(line, fields); err != nil {
			return err
		}
	}
	if broken, is := errors.AsType[*csv.ParseError](err); is {
		return diag.New(diag.Pos{File: name, Line: broken.Line, Col: max(broken.Column, 1)}, "outcome-invalid", "the line is no CSV with as many columns as the first")
	}
	if err != io.EOF {
		return cli.FileProblem(name, err)
	}
	return nil
}
