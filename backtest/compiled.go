package backtest

import (
	"reflect"
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// way is a way of compiling the training part.
type way struct {
	algorithm compile.Algorithm
	published bool
	threshold int // 0 stands for that of Options
}

// chosenWay is a way of compiling and of choosing.
type chosenWay struct {
	way
	selection Selection // "" stands for that of Options
	beside    float64   // the P(use) from which on reads are made ahead beside what is chosen; 0 for none
}

// chosen is what is offered of what was compiled, in the order of the gain curve.
type chosen struct {
	tools []*metatool.Tool
	uses  []toolUse // of tools
	anti  int       // see Choice.Anti
	at    []int     // of tools: their numbers in the pool
}

// compiled is what the compiler made of the training part in one way: what is
// needed of it to test, and not the graph, which is large.
type compiled struct {
	definitions []*bind.Definition
	chains      [][]string // of Algorithm 1: the labels of its chains

	choice *Choice // once somebody asked what is chosen of them
}

// prepare compiles the training part in all of the ways at once.
func (p *Part) prepare(ways []way) {
	if p.compiled == nil {
		p.compiled = map[way]*compiled{}
	}
	var missing []way
	for _, w := range ways {
		if p.compiled[w] == nil && !slices.Contains(missing, w) {
			missing = append(missing, w)
		}
	}
	if len(missing) == 0 {
		return
	}
	o := &p.Options
	survey := compile.NewSurvey(p.Runs, o.Rules, compile.SurveyOptions{
		Patterns:      slices.ContainsFunc(missing, func(w way) bool { return w.algorithm == compile.Patterns }),
		Gain:          o.Compile.Extract.Gain,
		DeclaredReads: o.Compile.DeclaredReads,
		Workers:       o.Workers,
	})
	p.links, p.secrets = survey.Set, survey.Credentials
	// The threshold of Options is mostly one of those that are tried beside it.
	var list []compile.Way
	at := make([]int, len(missing)) // in list
	for i, w := range missing {
		one := p.wayOf(w)
		at[i] = slices.IndexFunc(list, func(x compile.Way) bool {
			return x.Algorithm == one.Algorithm && x.AsPublished == one.AsPublished && x.Threshold == one.Threshold && x.Bind.Threshold == one.Bind.Threshold
		})
		if at[i] < 0 {
			at[i], list = len(list), append(list, one)
		}
	}
	compilations := survey.Compile(list...)
	for i, w := range missing {
		if first := slices.Index(at, at[i]); first < i {
			p.compiled[w] = p.compiled[missing[first]]
			continue
		}
		p.compiled[w] = newCompiled(compilations[at[i]], w)
	}
}

// wayOf returns a way as the compiler takes it.
func (p *Part) wayOf(w way) compile.Way {
	o := &p.Options.Compile
	out := compile.Way{Algorithm: w.algorithm, AsPublished: w.published, Unbound: w.published, Threshold: o.Extract.Threshold, Bind: o.Bind}
	if w.threshold > 0 {
		out.Threshold, out.Bind.Threshold = w.threshold, w.threshold
	}
	return out
}

func newCompiled(c *compile.Compilation, w way) *compiled {
	out := &compiled{}
	for _, d := range c.Definitions {
		out.definitions = append(out.definitions, &bind.Definition{Tool: d.Tool, Refusals: d.Refusals, Overlaps: d.Overlaps})
	}
	if w.algorithm == compile.Patterns {
		return out
	}
	for _, found := range c.Extraction.Candidates {
		labels := make([]string, len(found.Labels))
		for i, l := range found.Labels {
			labels[i] = c.Merged.Labels.Text(l)
		}
		out.chains = append(out.chains, labels)
	}
	return out
}

// compile returns what the training part is compiled into.
func (p *Part) compile(w way) *compiled {
	p.prepare([]way{w})
	return p.compiled[w]
}

// choosing are the options of a choice.
func (p *Part) choosing() ChooseOptions {
	o := p.Options.Choose
	o.Meter, o.Fit, o.Workers = p.meter, p.fit, p.Options.Workers
	return o
}

// readChoices reads what choices among the meta-tools of the ways rest on. They have to be
// compiled.
func (p *Part) readChoices(ways []way) {
	var missing []*compiled
	var lists [][]*bind.Definition
	for _, w := range ways {
		if c := p.compiled[w]; c.choice == nil && !slices.Contains(missing, c) {
			missing, lists = append(missing, c), append(lists, c.definitions)
		}
	}
	if len(missing) == 0 {
		return
	}
	for i, choice := range readChoices(p.Runs, lists, p.choosing()) {
		missing[i].choice = choice
	}
}

// choose compiles the training part and chooses among what comes out. Where something
// is chosen in several ways the traces are read once.
func (p *Part) choose(w chosenWay) *chosen {
	if done := p.chosen[w]; done != nil {
		return done
	}
	c := p.compile(w.way)
	o := p.choosing()
	if w.threshold > 0 && !o.KeepMinTurns {
		o.MinTurns = w.threshold
	}
	if w.selection != "" {
		o.Select = w.selection
	}
	p.readChoices([]way{w.way})
	c.choice.again(o, p.turnsRead(w.beside))
	out := &chosen{tools: c.choice.Tools(), uses: c.choice.uses(), anti: c.choice.Anti()}
	if p.chosen == nil {
		p.chosen = map[chosenWay]*chosen{}
	}
	for _, t := range out.tools {
		out.at = append(out.at, p.pool.add(t))
	}
	p.chosen[w] = out
	return out
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

// pool is the meta-tools of all ways of compiling and choosing, each once: several ways
// mostly give the same, and where they occur is looked for once for all.
type pool struct {
	tools  []*metatool.Tool
	byName map[string][]int
}

// add returns the number of a meta-tool in the pool.
func (p *pool) add(t *metatool.Tool) int {
	for _, i := range p.byName[t.Name] {
		if p.tools[i] == t || sameTool(p.tools[i], t) {
			return i
		}
	}
	if p.byName == nil {
		p.byName = map[string][]int{}
	}
	p.byName[t.Name] = append(p.byName[t.Name], len(p.tools))
	p.tools = append(p.tools, t)
	return len(p.tools) - 1
}

func sameTool(a, b *metatool.Tool) bool {
	return a.Description == b.Description && reflect.DeepEqual(a.Steps, b.Steps) && reflect.DeepEqual(a.Inputs, b.Inputs) && slices.Equal(a.Output.Steps, b.Output.Steps)
}

// finder returns what finds all of them.
func (p *pool) finder() *replay.Finder { return replay.NewFinder(p.tools) }
