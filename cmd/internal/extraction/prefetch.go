package extraction

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/rules"
)

// readsAhead returns the prefetch rules that a back-test would follow; nil where
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
	}
}

// beside returns the prefetch rules beside which meta-tools are chosen for an
// agent: those of a verdict that is both; nil for none.
func (c *extractCompilation) beside(agent int) *prefetch.Set {
	if c.reads == nil || c.reads[agent] == nil {
		return nil
	}
	return &c.reads[agent].Set
}

// readsAhead notes prefetch rules as they are written; f is nil for none.
func (out *extraction) readsAhead(f *stored.File) {
	if f != nil {
		out.Prefetch, out.prefetch = stat.Known(f.Threshold), f.Document().Rules
	}
}

// prefetchTable lists prefetch rules.
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

// readPrefetch reads the prefetch rules in a folder, nil where there are none.
func readPrefetch(dir string) (*stored.File, error) {
	file, err := prefetchFile(dir)
	if file == nil || err != nil {
		return nil, err
	}
	return stored.Decode(file.File, []byte(file.Text))
}

// prefetchFile reads the file that readPrefetch takes, as it is.
func prefetchFile(dir string) (*count.Artefact, error) {
	name := filepath.Join(dir, stored.Name)
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) || err != nil && !isFolder(dir) {
		return nil, nil
	}
	src, err := readArtefact(dir, stored.Name)
	if err != nil {
		return nil, err
	}
	return &count.Artefact{File: filepath.ToSlash(name), Text: string(src)}, nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// prefetchFigures say how often prefetch rules are used in the traces.
type prefetchFigures struct {
	Threshold float64 `json:"threshold"` // of P(use), from the file
	Failed    int     `json:"failed"`    // rules whose P(use) is below the threshold
}

// What verify says of a rule.
const (
	ruleWithin  = "within"          // the intervals of both P(use) overlap
	ruleBelow   = "below"           // it is used less often than the traces promised that it was made from
	ruleAbove   = "above"           // more often
	ruleFails   = "below-threshold" // so seldom that it would not have become a rule
	ruleAbsent  = "does-not-occur"
	ruleUnknown = "unknown" // too few tasks to tell
)

type verifiedRule struct {
	ID        string        `json:"id"`
	Offered   int           `json:"offered"` // values, in answers
	Used      int           `json:"used"`
	Vain      int           `json:"in_vain"` // stale ones are among them
	Stale     int           `json:"stale"`   // asked for when something may have changed them
	Runs      int           `json:"trajectories"`
	Tasks     int           `json:"tasks"`
	Use       stat.Estimate `json:"use"`
	Predicted stored.Figure `json:"predicted"`
	Verdict   string        `json:"verdict"` // within, below, above, below-threshold, unknown or does-not-occur
	Passed    bool          `json:"passed"`
}

// addReads holds what was measured against what the file says.
func (out *verification) addReads(f *stored.File, m *learn.Measure, seed uint64) {
	if f == nil {
		return
	}
	out.Prefetch = &prefetchFigures{Threshold: f.Threshold}
	recorded := f.Document().Rules
	for i, e := range m.Evidence(seed) {
		use := stat.Estimate{Figure: stat.Ratio(e.Used, e.Offered, "no answer in these traces offers a value"), Interval: e.Interval}
		r := verifiedRule{
			ID: recorded[i].ID, Offered: e.Offered, Used: e.Used, Vain: e.Offered - e.Used, Stale: e.Stale, Runs: e.Runs, Tasks: e.Tasks,
			Use: use, Predicted: recorded[i].Use, Verdict: verdictOf(&e, &recorded[i].Use, f.Threshold),
		}
		if r.Passed = r.Verdict != ruleFails; !r.Passed {
			out.Prefetch.Failed++
		}
		out.reads = append(out.reads, r)
	}
}

// verdictOf compares intervals; a figure without one is taken for itself where it was
// predicted, and is compared with nothing where it was measured.
func verdictOf(e *stored.Evidence, predicted *stored.Figure, threshold float64) string {
	lo, hi := predicted.Value, predicted.Value
	if predicted.Interval.Known() {
		lo, hi = predicted.Interval.Lo, predicted.Interval.Hi
	}
	switch {
	case e.Offered == 0:
		return ruleAbsent
	case !e.Interval.Known():
		return ruleUnknown
	case e.Interval.Hi < threshold:
		return ruleFails
	case e.Interval.Hi < lo:
		return ruleBelow
	case e.Interval.Lo > hi:
		return ruleAbove
	}
	return ruleWithin
}

// verdictWords are what reports say.
var verdictWords = map[string]string{
	ruleWithin: "within prediction", ruleBelow: "below prediction", ruleAbove: "above prediction",
	ruleFails: "FAILED: below threshold", ruleAbsent: "does not occur", ruleUnknown: "too few tasks to tell",
}

