package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/trace"
)

// TestRecalls holds that all readings of an intake that recalls yield the same, and that the
// traces are read again only where there is no room for copies.
func TestRecalls(t *testing.T) {
	office, err := os.ReadFile("../../../testdata/office/trajectories.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "traces.jsonl.gz") // more than memory has room for
	if err := os.WriteFile(path, bytes.Repeat(office, 6), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		readings int
	}{{"room", 0}, {"none", 1}} {
		t.Run(test.name, func(t *testing.T) {
			if test.readings > 0 {
				t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
			}
			a := &App{Stdout: io.Discard, Stderr: io.Discard}
			c := &cobra.Command{}
			c.SetContext(t.Context())
			j := a.newJob(c, Settings{Workers: 2, Quiet: true}, nil)
			in, err := j.Intake([]string{path}, InputOptions{}, trace.Options{Spool: true})
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			in.Recalls, in.Follows = true, true
			var first []string
			for reading := range 2 {
				var list []string
				for one, err := range in.Source() {
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, told(one))
					for i := range one.Calls {
						one.Calls[i].Status = trace.StatusFailed // which later readings know nothing of
					}
				}
				if reading == 0 {
					first = list
				}
				if len(list) == 0 || !slices.Equal(list, first) {
					t.Fatalf("reading %d yields others", reading)
				}
			}
			if a.Readings != test.readings {
				t.Errorf("the traces were read %d times more, want %d", a.Readings, test.readings)
			}
		})
	}
}

// told is what a trajectory says.
func told(t *trace.Trajectory) string {
	var c dataflow.Collector
	text := fmt.Sprint(t.ID, t.TaskKey(), t.Source, t.Turns, t.Messages)
	for i := range t.Calls {
		call := &t.Calls[i]
		args, known := call.ArgsValue()
		result, ok := call.ResultValue()
		text += fmt.Sprint(call.ID, call.Tool.Value(), call.Status, args, known, result, ok)
	}
	return text + fmt.Sprint(c.Collect(t).Uses)
}
