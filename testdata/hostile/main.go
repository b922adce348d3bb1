// Command hostile gives awo inputs that are made to be slow, and measures how the work
// grows with them:
//
//	go run ./testdata/hostile -awo bin/awo
//	go run ./testdata/hostile -awo bin/awo -match 'keys/report' -factor 4 -times 8
//
// Each case is an input of which one dimension grows: arguments of a call, spans of a
// parent, tools, and so on. A command reads it at one size and at a size that is several
// times as large, and the CPU time of the second is held against that of the first. More
// than n log n is a finding; so is a run that does not end within -limit, or takes more
// than -memory. The exit code is 1 if there is one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// commands are what is run on each input.
var commands = []string{
	"inspect IN", "summary IN", "show IN", "summarize IN --out part.awosum", "convert IN", "convert IN --redact", "convert IN --to ocel",
	"analyze IN --sources --permutations 0", "cost IN --lazy", "graph IN", "compare IN IN",
	"extract IN --threshold 3 --out tools", "verify TOOLS IN", "register IN", "replay IN --kfold 2 --gate open --fire any", "replay IN --prequential",
	"snapshot build IN", "backtest IN --split kfold --folds 2", "rules suggest IN", "report IN", "report IN --backtest always",
	"tools graph IN --out world", "tools subset IN",
}

var errFound = errors.New("some work grows too fast")

