package backtest

import (
	"math"
	"slices"

	"github.com/awo-dev/awo/metatool/compile"
)

// Kind is a kind of doing something about an agent.
type Kind string

// The kinds, the simplest first.
const (
	Nothing          Kind = "nothing"
	OnlyPrefetch     Kind = "prefetch"
	OnlyMetaTools    Kind = "meta-tools"
	Both             Kind = "both"
	WithRegistration Kind = "with-registration"
)

// Kinds are all kinds, the simplest first.
var Kinds = []Kind{Nothing, OnlyPrefetch, OnlyMetaTools, Both, WithRegistration}

// Way is one way of doing something about an agent: a kind and its settings.
type Way struct {
	Kind Kind    `json:"kind"`
	P    float64 `json:"p"` // the P(use) from which on reads are prefetched; 0 without any
	T    int     `json:"T"` // how many trajectories must follow a meta-tool's calls; 0 without any
}

// The settings that are tried.
var (
	usesTried       = []float64{0.3, 0.5, 0.7}
	thresholdsTried = []int{5, 10, 20}
)

// registrationTokens is how many tokens of definitions a turn must read, on average, before
// registering tools when they are needed is tried.
const registrationTokens = 10_000

// waysTried returns the ways that are tried beside doing nothing, the simplest first: those of
// the kinds that are named, or else all. Large says that definitions are so large that
// registering tools on demand is one of them.
func waysTried(large bool, kinds []Kind) []Way {
	var all, out []Way
	for _, p := range usesTried {
		all = append(all, Way{OnlyPrefetch, p, 0})
	}
	for _, t := range thresholdsTried {
		all = append(all, Way{OnlyMetaTools, 0, t})
	}
	for _, t := range thresholdsTried {
		for _, p := range usesTried {
			all = append(all, Way{Both, p, t})
		}
	}
	for _, w := range append([]Way{{}}, all...) {
		all = append(all, Way{WithRegistration, w.P, w.T})
	}
	for _, w := range all {
		if slices.Contains(kinds, w.Kind) || kinds == nil && (large || w.Kind != WithRegistration) {
			out = append(out, w)
		}
	}
	return out
}

// Selection is how meta-tools are selected for an objective: by what they save beyond their
// definitions, or by turns alone.
func (o Objective) Selection() Selection {
	if o == ObjectiveTurns {
		return SelectTurns
	}
	return SelectNet
}

// technique returns the technique that goes a way in a part that holds the given share of all
// tasks: the threshold is of all trajectories, and scaled to those of the part.
func (w Way) technique(share float64, by Selection) Technique {
	t := Technique{Name: string(w.Kind)}
	if w.T > 0 {
		threshold := max(2, int(math.Round(float64(w.T)*share)))
		o := offer{way: way{algorithm: compile.Patterns, threshold: threshold}, selection: by, beside: w.P}
		t.ways, t.offer = []way{o.way}, &o
	}
	reads := readings{use: w.P}
	t.Train = func(p *Part) Trained {
		of := combination{lazily: w.Kind == WithRegistration}
		if w.T > 0 {
			of.tools = p.offered(*t.offer)
		}
		if w.P > 0 {
			of.reader = p.trainReader(reads)
		}
		switch {
		case of == combination{lazily: true}:
			return register.Train(p)
		case of.lazily || w.Kind == Both:
			return p.together(of)
		case w.Kind == OnlyPrefetch:
			return of.reader
		}
		return of.tools
	}
	return t
}

// Objective is what a recommendation weighs.
type Objective string

// The objectives. Money is tokens where most turns have no price.
const (
	ObjectiveMoney  Objective = "money"
	ObjectiveTokens Objective = "tokens"
	ObjectiveTurns  Objective = "turns"
	ObjectiveTime   Objective = "time"
)
