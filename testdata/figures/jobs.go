package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A corpus is traces that commands are run on.
type corpus struct {
	name  string
	files []string // below the folder of recorded traces; the office has none
	all   bool     // goes through every command
}

var corpora = []corpus{
	{name: "office", all: true},
	{name: "airline-gpt-4o", files: []string{"tau2/airline_azure-gpt-4o.json"}},
	{name: "airline-gpt-oss", files: []string{"tau2/airline_gpt-oss-120b.json"}},
	{name: "retail-gpt-4.1", files: []string{"tau2/retail_gpt-4.1.json"}},
	{name: "retail-toolorchestra", files: []string{"tau2/retail_toolorchestra-gpt-5.json"}},
	{name: "tau-bench", files: []string{"taubench/gpt-4o-airline.json"}, all: true},
	{name: "toolbench", files: []string{"toolbench/example", "toolbench/cot"}},
	{name: "claude-code", files: []string{"claude-code"}},
	{name: "ultratool", files: []string{"toolgraph/ultratool260/traces.atif.jsonl"}},
	{name: "livemcp", files: []string{"toolgraph/livemcp/traces.atif.jsonl"}},
}

// A command is what is run on a corpus: steps, of which the last prints JSON. {in} stands
// for the traces and {rules} for the office's rules, {} for a folder of the job's own. The
// name is that of the build that froze the numbers, whatever the steps are today.
type command struct {
	name  string
	every bool // on every corpus
	steps []string
}

const extracted = "extract {in} {rules} --threshold 5 --out {}/tools --quiet"

var commands = []command{
	{"inspect", true, []string{"inspect {in}"}},
	{"summary", true, []string{"summary {in}"}},
	{"analyze", true, []string{"analyze {in}"}},
	{"analyze sources", false, []string{"analyze {in} --sources --order 1"}},
	{"analyze autotool", true, []string{"analyze {in} --preset autotool"}},
	{"analyze by", false, []string{"analyze {in} --by model"}},
	{"cost", true, []string{"cost {in}"}},
	{"cost lazy", true, []string{"cost {in} --lazy"}},
	{"graph", true, []string{"graph {in} {rules}"}},
	{"extract", true, []string{"extract {in} {rules}"}},
	{"extract chains", false, []string{"extract {in} {rules} --algorithm awo --threshold 6"}},
	{"extract awo", false, []string{"extract {in} {rules} --preset awo --threshold 5"}},
	{"verify", false, []string{extracted, "verify {}/tools {in} {rules}"}},
	{"why", false, []string{extracted, "why {}/tools"}},
	{"backtest", true, []string{"backtest {in} {rules}"}},
	{"replay", true, []string{"replay {in}"}},
	{"register", false, []string{"register {in}"}},
	{"report", false, []string{"report {in} --backtest never"}},
	{"show", false, []string{"show {in}"}},
	{"tools graph", false, []string{"tools graph {in}"}},
	{"tools subset", false, []string{"tools subset {in}"}},
	{"rules suggest", false, []string{"rules suggest {in}"}},
	{"rules verify", false, []string{"rules verify testdata/office/rules.yaml {in}"}},
	{"compare sets", false, []string{"compare {in} {in} --sample 50"}},
	{"snapshot", false, []string{"snapshot build {in} --out {}/s --quiet", "snapshot show {}/s"}},
	{"summarize", false, []string{"summarize {in} --out {}/part.awosum --quiet", "analyze {}/part.awosum"}},
	{"summarize cost", false, []string{"summarize {in} --out {}/part.awosum --quiet", "cost {}/part.awosum"}},
}

// A job is a command on a corpus.
type job struct {
	corpus  string
	inputs  []string
	command command
}

