package extraction

import (
	"fmt"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace/completeness"
)

// verifying is what `awo verify` verifies: the artefacts of a folder, or meta-tools alone.
type verifying struct {
	dir                  string
	toolsFile, aheadFile *count.Artefact // nil where there is none
	tools                []*metatool.Tool
	ahead                *stored.File // nil where there is none
}

func (v *verifying) read(j *cli.Job) (err error) {
	if v.toolsFile, v.aheadFile, err = Counted(j, v.dir); err != nil {
		return err
	}
	if v.aheadFile != nil {
		if v.ahead, err = stored.Decode(v.aheadFile.File, []byte(v.aheadFile.Text)); err != nil {
			return err
		}
	}
	if v.toolsFile != nil {
		v.tools, err = arazzo.Parse(v.toolsFile.File, []byte(v.toolsFile.Text))
	}
	return err
}

// counters return what counts of traces; no measure where there are no rules.
func (v *verifying) counters() (*replay.Verifier, *learn.Measure) {
	verifier := replay.NewVerifier(v.tools)
	if v.ahead == nil {
		return verifier, nil
	}
	return verifier, learn.NewMeasure(&v.ahead.Set)
}

// stored is `awo verify` of summaries in which the same artefacts were counted.
func (v *verifying) stored(j *cli.Job, o verifyOptions, files []string) error {
	option, value := "tools", v.toolsFile.Choice()
	if v.toolsFile == nil {
		option, value = count.PrefetchChoice, v.aheadFile.Choice()
	}
	sum, err := j.Recounted(files, option, value)
	if err != nil {
		return err
	}
	why := "" // rules are not verified
	verifier, measure := v.counters()
	switch was := sum.Choice(count.PrefetchChoice); {
	case measure == nil:
	case was == "":
		measure = nil
		why = "these summaries were counted without the rules for reading ahead: `awo summarize --tools " + v.dir + "` counts them"
	case was != v.aheadFile.Choice():
		return cli.Usagef("%s: the summary was counted with other rules for reading ahead (%s) than these (%s)", files[0], was, v.aheadFile.Choice())
	}
	if !verifier.Restore(sum.Sum, sum.Sums) {
		return diag.New(diag.Pos{File: files[0]}, summary.CodeCorrupt, "the counts of meta-tools contradict each other")
	}
	if measure != nil && !measure.Restore(sum.Sum, sum.TaskSums) {
		return diag.New(diag.Pos{File: files[0]}, summary.CodeCorrupt, "the counts of rules for reading ahead contradict each other")
	}
	in := j.StoredIntake(sum, len(files))
	in.Needs = []string{completeness.CapabilityTurns, completeness.CapabilityDataflow}
	out := verified(in, o, verifier.Verifications())
	if measure != nil {
		out.addReads(v.ahead, measure, j.Seed)
	}
	d := out.document(in)
	d.Note("figures.prefetch", why)
	if measure != nil {
		d.Note("tables.prefetch", "summaries have tasks in another order than traces, so that other ones are drawn: bounds of use differ from those of the traces as with another --seed")
	}
	if len(v.tools) > 0 {
		d.Note("tables.disagreements", "summaries hold how many disagreements there are, and not where: `awo verify` of the traces names the first ones")
	}
	if n := in.Tally.OtherCalls; o.Expand && n > 0 {
		d.Note("tables.meta_tools", fmt.Sprintf("--expand: summaries count calls as they are recorded; of %s that no model decided on, those of steps of meta-tools were not replayed as calls made one by one", cli.CountOf(n, "call")))
	}
	return out.print(j, d)
}
