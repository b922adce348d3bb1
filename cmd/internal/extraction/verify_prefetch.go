package extraction

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/prefetch/stored"
)

// readPrefetch reads the rules for reading ahead in a folder, nil where there are none.
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
	src, err := readArtefact(name)
	if err != nil {
		return nil, err
	}
	return &count.Artefact{File: filepath.ToSlash(name), Text: string(src)}, nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// prefetchFigures say how often rules for reading ahead are used in the traces.
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
