package backtest

import (
	"iter"
	"slices"

	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// registering notes a combination that registers tools. What to register from the start
// it learns when all techniques have been trained; see learnRegistering.
func (p *Part) registering(b *together) *together {
	p.register = append(p.register, b)
	return b
}

// left is what the parts of a combination leave of a trajectory to learn from.
type left struct {
	c        *Case
	findings []*Finding // by combination
}

// learnRegistering teaches the combinations what to register from the start, from what
// their other parts leave of the trajectories that a Preloading samples. The training
// part is read once for all of them: where their meta-tools could be used in a
// trajectory is looked for once.
func (p *Part) learnRegistering() error {
	if len(p.register) == 0 {
		return nil
	}
	learning := make([]*Preloading, len(p.register))
	for i := range learning {
		learning[i] = NewPreloading(p.meter)
	}
	sampled := func() iter.Seq2[*trace.Trajectory, error] {
		return func(yield func(*trace.Trajectory, error) bool) {
			for t, err := range p.Source() {
				if err == nil && !slices.ContainsFunc(learning, func(l *Preloading) bool { return l.wants(t) }) {
					continue // before it is rewritten under the rules
				}
				if !yield(t, err) {
					return
				}
			}
		}
	}
	var failed error
	for x := range par.Map(max(p.Options.Workers, 1), casesOf(sampled, newLabeller(p.Options.Rules, false), &failed), func(c *Case) left {
		out := left{c, make([]*Finding, len(p.register))}
		for i, b := range p.register {
			out.findings[i], _ = b.find(c)
		}
		return out
	}) {
		t := x.c.Trajectory
		a := p.meter.Trajectory(t)
		if p.fit != nil {
			p.fit.Apply(a)
		}
		for i, b := range p.register {
			if f := x.findings[i]; learning[i].wants(t) {
				learning[i].Add(b.left(t, f), a.Left(f.Removed))
			}
		}
	}
	if failed != nil {
		return failed
	}
	each(p.Options.Workers)(len(learning), func(i int) { p.register[i].preloader = learning[i].Train(nil) })
	return nil
}

// each returns what calls a function for 0 to n-1, so many at once.
func each(workers int) stat.Each {
	return func(n int, do func(i int)) {
		for range par.Each(max(workers, 1), n, do) {
		}
	}
}
