package trace

import (
	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatTauBench reads the results of tau-bench: an array with an object for
// each run, {task_id, reward, trial, info, traj}, where traj is a list of OpenAI
// messages. Its tool messages carry the tool's name beside the id of the call.
// The format has no error flag, no times, no usage, no model and no definitions.
var formatTauBench = Format{
	Name:   "tau-bench",
	Doc:    "Results of tau-bench: an array of runs, each with its task, trial, reward and OpenAI messages.",
	Spec:   "https://github.com/sierra-research/tau-bench",
	Detect: detectTauBench,
	Decode: decodeTauBench,
}

func detectTauBench(h Head) Match {
	if len(h.Records) == 0 {
		return Match{}
	}
	r := h.Records[0]
	switch {
	case r.Has("traj") && (r.Has("task_id") || r.Has("reward")):
		return Match{OK: true}
	case r.Has("task_id", "reward") && !r.Truncated:
		return Match{Lacks: `the runs have no member "traj"`}
	case r.Has("traj"):
		return Match{Lacks: `the runs have neither "task_id" nor "reward"`}
	}
	return Match{}
}

// The members of a run that are read.
const (
	tauTask members = 1 << iota
	tauTrial
	tauReward
	tauTraj
)

func decodeTauBench(r Record) ([]Fragment, error) {
	b := newBuilder(len(r.Data))
	d := chatDecoder{b: b}
	c := jsonscan.New(r.Data)
	var seen members
	shape := `this record has no list of messages "traj"`
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "task_id":
			seen.note(b, tauTask)
			b.t.Task = b.readID(&c)
		case "trial":
			seen.note(b, tauTrial)
			b.t.Trial = b.readID(&c)
		case "reward":
			seen.note(b, tauReward)
			readReward(b, &c)
		case "traj":
			if seen.note(b, tauTraj) {
				b.restart()
			}
			if d.messages(&c) {
				shape = ""
			}
		}
	}
	if b.t.Task != "" && b.t.Trial != "" {
		b.t.ID = b.text([]byte(b.t.Task + "/" + b.t.Trial))
	}
	return b.finishRecord(r, &c, shape)
}

// readReward reads the reward of tau-bench and tau2: 1 is success, within the
// tolerance of tau-bench's own evaluation, and less is failure.
func readReward(b *builder, c *jsonscan.Cursor) {
	b.t.Score, b.t.Outcome = nil, OutcomeUnknown
	reward, ok := c.Float()
	if !ok {
		return
	}
	const tolerance = 1e-6
	b.t.Score = &reward
	switch {
	case reward < 1-tolerance:
		b.t.Outcome = OutcomeFailure
	case reward <= 1+tolerance:
		b.t.Outcome = OutcomeSuccess
	}
}
