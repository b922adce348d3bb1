package prediction

import (
	"fmt"
	"math"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/predict/replay"
)

// document lays the result out for people.
func (s *replayStudy) document(out *replayed) *report.Document {
	d := &report.Document{Title: "Replay", Answer: replayAnswer(out), Figures: out.figures}
	d.Add(s.in.Summary())
	d.Section("Calls without the model", firingTable(out))
	d.Details()
	d.Add(s.about(out))
	d.Section("Predicting the next turn", rankingTable(out))
	d.Section("Wrong calls and arguments", wrongTable(out), fillingTable(out))
	d.Section("Are its probabilities right", reliabilityTable(out).IfAny())
	d.Section("By threshold", replaySweepTable(out).IfAny())
	return d
}

// replayAnswer says what the default predictor would have saved.
func replayAnswer(out *replayed) string {
	if len(out.ranking) == 0 || out.ranking[0].N == 0 {
		return "There is no turn of a model to predict."
	}
	n, p := out.ranking[0].N, &out.firing[0]
	turns := cli.CountOf(n, "turn")
	if p.Fired == 0 {
		return fmt.Sprintf("No call would have been made without the model: in none of %s is a prediction sure enough.", turns)
	}
	return fmt.Sprintf("Of %s, at most %s (%.1f %%) could have been left out, because the call was predicted; %s would have been made for nothing.",
		turns, report.Grouped(p.Right), 100*float64(p.Right)/float64(n), cli.CountOf(p.Fired-p.Right, "call"))
}

func (s *replayStudy) about(out *replayed) report.Paragraph {
	text := ""
	switch out.figures.Split.Method {
	case "kfold":
		text = fmt.Sprintf("The tasks are divided into %d parts, and each is replayed by what the others teach.", out.figures.Split.Folds)
	case "snapshot":
		text = "Predicted by the snapshot; the figures are held out only if it has not seen these traces."
	case "prequential":
		text = "Each trajectory is predicted from those before it, with what was learnt at most a twentieth of them earlier."
	}
	switch out.figures.Effects {
	case "names":
		text += " Nothing declares which tools only read: their names are taken for it, which is good enough to replay and not to act (--rules)."
	case "any":
		text += " The default predictor may call any tool: what a wrong call would have changed is not counted."
	}
	return report.Paragraph(text)
}

func rankingTable(out *replayed) *report.Table {
	t := report.TableOf("ranking", "", out.ranking, []report.Column{
		{Key: "predictor", Title: "predicted by", Words: true},
		{Key: "n", Title: "turns"},
		{Key: "top1", Title: "first right", Unit: "%"},
		{Key: "top3", Title: "in first three", Unit: "%", Align: report.Right, Cell: report.By(func(r *ranking) report.Cell { return report.ShareOf(r.Top3.Figure, 1) })},
		{Key: "log_loss_bits", Title: "log-loss", Unit: "bits", Digits: 3},
		{Key: "log_loss_behind_bits", Title: "behind the default", Unit: "bits", Digits: 3},
		{Key: "calls_top1", From: "calls_only.top1", Title: "of calls only: first right", Unit: "%"},
		{Key: "calls_log_loss_bits", From: "calls_only.log_loss_bits", Title: "log-loss", Unit: "bits", Digits: 3},
	})
	t.Note("Every turn of the model counts, also one that makes no call. Over calls only is how AutoTool counts.")
	return t
}

func firingTable(out *replayed) *report.Table {
	t := report.TableOf("firing", "", out.firing, []report.Column{
		{Key: "predictor", Title: "predicted by", Words: true},
		{Key: "theta", Title: "sure from", Digits: 2},
		{Key: "fired", Title: "calls made"},
		{Key: "right", Title: "turns avoided"},
		{Key: "precision", Unit: "%"},
		{Key: "coverage", Title: "of all turns", Unit: "%", Align: report.Right, Cell: report.By(func(f *firing) report.Cell { return report.ShareOf(f.Coverage.Figure, 1) })},
		{Key: "turns_avoided", Title: "most avoided at precision 80 %", Digits: report.Whole},
		{Key: "turns_avoided_90", Title: "at 90 %", Align: report.Right, Cell: report.By(func(f *firing) report.Cell { return report.IntOf(f.TurnsAvoided90.Figure) })},
		{Key: "turns_avoided_ungated", Title: "at 80 %, any call", Digits: report.Whole},
	})
	t.Note("Upper bounds: a live agent's future changes with every wrong call. The thresholds of the most turns avoided are chosen with the outcomes in sight, for every predictor alike.")
	return t
}

func wrongTable(out *replayed) *report.Table {
	columns := []report.Column{{Key: "class", Title: "wrong calls", Words: true}}
	for i := range out.firing {
		name := out.firing[i].Predictor
		columns = append(columns, report.Column{Key: name, From: "n." + name})
	}
	return report.TableOf("wrong", "", out.wrong, columns)
}

func fillingTable(out *replayed) *report.Table {
	t := report.TableOf("filling", "", out.filling, []report.Column{
		{Key: "predictor", Title: "predicted by", Words: true}, {Key: "source", Title: "arguments from", Words: true}, {Key: "tried"}, {Key: "right"},
	})
	t.Note("Of arguments at turns where the tool was right.")
	return t
}

func reliabilityTable(out *replayed) *report.Table {
	t := report.TableOf("reliability", "", out.reliability, []report.Column{
		{Key: "score", Title: "predicted to be right", Unit: "%", Cell: report.By(func(b *replay.Bin) report.Cell { return report.Textf("%.0f to %.0f", 100*b.From, 100*b.To) })},
		{Key: "n", Title: "calls"},
		{Key: "mean", Title: "on average", Unit: "%"},
		{Key: "right", Title: "was right", Unit: "%"},
	})
	t.Note("Of all calls that the default predictor could have made, at any threshold and without the gate.")
	return t
}

// replaySweepTable has all thresholds. Texts show every tenth, and of AutoTool's smaller
// alphas those up to 0.3: these come first.
func replaySweepTable(out *replayed) *report.Table {
	var shown, others []sweep
	for i, s := range out.sweeps {
		preset, tenth := s.Predictor == replay.PredictorPreset, math.Round(s.Theta*100) == math.Round(s.Theta*10)*10
		if (preset || tenth) && (!preset || i >= 60 || s.Theta <= 0.3) {
			shown = append(shown, s)
		} else {
			others = append(others, s)
		}
	}
	t := report.TableOf("sweeps", "", append(shown, others...), []report.Column{
		{Key: "predictor", Title: "predicted by", Words: true},
		{Key: "alpha", Digits: 1},
		{Key: "theta", Title: "sure from", Digits: 2},
		{Key: "fired", Title: "calls made"},
		{Key: "turns_avoided", Title: "turns avoided"},
		{Key: "precision", Unit: "%"},
		{Key: "coverage", Title: "of all turns", Unit: "%"},
	})
	t.Most = len(shown)
	return t
}
