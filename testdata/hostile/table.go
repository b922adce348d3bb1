package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
)

// A result is what a command took of a case at two sizes, as a line of JSON.
type result struct {
	Case      string
	Command   string
	Numbers   [2]int
	Bytes     [2]int
	Seconds   [2]float64 // of CPU time
	Megabytes [2]float64 // at most
	Verdict   string     // what is wrong, "" for nothing
}

type measured []result

func (m measured) has(of, command string) bool {
	return slices.ContainsFunc(m, func(r result) bool { return r.Case == of && r.Command == command })
}

// readResults reads what was measured before; nothing if there is no file.
func readResults(file string) (measured, error) {
	data, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out measured
	for lines := bufio.NewScanner(bytes.NewReader(data)); err == nil && lines.Scan(); {
		var r result
		err = json.Unmarshal(lines.Bytes(), &r)
		out = append(out, r)
	}
	return out, err
}

func (r *result) append(file string) error {
	if file == "" {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// columns are the commands of the table, by the first words of what is run; further ones
// are not shown. Of several ways to run one the slowest counts, but a report is as by default.
var columns = []string{
	"report IN", "backtest", "replay", "extract", "snapshot build", "rules suggest", "convert IN --redact",
	"analyze", "cost", "inspect", "verify", "graph",
}

// tableOf prints CPU seconds at full size of each case and command, the most memory, and
// how much more than n log n of its bytes a command grew from the smaller size.
func tableOf(all measured) string {
	var b strings.Builder
	b.WriteString("| input | MB |")
	for _, name := range columns {
		fmt.Fprintf(&b, " %s |", strings.Replace(name, " IN", "", 1))
	}
	b.WriteString(" peak MB | growth |\n|---|---:|" + strings.Repeat("---:|", len(columns)) + "---:|---:|\n")
	for _, c := range cases {
		var row []result
		for _, r := range all {
			if r.Case == c.name {
				row = append(row, r)
			}
		}
		if len(row) == 0 {
			continue
		}
		peak, growth := 0.0, 0.0
		fmt.Fprintf(&b, "| %s %s | %.0f |", grouped(row[0].Numbers[1]), c.what, math.Ceil(float64(row[0].Bytes[1])/1e6))
		for _, name := range columns {
			cell := ""
			slowest := -1.0
			for _, r := range row {
				if !strings.HasPrefix(r.Command, name) || name == "report IN" && r.Command != name {
					continue
				}
				peak, growth = max(peak, r.Megabytes[1]), max(growth, r.growth())
				if r.Seconds[1] > slowest {
					slowest = r.Seconds[1]
					cell = fmt.Sprintf("%.1f", slowest)
					if r.Verdict != "" && r.growth() == 0 {
						cell = "not in 60"
					}
				}
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		fmt.Fprintf(&b, " %s | %.1f |\n", grouped(int(peak)), growth)
	}
	return b.String()
}

// growth is how often the second time holds the first, beside n log n of the bytes; 0
// where a run failed or takes less than half a second, of which starting is a large part.
func (r *result) growth() float64 {
	if r.Seconds[0] <= 0 || r.Seconds[1] < 0.5 || r.Verdict != "" && !strings.HasPrefix(r.Verdict, "grows") {
		return 0
	}
	n, m := float64(r.Bytes[0]), float64(r.Bytes[1])
	return r.Seconds[1] / max(r.Seconds[0], 0.1) / (m * math.Log(m) / (n * math.Log(n)))
}

func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
