package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/llm"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/trace"
)

// The experiment lets a model behind an OpenAI-compatible endpoint do tasks of the office in
// three arms: with the tools of the office alone, with reads that are made ahead, and with
// meta-tools. Every task is done once in each arm, through `awo serve`, in an office of its
// own, and with the arms of a task in an order that moves on from task to task. What is
// sent to the endpoint and answered is recorded as it is, so that `awo compare` reads it.
//
// How many tasks that takes follows from the first ones in the arm without: as many as tell
// the saving that the back-test predicts from none, with power 0.8, and -most at most.

// The arms, that without first.
var arms = []string{"nothing", "prefetch", "meta-tools"}

// keyVariable holds the key of the endpoint, if it wants one.
const keyVariable = "AWO_MODEL_KEY"

// study is an experiment under way.
type study struct {
	model         llm.Server
	awo, out      string
	tools         string
	first, trials int
	runs          int // of the office
	turns         int // a session has at most
	office        *office.Office
	config        string
	done          map[string][]outcome // by arm, in order of tasks
}

// outcome is what a session came to.
type outcome struct {
	Task     string  `json:"task"`
	Solved   bool    `json:"solved"`
	Turns    int     `json:"turns"`         // of the model
	Calling  int     `json:"calling_turns"` // of these, that call a tool
	Calls    int     `json:"calls"`
	Meta     int     `json:"meta_tool_calls"`
	Attached int     `json:"reads_attached"`
	Input    int     `json:"input_tokens"`
	Output   int     `json:"output_tokens"`
	Seconds  float64 `json:"seconds"`
}

func experiment(args []string, to io.Writer) error {
	s := study{trials: 4, done: map[string][]outcome{}}
	f := flag.NewFlagSet("experiment", flag.ContinueOnError)
	f.StringVar(&s.model.URL, "model", "", "`URL` of an OpenAI-compatible interface, such as http://localhost:8000/v1; its key is in "+keyVariable)
	f.StringVar(&s.model.Name, "name", "", "`name` of the model there")
	f.StringVar(&s.awo, "awo", "bin/awo", "the awo `program`")
	f.StringVar(&s.tools, "tools", "", "`folder` of what awo extract compiled of other tasks")
	f.StringVar(&s.out, "out", "bin/experiment", "`folder` for recordings and the report")
	estimate := f.String("estimate", "", "`file` with the back-test (JSON) whose saving is to be seen")
	pilot, most := f.Int("pilot", 12, "tasks before the number of all is chosen"), f.Int("most", 200, "tasks at most")
	f.IntVar(&s.turns, "turns", 60, "turns that a session has at most")
	f.IntVar(&s.first, "first", 400, "the first run of the office that is taken: what was compiled has not seen it")
	if err := f.Parse(args); err != nil {
		return err
	}
	if s.model.URL == "" || s.tools == "" {
		return errors.New("-model and -tools are needed")
	}
	if err := s.prepare(*most); err != nil {
		return err
	}
	n := min(*pilot, *most)
	for task := range n {
		if err := s.task(task); err != nil {
			return err
		}
	}
	wanted, why := s.needed(*estimate)
	fmt.Fprintf(to, "After %d tasks: %s\n", n, why)
	for task := n; task < min(max(wanted, n), *most); task++ {
		if err := s.task(task); err != nil {
			return err
		}
	}
	report, err := s.report(why)
	if err != nil {
		return err
	}
	if _, err := to.Write(report); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.out, "report.md"), report, 0o600)
}

