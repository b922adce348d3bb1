package backtest

import (
	"fmt"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// offer is a set of meta-tools that agents are offered: the first ones that were
// chosen of what was compiled in some way.
type offer struct {
	way       way
	selection Selection // "" stands for that of Options
	tools     int       // at most so many; 0 sets no bound
	beside    float64   // the P(use) from which on reads are made ahead beside them; 0 for none
	chains    bool      // counted only where the calls are those of a chain as the rules see them
}

// chosen returns how it is compiled and chosen.
func (o offer) chosen() chosenWay { return chosenWay{o.way, o.selection, o.beside} }

// technique returns the technique that makes the offer.
func (o offer) technique(name, doc string) Technique {
	return Technique{
		Name: name, Doc: doc, ways: []way{o.way}, offer: &o,
		Train: func(p *Part) Trained { return p.offered(o) },
	}
}

// awo is Algorithm 1 as this project reads it, its chains bound and checked, where
// their calls occur: what the rules do not call alike is another chain to it.
var awo = offer{way: way{algorithm: compile.AWO}, chains: true}.technique(
	"awo", "Algorithm 1, where its chains occur; bound and replayed")

// patterns are chains that recur wherever they start, bound and checked.
var patterns = offer{way: way{algorithm: compile.Patterns}}.technique(
	"patterns", "meta-tools of recurring patterns, bound and replayed")

// offered chooses the meta-tools of an offer. Those of several offers are mostly the same:
// then it is the same set.
func (p *Part) offered(o offer) *toolset {
	c := p.choose(o.chosen())
	tools := c.tools
	if o.tools > 0 {
		// The choice is greedy, so that one of fewer is the beginning of it.
		tools = tools[:min(o.tools, len(tools))]
	}
	key := fmt.Sprint(c.anti, o.chains, c.at[:len(tools)])
	if s := p.sets[key]; s != nil {
		return s
	}
	s := &toolset{uses: c.uses, of: map[int]int{}, learnt: Learnt{Anti: c.anti, MetaTools: len(tools)}}
	if p.sets == nil {
		p.sets = map[string]*toolset{}
	}
	p.sets[key] = s
	for i, t := range tools {
		s.of[c.at[i]] = i
		d := definitionOf(t)
		s.definitions = append(s.definitions, d)
		s.learnt.DefinitionTokens += p.meter.Definition(&d).Tokens()
	}
	if o.chains {
		s.chains, s.learnt.Labels = newChains(p.compile(o.way).chains), true
		s.learnt.Notes = append(s.learnt.Notes, "counted where the calls are those of a chain as the rules see them")
	}
	return s
}

// toolset is a set of meta-tools that agents are offered.
type toolset struct {
	of     map[int]int // number in the pool -> place in the set
	uses   []toolUse   // by place in the set
	chains *chains     // where it may be used; nil for anywhere
	learnt Learnt

	definitions []trace.ToolDef // by place in the set
}

// Find applies the set: of all places that are exact and whose inputs were known,
// those without overlap that save most turns; and wherever a first call is made, for
// blind use.
func (s *toolset) Find(c *Case) *Finding {
	f := cover(s.places(c))
	f.Blind = s.blindly(c)
	return f
}

// places returns where agents could have used the set. Their tools are places in it.
func (s *toolset) places(c *Case) []replay.Place {
	var places []replay.Place
	if c.uses == nil {
		return nil
	}
	for _, p := range c.uses.Places {
		at, offered := s.of[p.Tool]
		if offered {
			p.Tool = at
			places = append(places, p)
		}
	}
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

func newChains(list [][]string) *chains {
	out := &chains{byLabel: map[string][]chainPlace{}}
	for _, labels := range list {
		for i, label := range labels {
			out.byLabel[label] = append(out.byLabel[label], chainPlace{labels[i:]})
		}
	}
	return out
}

// among returns the places whose calls are those of a chain, or of a part of one.
func (x *chains) among(c *Case, places []replay.Place) []replay.Place {
	labels := make(map[int32]string, len(c.Steps))
	for i := range c.Steps {
		if s := &c.Steps[i]; s.calls == 1 {
			labels[s.call] = s.label
		}
	}
	return slices.DeleteFunc(places, func(p replay.Place) bool {
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

func cover(places []replay.Place) *Finding {
	f := &Finding{}
	var spans []replay.Span
	var removed [][]int
	for i := range places {
		p := &places[i]
		if p.Replay.NotComparable {
			f.NotComparable++
			continue
		}
		f.Places++
		if p.Replay.Exact {
			f.Exact++
		}
		if !p.Replay.Saves {
			continue
		}
		f.Known++
		spans, removed = append(spans, replay.Span{Begin: p.Begin, End: p.End, Worth: float64(len(p.Removed))}), append(removed, p.Removed)
	}
	chosen, _ := replay.Best(spans)
	for _, i := range chosen {
		f.Used = true
		f.Removed = append(f.Removed, removed[i]...)
	}
	slices.Sort(f.Removed)
	return f
}

// Saving returns what the removed turns save, less what the definitions and reads in
// vain cost.
func (s *toolset) Saving(c *Case, f *Finding) cost.Totals {
	if c.Account == nil {
		return cost.Totals{}
	}
	return c.Account.Saving(f.Removed, s.learnt.DefinitionTokens).Less(f.inVain(c.Account))
}

// Summary says how many meta-tools there are.
func (s *toolset) Summary() Learnt { return s.learnt }
