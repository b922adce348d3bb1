package backtest

import (
	"github.com/awo-dev/awo/predict/effects"
	"github.com/awo-dev/awo/trace"
)

// effects returns what the training part says about what tools do, collected once.
func (p *Part) effects() *effects.Known {
	if p.judged == nil {
		p.judged = effects.New(p.Options.Rules, true)
		for _, r := range p.Runs {
			p.judged.Add(r.Trajectory)
		}
	}
	return p.judged
}

// readsOnly reports whether a tool is known to only read.
func (p *Part) readsOnly(tool trace.Name) bool {
	reads, _ := p.effects().Reads(tool, p.Options.Compile.DeclaredReads)
	return reads
}
