package backtest

import (
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/execute"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// awo is Algorithm 1 as this project reads it, its chains bound and checked, where
// their calls occur: what the rules do not call alike is another chain to it.
var awo = Technique{
	Name: "awo", Doc: "Algorithm 1, where its chains occur; bound and replayed",
	Train: func(p *Part) (Trained, error) {
		set, err := p.metaTools(metatool.AlgorithmAWO)
		if err != nil {
			return nil, err
		}
		c := p.compiled[compileKey{algorithm: metatool.AlgorithmAWO}]
		set.chains, set.learnt.Labels = newChains(c.Compilation), true
		set.learnt.Notes = append(set.learnt.Notes, "counted where the calls are those of a chain as the rules see them; awo-anywhere counts its meta-tools wherever their tools are called")
		return set, nil
	},
}

// awoAnywhere offers the same meta-tools, and counts them wherever agents could
// have used them: their inputs take other values than the chains had.
var awoAnywhere = Technique{
	Name: "awo-anywhere", Doc: "the meta-tools of Algorithm 1 wherever their tools are called",
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
func (p *Part) metaTools(algorithm metatool.Algorithm) (*toolset, error) {
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
	chains *chains // where it may be used; nil for anywhere
	learnt Learnt

	definitions []trace.ToolDef // of the meta-tools
}

func newToolset(tools []*metatool.Tool, meter *cost.Meter) *toolset {
	s := &toolset{finder: execute.NewFinder(tools), learnt: Learnt{MetaTools: len(tools)}}
	for _, t := range tools {
		d := definitionOf(t)
		s.definitions = append(s.definitions, d)
		s.learnt.DefinitionTokens += meter.Definition(&d).Tokens()
	}
	return s
}

// definitionTokens returns the tokens of a meta-tool's definition.
func definitionTokens(meter *cost.Meter, t *metatool.Tool) int64 {
	d := definitionOf(t)
	return meter.Definition(&d).Tokens()
}

// definitionOf returns the definition of a meta-tool as an agent is offered it.
func definitionOf(t *metatool.Tool) trace.ToolDef {
	return trace.ToolDef{Name: trace.Intern(t.Name), Description: trace.TextOf(t.Description), Input: trace.JSONOf(t.InputSchema().AppendCanonical(nil))}
}

// Find applies the set: of all places that are exact and whose inputs were known,
// those without overlap that save most turns.
func (s *toolset) Find(c *Case) *Finding { return cover(s.places(c)) }

// places returns where agents could have used the set.
func (s *toolset) places(c *Case) []execute.Place {
	places := s.finder.Find(c.Trajectory, c.Marks)
	if s.chains != nil {
		places = s.chains.among(c, places)
	}
	return places
}

// chains are the sequences of labels that Algorithm 1 found.
type chains struct {
	byLabel map[string][]chainPlace
}

// chainPlace is a label in a chain: it and what follows.
type chainPlace struct{ rest []string }

func newChains(c *metatool.Compilation) *chains {
	out := &chains{byLabel: map[string][]chainPlace{}}
	for _, found := range c.Extraction.Candidates {
		labels := make([]string, len(found.Labels))
		for i, l := range found.Labels {
			labels[i] = c.Merged.Labels.Text(l)
		}
		for i, label := range labels {
			out.byLabel[label] = append(out.byLabel[label], chainPlace{labels[i:]})
		}
	}
	return out
}

// among returns the places whose calls are those of a chain, or of a part of one.
func (x *chains) among(c *Case, places []execute.Place) []execute.Place {
	labels := make(map[int32]string, len(c.Steps))
	for i := range c.Steps {
		if s := &c.Steps[i]; s.calls == 1 {
			labels[s.call] = s.label
		}
	}
	return slices.DeleteFunc(places, func(p execute.Place) bool {
		var made []string
		for _, calls := range p.Replay.Occurrence.Calls {
			for _, call := range calls {
				made = append(made, labels[int32(call)])
			}
		}
		return !slices.ContainsFunc(x.byLabel[made[0]], func(at chainPlace) bool {
			return len(at.rest) >= len(made) && slices.Equal(at.rest[:len(made)], made)
		})
	})
}

func cover(places []execute.Place) *Finding {
	f := &Finding{Places: len(places)}
	var spans []execute.Span
	var removed [][]int
	for i := range places {
		p := &places[i]
		if p.Replay.Exact {
			f.Exact++
		}
		if !p.Replay.Saves {
			continue
		}
		f.Known++
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
