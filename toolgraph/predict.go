package toolgraph

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/awo-dev/awo/internal/logit"
	"github.com/awo-dev/awo/internal/stat"
)

// The constants of link prediction.
const (
	penalty    = .3 // C of the regression
	leastLinks = 50 // fewer train no predictor of their own
	innerFolds = 4  // graph features of a pair come from links of the other folds
	OuterFolds = 5  // of the evaluation
	mostRows   = 40_000
)

// A sampler draws pairs of tools that are no links.
type sampler struct {
	random *rand.Rand
	n      int32
	links  *net
	from   []int32 // sources and targets of links, as often as they are
	to     []int32
}

func newSampler(n int, all *net, links [][2]int32, seed uint64) *sampler {
	s := &sampler{random: rand.New(rand.NewPCG(seed, 0x746f6f6c)), n: int32(n), links: all}
	for _, l := range links {
		s.from = append(s.from, l[0])
		s.to = append(s.to, l[1])
	}
	return s
}

// draw returns a pair that is no link and that wanted accepts (nil: any), with both
// ends uniform over the tools, or with both ends drawn from links. It gives up where
// there is none, or nearly none.
func (s *sampler) draw(matched bool, wanted func(a, b int32) bool) ([2]int32, bool) {
	for range 2000 {
		var p [2]int32
		if matched {
			p = [2]int32{s.from[s.random.IntN(len(s.from))], s.to[s.random.IntN(len(s.to))]}
		} else {
			p = [2]int32{s.random.Int32N(s.n), s.random.Int32N(s.n)}
		}
		if p[0] != p[1] && !s.links.has[p] && (wanted == nil || wanted(p[0], p[1])) {
			return p, true
		}
	}
	return [2]int32{}, false
}

// A row is a pair with whether it is a link.
type row struct {
	pair [2]int32
	link bool
}

// rows returns links and as many pairs that are none, half of them uniform and half
// with both ends drawn from links.
func (s *sampler) rows(links [][2]int32, wanted func(a, b int32) bool) []row {
	var out []row
	for i, l := range links {
		out = append(out, row{l, true})
		if p, ok := s.draw(i%2 == 1, wanted); ok {
			out = append(out, row{p, false})
		}
	}
	return out
}

// fit returns the predictor that links train. Each row stands there twice: once with graph
// features from the links of the other inner folds, so that no row sees its own link, and
// once as if one of its two tools were new, from links of other tools alone.
//
// Note: what speaks for a link between known tools is mostly their other links. Trained on
// the first kind alone, the predictor has little to say of new tools (ToolLinkOS, new tools
// against pairs as popular: .773 instead of .881). Two regressions, one for pairs with a new
// tool, are as good there and worse on catalogues with few links.
//
// It also returns the scores that tell links best from other pairs in each kind of row.
func (m *matcher) fit(links [][2]int32, all *net, seed uint64, wanted func(a, b int32) bool) (*logit.Model, [2]float64) {
	s := newSampler(len(m.tools), all, links, seed)
	links = slices.Clone(links)
	s.random.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	if len(links) > mostRows/2 {
		links = links[:mostRows/2]
	}
	rows := s.rows(links, wanted)
	var others, fresh [innerFolds]*net
	hash := func(p [2]int32) uint64 { return mix(uint64(p[0])<<32|uint64(uint32(p[1])), seed) }
	fold := func(p [2]int32) uint64 { return hash(p) % innerFolds }
	ofTool := func(t int32) uint64 { return mix(uint64(uint32(t)), seed+1) % innerFolds }
	for k := range uint64(innerFolds) {
		others[k] = newNet(len(m.tools), slices.DeleteFunc(slices.Clone(links), func(l [2]int32) bool { return fold(l) == k }))
		fresh[k] = newNet(len(m.tools), slices.DeleteFunc(slices.Clone(links), func(l [2]int32) bool { return ofTool(l[0]) == k || ofTool(l[1]) == k }))
	}
	x := make([][]float64, 2*len(rows))
	yes := make([]bool, 2*len(rows))
	for i, r := range rows {
		a, b := r.pair[0], r.pair[1]
		x[2*i] = m.features(nil, others[fold(r.pair)], a, b)
		x[2*i+1] = m.features(nil, fresh[ofTool(r.pair[hash(r.pair)%2])], a, b)
		yes[2*i], yes[2*i+1] = r.link, r.link
	}
	model := logit.Fit(x, yes, penalty/2) // two rows weigh as one
	var kinds [2][]scored
	for i := range x {
		kinds[i%2] = append(kinds[i%2], scored{row: rows[i/2], score: model.Score(x[i])})
	}
	return model, [2]float64{threshold(kinds[0]), threshold(kinds[1])}
}

