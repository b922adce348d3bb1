package prediction

import (
	"math"

	"github.com/awo-dev/awo/inertia/replay"
	"github.com/awo-dev/awo/internal/plot"
	"github.com/awo-dev/awo/internal/stat"
)

// replayFigures draws a replay: how far its probabilities can be trusted, what
// firing more often costs, and what more training gave if that was measured.
func replayFigures(out ReplayJSON) ([]*plot.Figure, error) {
	var figures []*plot.Figure
	for _, draw := range []func(ReplayJSON) (*plot.Figure, error){drawReliability, drawPrecision, drawLearning} {
		f, err := draw(out)
		if err != nil {
			return nil, err
		}
		if f != nil {
			figures = append(figures, f)
		}
	}
	return figures, nil
}

func drawReliability(out ReplayJSON) (*plot.Figure, error) {
	if len(out.Reliability) == 0 {
		return nil, nil
	}
	said := plot.Curve{Name: "calls, 95 % interval (Wilson)"}
	for _, b := range out.Reliability {
		i := stat.Share(int(math.Round(b.Right*float64(b.N))), b.N)
		said.X, said.Y = append(said.X, b.Mean), append(said.Y, b.Right)
		said.Lo, said.Hi = append(said.Lo, i.Interval.Lo), append(said.Hi, i.Interval.Hi)
	}
	ideal := plot.Curve{Name: "as predicted", X: []float64{0, 1}, Y: []float64{0, 1}}
	return plot.Lines(plot.Axes{
		Name: "reliability", Title: "How often calls are right, by predicted probability", X: "probability that the call is right", Y: "share of calls that are", Share: true, ShareX: true,
	}, []plot.Curve{said, ideal})
}

// sweepSteps are the thresholds of a predictor that are drawn, the first ones.
const sweepSteps = 20

// fewFired is how many calls a share of them must rest on to be drawn.
const fewFired = 10

func drawPrecision(out ReplayJSON) (*plot.Figure, error) {
	var curves []plot.Curve
	for _, name := range replay.Predictors() {
		if name == replay.PredictorRecover {
			continue // the 3-gram's but for a few calls
		}
		c, n := plot.Curve{Name: name}, 0
		for _, s := range out.Sweeps {
			if s.Predictor != name || n == sweepSteps {
				continue
			}
			n++
			if s.Fired < fewFired {
				continue
			}
			x, y := valueOf(s.Coverage), valueOf(s.Precision)
			if last := len(c.X) - 1; last >= 0 && c.X[last] == x && c.Y[last] == y {
				continue
			}
			c.X, c.Y = append(c.X, x), append(c.Y, y)
		}
		if len(c.X) > 0 {
			curves = append(curves, c)
		}
	}
	if len(curves) == 0 {
		return nil, nil
	}
	return plot.Lines(plot.Axes{
		Name: "precision", Title: "What is right of the calls made, by how many are", X: "share of turns at which a call is made, ten calls or more", Y: "share of these that are right", Share: true, ShareX: true,
	}, curves)
}

func drawLearning(out ReplayJSON) (*plot.Figure, error) {
	if len(out.LearningCurve) == 0 {
		return nil, nil
	}
	c := plot.Curve{Name: "default"}
	for _, p := range out.LearningCurve {
		c.X, c.Y = append(c.X, float64(p.Tasks)), append(c.Y, valueOf(p.LogLoss))
	}
	return plot.Lines(plot.Axes{
		Name: "learning", Title: "What a turn costs to predict, by tasks trained on", X: "tasks", Y: "log-loss, bits a turn",
	}, []plot.Curve{c})
}

// valueOf returns a figure's value, NaN if it is not known.
func valueOf(f stat.Figure) float64 {
	if v, ok := f.Value(); ok {
		return v
	}
	return math.NaN()
}
