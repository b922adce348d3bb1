package cmd

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/changes"
	"github.com/awo-dev/awo/testdata/gen/encode"
	"github.com/awo-dev/awo/testdata/gen/office"
)

// TestDriftIsNamed compiles both halves of a corpus in the middle of which tools
// and an argument get other names, and wants the difference to name them.
func TestDriftIsNamed(t *testing.T) {
	o, err := office.New(office.Options{Seed: 11, Trajectories: 400, Tokens: office.Approximate, Drift: true})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	var halves [2]strings.Builder
	for r := range o.Runs() {
		half := 0
		if r.Index >= o.DriftAt() {
			half = 1
		}
		halves[half].Write(append(encode.ATIF(nil, r), '\n'))
	}
	rules, err := filepath.Abs("../testdata/office/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"before", "after"} {
		file := filepath.Join(folder, name+".jsonl")
		if err := os.WriteFile(file, []byte(halves[i].String()), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := runApp(t.Context(), "extract "+file+" --rules "+rules+" --algorithm patterns --out "+filepath.Join(folder, name), &cli.App{}); code != cli.ExitDone {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
	}
	code, stdout, stderr := runApp(t.Context(), "diff "+filepath.Join(folder, "before")+" "+filepath.Join(folder, "after")+" --fail-on breaking --format json", &cli.App{})
	if code != cli.ExitProblems {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var out struct {
		Tables struct {
			Changes struct{ Rows []changes.Change }
		}
	}
	if err := json.NewDecoder(bufio.NewReader(strings.NewReader(stdout))).Decode(&out); err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, c := range out.Tables.Changes.Rows {
		texts[c.Code+" "+c.Tool+" "+c.Argument] = c.Text
		if c.Code == "tool-gone" && !c.Breaking {
			t.Errorf("%s is gone, and that breaks nothing", c.Tool)
		}
	}
	for old, renamed := range o.Facts().Drift.Renamed {
		if text := texts["tool-gone "+old+" "]; !strings.Contains(text, renamed) {
			t.Errorf("%s became %s, and the difference says %q", old, renamed, text)
		}
	}
	if text := texts["argument-gone payments_pay_invoice amount"]; !strings.Contains(text, "total") {
		t.Errorf("amount became total, and the difference says %q", text)
	}
	if texts["argument-required payments_pay_invoice currency"] == "" {
		t.Error("payments_pay_invoice requires currency, and the difference does not say so")
	}
	if code, _, _ := runApp(t.Context(), "diff "+filepath.Join(folder, "before")+" "+filepath.Join(folder, "before")+" --fail-on any", &cli.App{}); code != cli.ExitDone {
		t.Errorf("exit code %d for the same", code)
	}
}
