package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/cmd"
)

// counted are the commands whose work is counted: together they go through every stage.
var counted = []string{
	"convert IN --redact --out OUT", "extract IN --threshold 3 --out OUT", "replay IN --kfold 2 --gate open --fire any",
	"replay IN", "snapshot build IN --out OUT", "rules suggest IN", "tools subset IN --out OUT", "report IN --backtest always --out OUT",
}

// spansCounted are those for traces of spans, which are slow, if at all, to put together.
var spansCounted = counted[:3]

// work is what a run did, as the runtime counts it. Unlike its time it is nearly the
// same on any machine, whatever else that does.
type work struct{ allocations, bytes float64 }

// growsMore says that some work grew more than n log n from n to m, "" if none did.
func growsMore(first, second work, n, m int) string {
	const slack = 1.4
	allowed := slack * float64(m) / float64(n) * math.Log(float64(max(m, 3))) / math.Log(float64(max(n, 3)))
	for _, kind := range []struct {
		name string
		a, b float64
	}{{"allocations", first.allocations, second.allocations}, {"bytes", first.bytes, second.bytes}} {
		if kind.b > allowed*kind.a {
			return fmt.Sprintf("%s grow %.1f times where n log n grows %.1f", kind.name, kind.b/kind.a, allowed/slack)
		}
	}
	return ""
}

// TestGrowth makes every hostile input at two sizes, and wants the work of commands to
// grow with them. The sizes are small; `make hostile` measures full ones by the clock.
func TestGrowth(t *testing.T) {
	stdout, stderr, args := os.Stdout, os.Stderr, os.Args
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	t.Setenv("AWO_KEY", "a key that is long enough for words")
	t.Setenv("AWO_WORKERS", "1")
	t.Setenv("GOGC", "400") // and so is what the collector itself does
	t.Chdir(t.TempDir())
	run := func(command, input string) work {
		out := filepath.Join(t.TempDir(), "out")
		os.Args = append([]string{"awo"}, strings.Fields(strings.NewReplacer("IN", input, "OUT", out).Replace(command))...)
		os.Stdout, os.Stderr = null, null
		defer func() { os.Stdout, os.Stderr, os.Args = stdout, stderr, args }()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if code := cmd.Main(); code > 1 {
			t.Errorf("awo %s: exit code %d", command, code)
		}
		runtime.ReadMemStats(&after)
		return work{float64(after.Mallocs - before.Mallocs), float64(after.TotalAlloc - before.TotalAlloc)}
	}
	for _, c := range cases {
		if slices.Contains([]string{"million-calls", "distinct-keys", "tool-groups"}, c.name) {
			continue // calls, larger; and what is of use only at sizes that take long
		}
		large := c.size
		if large > 1000 { // else levels
			large = max(c.size/200, 500)
		}
		switch c.name { // in bytes these grow with the square, and twofold with each step
		case "history":
			large = 100
		case "text-in-text":
			large = 12
		}
		small := large / 4
		// What grows is the input in bytes: some cases double with each step.
		var inputs [2]string
		var sizes [2]int
		for i, n := range []int{small, large} {
			content := c.make(n)
			inputs[i], sizes[i] = filepath.Join(t.TempDir(), "in.jsonl"), len(content)
			if err := os.WriteFile(inputs[i], content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		commands := counted
		if strings.Contains(string(c.make(2)), "resourceSpans") {
			commands = spansCounted
		}
		if c.name == "conversations" { // each is a task
			commands = append(slices.Clip(commands), "backtest IN --split kfold --folds 2")
		}
		began := time.Now()
		for _, command := range commands {
			if problem := growsMore(run(command, inputs[0]), run(command, inputs[1]), sizes[0], sizes[1]); problem != "" {
				t.Errorf("%s, %d and %d %s: awo %s: %s", c.name, small, large, c.what, command, problem)
			}
		}
		t.Logf("%s, %d and %d: %.1f s", c.name, small, large, time.Since(began).Seconds())
	}
}

// TestCasesAreRead wants every line that a case makes to be JSON: a case that is refused
// before anything is done with it attacks nothing.
func TestCasesAreRead(t *testing.T) {
	for _, c := range cases {
		for line := range bytes.Lines(c.make(8)) {
			if !json.Valid(line) {
				t.Errorf("%s: %.200s is no JSON", c.name, line)
				break
			}
		}
	}
}

// TestGrowsMore lets linear work pass, and stops that which grows with the square.
func TestGrowsMore(t *testing.T) {
	of := func(f func(n float64) float64, n int) work { return work{f(float64(n)), f(float64(n))} }
	for name, test := range map[string]struct {
		f     func(n float64) float64
		stops bool
	}{
		"constant":  {func(float64) float64 { return 9 }, false},
		"linear":    {func(n float64) float64 { return 100 + 7*n }, false},
		"n log n":   {func(n float64) float64 { return n * math.Log(n) }, false},
		"power 1.5": {func(n float64) float64 { return n * math.Sqrt(n) }, true},
		"square":    {func(n float64) float64 { return 1000 + n*n }, true},
	} {
		if got := growsMore(of(test.f, 250), of(test.f, 1000), 250, 1000); (got != "") != test.stops {
			t.Errorf("%s: %q", name, got)
		}
	}
}
