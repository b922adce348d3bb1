package toolgraph

import "github.com/awo-dev/awo/internal/logit"

// telling is how many of the content features are in the shipped predictor: those
// that words and places give. What a catalogue is like as a whole (groups, reads,
// numbers of arguments) carries over to no other.
const telling = 8

// shippedTerms are mean, scale and coefficient of the shipped predictor: first of the
// features, then of their square roots. They were fitted on at most 150 links of each
// of six public catalogues (ToolLinkOS, UltraTool, LiveMCP, NESTFUL, TMDB and Spotify
// of RestBench) with C = .03; a test fits them again. Fitted on five of them the area
// under the curve on the sixth is .61 to .89 with uniform negatives: so edges that
// rest on it are called suggested.
var shippedTerms = [2 * telling][3]float64{
	{.1557, .3068, -.0443}, // best m of an output to an argument
	{.1299, .2833, .1400},  // to a required one
	{.0812, .2724, .0465},  // arguments with m > .8
	{.0786, .2134, .1700},  // m of the name alone
	{.0811, .1655, .2830},  // words of an argument in name and description
	{.1167, .1796, .2100},  // words of both
	{.1131, .1767, .2120},  // characters of both
	{.1091, .2327, .1490},  // nouns of the names
	{.1907, .3454, -.2050},
	{.1614, .3222, -.1010},
	{.0859, .2717, .0467},
	{.1017, .2612, .0635},
	{.1468, .2441, .1860},
	{.2368, .2462, .3090},
	{.2478, .2274, .1490},
	{.1508, .2938, .0435},
}

const shippedIntercept = .19

// shipped returns the predictor for catalogues with too few links to train one. It
// is fitted on as many links as pairs that are none.
func shipped() *logit.Model {
	const n = 2 * contentFeatures
	m := &logit.Model{Mean: make([]float64, n), Scale: make([]float64, n), Coef: make([]float64, n), Intercept: shippedIntercept}
	for i := range n {
		m.Scale[i] = 1
		if i%contentFeatures < telling {
			t := shippedTerms[i/contentFeatures*telling+i%contentFeatures]
			m.Mean[i], m.Scale[i], m.Coef[i] = t[0], t[1], t[2]
		}
	}
	return m
}
