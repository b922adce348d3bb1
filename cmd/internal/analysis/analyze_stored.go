package analysis

import (
	"os"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/summary"
	"github.com/awo-dev/awo/summary/count"
	"github.com/awo-dev/awo/trace"
)

// splitStored divides files into summaries and others.
func splitStored(files []string) (stored, traces []string) {
	for _, file := range files {
		if strings.HasSuffix(file, summary.Ext) {
			stored = append(stored, file)
		} else {
			traces = append(traces, file)
		}
	}
	return stored, traces
}

// storedNote says what is not in summaries.
var storedNote = report.Note{At: "/findings", Note: "summaries hold no arguments, results and turns, so nothing is found in them: `awo analyze` of the traces finds it"}

// mergeStored reads summaries and adds them up.
func mergeStored(j *cli.Job, files []string, overlap bool) (*summary.Summary, error) {
	var sum *summary.Summary
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, cli.FileProblem(file, err)
		}
		part, err := summary.Read(file, data)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = part
		} else if err := sum.Merge(part, overlap); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// analyzedStored finds out about summaries.
func analyzedStored(j *cli.Job, o analyzeOptions, files []string) (*cli.Intake, *findings, []report.Note, error) {
	if err := o.check(); err != nil {
		return nil, nil, nil, err
	}
	for flag, set := range map[string]bool{"sources": o.Sources, "rules": o.Rules != ""} {
		if set {
			return nil, nil, nil, cli.Usagef("--%s: summaries hold no arguments and results; analyze the traces", flag)
		}
	}
	if o.By != "none" && !slices.Contains(count.Labels, o.By) {
		return nil, nil, nil, cli.Usagef("--by %s: summaries do not hold it; they can be divided by %s", o.By, strings.Join(count.Labels, ", "))
	}
	sum, err := mergeStored(j, files, false)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := o.asCounted(j, sum); err != nil {
		return nil, nil, nil, err
	}
	corpus, err := sum.Corpus(o.By)
	if err != nil {
		return nil, nil, nil, err
	}
	in := storedIntake(j, sum, len(files))
	in.Needs = []string{trace.CapabilitySequences, trace.CapabilityTurns}
	found := study(corpus, o, j.Each())
	found.facts, found.profile = sum.Facts(), sum.Profile()
	found.addStoredRework(sum)
	return in, found, []report.Note{storedNote}, nil
}

// asCounted returns an error if the options ask for other calls than those that were
// counted. What is not asked for is as it was counted.
func (o analyzeOptions) asCounted(j *cli.Job, sum *summary.Summary) error {
	for _, x := range []struct {
		flag string
		set  bool
	}{{"since", o.Since != ""}, {"until", o.Until != ""}, {"dedupe", o.Dedupe}, {"sample", o.Sample != 0}} {
		if x.set {
			return cli.Usagef("--%s chooses trajectories, and these are counted already; give it to `awo summarize`", x.flag)
		}
	}
	none := count.Default()
	none.Map = o.counting(j, o.InputOptions).Map
	for i, asked := range o.counting(j, o.InputOptions).Choices() {
		if asked != none.Choices()[i] && asked.Value != sum.Choice(asked.Name) {
			return cli.Usagef("--%s %s: the trajectories were counted with %q; give it to `awo summarize`", asked.Name, asked.Value, sum.Choice(asked.Name))
		}
	}
	return nil
}

// storedIntake says what came into a summary.
func storedIntake(j *cli.Job, sum *summary.Summary, files int) *cli.Intake {
	was := sum.Intake()
	left := was.Left
	s := cli.Stored{
		Summaries: files, Files: was.Files, Records: was.Records, Problems: was.Problems, Excluded: was.Excluded, Expanded: was.Expanded,
		Left:  filter.Counts{Where: left[0], Time: left[1], Untimed: left[2], Duplicate: left[3], Sample: left[4]},
		Facts: sum.Facts(),
	}
	for _, b := range bounds.All() {
		if n, ok := was.Bounds[b.Code]; ok {
			s.Bounded = append(s.Bounded, bounds.Report{Code: b.Code, Of: b.Of, Limit: b.Limit, Places: n.Places, LeftOut: n.LeftOut, Unit: b.Unit})
		}
	}
	return j.StoredIntake(s)
}

// addStoredRework takes the rework from a summary, which knows turns and tokens.
func (f *findings) addStoredRework(sum *summary.Summary) {
	numbers := map[string]uint32{}
	for i, name := range f.corpus.Tools() {
		numbers[name.Value()] = uint32(i)
	}
	f.rework, f.reworkCost = []trace.Rework{}, reworkCost{}
	for _, r := range sum.Rework() {
		tools := make([]uint32, len(r.Tools))
		for i, name := range r.Tools {
			tools[i] = numbers[name]
		}
		f.rework = append(f.rework, trace.Rework{Kind: r.Kind, Tools: tools, Occurrences: r.Occurrences, Trajectories: r.Trajectories, Turns: r.Turns})
		f.reworkCost[reworkOf(r.Kind, tools)] = tokenSum{r.TurnsUsage, r.Tokens}
	}
}
