package prediction

import (
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/inertia/effects"
	"github.com/awo-dev/awo/inertia/replay"
	"github.com/awo-dev/awo/summary/count"
)

// byHash learns from traces, or takes what summaries have learnt, and takes the sampled
// trajectories of both for those to replay: from here on both are one.
func (s *replayStudy) byHash(files, stored []string) error {
	for _, x := range []struct {
		flag string
		set  bool
	}{
		{"train and --test", len(s.o.Train) > 0},
		{"prequential", s.o.Prequential},
		{"learning-curve", s.o.LearningCurve},
		{"kfold", s.o.KFold != inertia.CalibrationParts},
		{"adapter", s.adapter != nil},
		{"exclude-tool", len(stored) > 0 && len(s.o.ExcludeTool) > 0},
	} {
		if x.set {
			return cli.Usagef("--%s: folds by hash, which summaries have, are five, of all files and calls, and without values", x.flag)
		}
	}
	if len(stored) == 0 {
		s.lessons = inertia.NewLessons(s.o.Order, s.o.Seed)
		if err := s.observe(files, s.lessons.Add); err != nil {
			return err
		}
	} else {
		sum, err := s.j.Recounted(stored, s.o.InputOptions, "snapshot", count.SnapshotChoice(s.o.Order, s.o.Seed))
		if err != nil {
			return err
		}
		if s.lessons = sum.Lessons(); s.lessons == nil {
			return snapshotCorrupt(stored)
		}
		set, err := s.j.Rules(s.o.Rules)
		if err != nil {
			return err
		}
		s.in = s.j.StoredIntake(sum, len(stored))
		s.effects = effects.FromSums(set, true, sum.Sums)
		for tool, called := range s.lessons.Trained().Graph(-1).Met() {
			s.effects.Met(tool, called)
		}
		s.options.Predictor.Effects = s.effects.Of
	}
	var ok bool
	if s.apart, ok = s.lessons.Sampled(); !ok {
		return snapshotCorrupt(files)
	}
	for _, runs := range s.apart {
		s.test = append(s.test, runs...)
	}
	return nil
}

// heldOut replays the sampled trajectories of each part by what the others teach.
func (s *replayStudy) heldOut(options replay.Options) map[string][]replay.Replayed {
	parts, whole := make([]map[string][]replay.Replayed, len(s.apart)), make([]bool, len(s.apart))
	s.j.Each()(len(s.apart), func(k int) {
		parts[k], whole[k] = replay.HeldOut(s.lessons, k, s.apart[k], options)
	})
	for _, ok := range whole {
		if !ok {
			panic("prediction: what was read once cannot be read again")
		}
	}
	return joined(parts)
}
