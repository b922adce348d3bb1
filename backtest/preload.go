package backtest

import (
	"fmt"

	"github.com/awo-dev/awo/ngram"
	"github.com/awo-dev/awo/trace"
)

// preload registers from the start what the first steps are expected to need.
var preload = Technique{
	Name: "preload", Doc: "lazy registration, with the tools expected in the first steps registered from the start",
	Train: trainPreload,
}

// preloadSteps is how many calls are looked ahead, preloadChance from what
// probability on a tool is registered: a registration costs a turn, a definition
// too many a part of the input of each.
const (
	preloadSteps  = 3
	preloadChance = 0.5
)

func trainPreload(p *Part) (Trained, error) {
	numbers := map[trace.Name]uint32{}
	var names []trace.Name
	var sequences [][]uint32
	for t, err := range p.Source() {
		if err != nil {
			return nil, err
		}
		var sequence []uint32
		for i := range t.Calls {
			if len(sequence) == preloadSteps {
				break
			}
			c := &t.Calls[i]
			if c.Origin != trace.OriginModel {
				continue
			}
			n, ok := numbers[c.Tool]
			if !ok {
				n = uint32(len(names))
				numbers[c.Tool], names = n, append(names, c.Tool)
			}
			sequence = append(sequence, n)
		}
		if len(sequence) > 0 {
			sequences = append(sequences, sequence)
		}
	}
	model := ngram.Train(1, func(yield func([]uint32) bool) {
		for _, s := range sequences {
			if !yield(s) {
				return
			}
		}
	}, ngram.ModelOptions{})
	expected := expectedTools(model, names)
	lazy := &lazyTools{meter: p.meter, preloaded: func(*trace.Trajectory) []trace.Name { return expected }}
	lazy.notes = []string{fmt.Sprintf("registered from the start, %d in number: the tools that a bigram model of the training part expects among the first %d calls with a probability of %.1f or more", len(expected), preloadSteps, preloadChance)}
	return lazy, nil
}

// expectedTools returns the tools that are called among the first steps with at
// least preloadChance. The distribution of the tool at each step follows from that
// at the step before; calls of the same tool at several steps are taken for
// independent.
func expectedTools(model *ngram.Model, names []trace.Name) []trace.Name {
	n := len(names)
	if n == 0 {
		return nil
	}
	missed, now := make([]float64, n), make([]float64, n)
	copy(now, model.Distribution(nil))
	for i := range missed {
		missed[i] = 1
	}
	for step := range preloadSteps {
		if step > 0 {
			next := make([]float64, n)
			for tool, p := range now {
				if p < 1e-6 {
					continue
				}
				for to, q := range model.Distribution([]uint32{uint32(tool)})[:n] {
					next[to] += p * q
				}
			}
			now = next
		}
		for i, p := range now {
			missed[i] *= 1 - p
		}
	}
	var out []trace.Name
	for i, p := range missed {
		if 1-p >= preloadChance {
			out = append(out, names[i])
		}
	}
	return out
}
