package prediction

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/internal/report"
)

// learn adds the learning curve of the default predictor: over folds, each test
// fold with growing shares of the others.
func (s *replayStudy) learn(out *ReplayJSON) {
	shares := []float64{0.1, 0.25, 0.5, 1}
	sum := make([]inertia.CurvePoint, len(shares))
	add := func(train, test []*inertia.Run) {
		for i, p := range inertia.LearningCurve(train, test, shares, rankOf(s.o.Seed), s.options) {
			sum[i].Tasks += p.Tasks
			sum[i].Trajectories += p.Trajectories
			sum[i].Runs = append(sum[i].Runs, p.Runs...)
		}
	}
	n := 1
	if s.train != nil {
		add(s.train, s.test)
	} else {
		folds := s.folds()
		n = folds.Len()
		for k := range n {
			add(s.fold(folds, k))
		}
	}
	for _, p := range sum {
		r := inertia.Rank(p.Runs, false)
		turns, _, _ := mostOf(p.Runs, 0.8, s.o.gate(inertia.PredictorDefault))
		out.LearningCurve = append(out.LearningCurve, curveJSON{
			Tasks: p.Tasks / n, Trajectories: p.Trajectories / n,
			Top1: figureShare(r.Top1, r.N, nothingHere), LogLoss: figureOf(r.LogLoss, nothingHere), TurnsAvoided: turns,
		})
	}
}

// rankOf orders tasks at random by a seed.
func rankOf(seed uint64) func(task string) uint64 {
	return func(task string) uint64 {
		sum := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte(task), seed))
		return binary.LittleEndian.Uint64(sum[:])
	}
}

// ablate adds the figures of the default predictor without one part at a time.
func (s *replayStudy) ablate(out *ReplayJSON) {
	without := func(sources ...inertia.Source) func(*inertia.ReplayOptions) {
		return func(o *inertia.ReplayOptions) { o.Predictor.Fill.Without = sources }
	}
	variants := []struct {
		name   string
		gate   inertia.Gate
		change func(*inertia.ReplayOptions)
	}{
		{"nothing", inertia.Gate{}, func(*inertia.ReplayOptions) {}},
		{"contexts of more than 1 call", inertia.Gate{}, func(o *inertia.ReplayOptions) { o.Model.Order = 1 }},
		{"contexts of more than 2 calls", inertia.Gate{}, func(o *inertia.ReplayOptions) { o.Model.Order = 2 }},
		{"states (user, failure)", inertia.Gate{}, func(o *inertia.ReplayOptions) { o.Model.NoState, o.Model.Order = true, s.o.Order }},
		{"Kneser-Ney counts", inertia.Gate{}, func(o *inertia.ReplayOptions) { o.Model.Uniform, o.Model.Order = true, s.o.Order }},
		{"dependency edges", inertia.Gate{}, without(inertia.FromCall)},
		{"key state", inertia.Gate{}, without(inertia.FromState)},
		{"text", inertia.Gate{}, without(inertia.FromText)},
		{"calibration", inertia.Gate{}, func(o *inertia.ReplayOptions) { o.Uncalibrated = true }},
		{"the limit to tools that read", inertia.Gate{}, func(o *inertia.ReplayOptions) { o.Predictor.Any = true }},
		{"the gate", inertia.Gate{Open: true}, func(*inertia.ReplayOptions) {}},
	}
	for _, v := range variants {
		options := s.options
		options.Only = []string{inertia.PredictorDefault}
		v.change(&options)
		runs := s.play(options)[inertia.PredictorDefault]
		gate := v.gate
		if !gate.Open {
			gate = s.o.gate(inertia.PredictorDefault)
		}
		r, f := inertia.Rank(runs, false), inertia.Fire(runs, s.o.theta(inertia.PredictorDefault), gate)
		turns, _, _ := mostOf(runs, 0.8, gate)
		out.Ablation = append(out.Ablation, replayAblationJSON{
			Without: v.name, Top1: figureShare(r.Top1, r.N, nothingHere), LogLoss: figureOf(r.LogLoss, nothingHere),
			Precision: figureShare(f.Right, f.Fired, neverFires), Coverage: figureShare(f.Fired, f.Turns, nothingHere), TurnsAvoided: turns,
		})
	}
}

// document lays the result out for people.
func (s *replayStudy) document(out ReplayJSON) *report.Document {
	d := &report.Document{Title: "Replay"}
	d.Add(s.in.Summary(), s.about(out))
	d.Section("Predicting the next turn", rankingTable(out))
	d.Section("Calls without the model", firingTable(out), wrongTable(out), fillingTable(out))
	if len(out.Reliability) > 0 {
		d.Section("Can its probabilities be believed", reliabilityTable(out))
	}
	if len(out.Sweeps) > 0 {
		d.Section("Over thresholds", replaySweepTable(out))
	}
	if len(out.LearningCurve) > 0 {
		d.Section("With less to learn from", replayCurveTable(out))
	}
	if len(out.Ablation) > 0 {
		d.Section("Without one part", replayAblationTable(out))
	}
	return d
}

