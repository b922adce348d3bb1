package cmd

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/recordings"
)

// BenchmarkCommands runs whole commands on the traces of the office; bytes are those of
// the unpacked traces.
func BenchmarkCommands(b *testing.B) {
	const office = "../testdata/office/trajectories.jsonl.gz"
	const ruled = "--rules ../testdata/office/rules.yaml"
	size := int64(len(recordings.Unpacked(b, office)))
	work := b.TempDir()
	run := func(b *testing.B, args string) {
		b.Helper()
		if code, _, stderr := runApp(b.Context(), args, &cli.App{Stdout: io.Discard}); code != cli.ExitDone {
			b.Fatalf("awo %s: exit code %d, %s", args, code, stderr)
		}
	}
	tools := filepath.Join(work, "tools")
	run(b, "extract "+office+" "+ruled+" --out "+tools)
	for _, command := range []struct{ name, args string }{
		{"inspect", "inspect " + office},
		{"analyze", "analyze --permutations 0 " + office},
		{"cost", "cost " + office},
		{"graph", "graph " + office + " " + ruled},
		{"summarize", "summarize " + office + " --out " + filepath.Join(work, "x.awosum")},
		{"extract", "extract " + office + " " + ruled + " --verdict never --out " + filepath.Join(work, "again")},
		{"verify", "verify " + tools + " " + office + " " + ruled},
		{"snapshot", "snapshot build " + office + " " + ruled + " --out " + filepath.Join(work, "x.awo")},
		{"replay", "replay " + office + " " + ruled},
		{"backtest", "backtest " + office + " " + ruled + " --folds 2"},
	} {
		b.Run(strings.ToUpper(command.name[:1])+command.name[1:], func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(size)
			for b.Loop() {
				run(b, command.args)
			}
		})
	}
}