// jobsOf returns what is run, and the corpora that are not there.
func jobsOf(traces string) (jobs []job, missing []string, err error) {
	for _, c := range corpora {
		inputs := []string{"testdata/office/trajectories.jsonl.gz"}
		if c.files != nil {
			inputs = nil
			for _, f := range c.files {
				inputs = append(inputs, filepath.Join(traces, f))
			}
		}
		if slices.ContainsFunc(inputs, func(f string) bool { _, err := os.Stat(f); return err != nil }) {
			missing = append(missing, c.name)
			continue
		}
		for _, k := range commands {
			if k.every || c.all {
				jobs = append(jobs, job{c.name, inputs, k})
			}
		}
	}
	if len(jobs) == 0 {
		return nil, nil, fmt.Errorf("no traces: run it in the folder of the project")
	}
	return jobs, missing, nil
}

// run returns the numbers that the last step prints.
func (j job) run(program string) (map[place]float64, map[string]string, error) {
	folder, err := os.MkdirTemp("", "figures-*")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(folder)
	var out bytes.Buffer
	for i, step := range j.command.steps {
		var args []string
		for word := range strings.FieldsSeq(step) {
			switch {
			case word == "{in}":
				args = append(args, j.inputs...)
			case word == "{rules}" && j.corpus == "office":
				args = append(args, "--rules", "testdata/office/rules.yaml")
			case word != "{rules}":
				args = append(args, strings.ReplaceAll(word, "{}", folder))
			}
		}
		if i == len(j.command.steps)-1 {
			args = append(args, "--format", "json", "--quiet")
		}
		out.Reset()
		c := exec.Command(program, args...)
		c.Stdout = &out
		if err := c.Run(); err != nil && out.Len() == 0 {
			return nil, nil, fmt.Errorf("%s on %s: %w", strings.Join(args, " "), j.corpus, err)
		}
	}
	var v any
	d := json.NewDecoder(&out)
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, nil, fmt.Errorf("%s of %s: %w", j.command.name, j.corpus, err)
	}
	f := flattener{at: place{corpus: j.corpus, command: j.command.name}, numbers: map[place]float64{}, rows: map[string]string{}}
	f.walk(v, "", nil)
	return f.numbers, f.rows, nil
}

// flattener collects the numbers of a JSON value.
type flattener struct {
	at      place
	numbers map[place]float64
	rows    map[string]string
}

// keys are the members that say which row an object of a list is; without one of them it
// is known by its index.
var keys = []string{
	"id", "name", "tool", "technique", "way", "order", "preset", "model", "agent", "finding", "kind", "day", "rule", "code",
	"format", "strategy", "figure", "source", "target", "predictor", "trajectory", "chain", "context", "tools", "calls", "next", "to", "label",
}

func (f *flattener) walk(v any, path string, row []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			f.walk(member, path+"."+name, row)
		}
	case []any:
		seen := map[string]int{}
		for i, e := range v {
			key := rowKey(e, i)
			if seen[key]++; seen[key] > 1 {
				key = fmt.Sprintf("%s#%d", key, seen[key])
			}
			f.walk(e, path+"[]", append(slices.Clip(row), key))
		}
	case json.Number:
		n, err := v.Float64()
		if err != nil {
			return // no number that a double holds
		}
		p := f.at
		p.path = path
		if len(row) > 0 {
			text := strings.Join(row, " | ")
			sum := sha256.Sum256([]byte(text))
			p.row = hex.EncodeToString(sum[:5])
			f.rows[p.row] = text
		}
		f.numbers[p] = n
	}
}

// rowKey returns what tells an element of a list from the others: its texts that are names.
func rowKey(e any, i int) string {
	object, ok := e.(map[string]any)
	if !ok {
		return fmt.Sprint(i)
	}
	var parts []string
	for _, k := range keys {
		switch v := object[k].(type) {
		case string:
			if v != "" {
				parts = append(parts, v)
			}
		case []any:
			text, _ := json.Marshal(v) // what was just decoded
			if len(v) > 0 && len(text) < 400 && text[1] == '"' {
				parts = append(parts, string(text))
			}
		case json.Number:
			if k == "order" {
				parts = append(parts, v.String())
			}
		}
	}
	if parts == nil {
		return fmt.Sprint(i)
	}
	return strings.Join(parts, ",")
}