func (s *replayStudy) about(out ReplayJSON) report.Paragraph {
	text := ""
	switch out.Split.Method {
	case "kfold":
		text = fmt.Sprintf("The tasks are divided into %d parts, and each is replayed by what the others teach.", out.Split.Folds)
	case "files":
		text = fmt.Sprintf("Trained on %s; the figures are of the files to test on.", cli.CountOf(len(s.train), "trajectory"))
	case "snapshot":
		text = "Predicted by the snapshot; the figures are held out only if it has not seen these traces."
	case "prequential":
		text = "Each trajectory is predicted from those before it, with what was learnt at most a twentieth of them earlier."
	}
	switch out.Effects {
	case "names":
		text += " Nothing declares which tools only read: their names are taken for it, which is good enough to replay and not to act (--rules)."
	case "any":
		text += " The default predictor may call any tool: what a wrong call would have changed is not counted."
	}
	return report.Paragraph(text)
}

func rankingTable(out ReplayJSON) *report.Table {
	t := report.NewTable("ranking", "",
		report.Column{Key: "predictor"}, report.Column{Key: "n", Title: "turns", Align: report.Right},
		report.Column{Key: "top1", Title: "first right", Unit: "%", Align: report.Right}, report.Column{Key: "top1_interval", Title: "95 % interval", Unit: "%", Interval: true, Align: report.Right},
		report.Column{Key: "top3", Title: "in first three", Unit: "%", Align: report.Right},
		report.Column{Key: "log_loss_bits", Title: "log-loss", Unit: "bits", Align: report.Right}, report.Column{Key: "log_loss_interval", Title: "95 % interval", Interval: true, Align: report.Right},
		report.Column{Key: "log_loss_behind_bits", Title: "behind the default", Unit: "bits", Align: report.Right}, report.Column{Key: "log_loss_behind_interval", Title: "95 % interval", Interval: true, Align: report.Right},
		report.Column{Key: "calls_top1", Title: "of calls only: first right", Unit: "%", Align: report.Right}, report.Column{Key: "calls_log_loss_bits", Title: "log-loss", Unit: "bits", Align: report.Right})
	for _, p := range out.Predictors {
		t.Add(report.Text(p.Predictor), report.Int(p.N), p.Top1.Share(1), report.ShareRange(p.Intervals.Top1, 1), p.Top3.Share(1),
			p.LogLoss.Float(3), report.Range(p.Intervals.LogLoss, 3), p.Behind.Float(3), report.Range(p.BehindInterval, 3), p.CallsOnly.Top1.Share(1), p.CallsOnly.LogLoss.Float(3))
	}
	t.Note("Every turn of the model counts, also one that makes no call. Over calls only is how AutoTool counts.")
	return t
}

func firingTable(out ReplayJSON) *report.Table {
	t := report.NewTable("firing", "",
		report.Column{Key: "predictor"}, report.Column{Key: "theta", Title: "from score", Align: report.Right},
		report.Column{Key: "fired", Title: "calls made", Align: report.Right}, report.Column{Key: "right", Title: "turns avoided", Align: report.Right},
		report.Column{Key: "precision", Unit: "%", Align: report.Right}, report.Column{Key: "precision_interval", Title: "95 % interval", Unit: "%", Interval: true, Align: report.Right},
		report.Column{Key: "coverage", Unit: "%", Align: report.Right},
		report.Column{Key: "turns_avoided", Title: "most avoided at precision 80 %", Align: report.Right}, report.Column{Key: "turns_avoided_interval", Title: "95 % interval", Interval: true, Align: report.Right},
		report.Column{Key: "turns_avoided_90", Title: "at 90 %", Align: report.Right}, report.Column{Key: "turns_avoided_ungated", Title: "at 80 % without the gate", Align: report.Right})
	for _, p := range out.Predictors {
		t.Add(report.Text(p.Predictor), report.Float(p.Theta, 2), report.Int(p.Fired), report.Int(p.Right), p.Precision.Share(1), report.ShareRange(p.Intervals.Precision, 1),
			p.Coverage.Share(1), p.TurnsAvoided.Int(), report.Range(p.Intervals.TurnsAvoided, 0), p.TurnsAvoided90.Int(), p.Ungated80.Int())
	}
	t.Note("Upper bounds: a live agent's future changes with every wrong call. The thresholds of the most turns avoided are chosen with the outcomes in sight, for every predictor alike.")
	return t
}

