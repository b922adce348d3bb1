// Package analysis is the commands that say how agents call: `awo analyze`, and `awo
// report`, which shows its findings with what package worth found, on one page.
//
// In come traces, and rules where merging is wanted; out go figures, tables and the
// page. Packages ngram, entropy and dataflow do the counting, and what is kept in
// memory is theirs.
package analysis

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/deal"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// analyzeOptions are the flags of `awo analyze`.
type analyzeOptions struct {
	countOptions `mapstructure:",squash"`
	Order        int    `mapstructure:"order"`
	Preset       string `mapstructure:"preset"`
	Folds        int    `mapstructure:"folds"`
	Permutations int    `mapstructure:"permutations"`
	By           string `mapstructure:"by"`
	Top          int    `mapstructure:"top"`
	Contexts     int    `mapstructure:"contexts"`
	Plots        string `mapstructure:"plots"`
	Sources      bool   `mapstructure:"sources"`
}

// countOptions say which calls are counted.
type countOptions struct {
	CollapseRepeats bool `mapstructure:"collapse-repeats"`
	MinLength       int  `mapstructure:"min-length"`
	DropFailed      bool `mapstructure:"drop-failed"`
}

// maxOrder bounds --order: contexts of more calls are hardly ever seen twice.
const maxOrder = 8

// NewAnalyze returns `awo analyze`.
func NewAnalyze(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "analyze FILES...",
		Short: "Measure how predictable the next call is, and what follows what",
		Long: `Measure how predictable the next tool call is, given the last 0, 1, ... calls:
conditional entropies, what a model would lose on tasks that it has not seen,
tests of each order against the next, and what follows which context.

--sources also says where the arguments of calls come from: which earlier result,
argument or message held the value, as far as that is more than coincidence. It
reads all arguments and results, and so takes several times as long.

--preset autotool computes entropies, G2 and degrees of freedom as AutoTool's
authors do (arXiv 2511.14650); docs/statistics.md says where that differs from
the default, and why.

FILES may all be summaries (awo summarize) in place of traces. They hold no arguments
and results, so that findings, --sources and --rules need traces.

` + cli.FilesHelp,
		Example: `  awo analyze traces/
  awo analyze runs.jsonl --order 2 --exclude-tool 'think*' --collapse-repeats
  awo analyze traces/ --sources
  awo analyze traces/ --by model --plots plots/
  awo analyze traces/ --preset autotool --format json
  awo analyze monday.awosum tuesday.awosum`,
		GroupID: cli.GroupLook,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices, cli.UseShell, cli.UseExclude)
	f := c.Flags()
	addAnalysis(f)
	f.Bool("sources", false, "say where the arguments of calls come from")
	f.String("plots", "", "draw the figures into this `FOLDER`, as SVG and PDF")
	return cli.Work(a, c, analyze)
}

// addAnalysis adds the flags that all commands with the figures of an analysis
// have.
func addAnalysis(f *pflag.FlagSet) {
	cli.CountTo(f, "order", 3, 0, maxOrder, "the longest context, in calls")
	addCounting(f)
	f.Var(cli.NewChoice("awo", "autotool"), "preset", "whose conventions are followed")
	cli.Count(f, "folds", 10, 0, "parts that the tasks are divided into for the held-out loss; 0 computes none")
	cli.Count(f, "permutations", 999, 0, "samples of Monte Carlo tests; 0 makes none")
	f.Var(cli.NewChoice("none", "tool-prefix", "model", "agent", "outcome", "source", "project", "session", "subagent", "server"), "by", "compare groups of trajectories; project is the folder of a file, server that of MCP")
	cli.Count(f, "top", 3, 0, "successors shown for each context")
	cli.Count(f, "contexts", 6, 0, "contexts shown of each length; 0 shows all")
}

// addCounting adds the flags that say which calls are counted.
func addCounting(f *pflag.FlagSet) {
	f.Bool("collapse-repeats", false, "count runs of calls of one tool as one call")
	cli.Count(f, "min-length", 0, 0, "leave out trajectories of fewer than `N` calls")
	f.Bool("drop-failed", false, "leave out calls that are known to have failed")
}

func analyze(j *cli.Job, o analyzeOptions, files []string) error {
	in, found, err := analyzedAny(j, o, files)
	if err != nil {
		return err
	}
	if o.Plots != "" {
		if err := drawAnalysis(j, found, o.Plots); err != nil {
			return err
		}
	}
	d := analysisDocument(in, found, o)
	if in.Summaries() == 0 { // a back-test needs the calls themselves
		d.Next = []string{j.Then(files, "what would be saved, on tasks held out", "backtest", "{}")}
	}
	return j.Result(d)
}

// analyzedAny finds out about traces, or about what was summarized of them.
func analyzedAny(j *cli.Job, o analyzeOptions, files []string) (*cli.Intake, *findings, error) {
	stored, err := cli.OnlyStored(files)
	if err != nil {
		return nil, nil, err
	}
	if len(stored) > 0 {
		return analyzedStored(j, o, stored)
	}
	return analyzed(j, o, trace.Options{}, files)
}

