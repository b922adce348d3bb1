// Command same compares what two builds of awo do: it runs both through the same
// commands on the same traces, in a folder of its own each, and compares what they
// print, their exit codes and every file that they write, byte for byte.
//
//	go run ./testdata/same OLD NEW
//	go run ./testdata/same -traces ../traces -all -match 'tau2.*extract' OLD NEW
//
// OLD and NEW are paths of the two programs. Without -all each corpus is taken
// through what is quick; the office goes through every command either way. What OLD
// does is remembered in -cache by the hashes of the program and the inputs, so that
// a second comparison with it runs NEW alone. The names of versions and commits,
// which two builds never share, are left out of the comparison.
//
// The exit code is 0 if nothing differs, 1 if something does, and 2 if the
// comparison could not be made.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"time"
)

// errDiffers is returned if a comparison was made and something differs.
var errDiffers = errors.New("the outputs differ")

func main() {
	err := run()
	switch {
	case err == nil:
	case errors.Is(err, errDiffers):
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "same:", err)
		os.Exit(2)
	}
}

func run() error {
	root := flag.String("root", ".", "folder of the project, for the traces that it brings along")
	traces := flag.String("traces", "../shared/data", "folder of recorded traces; left out if it is missing")
	match := flag.String("match", "", "compare only cases whose name (corpus/command) matches this regular expression")
	all := flag.Bool("all", false, "take every corpus through every command")
	list := flag.Bool("list", false, "print the names of the cases and stop")
	times := flag.Bool("times", false, "print how long each case took")
	jobs := flag.Int("jobs", runtime.NumCPU(), "cases at a time")
	lines := flag.Int("lines", 20, "lines of a difference that are shown")
	timeout := flag.Duration("timeout", 2*time.Minute, "end a command after this time, and say so")
	cache := flag.String("cache", "", "folder that remembers what OLD did (default: awo-same in the user's cache)")
	flag.Parse()

	wanted, err := regexp.Compile(*match)
	if err != nil {
		return fmt.Errorf("-match: %w", err)
	}
	cases, err := casesOf(*root, *traces, *all, wanted)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return errors.New("no case has such a name; -list prints them")
	}
	if *list {
		for _, c := range cases {
			fmt.Println(c.name())
		}
		return nil
	}
	if flag.NArg() != 2 {
		return errors.New("two programs are needed: OLD NEW")
	}
	before, err := openProgram(flag.Arg(0))
	if err != nil {
		return err
	}
	after, err := openProgram(flag.Arg(1))
	if err != nil {
		return err
	}
	if *cache == "" {
		if folder, err := os.UserCacheDir(); err == nil {
			*cache = filepath.Join(folder, "awo-same")
		}
	}
	work, err := os.MkdirTemp("", "awo-same-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	compare := func(number int, c *testCase) (report, error) {
		began := time.Now()
		old, err := remembered(*cache, before, c, filepath.Join(work, fmt.Sprintf("a%d", number)), *timeout)
		if err != nil {
			return report{}, err
		}
		found, err := c.run(after, filepath.Join(work, fmt.Sprintf("b%d", number)), *timeout)
		if err != nil {
			return report{}, err
		}
		return report{differences: differences(old, found, *lines), took: time.Since(began)}, nil
	}
	return compareAll(cases, *jobs, *times, compare)
}

// A report is what the comparison of one case gave.
type report struct {
	differences []string
	took        time.Duration
	err         error
}

// compareAll runs the comparisons, several at a time, and prints them in the order of
// the cases.
func compareAll(cases []*testCase, jobs int, times bool, compare func(int, *testCase) (report, error)) error {
	results := make([]chan report, len(cases))
	for i := range results {
		results[i] = make(chan report, 1)
	}
	var group sync.WaitGroup
	next := make(chan int)
	for range max(1, jobs) {
		group.Go(func() {
			for i := range next {
				r, err := compare(i, cases[i])
				r.err = err
				results[i] <- r
			}
		})
	}
	go func() {
		for i := range cases {
			next <- i
		}
		close(next)
	}()

	differing, steps := 0, 0
	for i, c := range cases {
		r := <-results[i]
		if r.err != nil {
			return fmt.Errorf("%s: %w", c.name(), r.err)
		}
		steps += len(c.steps)
		if times {
			fmt.Printf("%-40s %6.1f s\n", c.name(), r.took.Seconds())
		}
		if len(r.differences) > 0 {
			differing++
		}
		for _, text := range r.differences {
			fmt.Printf("%s: %s\n", c.name(), text)
		}
	}
	group.Wait()
	if differing > 0 {
		fmt.Printf("%d of %d cases differ (%d commands)\n", differing, len(cases), steps)
		return errDiffers
	}
	fmt.Printf("%d cases are the same (%d commands)\n", len(cases), steps)
	return nil
}
