package cli

import (
	"os"
	"strings"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/summary"
	"github.com/awo-dev/awo/summary/count"
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
func (j *Job) AsCounted(in InputOptions, asked count.Options, sum *summary.Summary) error {
	for _, x := range []struct {
		flag string
		set  bool
	}{{"since", in.Since != ""}, {"until", in.Until != ""}, {"dedupe", in.Dedupe}, {"sample", in.Sample != 0}} {
		if x.set {
			return Usagef("--%s chooses trajectories, and these are counted already; give it to `awo summarize`", x.flag)
		}
	}
	none := count.Default()
	none.Map = asked.Map
	for i, one := range asked.Choices() {
		if one != none.Choices()[i] && one.Value != sum.Choice(one.Name) {
			return Usagef("--%s %s: the trajectories were counted with %q; give it to `awo summarize`", one.Name, one.Value, sum.Choice(one.Name))
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
