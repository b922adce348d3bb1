package comparing

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/gateway/compare"
	"github.com/awo-dev/awo/internal/stat"
)

// Comparison is what the arms of an experiment differ in.
type Comparison struct {
	Figures
	result     *compare.Result
	conclusion string
}

// Figures are those of a comparison of arms.
type Figures struct {
	Input    cli.InputJSON `json:"input"`
	Unit     string        `json:"unit"` // session, token or day; empty: mixed
	Share    float64       `json:"share"`
	Joined   int           `json:"joined_sessions"`
	Unjoined int           `json:"unjoined_transcripts"`
	Estimate *estimate     `json:"estimate,omitempty"`
}

// Prediction is what a back-test says of a technique: the share of calling turns saved, and
// the bounds of its interval, nil where there is none.
type Prediction struct {
	Technique string   `json:"technique"`
	Share     float64  `json:"calling_turns_saved_share"`
	Lo        *float64 `json:"lo"`
	Hi        *float64 `json:"hi"`
}

// estimate sets what was realised beside that.
type estimate struct {
	Predicted Prediction    `json:"predicted"`
	Realised  stat.Estimate `json:"realised_share"`
	Units     stat.Figure   `json:"units_needed"` // in both arms, to tell the prediction from nothing
	Within    *bool         `json:"within"`       // the prediction is in the interval
}

func resultOf(in *cli.Intake, r *compare.Result, predicted *Prediction, unjoined int) *Comparison {
	turns := &r.Figures[compare.CallingTurns]
	out := &Comparison{
		Figures: Figures{Input: in.JSON(), Unit: r.Unit, Share: r.Share, Joined: r.Joined, Unjoined: unjoined}, result: r, conclusion: conclusion(turns, r),
	}
	if predicted != nil {
		out.Estimate = estimateOf(turns, r, predicted)
	}
	return out
}

func estimateOf(f *compare.Compared, r *compare.Result, predicted *Prediction) *estimate {
	share, in := f.Saved()
	out := &estimate{Predicted: *predicted, Realised: stat.Estimate{Figure: share, Interval: in}, Units: stat.Unknown("too few units say how much they differ")}
	if n := f.UnitsFor(predicted.Share, r.Share); n > 0 {
		out.Units = stat.Count(n)
	}
	if in.Known() && share.Known() {
		out.Within = new(in.Lo <= predicted.Share && predicted.Share <= in.Hi)
	}
	return out
}
