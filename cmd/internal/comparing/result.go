package comparing

import (
	"math"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/compare"
	"github.com/awo-dev/awo/internal/stat"
)

// JSON is the JSON of `awo compare`; docs/artefacts.md describes it.
type JSON struct {
	Schema     string            `json:"schema"`
	Input      cli.InputJSON     `json:"input"`
	Unit       string            `json:"unit"` // session, token or day; empty: mixed
	Share      float64           `json:"share"`
	Arms       []armJSON         `json:"arms"`
	Joined     int               `json:"joined_sessions"`
	Unjoined   int               `json:"unjoined_transcripts"`
	Figures    []figureJSON      `json:"figures"`
	Estimate   *estimateJSON     `json:"estimate,omitempty"`
	MetaTools  []toolJSON        `json:"meta_tools"`
	Prefetch   []ruleJSON        `json:"prefetch"`
	Warnings   []compare.Warning `json:"warnings"`
	Conclusion string            `json:"conclusion"`
}

type armJSON struct {
	Arm          string `json:"arm"`
	Units        int    `json:"units"`
	Sessions     int    `json:"sessions"`
	TurnsAssumed int    `json:"turns_assumed"`
}

// figureJSON is a figure of a session, the mean, in each arm. Intervals hold if one looks
// once; always holds at every look.
type figureJSON struct {
	Figure             string         `json:"figure"`
	Treated            stat.Figure    `json:"treated"`
	Control            stat.Figure    `json:"control"`
	Difference         stat.Figure    `json:"difference"`
	DifferenceInterval stat.Interval  `json:"difference_interval"`
	Ratio              stat.Figure    `json:"ratio"`
	RatioInterval      stat.Interval  `json:"ratio_interval"`
	Always             *stat.Interval `json:"difference_always,omitempty"`
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

type toolJSON struct {
	Name            string         `json:"name"`
	Advice          compare.Advice `json:"advice"`
	Reason          string         `json:"reason"`
	Sessions        int            `json:"sessions"`
	Used            int            `json:"used_sessions"`
	Wanted          int            `json:"wanted_sessions"` // with a use or a place
	Uses            int            `json:"uses"`
	Completed       int            `json:"completed"`
	Completion      stat.Interval  `json:"completion_interval"`
	HandBacks       map[string]int `json:"hand_backs"`
	Repeated        int            `json:"repeated_uses"`
	Repeats         int            `json:"repeated_calls"`
	Saved           int            `json:"turns_saved"` // less repeats; upper bound
	Places          int            `json:"places"`
	ControlSessions int            `json:"control_sessions"`
	ControlPlaces   int            `json:"control_places"`
	OverUse         stat.Interval  `json:"over_use_interval"` // uses and places of a session, less the places of one of control
}

type ruleJSON struct {
	ID        string         `json:"id"`
	Advice    compare.Advice `json:"advice"`
	Reason    string         `json:"reason"`
	Sessions  int            `json:"sessions"`
	Reads     int            `json:"reads"`
	Failed    int            `json:"failed"`
	Attached  int            `json:"attached"`
	InVain    int            `json:"asked_again"` // of attached
	Held      int            `json:"held_back"`
	Asked     int            `json:"asked_for"` // of held back
	Precision stat.Figure    `json:"precision"`
	Interval  stat.Interval  `json:"precision_interval"`
	Promised  stat.Figure    `json:"promised"`
}

func resultOf(in *cli.Intake, r *compare.Result, predicted *Prediction, promised map[string]float64, unjoined int) JSON {
	out := JSON{
		Schema: "awo.comparison/v1", Input: in.JSON(), Unit: r.Unit, Share: r.Share, Joined: r.Joined, Unjoined: unjoined,
		Arms:     []armJSON{{"treated", r.Treated.Units, r.Treated.Sessions, r.Treated.Assumed}, {"control", r.Control.Units, r.Control.Sessions, r.Control.Assumed}},
		Figures:  []figureJSON{},
		Warnings: append([]compare.Warning{}, r.Warnings...), MetaTools: []toolJSON{}, Prefetch: []ruleJSON{},
	}
	const none = "an arm has no session"
	for i := range r.Figures {
		f := &r.Figures[i]
		one := figureJSON{
			Figure: f.Figure.String(), Treated: stat.Finite(f.Treated, none), Control: stat.Finite(f.Control, none),
			Difference: stat.Finite(f.Difference, none), DifferenceInterval: f.ArmIntervals.Difference,
			Ratio: stat.Finite(f.Ratio, "control has none"), RatioInterval: f.ArmIntervals.Ratio,
		}
		if f.Always != (stat.Interval{}) {
			one.Always = &f.Always
		}
		out.Figures = append(out.Figures, one)
		if f.Figure == compare.CallingTurns {
			out.Conclusion = conclusion(f, r)
			if predicted != nil {
				out.Estimate = estimateOf(f, r, predicted)
			}
		}
	}
	for _, t := range r.Tools {
		advice, reason := r.Advice(t)
		out.MetaTools = append(out.MetaTools, toolJSON{
			t.Name, advice, reason, t.Sessions, t.Used, t.Wanted, t.Uses, t.Completed, cli.Wilson(t.Completed, t.Uses), t.HandBacks,
			t.Repeated, t.Repeats, t.Saved, t.Places, t.ControlSessions, t.Control, r.OverUse(t),
		})
	}
	for _, u := range r.Rules {
		advice, reason := u.Advice(promised[u.ID])
		one := ruleJSON{
			ID: u.ID, Advice: advice, Reason: reason, Sessions: u.Sessions, Reads: u.Reads, Failed: u.Failed, Attached: u.Attached, InVain: u.InVain, Held: u.Held, Asked: u.Asked,
			Promised: stat.Unknown("--tools says what is promised"),
		}
		precision, interval, _ := u.Precision()
		one.Interval = interval
		one.Precision = stat.Ratio(u.Asked, u.Held, interval.Reason)
		if u.Held > 0 {
			one.Precision = stat.Known(precision)
		}
		if p, ok := promised[u.ID]; ok {
			one.Promised = stat.Known(p)
		}
		out.Prefetch = append(out.Prefetch, one)
	}
	return out
}

func estimateOf(f *compare.Compared, r *compare.Result, predicted *Prediction) *estimateJSON {
	share, in := f.Saved()
	out := &estimateJSON{Predicted: *predicted, Realised: stat.Finite(share, "there is no control"), Interval: in, Units: stat.Unknown("too few units say how much they differ")}
	if n := f.UnitsFor(predicted.Share, r.Share); n > 0 {
		out.Units = stat.Count(n)
	}
	if in.Known() && !math.IsNaN(share) {
		out.Within = new(in.Lo <= predicted.Share && predicted.Share <= in.Hi)
	}
	return out
}