// threshold returns the score from which on most of a list are told right if they are
// taken for links.
func threshold(list []scored) float64 {
	slices.SortStableFunc(list, byFold)
	right, best, at := 0, 0, math.Inf(1) // above all: how many more are right than if none is a link
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].link {
			right++
		} else {
			right--
		}
		if right > best && (i == 0 || list[i-1].score < list[i].score) {
			best, at = right, list[i].score
		}
	}
	return at
}

// mix hashes a number (SplitMix64).
func mix(x, seed uint64) uint64 {
	x += seed*0x9e3779b97f4a7c15 + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// A scored is a row of a test with what the predictor says of it.
type scored struct {
	row
	score float64
	fold  int
	taken bool // for a link
}

// auc returns the area under the ROC curve: the share of pairs of a link and a pair
// that is none in which the link scores higher, ties half. It is taken inside folds,
// whose scores are of different predictors, and weighted by their pairs.
func auc(list []scored) (float64, bool) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, byFold)
	return area(list, func(scored) float64 { return 1 })
}

func byFold(a, b scored) int {
	return cmp.Or(cmp.Compare(a.fold, b.fold), cmp.Compare(a.score, b.score))
}

// area is auc of a list in the order of byFold in which each pair counts as often as
// weight says.
func area(list []scored, weight func(scored) float64) (float64, bool) {
	won, all := 0.0, 0.0
	for i := 0; i < len(list); {
		fold := list[i].fold
		below, links := 0.0, 0.0
		for i < len(list) && list[i].fold == fold {
			j := i
			yes, no := 0.0, 0.0
			for ; j < len(list) && list[j].fold == fold && list[j].score == list[i].score; j++ {
				w := weight(list[j])
				if list[j].link {
					yes += w
				} else {
					no += w
				}
			}
			won += float64(yes * (below + no/2))
			below += no
			links += yes
			i = j
		}
		all += float64(links * below)
	}
	if all == 0 {
		return 0, false
	}
	return won / all, true
}

// An Evaluation is a held-out test of link prediction: what the predictor says of
// links that it was not trained on and of as many pairs that are none.
type Evaluation struct {
	Links    int // that were held out, one time each
	NotLinks int
	AUC      float64
	Lo, Hi   float64 // bounds at Level
	// Accuracy and F1 are of pairs taken for links from the score on that tells links
	// best in training.
	Accuracy, F1 float64
	scores       []scored
}

// decide sets what depends on a threshold.
func (e *Evaluation) decide() {
	right, taken, found := 0, 0, 0
	for _, s := range e.scores {
		if s.link == s.taken {
			right++
		}
		if s.taken {
			taken++
		}
		if s.link && s.taken {
			found++
		}
	}
	if n := len(e.scores); n > 0 {
		e.Accuracy, e.F1 = float64(right)/float64(n), 2*float64(found)/float64(max(1, taken+e.Links))
	}
}