// analyzed reads traces and finds out about them. The intake is for the caller
// to close; it can be read again if reader says so.
func analyzed(j *cli.Job, o analyzeOptions, reader trace.Options, files []string, also ...func(*trace.Trajectory)) (*cli.Intake, *findings, error) {
	meter := j.Meter()
	in, err := j.Intake(files, reader)
	if err != nil {
		return nil, nil, err
	}
	in.Follows = reader.Spool || o.Sources // reports follow values as well
	in.Needs = []string{completeness.CapabilitySequences, completeness.CapabilityTurns}
	if o.Sources {
		in.Needs = append(in.Needs, completeness.CapabilityDataflow)
	}
	if o.leavesOut(j) { // else what is read again is what was kept
		in.Exclude = o.counting(j).Excludes
	}
	in.Shell = j.Splitter(j.Set)
	corpus := trace.NewCorpus(trace.CorpusOptions{CollapseRepeats: o.CollapseRepeats, Group: o.groups()})
	in.Facts, in.Findings = &completeness.Facts{}, j.NewFindings(meter)
	sources, merger := newSources(o), (*merge.Merger)(nil)
	if j.RuleFile != "" {
		merger = merge.NewMerger(j.Set, merge.Options{})
	}
	profile, decisions := &completeness.Profile{}, &decisions{}
	for t, err := range sources.collect(j.Parallel(), in.All()) {
		if err != nil {
			return nil, nil, err
		}
		corpus.Add(t)
		profile.Add(t)
		decisions.Add(t)
		for _, see := range also {
			see(t)
		}
		if merger != nil {
			merger.Add(t)
		}
	}
	found := study(j, corpus, o)
	found.facts, found.profile, found.decisions, found.sources = in.Facts, profile, decisions, sources.result()
	if merger != nil {
		found.merged = mergedSteps(merger.Merged())
	}
	return in, found, nil
}

// leavesOut reports whether the options leave out calls or trajectories, which what is
// read again may want.
func (o countOptions) leavesOut(j *cli.Job) bool {
	return len(j.ExcludeTool) > 0 || o.DropFailed || o.MinLength > 0
}

// counting returns the options with those that summaries keep beside them.
func (o countOptions) counting(j *cli.Job) count.Options {
	out := count.Options{
		CollapseRepeats: o.CollapseRepeats, DropFailed: o.DropFailed, ExcludeTool: j.ExcludeTool, MinLength: o.MinLength, Shell: j.Shell,
		TurnGap: j.TurnGap, Where: j.Where, Since: j.Since, Until: j.Until,
	}
	if j.Map != "" {
		out.Map = filepath.Base(j.Map)
	}
	return out
}

// findings is what `awo analyze` found out.
type findings struct {
	corpus    *trace.Corpus
	counts    *ngram.Counts
	analysis  entropy.Analysis
	contexts  []entropy.Context
	topShares [][]entropy.TopShare // by order, from 1
	single    []entropy.Context    // of one call, all of them
	intervals bool                 // contexts have them where there are tasks enough
	steps     []entropy.Step
	merged    []entropy.Step // on the states of the rules; nil without --rules
	variants  []trace.Variant
	profile   *completeness.Profile
	decisions *decisions // nil of summaries
	groups    []group
	within    []entropy.Test // order tests within groups
	shifts    []shift        // of each other group against the largest
	facts     *completeness.Facts
	sources   *origins // nil without --sources
}

// study computes the statistics of a corpus.
func study(j *cli.Job, corpus *trace.Corpus, o analyzeOptions) *findings {
	corpus.Sort()
	f := &findings{corpus: corpus}
	counter := ngram.NewCounter(o.Order)
	var sequences [][]uint32
	var tasks []uint32
	for i, tools := range corpus.Sequences() {
		counter.Add(tools)
		sequences, tasks = append(sequences, tools), append(tasks, corpus.Task(i))
	}
	f.counts = counter.Counts()
	options := o.entropy(j)
	f.analysis = entropy.Analyze(f.counts, options)
	if o.Folds > 0 {
		losses := ngram.HeldOut(o.Order, sequences, tasks, ngram.HeldOutOptions{Folds: o.Folds, Seed: j.Seed, Each: j.Each(), Hash: func(task uint32) deal.Hash { return corpus.Tasks()[task] }})
		f.analysis.AddHeldOut(losses, options)
	}
	f.contexts = entropy.Contexts(f.counts, entropy.ContextOptions{
		MaxLength: o.Order, Most: o.Contexts, Top: o.Top, Compare: f.byName,
	})
	f.addIntervals(entropy.Sample{Sequences: sequences, Tasks: tasks}, options)
	for k := 1; k <= o.Order; k++ {
		f.topShares = append(f.topShares, entropy.TopShares(f.counts, k, topShareMost))
	}
	f.steps = entropy.Convergence(entropy.Prefixes(slices.Values(sequences)), convergenceMost)
	f.variants = corpus.Variants()
	f.studyGroups(o, options)
	return f
}

