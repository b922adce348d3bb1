package bench

import (
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// TauBench reads the results of tau-bench: an array with an object for
// each run, {task_id, reward, trial, info, traj}, where traj is a list of OpenAI
// messages. Its tool messages carry the tool's name beside the id of the call.
// The format has no error flag, no times, no usage, no model and no definitions.
var TauBench = trace.Format{
	Name:   "tau-bench",
	Doc:    "Results of tau-bench: an array of runs, each with its task, trial, reward and OpenAI messages.",
	Spec:   "https://github.com/sierra-research/tau-bench",
	Detect: detectTauBench,
	Decode: decodeTauBench,
}

func detectTauBench(h trace.Head) trace.Match {
	if len(h.Records) == 0 {
		return trace.Match{}
	}
	r := h.Records[0]
	switch {
	case r.Has("traj") && (r.Has("task_id") || r.Has("reward")):
		return trace.Match{OK: true}
	case r.Has("task_id", "reward") && !r.Truncated:
		return trace.Match{Lacks: `the runs have no member "traj"`}
	case r.Has("traj"):
		return trace.Match{Lacks: `the runs have neither "task_id" nor "reward"`}
	}
	return trace.Match{}
}

// The members of a run that are read.
const (
	tauTask build.Members = 1 << iota
	tauTrial
	tauReward
	tauTraj
)

func decodeTauBench(r trace.Record) ([]trace.Fragment, error) {
	b := build.New(len(r.Data))
	d := message.Chat{Builder: b}
	c := jsonscan.New(r.Data)
	var seen build.Members
	shape := `this record has no list of messages "traj"`
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "task_id":
			seen.Note(b, tauTask)
			b.Trajectory.Task = b.ReadID(&c)
		case "trial":
			seen.Note(b, tauTrial)
			b.Trajectory.Trial = b.ReadID(&c)
		case "reward":
			seen.Note(b, tauReward)
			readReward(b, &c)
		case "traj":
			if seen.Note(b, tauTraj) {
				b.Restart()
			}
			if d.Messages(&c) {
				shape = ""
			}
		}
	}
	if b.Trajectory.Task != "" && b.Trajectory.Trial != "" {
		b.Trajectory.ID = b.Text([]byte(b.Trajectory.Task + "/" + b.Trajectory.Trial))
	}
	return b.FinishRecord(r, &c, shape)
}

// readReward reads the reward of tau-bench and tau2: 1 is success, within the
// tolerance of tau-bench's own evaluation, and less is failure.
func readReward(b *build.Builder, c *jsonscan.Cursor) {
	b.Trajectory.Score, b.Trajectory.Outcome = nil, trace.OutcomeUnknown
	reward, ok := c.Float()
	if !ok {
		return
	}
	const tolerance = 1e-6
	b.Trajectory.Score = &reward
	switch {
	case reward < 1-tolerance:
		b.Trajectory.Outcome = trace.OutcomeFailure
	case reward <= 1+tolerance:
		b.Trajectory.Outcome = trace.OutcomeSuccess
	}
}
