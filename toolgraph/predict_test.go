package toolgraph

import (
	"math"
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/logit"
)

func TestEdgeWeight(t *testing.T) {
	for _, c := range []struct {
		succeeded, of  int
		prior, k, want float64
	}{{3, 4, .5, 0, .75}, {3, 4, .5, 4, .625}, {0, 0, .5, 0, 0}, {0, 0, .5, 4, .5}} {
		if got := EdgeWeight(c.succeeded, c.of, c.prior, c.k); got != c.want {
			t.Errorf("EdgeWeight(%d, %d, %v, %v) = %v, want %v", c.succeeded, c.of, c.prior, c.k, got, c.want)
		}
	}
}

func TestAUC(t *testing.T) {
	list := []scored{{row: row{link: true}, score: 3}, {row: row{link: true}, score: 1}, {score: 2}, {score: 1}, {score: 9, fold: 1}}
	// 3 beats both; 1 loses to 2 and ties with 1; the other fold has no link.
	if got, ok := auc(list); !ok || got != 2.5/4 {
		t.Errorf("auc = %v, %v", got, ok)
	}
}

// Bars of link prediction on links left out.
func TestPredictionFigures(t *testing.T) {
	for _, c := range []struct {
		set     func(testing.TB) public
		links   int
		matched float64
		unseen  float64
	}{{toolLinkOS, 1494, .95, .819}, {ultraTool, 598, .88, .8}} {
		p := c.set(t)
		e := p.m.evaluate(p.pairs, 1)
		uniform, matched, unseen, unseenUniform := e.Uniform, e.Matched, e.Unseen, e.UnseenUniform
		t.Logf("%s: uniform %.3f, matched %.3f [%.3f, %.3f], new tools %.3f and %.3f", p.name, uniform.AUC, matched.AUC, matched.Lo, matched.Hi, unseenUniform.AUC, unseen.AUC)
		if len(p.pairs) != c.links {
			t.Errorf("%s has %d links, want %d", p.name, len(p.pairs), c.links)
		}
		if unseen.AUC < c.unseen || unseenUniform.AUC < unseen.AUC {
			t.Errorf("%s: new tools %.3f and %.3f, wanted is %.3f", p.name, unseenUniform.AUC, unseen.AUC, c.unseen)
		}
		if matched.AUC < c.matched || uniform.AUC < matched.AUC || matched.Lo > matched.AUC || matched.Hi < matched.AUC {
			t.Errorf("%s: uniform %.3f, matched %.3f [%.3f, %.3f], wanted is %.2f", p.name, uniform.AUC, matched.AUC, matched.Lo, matched.Hi, c.matched)
		}
	}
}

// fitPublic fits the shipped predictor's features on sets.
func fitPublic(sets []public, but string) *logit.Model {
	const perCatalogue, penalty = 150, .03
	var x [][]float64
	var yes []bool
	for _, p := range sets {
		if p.name == but {
			continue
		}
		s := newSampler(len(p.m.tools), newNet(len(p.m.tools), p.pairs), p.pairs, 7)
		links := slices.Clone(p.pairs)
		s.random.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		for _, r := range s.rows(links[:min(perCatalogue, len(links))], nil) {
			x = append(x, told(p.m.features(nil, nil, r.pair[0], r.pair[1])))
			yes = append(yes, r.link)
		}
	}
	return logit.Fit(x, yes, penalty)
}

// told takes out the features that do not carry over.
func told(x []float64) []float64 {
	for i := range x {
		if i%contentFeatures >= telling {
			x[i] = 0
		}
	}
	return x
}

// The shipped coefficients are those that the public sets give, and what they are
// worth on a catalogue that they were not fitted on is what docs/tools.md says.
func TestShipped(t *testing.T) {
	sets := publicSets(t)
	fitted, shipped := fitPublic(sets, ""), shipped()
	for _, p := range sets {
		apart := fitPublic(sets, p.name)
		s := newSampler(len(p.m.tools), newNet(len(p.m.tools), p.pairs), p.pairs, 8)
		var uniform []scored
		for _, l := range p.pairs {
			x := told(p.m.features(nil, nil, l[0], l[1]))
			if a, b := fitted.Probability(x), shipped.Probability(x); math.Abs(a-b) > .08 {
				t.Fatalf("%s: the shipped predictor says %.3f of a pair, fitted again it is %.3f", p.name, b, a)
			}
			if q, ok := s.draw(false, nil); ok {
				uniform = append(uniform, scored{row: row{l, true}, score: apart.Score(x)}, scored{row: row{q, false}, score: apart.Score(told(p.m.features(nil, nil, q[0], q[1])))})
			}
		}
		got, _ := auc(uniform)
		t.Logf("%s: %d links, fitted on the others: %.3f", p.name, len(p.pairs), got)
		if got < .55 {
			t.Errorf("%s: fitted on the others the predictor is no better than chance: %.3f", p.name, got)
		}
	}
}

func TestThreshold(t *testing.T) {
	list := []scored{{score: 1}, {score: 2}, {row: row{link: true}, score: 3}, {score: 4}, {row: row{link: true}, score: 5}, {row: row{link: true}, score: 5}}
	if got := threshold(list); got != 5 {
		t.Errorf("threshold = %v", got)
	}
	if got := threshold([]scored{{score: 2}, {row: row{link: true}, score: 1}}); got <= 2 {
		t.Errorf("where no score tells links, they are taken from %v on", got)
	}
	e := Evaluation{Links: 2, scores: []scored{{row: row{link: true}, taken: true}, {row: row{link: true}}, {taken: true}, {}}}
	if e.decide(); e.Accuracy != .5 || e.F1 != .5 {
		t.Errorf("accuracy %v, F1 %v", e.Accuracy, e.F1)
	}
}
