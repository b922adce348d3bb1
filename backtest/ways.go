package backtest

import (
	"math"

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

// waysTried returns the ways that are tried beside doing nothing, the simplest first. Large
// says that definitions are so large that registering tools on demand is one of them.
func waysTried(large bool) []Way {
	var out []Way
	for _, p := range usesTried {
		out = append(out, Way{OnlyPrefetch, p, 0})
	}
	for _, t := range thresholdsTried {
		out = append(out, Way{OnlyMetaTools, 0, t})
	}
	for _, t := range thresholdsTried {
		for _, p := range usesTried {
			out = append(out, Way{Both, p, t})
		}
	}
	if large {
		out = append(out, Way{Kind: WithRegistration})
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
		switch w.Kind {
		case WithRegistration:
			return register.Train(p)
		case OnlyPrefetch:
			return p.trainReader(reads)
		case Both:
			return p.together(combination{tools: p.offered(*t.offer), reader: p.trainReader(reads)})
		}
		return p.offered(*t.offer)
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
