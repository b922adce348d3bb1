// Command figures compares every number that awo prints as JSON with numbers that an
// earlier build printed for the same traces.
//
//	go run ./testdata/figures PROGRAM               compare
//	go run ./testdata/figures -freeze PROGRAM       write what PROGRAM prints now
//
// The frozen numbers are in frozen.tsv.gz, one a line: traces, command, path, a hash of the
// row that the number stands in, the number. No value of a trace is among them. Paths are
// those of the build that froze them; names.tsv maps them to today's, and differences.tsv
// lists what may differ, with the reason. Both are tables of patterns, in which * is any
// text; the first line that matches counts.
//
// The exit code is 0 if every number is equal or its difference has a reason, 1 if not, and
// 2 if the comparison could not be made. Recorded traces that are not there are left out,
// and said.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

func main() {
	failed, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(2)
	}
	if failed {
		os.Exit(1)
	}
}

// A place is where a number stands: in the output of a command, or in the frozen table.
type place struct{ corpus, command, path, row string }

func run() (failed bool, err error) {
	folder := flag.String("folder", "testdata/figures", "folder of the tables")
	traces := flag.String("traces", "../shared/data", "folder of recorded traces")
	freeze := flag.Bool("freeze", false, "write what the program prints now")
	most := flag.Int("lines", 40, "differences that are printed for each command; 0 means no limit")
	flag.Parse()
	if flag.NArg() != 1 {
		return false, errors.New("name the program")
	}
	program, err := filepath.Abs(flag.Arg(0))
	if err != nil {
		return false, err
	}
	jobs, missing, err := jobsOf(*traces)
	if err != nil {
		return false, err
	}
	now, rows, err := measure(program, jobs)
	if err != nil {
		return false, err
	}
	file := filepath.Join(*folder, "frozen.tsv.gz")
	if *freeze {
		if len(missing) > 0 {
			return false, fmt.Errorf("these traces are not there: %s", strings.Join(missing, ", "))
		}
		return false, write(file, now)
	}
	frozen, err := read(file)
	if err != nil {
		return false, err
	}
	names, err := patterns(filepath.Join(*folder, "names.tsv"), 2)
	if err != nil {
		return false, err
	}
	reasons, err := patterns(filepath.Join(*folder, "differences.tsv"), 2)
	if err != nil {
		return false, err
	}
	r := report{names: names, reasons: reasons, most: *most, rows: rows}
	r.compare(frozen, now, missing)
	return r.print(missing), nil
}

// measure runs every job and returns the numbers by place, and the rows by their hash.
func measure(program string, jobs []job) (map[place]float64, map[string]string, error) {
	all, rows := map[place]float64{}, map[string]string{}
	var mu sync.Mutex
	var group sync.WaitGroup
	var errs []error
	slots := make(chan struct{}, runtime.NumCPU())
	for _, j := range jobs {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			numbers, keys, err := j.run(program)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, err)
			}
			maps.Copy(all, numbers)
			maps.Copy(rows, keys)
		})
	}
	group.Wait()
	return all, rows, errors.Join(errs...)
}

// report is what a comparison found.
type report struct {
	names, reasons [][]string
	most           int
	rows           map[string]string // of hashes

	same    int
	listed  map[int]int         // differences by line of reasons
	unknown map[string][]string // differences without a reason, by traces and command
}

func (r *report) compare(frozen, now map[place]float64, missing []string) {
	r.listed, r.unknown = map[int]int{}, map[string][]string{}
	for _, p := range slices.SortedFunc(maps.Keys(frozen), less) {
		if slices.Contains(missing, p.corpus) {
			continue
		}
		before := frozen[p]
		at := moved(r.renamed(p), now)
		after, is := now[at]
		if is && equal(before, after) {
			r.same++
			continue
		}
		was := strings.Join([]string{p.corpus, p.command, p.path}, "\t")
		text, how := "is gone", "gone"
		if is {
			text, how = "is "+number(after), "changed"
		}
		if i := slices.IndexFunc(r.reasons, func(line []string) bool {
			return matches(line[0], was) || matches(line[0], was+"\t"+how) || matches(line[0], was+"\t"+how+"\t"+r.rows[p.row])
		}); i >= 0 {
			r.listed[i]++
			continue
		}
		where := p.corpus + " " + p.command
		r.unknown[where] = append(r.unknown[where], fmt.Sprintf("%s [%s]: %s %s", at.path, cmp.Or(r.rows[p.row], p.row), number(before), text))
	}
}

// renamed returns where the number of p stands today. A line of names.tsv is a pattern of
// "command<TAB>path" and what takes its place, in which each * is what the pattern's * was.
func (r *report) renamed(p place) place {
	old := p.command + "\t" + p.path
	for _, line := range r.names {
		parts, ok := capture(line[0], old)
		if !ok {
			continue
		}
		name := line[1]
		for _, part := range parts {
			name = strings.Replace(name, "*", part, 1)
		}
		p.command, p.path, _ = strings.Cut(name, "\t")
		return p
	}
	return p
}

// moved returns where the number of p stands in a document of the form awo/v2: a member of
// figures, a row of a table, a part of an estimate. What is in no document stays where it was.
func moved(p place, now map[place]float64) place {
	paths := []string{p.path, ".figures" + p.path}
	if table, rest, ok := strings.Cut(strings.TrimPrefix(p.path, "."), "[]"); ok && !strings.Contains(table, ".") {
		paths = append(paths, ".tables."+table+".rows[]"+rest)
	}
	for _, path := range paths {
		for _, estimate := range []string{path, path + ".value", strings.Replace(path, "_interval.", ".", 1), strings.Replace(path, ".interval.", ".", 1)} {
			at := p
			if at.path = estimate; at.path != "" {
				if _, is := now[at]; is {
					return at
				}
			}
		}
	}
	return p
}

// print says what was found, and whether something has no reason.
func (r *report) print(missing []string) bool {
	fmt.Printf("%d numbers are equal\n", r.same)
	for _, i := range slices.Sorted(maps.Keys(r.listed)) {
		fmt.Printf("%d differ: %s (%s)\n", r.listed[i], r.reasons[i][1], strings.ReplaceAll(r.reasons[i][0], "\t", " "))
	}
	if len(missing) > 0 {
		fmt.Println("not there, so left out: " + strings.Join(missing, ", "))
	} else {
		for i, line := range r.reasons {
			if r.listed[i] == 0 {
				fmt.Printf("nothing differs any more for this line of differences.tsv: %s\n", strings.ReplaceAll(line[0], "\t", " "))
			}
		}
	}
	n := 0
	for _, where := range slices.Sorted(maps.Keys(r.unknown)) {
		lines := r.unknown[where]
		n += len(lines)
		fmt.Printf("\n%s: %d without a reason\n", where, len(lines))
		for i, line := range lines {
			if r.most > 0 && i == r.most {
				fmt.Println("  ...")
				break
			}
			fmt.Println("  " + line)
		}
	}
	if n > 0 {
		fmt.Printf("\n%d numbers differ without a reason\n", n)
	}
	return n > 0
}

// equal allows what sums in another order differ by.
func equal(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }
