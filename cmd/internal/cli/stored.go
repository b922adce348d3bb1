package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/internal/summary/count"
)

// SplitStored divides files into summaries and others.
func SplitStored(files []string) (stored, traces []string) {
	for _, file := range files {
		if strings.HasSuffix(file, summary.Ext) {
			stored = append(stored, file)
		} else {
			traces = append(traces, file)
		}
	}
	return stored, traces
}

// OnlyStored returns the files if they are summaries, nil if none is. Some of both are an
// error.
func OnlyStored(files []string) ([]string, error) {
	stored, traces := SplitStored(files)
	if len(stored) > 0 && len(traces) > 0 {
		return nil, Usagef("%s holds traces and %s a summary: add the traces to it with `awo summarize` first", traces[0], stored[0])
	}
	return stored, nil
}

// Recounted reads summaries for a command that wants what `awo summarize` counted beside
// sequences: option is its choice in the summary, value what that has to be. The rules must
// be those that the job has read.
func (j *Job) Recounted(files []string, option, value string) (*summary.Summary, error) {
	sum, err := j.MergeStored(files, false)
	if err != nil {
		return nil, err
	}
	switch was := sum.Choice(option); {
	case was == "" && option == count.PrefetchChoice:
		return nil, Usagef("%s: `awo summarize` counted without --tools of a folder with %s, which this wants", files[0], option)
	case was == "":
		return nil, Usagef("%s: `awo summarize` counted without --%s, which this wants; counted so, the file has it", files[0], option)
	case was != value && option == count.PrefetchChoice:
		return nil, Usagef("%s: the summary was counted with other prefetch rules (%s) than these (%s)", files[0], was, value)
	case was != value:
		return nil, Usagef("%s: the summary was counted with other meta-tools (%s) than these (%s)", files[0], was, value)
	}
	switch was, is := sum.Choice("rules"), j.CountedRules().Choice(); {
	case was == is:
	case is == "":
		return nil, Usagef("%s: the summary was counted under rules (%s): give the same file with --rules", files[0], was)
	case was == "":
		return nil, Usagef("--rules: %s was counted without rules", files[0])
	default:
		return nil, Usagef("--rules: %s was counted under other rules (%s) than these (%s)", files[0], was, is)
	}
	asked := count.Default()
	asked.TurnGap, asked.Where = j.TurnGap, j.Where
	if j.Map != "" {
		asked.Map = filepath.Base(j.Map)
	}
	return sum, j.AsCounted(asked, sum)
}

// MergeStored reads summaries and adds them up.
func (j *Job) MergeStored(files []string, overlap bool) (*summary.Summary, error) {
	var sum *summary.Summary
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, FileProblem(file, err)
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

// AsCounted returns an error if options ask for other trajectories or calls than those that
// were counted. What is not asked for is as it was counted.
func (j *Job) AsCounted(asked count.Options, sum *summary.Summary) error {
	for _, x := range []struct {
		flag string
		set  bool
	}{{"since", j.Since != ""}, {"until", j.Until != ""}, {"dedupe", j.Dedupe}, {"sample", j.Sample != 0}} {
		if x.set {
			return Usagef("--%s chooses trajectories, and these are counted already; give it to `awo summarize`", x.flag)
		}
	}
	none := count.Default()
	none.Map = asked.Map
	for _, one := range asked.Choices() {
		if !slices.Contains(none.Choices(), one) && one.Value != sum.Choice(one.Name) {
			return Usagef("%s %s: the trajectories were counted with %q; give it to `awo summarize`", one, one.Value, sum.Choice(one.Name))
		}
	}
	return nil
}

// StoredIntake returns the intake of what a summary has counted, which stands in so many
// files: it yields nothing, and says what came in.
func (j *Job) StoredIntake(sum *summary.Summary, files int) *Intake {
	was := sum.Intake()
	left := was.Left
	s := Stored{
		Summaries: files, Files: was.Files, Records: was.Records, Problems: was.Problems, Excluded: was.Excluded, Expanded: was.Expanded,
		Left:  filter.Counts{Where: left[0], Time: left[1], Untimed: left[2], Duplicate: left[3], Sample: left[4]},
		Facts: sum.Facts(),
	}
	for _, b := range bounds.All() {
		if n, ok := was.Bounds[b.Code]; ok {
			s.Bounded = append(s.Bounded, bounds.Report{Code: b.Code, Of: b.Of, Limit: b.Limit, Places: n.Places, LeftOut: n.LeftOut, Unit: b.Unit})
		}
	}
	return j.storedIntake(s)
}
