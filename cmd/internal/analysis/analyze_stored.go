package analysis

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/trace/completeness"
)

// storedNote says what is not in summaries.
const storedNote = "summaries hold no arguments, results and turns, so nothing is found in them: `awo analyze` of the traces finds it"

// analyzedStored finds out about summaries.
func analyzedStored(j *cli.Job, o analyzeOptions, files []string) (*cli.Intake, *findings, error) {
	if err := o.check(); err != nil {
		return nil, nil, err
	}
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
