package extraction

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/prediction"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/rules"
)

// inertiaSnapshot returns the snapshot of what was mined, as `awo snapshot build` makes it of
// that.
func inertiaSnapshot(j *cli.Job, in *cli.Intake, mined *corpus.Corpus, set *rules.Set) ([]byte, error) {
	const seed = 1
	learner := predict.NewLearner(predict.DefaultOrder, seed)
	r := prediction.NewSnapshotReader(set)
	if err := r.Read(j, mined.All(), learner.Add); err != nil {
		return nil, err
	}
	in.Predicts()
	g, calibration := r.Learn(learner, predict.ModelOptions{})
	return g.Model(predict.ModelOptions{}).Calibrated(calibration).AppendSnapshot(nil, g), nil
}
