// Command bench compares awo with what its users would use instead, on one
// generated corpus of OpenAI chat lines, in one run:
//
//	go run ./testdata/bench -size 1GiB -runs 5
//
// Each contender reads the same file and does the least that answers the same
// question: jq prints the tool names in order, DuckDB and Python count which
// tool follows which, awo summarize counts all sequences of tools by task, awo
// analyze does that and the rest of its statistics and findings. The
// commands run in turn, round by round, so that a machine whose speed drifts
// slows them all; what is reported are medians of CPU time, wall time and peak
// memory as the operating system accounts them, and ratios of medians. A tool
// that is not installed is a row that says so.
//
// Most of such a line is definitions of tools, which repeat; -bare leaves them out.
//
// With -growth it times awo alone on growing prefixes of the corpus and fits the
// exponent of time against size.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	size := flag.String("size", "256MiB", "size of the generated corpus: a number with MiB or GiB")
	runs := flag.Int("runs", 5, "counted runs of each command, after one that is not counted")
	growth := flag.Bool("growth", false, "time awo alone on prefixes of the corpus and fit the growth exponent")
	dir := flag.String("dir", "", "folder for the corpus and the helpers' packages (default: a temporary one)")
	bare := flag.Bool("bare", false, "leave the definitions of tools out of the lines, as many frameworks do")
	install := flag.Bool("install", false, "install DuckDB's node package into the folder with npm")
	flag.Parse()

	bytes, err := parseSize(*size)
	if err != nil {
		return err
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("", "awo-bench-"); err != nil {
			return err
		}
		defer os.RemoveAll(*dir)
	}
	awo := filepath.Join(*dir, "awo")
	if out, err := exec.Command("go", "build", "-o", awo, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("building awo: %w\n%s", err, out)
	}
	kind := "chat"
	if *bare {
		kind = "bare"
	}
	corpus := filepath.Join(*dir, fmt.Sprintf("%s-%d.jsonl", kind, bytes))
	if err := generate(corpus, bytes, *bare); err != nil {
		return err
	}
	if *growth {
		return printGrowth(awo, corpus, bytes, *runs)
	}
	if *install {
		if err := installDuckDB(*dir); err != nil {
			return err
		}
	}
	return printComparison(contenders(awo, corpus, *dir), bytes, *runs)
}

// parseSize reads "100MiB" or "1GiB" as bytes.
func parseSize(text string) (int64, error) {
	for unit, factor := range map[string]int64{"MiB": 1 << 20, "GiB": 1 << 30} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil || n <= 0 {
				break
			}
			return n * factor, nil
		}
	}
	return 0, fmt.Errorf("%q is no size such as 100MiB or 1GiB", text)
}

// contender is a command to time. A nil args means that it cannot run here.
type contender struct {
	name    string
	does    string
	args    []string
	missing string
}

func contenders(awo, corpus, dir string) []contender {
	const bigrams = "tool bigrams"
	list := []contender{
		{name: "awo analyze, 1 worker", does: "all statistics to order 3", args: []string{awo, "analyze", "--quiet", "--format", "json", "--workers", "1", corpus}},
		{name: "awo analyze, 2 workers", does: "all statistics to order 3", args: []string{awo, "analyze", "--quiet", "--format", "json", "--workers", "2", corpus}},
		{name: "awo summarize, 1 worker", does: "all sequences by task, figures of tools", args: []string{awo, "summarize", "--quiet", "--format", "json", "--workers", "1", "--out", filepath.Join(dir, "bench.awosum"), corpus}},
		{name: "jq", does: "prints tool names", args: []string{"jq", "-r", ".messages[]?.tool_calls[]?.function.name", corpus}},
		{name: "DuckDB, 1 thread", does: bigrams, args: []string{"node", "testdata/bench/duckdb.mjs", dir, corpus, "1"}},
		{name: "DuckDB, 2 threads", does: bigrams, args: []string{"node", "testdata/bench/duckdb.mjs", dir, corpus, "2"}},
		{name: "Python json", does: bigrams, args: []string{"python3", "testdata/bench/bigrams.py", corpus}},
	}
	for i := range list {
		c := &list[i]
		if _, err := exec.LookPath(c.args[0]); err != nil {
			c.args, c.missing = nil, "not installed"
		} else if c.args[0] == "node" {
			if _, err := os.Stat(filepath.Join(dir, "node_modules", "@duckdb", "node-api")); errors.Is(err, os.ErrNotExist) {
				c.args, c.missing = nil, "not installed (-install)"
			}
		}
	}
	return list
}

func installDuckDB(dir string) error {
	cmd := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", dir, "@duckdb/node-api")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("installing DuckDB: %w\n%s", err, out)
	}
	return nil
}

func printComparison(list []contender, bytes int64, runs int) error {
	results := make([][]usage, len(list))
	for round := range runs + 1 {
		for i, c := range list {
			if c.args == nil {
				continue
			}
			u, err := measure(c.args)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if round > 0 {
				results[i] = append(results[i], u)
			}
			fmt.Fprintf(os.Stderr, "round %d: %-24s cpu %7.2f s, wall %7.2f s, peak %5.0f MB\n", round, c.name, u.cpu, u.wall, u.peak/1e6)
		}
	}
	first := median(results[0], func(u usage) float64 { return u.cpu })
	fmt.Printf("Corpus: %d MiB of OpenAI chat lines. Medians of %d runs, in turn. MB = 10^6 bytes.\n\n", bytes>>20, runs)
	fmt.Println("| command | does | CPU s | wall s | MB per CPU-s | CPU, times awo's (1 worker) | peak MB |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|")
	for i, c := range list {
		if c.args == nil {
			fmt.Printf("| %s | %s | %s | | | | |\n", c.name, c.does, c.missing)
			continue
		}
		cpu := median(results[i], func(u usage) float64 { return u.cpu })
		fmt.Printf("| %s | %s | %.2f | %.2f | %.0f | %.2f | %.0f |\n", c.name, c.does, cpu,
			median(results[i], func(u usage) float64 { return u.wall }), float64(bytes)/1e6/cpu, cpu/first,
			median(results[i], func(u usage) float64 { return u.peak })/1e6)
	}
	return nil
}

func median(list []usage, of func(usage) float64) float64 {
	values := make([]float64, len(list))
	for i, u := range list {
		values[i] = of(u)
	}
	slices.SortFunc(values, cmp.Compare[float64])
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}