// addIntervals gives the shares of successors their intervals, unless there are
// so many that it would take longer than all the rest.
func (f *findings) addIntervals(sample entropy.Sample, o entropy.Options) {
	f.single = entropy.Contexts(f.counts, entropy.ContextOptions{Top: 1, Compare: f.byName})
	f.intervals = len(f.contexts) <= intervalContexts
	// Every replicate costs time in proportion to the tasks, and with many tasks
	// an interval is narrow whatever its bounds' last digit.
	o.Replicates = min(max(2_000_000/max(len(f.corpus.Tasks()), 1), 200), 2000)
	if f.intervals {
		entropy.AddIntervals(f.contexts, sample, o)
	}
}

// byName orders tools by their names.
func (f *findings) byName(a, b uint32) int { return cmp.Compare(f.name(a), f.name(b)) }

// intervalContexts is how many contexts get intervals at most.
const intervalContexts = 200

const tooManyContexts = "intervals are for at most 200 contexts; list fewer with --contexts"

const (
	topShareMost    = 10 // successors of the cumulative curve
	convergenceMost = 30 // calls of the convergence curve
)

// entropy returns the options of package entropy.
func (o analyzeOptions) entropy(j *cli.Job) entropy.Options {
	out := entropy.Options{
		AutoTool:     o.Preset == "autotool",
		Permutations: o.Permutations, Seed: j.Seed, Each: j.Each(),
	}
	if o.Permutations == 0 {
		out.Permutations = -1
	}
	return out
}

// storedNote says what is not in summaries.
const storedNote = "summaries hold no arguments, results and turns, so nothing is found in them: `awo analyze` of the traces finds it"

// analyzedStored finds out about summaries.
func analyzedStored(j *cli.Job, o analyzeOptions, files []string) (*cli.Intake, *findings, error) {
	for flag, set := range map[string]bool{"sources": o.Sources, "rules": j.RuleFile != ""} {
		if set {
			return nil, nil, cli.Usagef("--%s: summaries hold no arguments and results; analyze the traces", flag)
		}
	}
	if o.By != "none" && !slices.Contains(count.Labels, o.By) {
		return nil, nil, cli.Usagef("--by %s: summaries do not hold it; they can be divided by %s", o.By, strings.Join(count.Labels, ", "))
	}
	sum, err := j.MergeStored(files, false)
	if err != nil {
		return nil, nil, err
	}
	if err := j.AsCounted(o.counting(j), sum); err != nil {
		return nil, nil, err
	}
	corpus, err := sum.Corpus(o.By)
	if err != nil {
		return nil, nil, err
	}
	in := j.StoredIntake(sum, len(files))
	in.Needs = []string{completeness.CapabilitySequences, completeness.CapabilityTurns}
	found := study(j, corpus, o)
	found.facts, found.profile = sum.Facts(), sum.Profile()
	return in, found, nil
}

// groups returns the function that names the group of a trajectory, nil for no
// groups.
func (o analyzeOptions) groups() func(*trace.Trajectory) string { return groupsBy(o.By) }

// groupsBy returns the function for a value of --by.
func groupsBy(by string) func(*trace.Trajectory) string {
	if by == "source" {
		return func(t *trace.Trajectory) string { return count.Named(t.Source.File) }
	}
	if label := count.LabelOf(by); label != nil {
		return label
	}
	return cli.GroupOf(by)
}

// studyGroups compares the groups, largest first: each on its own, the order
// tests within groups, and every other group with the largest.
func (f *findings) studyGroups(o analyzeOptions, options entropy.Options) {
	corpus := f.corpus
	if o.By == "none" || o.By == "" || len(corpus.Groups()) < 2 {
		return
	}
	n := len(corpus.Groups())
	counters := make([]*ngram.Counter, n)
	samples := make([]entropy.Sample, n)
	sizes := make([]int, n)
	for g := range n {
		counters[g] = ngram.NewCounter(max(o.Order, 1))
	}
	for i := range corpus.Len() {
		sizes[corpus.Group(i)]++
	}
	for i, tools := range corpus.Sequences() {
		g := corpus.Group(i)
		counters[g].Add(tools)
		samples[g].Sequences = append(samples[g].Sequences, tools)
		samples[g].Tasks = append(samples[g].Tasks, corpus.Task(i))
	}
	counts := make([]*ngram.Counts, n)
	order := make([]int, n)
	for g := range n {
		counts[g], order[g] = counters[g].Counts(), g
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[b] - sizes[a] })
	for _, g := range order {
		analysis := entropy.Analyze(counts[g], entropy.Options{Permutations: -1})
		none := stat.Unknown("no calls")
		found := group{corpus.Groups()[g], sizes[g], int(analysis.Symbols), none, none}
		if len(analysis.Orders) > 1 {
			found.H0, found.H1 = analysis.Orders[0].Bits, analysis.Orders[1].Bits
		}
		f.groups = append(f.groups, found)
	}
	for k := range o.Order {
		f.within = append(f.within, entropy.TestOrder(k, options, counts...))
	}
	for _, g := range order[1:] {
		f.shifts = append(f.shifts, shift{[2]string{corpus.Groups()[order[0]], corpus.Groups()[g]}, entropy.CompareHabits(1, samples[order[0]], samples[g], options)})
	}
}