// prepare makes the office, and a folder with the artefacts of each arm.
func (s *study) prepare(tasks int) (err error) {
	s.model.Key = os.Getenv(keyVariable)
	if s.model.URL, err = s.model.Endpoint(); err != nil {
		return err
	}
	s.runs = s.first + tasks*s.trials
	if s.office, err = offices(s.runs); err != nil {
		return err
	}
	for arm, files := range map[string][]string{"nothing": nil, "prefetch": {"prefetch.json"}, "meta-tools": {arazzo.File, "metatools.json"}} {
		folder := filepath.Join(s.out, "tools", arm)
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.MkdirAll(filepath.Join(s.out, arm), 0o700)); err != nil {
			return err
		}
		for _, name := range files {
			data, err := os.ReadFile(filepath.Join(s.tools, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(folder, name), data, 0o600)
			}
			if err != nil {
				return fmt.Errorf("the arm %s: %w", arm, err)
			}
		}
	}
	s.config, err = writeConfig(filepath.Join(s.out, "served"), s.runs, 0)
	return err
}

// run returns the run of the office that a task is taken from: one trial of each.
func (s *study) run(task int) *office.Run { return s.office.Run(s.first + task) }

// task does a task in every arm.
func (s *study) task(task int) error {
	for k := range arms {
		arm := arms[(task+k)%len(arms)]
		o, err := s.session(s.run(task), s.first+task, arm)
		if err != nil {
			return fmt.Errorf("task %d with %s: %w", task, arm, err)
		}
		s.done[arm] = append(s.done[arm], o)
	}
	return nil
}

