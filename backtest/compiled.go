package backtest

import (
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/execute"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// awo is Algorithm 1 as this project reads it, its chains bound and checked.
var awo = Technique{
	Name: "awo", Doc: "meta-tools of chains from one state (Algorithm 1), bound and replayed",
	Train: func(p *Part) (Trained, error) { return p.metaTools(metatool.AlgorithmAWO) },
}

// patterns are chains that recur wherever they start, bound and checked.
var patterns = Technique{
	Name: "patterns", Doc: "meta-tools of recurring patterns, bound and replayed",
	Train: func(p *Part) (Trained, error) { return p.metaTools(metatool.AlgorithmPatterns) },
}

type compileKey struct {
	algorithm metatool.Algorithm
	published bool
}

// compiled is what the compiler made of the training part.
type compiled struct {
	*metatool.Compilation
	choice *Choice
}

// compile compiles the training part, once for each way.
func (p *Part) compile(key compileKey) (*compiled, error) {
	if c := p.compiled[key]; c != nil {
		return c, nil
	}
	o := p.Options.Compile
	o.Algorithm, o.Extract.AsPublished, o.Workers = key.algorithm, key.published, p.Options.Workers
	compilation, err := metatool.Compile(p.Source, p.Options.Rules, o)
	if err != nil {
		return nil, err
	}
	c := &compiled{Compilation: compilation}
	if p.compiled == nil {
		p.compiled = map[compileKey]*compiled{}
	}
	p.compiled[key] = c
	return c, nil
}

// metaTools compiles the training part and chooses among what comes out.
func (p *Part) metaTools(algorithm metatool.Algorithm) (Trained, error) {
	c, err := p.compile(compileKey{algorithm: algorithm})
	if err != nil {
		return nil, err
	}
	if c.choice == nil {
		o := p.Options.Choose
		o.Meter, o.Fit, o.Workers = p.meter, p.fit, p.Options.Workers
		if c.choice, err = Choose(p.Source, p.Options.Rules, c.Definitions, o); err != nil {
			return nil, err
		}
	}
	return newToolset(c.choice.Tools(), p.meter), nil
}

// toolset is a set of meta-tools that agents are offered.
type toolset struct {
	finder *execute.Finder
	learnt Learnt
}

func newToolset(tools []*metatool.Tool, meter *cost.Meter) *toolset {
	s := &toolset{finder: execute.NewFinder(tools), learnt: Learnt{MetaTools: len(tools)}}
	for _, t := range tools {
		s.learnt.DefinitionTokens += definitionTokens(meter, t)
	}
	return s
}

// definitionTokens returns the tokens of a meta-tool's definition.
func definitionTokens(meter *cost.Meter, t *metatool.Tool) int64 {
	d := trace.ToolDef{Name: trace.Intern(t.Name), Description: trace.TextOf(t.Description), Input: trace.JSONOf(t.InputSchema().AppendCanonical(nil))}
	return meter.Definition(&d).Tokens()
}

// Find applies the set: of all places that are exact and whose inputs were known,
// those without overlap that save most turns.
func (s *toolset) Find(c *Case) *Finding {
	return cover(s.finder.Find(c.Trajectory, c.Marks))
}

func cover(places []execute.Place) *Finding {
	f := &Finding{Places: len(places)}
	var spans []execute.Span
	var removed [][]int
	for i := range places {
		p := &places[i]
		if !p.Replay.Saves {
			continue
		}
		f.Exact++
		spans, removed = append(spans, execute.Span{Begin: p.Begin, End: p.End, Worth: float64(len(p.Removed))}), append(removed, p.Removed)
	}
	chosen, _ := execute.Best(spans)
	for _, i := range chosen {
		f.Used = true
		f.Removed = append(f.Removed, removed[i]...)
	}
	slices.Sort(f.Removed)
	return f
}

// Saving returns what the removed turns save, less what the definitions cost.
func (s *toolset) Saving(c *Case, f *Finding) cost.Totals {
	if c.Account == nil {
		return cost.Totals{}
	}
	return c.Account.Saving(f.Removed, s.learnt.DefinitionTokens)
}

// Summary says how many meta-tools there are.
func (s *toolset) Summary() Learnt { return s.learnt }
