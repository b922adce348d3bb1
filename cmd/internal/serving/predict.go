package serving

import (
	"encoding/json"
	"strings"

	"github.com/awo-dev/awo/gateway/compiled"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/trace"
)

// snapshot predicts with a model of inertia. It is a compiled.Predictor.
type snapshot struct{ model *predict.Model }

// readSnapshot reads the model of a snapshot.
func readSnapshot(file string) (*snapshot, error) {
	s, err := predict.Open(file)
	if err != nil {
		return nil, err
	}
	return &snapshot{s.Model}, nil
}

// Tools implements compiled.Predictor.
func (s *snapshot) Tools() (names []string) {
	tools := s.model.Tools()
	for i := range tools {
		names = append(names, tools[i].Name.Value())
	}
	return names
}

// Next implements compiled.Predictor: what `awo predict` would make without the model.
func (s *snapshot) Next(done []compiled.Done) (string, trace.Value, bool) {
	h := predict.NewLiveHistory(soFar(done))
	d := h.Now()
	p := predict.NewPredictor(s.model, predict.PredictorOptions{Effects: s.model.Effects()})
	f, ok := p.Fire(h, &d)
	if !ok || !f.Call.Complete || f.Call.Repeated || f.Score < predict.Threshold(inertiaCost) || !(predict.Gate{}).Allows(h.Events()) {
		return "", trace.Value{}, false
	}
	var members []trace.Member
	for _, a := range f.Call.Args {
		v, err := trace.ParseValue([]byte(a.Value))
		if err != nil {
			return "", trace.Value{}, false
		}
		members = append(members, trace.Member{Name: a.Param, Value: v})
	}
	return f.Name.Value(), trace.NewObject(members...), true
}

// inertiaCost is what a wrong call costs, in turns, as `awo predict` has it by default.
const inertiaCost = 1

// soFar is a session as a trajectory: a turn for each call of the agent.
func soFar(done []compiled.Done) *trace.Trajectory {
	t := &trace.Trajectory{ID: "live"}
	for i := range done {
		c := &done[i]
		call := trace.Call{
			Tool: trace.Intern(strings.TrimPrefix(c.Tool, "\x00")), Turn: len(t.Turns), HasResult: true, Status: trace.StatusOK,
			Args: trace.JSONOf(c.Arguments.AppendCanonical(nil)), Result: trace.JSONOf(json.RawMessage(c.Result.AppendCanonical(nil))),
		}
		if c.Failed {
			call.Status = trace.StatusFailed
		}
		if c.Inertial {
			call.Origin, call.Turn = trace.OriginInertial, len(t.Turns)-1
			if call.Turn >= 0 {
				t.Turns[call.Turn].NumCalls++
			}
		} else {
			call.Origin = trace.OriginModel
			t.Turns = append(t.Turns, trace.Turn{FirstCall: i, NumCalls: 1})
		}
		t.Calls = append(t.Calls, call)
	}
	return t
}