func wrongTable(out ReplayJSON) *report.Table {
	columns := []report.Column{{Key: "class", Title: "wrong calls"}}
	for _, p := range out.Predictors {
		columns = append(columns, report.Column{Key: p.Predictor, Align: report.Right})
	}
	t := report.NewTable("wrong", "", columns...)
	for i := range out.Predictors[0].Wrong {
		cells := []report.Cell{report.Text(out.Predictors[0].Wrong[i].Class)}
		for _, p := range out.Predictors {
			cells = append(cells, report.Int(p.Wrong[i].N))
		}
		t.Add(cells...)
	}
	return t
}

func fillingTable(out ReplayJSON) *report.Table {
	t := report.NewTable("filling", "",
		report.Column{Key: "predictor"}, report.Column{Key: "source", Title: "arguments from"},
		report.Column{Key: "tried", Align: report.Right}, report.Column{Key: "right", Align: report.Right})
	for _, p := range out.Predictors {
		for _, f := range p.Filling {
			if f.Tried > 0 {
				t.Add(report.Text(p.Predictor), report.Text(f.Source), report.Int(f.Tried), report.Int(f.Right))
			}
		}
	}
	t.Note("Of arguments at turns where the tool was right.")
	return t
}

func reliabilityTable(out ReplayJSON) *report.Table {
	t := report.NewTable("reliability", "",
		report.Column{Key: "score", Title: "said to be right", Unit: "%"}, report.Column{Key: "n", Title: "calls", Align: report.Right},
		report.Column{Key: "mean", Title: "on average", Unit: "%", Align: report.Right}, report.Column{Key: "right", Title: "was right", Unit: "%", Align: report.Right})
	for _, b := range out.Reliability {
		t.Add(report.Textf("%.0f to %.0f", 100*b.From, 100*b.To), report.Int(b.N), report.Share(b.Mean, 1), report.Share(b.Right, 1))
	}
	t.Note("Of all calls that the default predictor could have made, at any threshold and without the gate.")
	return t
}

func replaySweepTable(out ReplayJSON) *report.Table {
	t := report.NewTable("sweep", "",
		report.Column{Key: "predictor"}, report.Column{Key: "alpha", Align: report.Right}, report.Column{Key: "theta", Title: "from score", Align: report.Right},
		report.Column{Key: "fired", Title: "calls made", Align: report.Right}, report.Column{Key: "turns_avoided", Title: "turns avoided", Align: report.Right},
		report.Column{Key: "precision", Unit: "%", Align: report.Right}, report.Column{Key: "coverage", Unit: "%", Align: report.Right})
	for i, s := range out.Sweeps {
		if s.Predictor == inertia.PredictorRecover || s.Predictor != inertia.PredictorPreset && math.Round(s.Theta*100) != math.Round(s.Theta*10)*10 {
			continue
		}
		if s.Predictor == inertia.PredictorPreset && i < 60 && s.Theta > 0.3 {
			continue
		}
		t.Add(report.Text(s.Predictor), s.Alpha.Float(1), report.Float(s.Theta, 2), report.Int(s.Fired), report.Int(s.TurnsAvoided), s.Precision.Share(1), s.Coverage.Share(1))
	}
	t.Note("JSON has every step of 0.05.")
	return t
}

func replayCurveTable(out ReplayJSON) *report.Table {
	t := report.NewTable("learning-curve", "",
		report.Column{Key: "tasks", Title: "tasks learnt from", Align: report.Right}, report.Column{Key: "trajectories", Align: report.Right},
		report.Column{Key: "top1", Title: "first right", Unit: "%", Align: report.Right}, report.Column{Key: "log_loss_bits", Title: "log-loss", Unit: "bits", Align: report.Right},
		report.Column{Key: "turns_avoided", Title: "most avoided at precision 80 %", Align: report.Right})
	for _, p := range out.LearningCurve {
		t.Add(report.Int(p.Tasks), report.Int(p.Trajectories), p.Top1.Share(1), p.LogLoss.Float(3), p.TurnsAvoided.Int())
	}
	return t
}

func replayAblationTable(out ReplayJSON) *report.Table {
	t := report.NewTable("ablation", "",
		report.Column{Key: "without"}, report.Column{Key: "top1", Title: "first right", Unit: "%", Align: report.Right},
		report.Column{Key: "log_loss_bits", Title: "log-loss", Unit: "bits", Align: report.Right},
		report.Column{Key: "precision", Unit: "%", Align: report.Right}, report.Column{Key: "coverage", Unit: "%", Align: report.Right},
		report.Column{Key: "turns_avoided", Title: "most avoided at precision 80 %", Align: report.Right})
	for _, a := range out.Ablation {
		t.Add(report.Text(a.Without), a.Top1.Share(1), a.LogLoss.Float(3), a.Precision.Share(1), a.Coverage.Share(1), a.TurnsAvoided.Int())
	}
	return t
}
