package comparing

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/compare"
	"github.com/awo-dev/awo/internal/stat"
)

// JSON is the JSON of `awo compare`; docs/artefacts.md describes it.
type JSON struct {
	Schema     string             `json:"schema"`
	Input      cli.InputJSON      `json:"input"`
	Unit       string             `json:"unit"` // session, token or day; empty: mixed
	Share      float64            `json:"share"`
	Arms       []compare.Arm      `json:"arms"`
	Joined     int                `json:"joined_sessions"`
	Unjoined   int                `json:"unjoined_transcripts"`
	Figures    []compare.Compared `json:"figures"`
	Estimate   *estimateJSON      `json:"estimate,omitempty"`
	MetaTools  []compare.Tool     `json:"meta_tools"`
	Prefetch   []compare.Rule     `json:"prefetch"`
	Warnings   []compare.Warning  `json:"warnings"`
	Conclusion string             `json:"conclusion"`
}

// Prediction is what a back-test says of a technique: the share of calling turns saved, and
// the bounds of its interval, nil where there is none.
type Prediction struct {
	Technique string   `json:"technique"`
	Share     float64  `json:"calling_turns_saved_share"`
	Lo        *float64 `json:"lo"`
	Hi        *float64 `json:"hi"`
}

// estimateJSON sets what was realised beside that.
type estimateJSON struct {
	Predicted Prediction    `json:"predicted"`
	Realised  stat.Figure   `json:"realised_share"`
	Interval  stat.Interval `json:"realised_interval"`
	Units     stat.Figure   `json:"units_needed"` // in both arms, to tell the prediction from nothing
	Within    *bool         `json:"within"`       // the prediction is in the interval
}

func resultOf(in *cli.Intake, r *compare.Result, predicted *Prediction, unjoined int) JSON {
	out := JSON{
		Schema: "awo.comparison/v1", Input: in.JSON(), Unit: r.Unit, Share: r.Share, Joined: r.Joined, Unjoined: unjoined,
		Arms: []compare.Arm{r.Treated, r.Control}, Figures: r.Figures, Warnings: r.Warnings, MetaTools: r.Tools, Prefetch: r.Rules,
	}
	turns := &r.Figures[compare.CallingTurns]
	out.Conclusion = conclusion(turns, r)
	if predicted != nil {
		out.Estimate = estimateOf(turns, r, predicted)
	}
	return out
}

func estimateOf(f *compare.Compared, r *compare.Result, predicted *Prediction) *estimateJSON {
	share, in := f.Saved()
	out := &estimateJSON{Predicted: *predicted, Realised: share, Interval: in, Units: stat.Unknown("too few units say how much they differ")}
	if n := f.UnitsFor(predicted.Share, r.Share); n > 0 {
		out.Units = stat.Count(n)
	}
	if in.Known() && share.Known() {
		out.Within = new(in.Lo <= predicted.Share && predicted.Share <= in.Hi)
	}
	return out
}
