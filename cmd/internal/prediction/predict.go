package prediction

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/trace"
)

// predictOptions are the flags of `awo predict`.
type predictOptions struct {
	Adapter string  `mapstructure:"adapter"`
	Top     int     `mapstructure:"top"`
	Cost    float64 `mapstructure:"cost"`
	Fire    string  `mapstructure:"fire"`
}

// NewPredict returns `awo predict`.
func NewPredict(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "predict SNAPSHOT",
		Short: "Predict the next call of a trajectory so far",
		Long: `Read one trajectory so far on the standard input, in any trace format, and print
the likeliest next calls with their arguments filled in, and whether the first of
them is worth making without asking the model. The arguments are values of the
trajectory that was given.`,
		Example: `  awo predict inertia.awo < run.jsonl
  awo predict inertia.awo --top 5 --format json < run.jsonl`,
		GroupID: cli.GroupCompile,
		Args:    oneSnapshot,
	}
	f := c.Flags()
	f.String("adapter", "", "`FILE` with the environment's key state and text actions")
	cli.CountTo(f, "top", 3, 1, 100, "how many outcomes are printed")
	cli.Amount(f, "cost", 1, "what a wrong call costs, in turns of the model; a call is made where the saving outweighs it")
	f.Var(cli.NewChoice("read-only", "any"), "fire", "which tools may be called: those declared to read, or any")
	return cli.Work(a, c, predictCall)
}

// predictionFigures are those of `awo predict`.
type predictionFigures struct {
	Fires  bool    `json:"fires"`  // the call below is worth making
	Call   *call   `json:"call"`   // the call that would be made
	Reason string  `json:"reason"` // why none is made
	Theta  float64 `json:"theta"`
}

// prediction is what may come next.
type prediction struct {
	predictionFigures
	offers []offer // the likeliest first
}

type offer struct {
	Tool        string     `json:"tool"` // "" makes no call
	Probability float64    `json:"probability"`
	Effect      string     `json:"effect"`
	Args        []argument `json:"args"`
	Complete    bool       `json:"complete"` // every required argument has a value
	Right       float64    `json:"right"`    // probability that exactly this call is made
}

type argument struct {
	Param  string  `json:"param"`
	Value  any     `json:"value"`
	Source string  `json:"source"`
	Share  float64 `json:"share"` // how often its rule is right
}

type call struct {
	Tool string         `json:"tool"`
	Args map[string]any `json:"args"`
}

func predictCall(j *cli.Job, o predictOptions, args []string) error {
	adapter, err := readAdapter(j, o.Adapter)
	if err != nil {
		return err
	}
	s, err := predict.Open(args[0])
	if err != nil {
		return err
	}
	t, err := soFar(j, adapter)
	if err != nil {
		return err
	}
	return j.Result(predictionDocument(predictionOf(s.Model, t, adapter, o)))
}

// soFar reads the trajectory on the standard input.
func soFar(j *cli.Job, adapter *predict.Adapter) (*trace.Trajectory, error) {
	r, err := j.Open([]string{"-"}, trace.Options{})
	if err != nil {
		return nil, err
	}
	var found *trace.Trajectory
	for t, err := range j.Trajectories(r) {
		switch {
		case err != nil:
			return nil, err
		case found != nil:
			return nil, cli.Usagef("the standard input holds several trajectories: give one")
		}
		found = t
	}
	if found == nil {
		return nil, cli.Usagef("there is no trajectory on the standard input")
	}
	if adapter != nil {
		found = adapter.Rewrite(found)
	}
	return found, nil
}

func predictionOf(m *predict.Model, t *trace.Trajectory, adapter *predict.Adapter, o predictOptions) *prediction {
	h := predict.NewLiveHistory(t)
	d := h.Now()
	options := predict.PredictorOptions{Effects: m.Effects(), Any: o.Fire == "any", Fill: predict.FillOptions{Adapter: adapter, Schemas: predict.SchemasOf(t.Tools)}}
	if len(t.Tools) > 0 {
		options.Available = predict.Offered(t)
	}
	p := predict.NewPredictor(m, options)
	out := &prediction{predictionFigures: predictionFigures{Theta: predict.Threshold(o.Cost)}}
	for _, x := range p.Offers(h, &d, o.Top) {
		one := offer{Probability: x.Probability, Effect: x.Effect.String(), Right: x.Right, Complete: x.Fill.Complete}
		if x.Symbol != 0 {
			one.Tool = x.Tool.Value()
		}
		for _, a := range x.Fill.Args {
			one.Args = append(one.Args, argument{a.Param, json.RawMessage(a.Value), a.Source.String(), a.Share})
		}
		out.offers = append(out.offers, one)
	}
	f, ok := p.Fire(h, &d)
	switch {
	case !ok && d.AfterUser:
		out.Reason = "the user has just spoken"
	case !ok:
		out.Reason = "no call can be made: its tool may not be called without the model, or an argument is not known"
	case f.Score < out.Theta:
		out.Reason = "a wrong call would cost more than the turn that a right one saves"
	case !(predict.Gate{}).Allows(h.Events()):
		out.Reason = "the gate is shut: a call without the model or a failure came just before, or they would be more than 30 % of the calls"
	default:
		out.Fires = true
	}
	if ok {
		out.Call = &call{Tool: f.Name.Value(), Args: map[string]any{}}
		for _, a := range f.Call.Args {
			out.Call.Args[a.Param] = json.RawMessage(a.Value)
		}
	}
	return out
}

func predictionDocument(out *prediction) *report.Document {
	d := &report.Document{Title: "Next call", Answer: "Ask the model: " + out.Reason + ".", Figures: out.predictionFigures}
	if out.Fires {
		d.Answer = "Worth making without asking the model: " + out.Call.Tool + "."
	}
	t := report.TableOf("offers", "", out.offers, []report.Column{
		{Key: "tool", Cell: report.By(func(o *offer) report.Cell { return report.Name(cmp.Or(o.Tool, "(no call)")) })},
		{Key: "probability", Unit: "%"},
		{Key: "effect", Words: true},
		{Key: "right", Title: "exactly this call", Unit: "%", Align: report.Right, Cell: report.By(func(o *offer) report.Cell {
			if o.Right > 0 {
				return report.Share(o.Right, 1)
			}
			return report.Text("")
		})},
		{Key: "args", Title: "arguments", Max: 80, Wrap: true, Cell: report.By(func(o *offer) report.Cell {
			return report.Name(strings.Join(cli.Map(o.Args, func(a *argument) string { return fmt.Sprintf("%s: %s", a.Param, a.Value) }), ", "))
		})},
	})
	t.Brief = len(out.offers)
	d.Add(t)
	return d
}
