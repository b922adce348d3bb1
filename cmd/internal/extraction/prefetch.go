package extraction

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/predict/effects"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/rules"
)

// readsAhead returns the rules for reading ahead that a back-test would follow; nil where
// none are asked for.
func readsAhead(j *cli.Job, set *rules.Set, meter *cost.Meter, o Options, c *extractCompilation) *stored.File {
	if c.reads == nil {
		c.learnReads(j, set, meter, &o)
	}
	var all *stored.File
	for _, f := range c.reads {
		switch {
		case f == nil:
		case all == nil:
			all = f
		default:
			all.Join(f)
		}
	}
	return all
}

// learnReads learns what to read ahead, for each agent from its own runs.
func (c *extractCompilation) learnReads(j *cli.Job, set *rules.Set, meter *cost.Meter, o *Options) {
	c.reads = make([]*stored.File, max(len(c.plans), 1))
	for i := range c.reads {
		runs, links, threshold := c.train, c.Set, o.Prefetch
		if c.plans != nil { // the links of all agents together are not those of one
			runs, links, threshold = backtest.OfAgent(c.train, c.agents, i), nil, c.plans[i].prefetch
		}
		if threshold > 0 {
			c.reads[i] = backtest.LearnReads(runs, links, readsOptions(j, set, meter, o), threshold).File()
		}
	}
}

// readsOptions are the options of learning what to read ahead.
func readsOptions(j *cli.Job, set *rules.Set, meter *cost.Meter, o *Options) backtest.Options {
	return backtest.Options{
		Rules: set, Compile: o.Compiler(candidate.DefaultThreshold, j.Parallel()), Meter: meter, Seed: j.Seed, Workers: j.Parallel(),
		Declared: func() backtest.Declarations { return effects.New(set, true) },
	}
}

// beside returns the rules for reading ahead beside which meta-tools are chosen for an
// agent: those of a verdict that is both; nil for none.
func (c *extractCompilation) beside(agent int) *prefetch.Set {
	if c.reads == nil || c.reads[agent] == nil {
		return nil
	}
	return &c.reads[agent].Set
}

// readsAhead notes rules for reading ahead as they are written; f is nil for none.
func (out *extraction) readsAhead(f *stored.File) {
	if f != nil {
		out.Prefetch, out.prefetch = stat.Known(f.Threshold), f.Document().Rules
	}
}

// prefetchTable lists rules for reading ahead.
func prefetchTable(rules []stored.Rule) *report.Table {
	table := report.TableOf("prefetch", "Reads that usually follow from an answer or a message", rules, []report.Column{
		{Key: "id", Title: "name", Max: 60},
		{Key: "path", Title: "values at", Max: 40, Wrap: true, Cell: report.By(func(r *stored.Rule) report.Cell { return report.Name(valueWords(r)) })},
		{Key: "argument", Title: "as", Max: 32, Cell: report.By(func(r *stored.Rule) report.Cell { return report.Name(strings.Join(givenArguments(r), ", ")) })},
		{Key: "when", Max: 40, Wrap: true, Cell: report.By(func(r *stored.Rule) report.Cell { return report.Text(conditionWords(r)) })},
		{Key: "used", Align: report.Right, Cell: report.By(func(r *stored.Rule) report.Cell {
			return report.Text(fmt.Sprintf("%d of %d", r.Evidence.Used, r.Evidence.Offered))
		})},
		{Key: "use", Title: "share", Unit: "%", Align: report.Right, Cell: report.By(func(r *stored.Rule) report.Cell { return report.Share(r.Use.Value, 1) })},
		{Key: "interval", Title: "95 %", Interval: true, Align: report.Right, Cell: report.By(func(r *stored.Rule) report.Cell { return report.ShareRange(r.Use.Interval, 1) })},
	})
	table.Note("When the tool on the left of the name has answered, the one on the right is asked at once. Used: of the values that answers and messages held, those that the agent then asked for while nothing was called that may have changed them.")
	return table.IfAny()
}

// valueWords says where the values of a rule stand.
func valueWords(r *stored.Rule) string {
	switch r.Source.Kind {
	case "user":
		var shapes []string
		for _, s := range r.Source.Slots {
			shapes = append(shapes, strings.Join(s.Shapes, " or "))
		}
		return "message: " + strings.Join(shapes, ", ")
	case "none":
		if r.Source.Tool == "" {
			return "at the beginning"
		}
		return "no value"
	}
	return r.Source.Path
}

// givenArguments are the arguments that take the values of a rule.
func givenArguments(r *stored.Rule) (names []string) {
	for _, s := range r.Source.Slots {
		names = append(names, s.Argument)
	}
	if r.Target.Argument != "" {
		names = append(names, r.Target.Argument)
	}
	return names
}

// conditionWords says after which answers and for how many values a rule is followed.
func conditionWords(r *stored.Rule) string {
	words := map[string]string{"first": "the first time", "again": "not the first time"}[r.When.Turn]
	if words == "" {
		words = "always"
	}
	if last := map[string]string{"ok": ", no call failed right before", "failed": ", a call failed right before"}[r.When.Last]; last != "" {
		words += last
	}
	switch {
	case r.MaxElements == 1:
		words += ", the first value"
	case r.MaxElements > 1:
		words += fmt.Sprintf(", the first %d values", r.MaxElements)
	}
	if r.When.Alone {
		words += ", where the message gives no other read to make"
	}
	if len(r.Source.Trust) > 0 {
		words += ", once " + strings.Join(r.Source.Trust, " or ") + " has succeeded"
	}
	if r.Depth == 2 {
		words += ", also after a prefetched answer"
	}
	return words
}