func main() {
	err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		if errors.Is(err, errFound) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

func run() error {
	awo := flag.String("awo", "bin/awo", "the program")
	match := flag.String("match", "", "only cases and commands, as case/command, that match this regular expression")
	part := flag.Int("part", 1, "divide the sizes of all cases by this")
	times := flag.Int("times", 4, "how many times as large the second input is")
	limit := flag.Int("limit", 60, "seconds of CPU time after which a run is ended")
	memory := flag.Int("memory", 8192, "MiB of address space that a run may take; 0 sets no bound")
	results := flag.String("results", "", "add what is measured to this file, and leave out what is in it")
	table := flag.Bool("table", false, "print what is in -results as a table in Markdown, and stop")
	write := flag.String("write", "", "write the input of -case with -size into this file, and stop")
	of := flag.String("case", "", "the case of -write")
	size := flag.Int("size", 0, "n of -write")
	flag.Parse()
	if *write != "" {
		i := slices.IndexFunc(cases, func(c hostileCase) bool { return c.name == *of })
		if i < 0 {
			return fmt.Errorf("there is no case %q", *of)
		}
		return os.WriteFile(*write, cases[i].make(*size), 0o666)
	}
	wanted, err := regexp.Compile(*match)
	if err != nil {
		return err
	}
	known, err := readResults(*results)
	if err != nil {
		return err
	}
	if *table {
		fmt.Print(tableOf(known))
		return nil
	}
	program, err := filepath.Abs(*awo)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "awo-hostile-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	tools := filepath.Join(folder, "tools")
	friendlyRuns := filepath.Join(folder, "friendly.jsonl")
	if err := os.WriteFile(friendlyRuns, friendly(), 0o666); err != nil {
		return err
	}
	if out, err := exec.Command(program, "extract", friendlyRuns, "--threshold", "3", "--out", tools).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	// Without a meta-tool verify would have nothing to do, and pass.
	if _, err := os.Stat(filepath.Join(tools, "metatools.arazzo.yaml")); err != nil {
		return err
	}
	found := 0
	for _, c := range cases {
		small, large := c.size / *part / *times, c.size / *part
		if !slices.ContainsFunc(commands, func(command string) bool {
			return wanted.MatchString(nameOf(c, command)) && !known.has(c.name, command)
		}) {
			continue
		}
		var inputs [2]string
		var sizes [2]int // in bytes: some cases grow with the square of their number
		for i, n := range []int{small, large} {
			inputs[i] = filepath.Join(folder, fmt.Sprintf("%s-%d.jsonl", c.name, n))
			// A child begins with the peak of who starts it, so this program stays small.
			if out, err := exec.Command(os.Args[0], "-write", inputs[i], "-case", c.name, "-size", strconv.Itoa(n)).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			info, err := os.Stat(inputs[i])
			if err != nil {
				return err
			}
			sizes[i] = int(info.Size())
		}
		for _, command := range commands {
			name := nameOf(c, command)
			if !wanted.MatchString(name) || known.has(c.name, command) {
				continue
			}
			first := measure(program, strings.ReplaceAll(command, "TOOLS", tools), inputs[0], *limit, *memory)
			second := measurement{failed: "is not tried"}
			if first.failed == "" {
				second = measure(program, strings.ReplaceAll(command, "TOOLS", tools), inputs[1], *limit, *memory)
			}
			verdict := judge(first, second, sizes[0], sizes[1])
			if verdict != "" {
				found++
			}
			fmt.Printf("%-60s %8d %7.2f s %8d %7.2f s  %5.0f MB  %s\n", name, small, first.seconds, large, second.seconds, second.megabytes, verdict)
			r := result{c.name, command, [2]int{small, large}, sizes, [2]float64{first.seconds, second.seconds}, [2]float64{first.megabytes, second.megabytes}, verdict}
			if err := r.append(*results); err != nil {
				return err
			}
		}
		os.Remove(inputs[0])
		os.Remove(inputs[1])
	}
	if found > 0 {
		return errFound
	}
	return nil
}

// nameOf is what -match is held against.
func nameOf(c hostileCase, command string) string {
	return c.name + "/" + strings.NewReplacer(" IN", "", " TOOLS", "").Replace(command)
}

// A measurement is what one run took.
type measurement struct {
	seconds, megabytes float64
	failed             string
}

func measure(program, command, input string, limit, memory int) measurement {
	folder, err := os.MkdirTemp("", "awo-hostile-")
	if err != nil {
		return measurement{failed: err.Error()}
	}
	defer os.RemoveAll(folder)
	// A machine that does something else as well makes a run long, not slow.
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Duration(limit)*time.Second)
	defer cancel()
	arguments := strings.Fields(strings.ReplaceAll(command, "IN", input))
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", fmt.Sprintf(`ulimit -t %d; exec "$@"`, limit), "sh", program}, arguments...)...)
	c.Dir = folder
	c.Env = append(os.Environ(), "AWO_KEY=a key that is long enough for words", "AWO_MAX_RECORD=1GiB")
	if memory > 0 {
		c.Env = append(c.Env, fmt.Sprintf("GOMEMLIMIT=%dMiB", memory))
	}
	began := time.Now()
	out, err := c.CombinedOutput()
	m := measurement{seconds: time.Since(began).Seconds()}
	if state := c.ProcessState; state != nil {
		m.seconds = (state.UserTime() + state.SystemTime()).Seconds()
		m.megabytes = peak(state)
	}
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil || m.seconds >= float64(limit)-1:
		m.failed = "does not end"
	case failed && exit.ExitCode() != 1:
		m.failed = fmt.Sprintf("exit code %d: %.200s", exit.ExitCode(), out)
	case memory > 0 && m.megabytes > float64(memory):
		m.failed = fmt.Sprintf("takes %.0f MB", m.megabytes)
	}
	return m
}

// judge says what is wrong with how work grows from n to m bytes, "" if nothing is. Times
// below a tenth of a second are those of starting.
func judge(first, second measurement, n, m int) string {
	switch {
	case first.failed != "":
		return first.failed
	case second.failed != "":
		return second.failed
	}
	const noise, slack = 0.1, 1.7
	growth := max(second.seconds, noise) / max(first.seconds, noise)
	linear := float64(m) / float64(n)
	allowed := slack * linear * math.Log(float64(m)) / math.Log(float64(n))
	if growth > allowed {
		return fmt.Sprintf("grows %.1f times where n log n grows %.1f", growth, allowed/slack)
	}
	return ""
}
