package backtest

import (
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/trace"
)

// inertial makes calls without asking the model where they follow from what came
// before.
var inertial = Technique{
	Name: "inertia", Doc: "calls that are predicted with their arguments, behind the gate, and made without the model",
	Train: func(p *Part) Trained { return p.trainHabits() },
}

// wrongCost is what a wrong call costs, in turns of the model.
const wrongCost = 1

// habits is a predictor that has learnt.
type habits struct {
	model   *predict.Model // nil if there is nothing to learn from
	options predict.PredictorOptions
	theta   float64
	gate    predict.Gate
	notes   []string
}

// trainHabits trains the default predictor of package inertia on the training
// part, once.
func (p *Part) trainHabits() *habits {
	if p.habits != nil {
		return p.habits
	}
	h := &habits{theta: predict.Threshold(wrongCost)}
	h.options.Effects = p.effects().Of
	learner := predict.NewLearner(predict.DefaultOrder, p.Options.Seed)
	var observer predict.Observer
	observed := make([]*predict.Observation, len(p.Runs))
	for i := range par.Each(max(p.Options.Workers, 1), len(p.Runs), func(i int) { observed[i] = observer.Observe(p.Runs[i].Trajectory, p.Runs[i].Flow) }) {
		learner.Add(p.Runs[i].Trajectory, observed[i])
		observed[i] = nil
	}
	if len(p.Runs) > 0 {
		h.model = learner.Model(predict.ModelOptions{}, h.options)
	}
	h.notes = []string{
		"only tools that rules, annotations or, where nothing is declared, names say to read are called without the model; names are good enough to replay and not to act",
		"a wrong call is charged as one model call in the model calls saved, and not in tokens or money: what its result would have added to the context is not recorded",
	}
	p.habits = h
	return h
}

// avoids returns by call whether it would have been made without the model, and
// how many calls that are not recorded would have been.
func (h *habits) avoids(c *Case) (avoided []bool, wrong int) {
	avoided = make([]bool, len(c.Trajectory.Calls))
	if h.model == nil || len(c.Trajectory.Turns) == 0 {
		return avoided, 0
	}
	avoided, wrong = predict.NewPredictor(h.model, h.options).Avoided(predict.NewHistory(c.Trajectory), h.theta, h.gate)
	for call, before := range merge.Repeats(c.Trajectory, c.Marks) {
		avoided[call] = avoided[call] && before < 0 // what a repeat tells is known already
	}
	return avoided, wrong
}

// turnAvoided returns the turn that there would be without if a call were made
// without the model; -1 if there is none.
func turnAvoided(t *trace.Trajectory, call int) int {
	turn := t.Calls[call].Turn
	if turn < 0 || turn >= len(t.Turns) || t.Turns[turn].NumCalls != 1 {
		return -1
	}
	return turn
}

// Find removes the turns whose only call is predicted right.
func (h *habits) Find(c *Case) *Finding {
	f := &Finding{Wrong: c.wrong, Added: c.wrong}
	for call, is := range c.avoided {
		if !is {
			continue
		}
		if turn := turnAvoided(c.Trajectory, call); turn >= 0 {
			f.Removed = append(f.Removed, turn)
		}
	}
	f.Used = len(f.Removed)+f.Wrong > 0
	return f
}

// Saving returns what the removed turns save.
func (h *habits) Saving(c *Case, f *Finding) cost.Totals {
	if c.Account == nil {
		return cost.Totals{}
	}
	return c.Account.Saving(f.Removed, 0)
}

// Summary says what the figures leave out.
func (h *habits) Summary() Learnt { return Learnt{Notes: h.notes} }
