package extraction

import (
	"iter"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/prediction"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// inertiaSnapshot returns the snapshot of the inertia graph of what was mined, as `awo
// snapshot build` makes it of that, in which the meta-tools that are offered are nodes.
func inertiaSnapshot(j *cli.Job, in *cli.Intake, mined *corpus.Corpus, set *rules.Set, offered []*bind.Definition) ([]byte, error) {
	const seed = 1
	learner := predict.NewLearner(predict.DefaultOrder, seed)
	r := prediction.NewSnapshotReader(set)
	composed := newComposer(set, offered)
	err := r.Read(j, composed.counting(mined.All()), learner.Add)
	if err != nil {
		return nil, err
	}
	in.Predicts()
	g, calibration := r.Learn(learner, predict.ModelOptions{})
	composed.add(g)
	return g.Model(predict.ModelOptions{}).Calibrated(calibration).AppendSnapshot(nil, g), nil
}

// composer counts where the calls of meta-tools were made one by one, and how they
// ended.
type composer struct {
	marker  Marker
	offered []*bind.Definition
	finder  *replay.Finder
	counts  []predict.Counts
}

func newComposer(set *rules.Set, offered []*bind.Definition) *composer {
	tools := make([]*metatool.Tool, len(offered))
	for i, d := range offered {
		tools[i] = &d.Tool
	}
	return &composer{NewMarker(set), offered, replay.NewFinder(tools), make([]predict.Counts, len(offered))}
}

// counting passes trajectories on and counts their occurrences.
func (c *composer) counting(source iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		for t, err := range source {
			if err == nil {
				c.finder.Occurrences(t, c.marker.Marks(t), func(tool int, o replay.Occurrence) { c.counts[tool].Add(ending(t, o)) })
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// ending says how an occurrence ended: it failed if one of its calls did, and went
// well if all are known to.
func ending(t *trace.Trajectory, o replay.Occurrence) predict.Counts {
	ok := true
	for _, calls := range o.Calls {
		for _, i := range calls {
			switch t.Calls[i].Status {
			case trace.StatusFailed:
				return predict.Counts{Failed: 1}
			case trace.StatusUnknown:
				ok = false
			}
		}
	}
	if ok {
		return predict.Counts{OK: 1}
	}
	return predict.Counts{Unknown: 1}
}

// add makes the meta-tools nodes of a graph.
func (c *composer) add(g *predict.Graph) {
	for i, d := range c.offered {
		t := predict.MetaTool{
			Name: trace.Intern(d.Name), Description: d.Description, First: trace.Intern(d.Steps[0].Tool), Counts: c.counts[i], Effect: predict.EffectWrites,
		}
		if d.Annotations.ReadOnly {
			t.Effect = predict.EffectReads
		}
		for _, input := range d.Inputs {
			if input.Required {
				t.Required = append(t.Required, input.Name)
			}
		}
		g.Compose(t)
	}
}