// message is one of the interface.
type message struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	ID      string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// chatRequest is what is sent, and what is recorded of it.
type chatRequest struct {
	Model    string            `json:"model,omitempty"`
	Messages []message         `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
	Metadata map[string]string `json:"metadata,omitempty"` // recorded, and not sent
}

type chatResponse struct {
	Choices []struct{ Message message }
	Usage   struct {
		Input  int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	}
}

// session lets the model do the task of a run in an arm.
func (s *study) session(r *office.Run, number int, arm string) (out outcome, err error) {
	state := filepath.Join(s.out, "state")
	args := []string{"serve", "--quiet", "--servers", s.config}
	if arm != arms[0] {
		args = append(args, "--tools", filepath.Join(s.out, "tools", arm), "--writes", "client")
	}
	command := exec.Command(s.awo, args...)
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%d", playedVariable, number), stateVariable+"="+state)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	in, err := command.StdinPipe()
	if err != nil {
		return out, err
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		return out, err
	}
	if err := command.Start(); err != nil {
		return out, err
	}
	began := time.Now()
	out, answered, err := s.talk(r, arm, newClient(in, answers))
	out.Seconds = time.Since(began).Seconds()
	if err := errors.Join(err, in.Close(), command.Wait()); err != nil {
		return out, fmt.Errorf("%w\n%s", err, &complaint)
	}
	done, err := os.ReadFile(state)
	if err != nil {
		return out, err
	}
	out.Task, out.Solved = r.Task, answered && string(done) == "true"
	return out, os.Remove(state)
}

// talk asks the model for one turn after the other, until it answers and the user has
// nothing to add.
func (s *study) talk(r *office.Run, arm string, c *client) (out outcome, answered bool, err error) {
	if _, err := c.begin("experiment"); err != nil {
		return out, false, err
	}
	own := map[string]bool{}
	for _, t := range s.office.Edition(0).Tools {
		own[t.Name] = true
	}
	record, err := os.OpenFile(filepath.Join(s.out, arm, r.Task+".jsonl"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return out, false, err
	}
	defer func() { err = errors.Join(err, record.Close()) }()
	users := r.Users() // what the user says where the agent asks
	request := chatRequest{Model: s.model.Name, Tools: functions(c.offered)}
	say := func(role, text string) {
		request.Messages = append(request.Messages, message{Role: role, Content: &text})
	}
	say("system", r.System)
	for i, u := range users {
		say("user", u.Text)
		for {
			if out.Turns == s.turns {
				return out, false, nil
			}
			turn, err := s.ask(request, record, r.Task, arm)
			if err != nil {
				return out, false, err
			}
			out.Turns++
			out.Input, out.Output = out.Input+turn.Usage.Input, out.Output+turn.Usage.Output
			m := turn.Choices[0].Message
			request.Messages = append(request.Messages, m)
			if len(m.Calls) == 0 {
				break
			}
			out.Calling++
			if err := out.make(c, m.Calls, own, &request); err != nil {
				return out, false, err
			}
		}
		if i == len(users)-1 {
			return out, true, nil
		}
	}
	return out, true, nil
}

// make makes the calls of a turn and adds their results to the messages.
func (o *outcome) make(c *client, calls []toolCall, own map[string]bool, request *chatRequest) error {
	var requests []call
	for _, one := range calls {
		args, err := trace.ParseValue([]byte(cmp.Or(one.Function.Arguments, "{}")))
		if err != nil {
			args = trace.NewObject() // the server says what is missing
		}
		requests = append(requests, call{one.Function.Name, args})
		if o.Calls++; !own[one.Function.Name] {
			o.Meta++
		}
	}
	answers, err := c.call(requests)
	if err != nil {
		return err
	}
	for i := range answers {
		o.Attached += len(answers[i].attached)
		request.Messages = append(request.Messages, message{Role: "tool", Content: &answers[i].text, ID: calls[i].ID})
	}
	return nil
}

// functions are the tools of a server as the interface has them.
func functions(offered []trace.Value) (out []json.RawMessage) {
	for _, t := range offered {
		function := trace.NewObject(
			trace.Member{Name: "name", Value: t.Member("name")}, trace.Member{Name: "description", Value: t.Member("description")},
			trace.Member{Name: "parameters", Value: t.Member("inputSchema")})
		one := trace.NewObject(trace.Member{Name: "type", Value: trace.NewString("function")}, trace.Member{Name: "function", Value: function})
		out = append(out, one.AppendCanonical(nil))
	}
	return out
}

// ask sends a request, again where the endpoint is busy, and records the exchange.
func (s *study) ask(request chatRequest, record io.Writer, task, arm string) (*chatResponse, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: 10 * time.Minute}
	for wait := time.Second; ; wait *= 2 {
		r, err := http.NewRequest(http.MethodPost, s.model.URL, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Content-Type", "application/json")
		if s.model.Key != "" {
			r.Header.Set("Authorization", "Bearer "+s.model.Key)
		}
		began := time.Now()
		answer, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			return nil, err
		}
		busy := answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= 500
		switch {
		case busy && wait < time.Minute:
			time.Sleep(wait)
			continue
		case answer.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("the endpoint answers with status %d", answer.StatusCode)
		}
		var out chatResponse
		if err := json.Unmarshal(data, &out); err != nil || len(out.Choices) == 0 {
			return nil, errors.New("the endpoint answers with what is no chat completion")
		}
		request.Metadata = map[string]string{"conversation_id": task + " " + arm, "task_id": task}
		line, err := json.Marshal(struct {
			Request  chatRequest     `json:"request"`
			Response json.RawMessage `json:"response"`
			Start    time.Time       `json:"start_time"`
			End      time.Time       `json:"end_time"`
		}{request, data, began.UTC(), time.Now().UTC()})
		if err == nil {
			_, err = record.Write(append(line, '\n'))
		}
		return &out, err
	}
}

// needed returns how many tasks tell the predicted saving from none, and says why.
func (s *study) needed(estimate string) (tasks int, why string) {
	share := s.predicted(estimate)
	control := s.ratio(arms[0], func(o outcome) float64 { return float64(o.Calling) })
	if share <= 0 {
		return 0, "no saving is predicted, so that no number of tasks follows; -pilot tasks are done."
	}
	arms := stat.Arms{Treated: control, Control: control}
	units := arms.UnitsFor(-share*control.Value(), 0.5)
	if units == 0 {
		return 0, "they do not say how much sessions differ; -pilot tasks are done."
	}
	return (units + 1) / 2, fmt.Sprintf("to tell %.1f %% fewer calling turns from none takes %d tasks in each arm (power 0.8).", 100*share, (units+1)/2)
}

// predicted is the least share of calling turns that the back-test says one of the arms saves.
func (s *study) predicted(estimate string) float64 {
	var file struct {
		Tables struct {
			Techniques struct {
				Rows []struct {
					Technique string
					Share     float64 `json:"calling_turns_saved_share"`
				}
			}
		}
	}
	data, err := os.ReadFile(estimate)
	if err != nil || json.Unmarshal(data, &file) != nil {
		return 0
	}
	least := 0.0
	for _, t := range file.Tables.Techniques.Rows {
		if (t.Technique == "patterns" || t.Technique == "prefetch") && t.Share > 0 && (least == 0 || t.Share < least) {
			least = t.Share
		}
	}
	return least
}

// ratio is a figure of an arm by session, tasks being the units.
func (s *study) ratio(arm string, of func(outcome) float64) (r stat.ClusterRatio) {
	for _, o := range s.done[arm] {
		r.Num, r.Den = append(r.Num, of(o)), append(r.Den, 1)
	}
	return r
}

// report says what the arms came to, and how they differ from that without.
func (s *study) report(why string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Three arms in the office\n\nModel: %s. Tasks: %d, each once in every arm; none of them was compiled from. Their number: %s\n\n", cmp.Or(s.model.Name, "the endpoint's own"), len(s.done[arms[0]]), why)
	fmt.Fprint(&b, "Means of a session, and what the arm has more or less than that with nothing (95 % interval over tasks).\n\n| figure | "+strings.Join(arms, " | ")+" |\n|---|"+strings.Repeat("--:|", len(arms))+"\n")
	for _, figure := range []struct {
		name string
		of   func(outcome) float64
	}{
		{"solved", func(o outcome) float64 { return map[bool]float64{true: 1}[o.Solved] }},
		{"model turns", func(o outcome) float64 { return float64(o.Turns) }},
		{"calling turns", func(o outcome) float64 { return float64(o.Calling) }},
		{"calls", func(o outcome) float64 { return float64(o.Calls) }},
		{"calls of meta-tools", func(o outcome) float64 { return float64(o.Meta) }},
		{"reads attached", func(o outcome) float64 { return float64(o.Attached) }},
		{"input tokens", func(o outcome) float64 { return float64(o.Input) }},
		{"output tokens", func(o outcome) float64 { return float64(o.Output) }},
		{"seconds", func(o outcome) float64 { return o.Seconds }},
	} {
		without := s.ratio(arms[0], figure.of)
		fmt.Fprintf(&b, "| %s | %.2f |", figure.name, without.Value())
		for _, arm := range arms[1:] {
			with := s.ratio(arm, figure.of)
			fmt.Fprintf(&b, " %.2f (%s) |", with.Value(), bounds(with.Minus(without).Interval(stat.Options{Seed: 1})))
		}
		fmt.Fprintln(&b)
	}
	for _, arm := range arms[1:] {
		fmt.Fprintf(&b, "\n## %s compared with nothing\n\n", arm)
		compared := exec.Command(s.awo, "compare", filepath.Join(s.out, arms[0]), filepath.Join(s.out, arm), "--format", "markdown", "--quiet")
		var complaint bytes.Buffer
		compared.Stderr = &complaint
		text, err := compared.Output()
		if err != nil {
			return nil, fmt.Errorf("awo compare: %w\n%s", err, &complaint)
		}
		b.Write(text)
	}
	data, err := json.MarshalIndent(s.done, "", "  ")
	if err != nil {
		return nil, err
	}
	return b.Bytes(), os.WriteFile(filepath.Join(s.out, "sessions.json"), data, 0o600)
}

// bounds writes an interval; there is none where all tasks agree, or there are too few.
func bounds(in stat.Interval) string {
	if !in.Known() {
		return "no interval"
	}
	return fmt.Sprintf("%+.2f to %+.2f", in.Lo, in.Hi)
}
