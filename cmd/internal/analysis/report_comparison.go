package analysis

import (
	"slices"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/comparing"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/internal/report"
)

var sectionComparison = reportSection{
	heading: "What compiled tools changed",
	about: "Some sessions were drawn to get the compiled tools and the others to go without them, so what differs is what the tools did, whether they were used or not. " +
		"Unlike the figures above, which are upper bounds from recordings, this was measured with agents that could choose.",
	blocks: func(r *reportInput) []report.Block { return r.comparison },
}

// compareArms adds what the recordings of an experiment say, beside what the back-test
// predicted.
func (r *reportInput) compareArms(j *cli.Job, o reportOptions) (*comparing.Comparison, error) {
	if len(o.Comparison) == 0 {
		return nil, nil
	}
	blocks, out, err := comparing.Section(j, comparing.Recorded{
		Files: o.Comparison, Tools: o.Tools, Rules: o.Rules, PriceOptions: o.PriceOptions,
		InputOptions: cli.InputOptions{Seed: o.Seed, TurnGap: o.TurnGap}, Predict: r.predicted,
	})
	r.comparison = blocks
	return out, err
}

// predicted returns what the back-test says of a technique, nil without one.
func (r *reportInput) predicted(technique string) *comparing.Prediction {
	if r.saving == nil || r.saving.found == nil {
		return nil
	}
	list := r.saving.out.Techniques
	i := slices.IndexFunc(list, func(t worth.Technique) bool { return t.Technique == technique })
	if i < 0 {
		return nil
	}
	share, known := list[i].Share.Value()
	if !known {
		return nil
	}
	out := &comparing.Prediction{Technique: technique, Share: share}
	if in := list[i].Intervals["calling_turns_saved"]; in.Known() && list[i].CallingTurns > 0 {
		of := float64(list[i].CallingTurns)
		out.Lo, out.Hi = new(in.Lo/of), new(in.Hi/of)
	}
	return out
}