// evaluate tests the predictor four times: on links that were left out and on tools that no
// training link touches, each with the negatives of the paper, uniform over all pairs, and
// with popularity-matched ones, whose ends are as often in links.
func (m *matcher) evaluate(links [][2]int32, seed uint64) *Prediction {
	p := &Prediction{}
	order := slices.Clone(links)
	random := rand.New(rand.NewPCG(seed, 0x666f6c64))
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	m.test(links, order, seed, 100, func(k int) (func(i int, a, b int32) bool, func(a, b int32) bool) {
		return func(i int, _, _ int32) bool { return i%OuterFolds == k }, nil
	}, &p.Uniform, &p.Matched)
	fold := make([]int, len(m.tools))
	for i, t := range rand.New(rand.NewPCG(seed, 0x746f6f6c73)).Perm(len(m.tools)) {
		fold[t] = i % OuterFolds
	}
	m.test(links, links, seed, 200, func(k int) (func(i int, a, b int32) bool, func(a, b int32) bool) {
		touches := func(a, b int32) bool { return fold[a] == k || fold[b] == k }
		return func(_ int, a, b int32) bool { return touches(a, b) }, touches
	}, &p.UnseenUniform, &p.Unseen)
	return p
}

// test holds out a fifth of links after the other. held says of a fold which links it is of,
// and which other pairs it may be tested with: nil for all, else no others are trained on.
func (m *matcher) test(links, order [][2]int32, seed, salt uint64, held func(k int) (link func(i int, a, b int32) bool, pair func(a, b int32) bool), uniform, matched *Evaluation) {
	all := newNet(len(m.tools), links)
	for k := range OuterFolds {
		isHeld, wanted := held(k)
		var train, test [][2]int32
		for i, l := range order {
			if isHeld(i, l[0], l[1]) {
				test = append(test, l)
			} else {
				train = append(train, l)
			}
		}
		if len(train) == 0 || len(test) == 0 {
			continue
		}
		var others func(a, b int32) bool
		if wanted != nil {
			others = func(a, b int32) bool { return !wanted(a, b) }
		}
		model, thresholds := m.fit(train, all, seed+uint64(k), others)
		least := thresholds[0]
		if wanted != nil {
			least = thresholds[1]
		}
		g := newNet(len(m.tools), train)
		s := newSampler(len(m.tools), all, links, seed+salt+uint64(k))
		score := func(p [2]int32) float64 { return model.Score(m.features(nil, g, p[0], p[1])) }
		for _, l := range test {
			at := score(l)
			for i, e := range []*Evaluation{uniform, matched} {
				if p, ok := s.draw(i == 1, wanted); ok {
					other := score(p)
					e.scores = append(e.scores, scored{row{l, true}, at, k, at >= least}, scored{row{p, false}, other, k, other >= least})
				}
			}
		}
	}
	for _, e := range []*Evaluation{uniform, matched} {
		for _, s := range e.scores {
			if s.link {
				e.Links++
			} else {
				e.NotLinks++
			}
		}
		e.AUC, _ = auc(e.scores)
		e.decide()
		e.interval(seed)
	}
}

// Level is that of intervals.
const Level = .9

// resamples is how many bootstrap samples an interval rests on.
const resamples = 400

// interval sets the bounds of the area: the middle of bootstrap samples over the tools
// that links lead to, because links into one tool are not independent.
func (e *Evaluation) interval(seed uint64) {
	var targets []int32
	for _, s := range e.scores {
		targets = append(targets, s.pair[1])
	}
	slices.Sort(targets)
	targets = slices.Compact(targets)
	if len(targets) == 0 {
		return
	}
	random := rand.New(rand.NewPCG(seed, 0x617563))
	sorted := slices.Clone(e.scores)
	slices.SortStableFunc(sorted, byFold)
	number := map[int32]int{}
	for i, t := range targets {
		number[t] = i
	}
	e.Lo, e.Hi, _ = stat.Percentiles(random, len(targets), resamples, Level, func(times []float64) (float64, bool) {
		return area(sorted, func(s scored) float64 { return times[number[s.pair[1]]] })
	})
}