// readsTable lists the rules.
func (out *verification) readsTable() *report.Table {
	table := report.TableOf("prefetch", "Prefetched reads", out.reads, []report.Column{
		{Key: "id", Title: "rule", Max: 60},
		{Key: "offered"},
		{Key: "used"},
		{Key: "in_vain", Title: "wasted"},
		{Key: "stale"},
		{Key: "use", Title: "share", Share: true, Range: "95 %"},
		{Key: "predicted", Unit: "%", Align: report.Right, Cell: report.By(func(r *verifiedRule) report.Cell { return report.Share(r.Predicted.Value, 1) })},
		{Key: "predicted_interval", Title: "predicted 95 %", Interval: true, Align: report.Right, Cell: report.By(func(r *verifiedRule) report.Cell { return report.ShareRange(r.Predicted.Interval, 1) })},
		{Key: "verdict", Cell: report.By(func(r *verifiedRule) report.Cell { return report.Text(verdictWords[r.Verdict]) })},
	})
	table.Note("Offered are the values that answers hold and the rule would read; used are those that the agent then asked for, while nothing was called that may have changed them (else outdated, and wasted). Intervals are over tasks. Each rule is counted for itself.")
	if out.Prefetch != nil {
		table.Note("Within prediction: both intervals overlap. A rule fails if the upper end of its interval is below %.2f, the share from which it was taken.", out.Prefetch.Threshold)
	}
	return table.IfAny()
}

// storedRules returns the prefetch rules in a folder as they are written.
func storedRules(dir string) ([]stored.Rule, error) {
	f, err := readPrefetch(dir)
	if err != nil || f == nil {
		return []stored.Rule{}, err
	}
	return f.Document().Rules, nil
}

// whyRule says what a prefetch rule does, and what that rests on.
func whyRule(d *report.Document, one []stored.Rule) {
	r := &one[0]
	d.Title = r.ID
	d.Add(prefetchTable(one).Hidden())
	tool := report.Escape(r.Target.Tool)
	d.Add(report.Paragraph(whatRuleDoes(r)))
	e := &r.Evidence
	lines := []string{
		fmt.Sprintf("%s offered in %s of %s, %.1f by answer on average.", cli.CountOf(e.Offered, "value"), cli.CountOf(e.Runs, "trajectory"), cli.CountOf(e.Tasks, "task"), e.PerAnswer),
		fmt.Sprintf("%s used: the agent asked for exactly that later, and nothing was called between that may have changed it.", report.Grouped(e.Used)),
		fmt.Sprintf("%s not used. Of these %s stale: asked for when something may have changed.", report.Grouped(e.Offered-e.Used), areOrIs(e.Stale)),
	}
	if use := r.Use.Interval; use.Known() {
		lines = append(lines, fmt.Sprintf("P(use) %.3f, 95 %% interval over tasks %.3f to %.3f.", r.Use.Value, use.Lo, use.Hi))
	} else {
		lines = append(lines, fmt.Sprintf("P(use) %.3f, without an interval: %s.", r.Use.Value, report.Escape(r.Use.Reason)))
	}
	used, counted := e.TokensUsed.Value()
	if vain, also := e.TokensVain.Value(); counted && also {
		lines = append(lines, fmt.Sprintf("A result of %s has %.0f tokens on average, in all its calls; for each value offered %.0f are wasted.", tool, used, vain))
	}
	d.Section("What it rests on", report.Paragraph(strings.Join(lines, " ")))
	if others := otherArguments(r); len(others) > 0 {
		d.Section("Where its other arguments come from", report.Paragraph(strings.Join(others, " ")))
	}
}

// whatRuleDoes says when a rule makes which call.
func whatRuleDoes(r *stored.Rule) string {
	tool, given := report.Escape(r.Target.Tool), report.Escape(strings.Join(givenArguments(r), ", "))
	switch {
	case r.Source.Kind == "user":
		return fmt.Sprintf("When a message of the user holds values that look like %s, %s is prefetched with them as %s: %s.",
			report.Escape(strings.TrimPrefix(valueWords(r), "message: ")), tool, given, report.Escape(conditionWords(r)))
	case r.Source.Kind == "none" && r.Source.Tool == "":
		return fmt.Sprintf("At the beginning of a session %s is prefetched.", tool)
	case r.Source.Kind == "none":
		return fmt.Sprintf("When %s has answered, %s is prefetched: %s.", report.Escape(r.Source.Tool), tool, conditionWords(r))
	}
	return fmt.Sprintf("When %s has answered, %s is prefetched with the values at %s as %s: %s.",
		report.Escape(r.Source.Tool), tool, report.Escape(r.Source.Path), given, conditionWords(r))
}

func areOrIs(n int) string {
	if n == 1 {
		return "1 is"
	}
	return report.Grouped(n) + " are"
}

func constantNames(r *stored.Rule) []string {
	return slices.Sorted(maps.Keys(r.Target.Constants))
}

// otherArguments says where they come from; constants are in the file and not shown.
func otherArguments(r *stored.Rule) (lines []string) {
	places := map[string]string{"answer": "the answer", "element": "the element of the list that the value stands in", "argument": "the arguments of the call that was answered"}
	for _, b := range r.Target.Bound {
		lines = append(lines, fmt.Sprintf("%s: %s, at %s.", report.Escape(b.Argument), places[b.From], report.Escape(b.Path)))
	}
	for _, name := range constantNames(r) {
		lines = append(lines, fmt.Sprintf("%s: a constant.", report.Escape(name)))
	}
	return lines
}
