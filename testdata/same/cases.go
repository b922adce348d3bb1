package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A testCase is a row of commands that one folder sees, one after the other.
type testCase struct {
	corpus corpus
	title  string
	steps  []string
}

func (c *testCase) name() string { return c.corpus.name + "/" + c.title }

// A corpus is traces, and what the commands need to know of them.
type corpus struct {
	name   string
	inputs []string // absolute paths of files and folders
	rules  string   // a rule file, absolute; "" if there is none
	chain  string   // two tools for why
	whole  bool     // goes through every command even without -all
}

// Commands as users type them. {in} stands for the traces of the corpus, {rules} for
// --rules and its rule file, {file} for that file alone; a line with one of these
// two is left out where there is no rule file. <NAME at the end is the standard input.
var (
	// quick is what each corpus goes through.
	quick = map[string][]string{
		"inspect":      {"inspect {in}", "inspect {in} --format json"},
		"convert":      {"convert {in}"},
		"compare sets": {"compare {in} {in} --sample 50"},
		"show":         {"show {in}", "show {in} --find status==\"failed\" --format json", "show {in} --sort failed --limit 3 --format csv"},
		"convert-to":   {"convert {in} --to xes", "convert {in} --to ocel", "convert {in} --to openai-chat", "convert {in} --to otlp"},
		"analyze":      {"analyze {in} --format json", "analyze {in} --sources --permutations 99"},
		"config":       {"help config", "help config analyze --format json"},
		"summary":      {"summary {in}", "summary {in} {rules} --format json"},
		"findings":     {"findings {in}", "findings {in} {rules} --format json"},
		"extract": {
			"extract {in} {rules} --threshold 3 --out tools",
			"verify tools {in} {rules} --min-agreement 0",
			"why tools",
		},
		"summarize": {"summarize {in} --out part.awosum", "analyze part.awosum --by model --format json"},
		"cost":      {"cost {in} --format json"},
		"graph":     {"graph {in} {rules} --graphml g.graphml --dot g.dot --mermaid g.mmd --graph-json g.json"},
	}

	// thorough is every command and every format that it prints.
	thorough = map[string][]string{
		"inspect-formats": {
			"inspect {in} --format markdown", "inspect {in} --format csv",
			"inspect {in} --dedupe --sample 20 --format json", "inspect {in} --where 'calls > 3' --format json",
		},
		"convert-redact": {"convert {in} --redact --out redacted.jsonl", "inspect redacted.jsonl"},
		"analyze-formats": {
			"analyze {in}", "analyze {in} --format markdown", "analyze {in} --format csv",
			"analyze {in} {rules} --sources --by model --contexts 3 --format json",
			"analyze {in} --preset autotool --format json", "analyze {in} --plots plots --order 1 --folds 0",
			"analyze {in} --collapse-repeats --drop-failed --min-length 2 --permutations 0",
		},
		"cost-formats": {
			"cost {in}", "cost {in} --lazy", "cost {in} --lazy --format json",
			"cost {in} --by session --shell split --format json", "cost {in} --format markdown", "cost {in} --format csv --caching on",
		},
		"graph-formats": {
			"graph {in} {rules}", "graph {in} {rules} --format markdown", "graph {in} {rules} --format csv",
			"graph {in}",
		},
		"extract-formats": {
			"extract {in} {rules}", "extract {in} --format markdown", "extract {in} {rules} --format csv",
			"extract {in} {rules} --threshold 3 --select all --format json",
			"extract {in} {rules} --algorithm awo --threshold 3 --format json",
			"extract {in} {rules} --preset awo --threshold 5",
			"extract {in} {rules} --select net --holdout 0.3 --format json",
			"extract {in} {rules} --sample 80 --assume-reads=false",
		},
		"artefacts": {
			"extract {in} {rules} --threshold 4 --select all --out tools --format json",
			"extract --check tools", "extract {in} {rules} --prefetch 0.2 --out ahead", "diff tools ahead", "verify ahead {in} {rules} --format json",
			"verify tools {in} {rules}", "verify tools {in} {rules} --format json",
			"verify tools {in} --format markdown", "verify tools {in} --format csv",
			"why tools", "why tools --format json", "why tools --format markdown",
			"why tools {chain}", "why tools {chain} {in} {rules} --format json",
			"extract {in} {rules} --algorithm awo --threshold 6 --out other",
			"diff tools other", "diff tools other --format json", "diff other tools --format markdown",
			"diff tools other --format csv --fail-on breaking",
			"run tools#{chain} --recordings {in}",
		},
		"register": {
			"register {in} --out tools", "register {in} --format json",
			"register {in} --format markdown", "register {in} --format csv",
		},
		"snapshot": {
			"snapshot build {in} {rules} --out a.awo", "snapshot show a.awo",
			"snapshot show a.awo --format json",
			"snapshot build {in} --half-life 14 --fire any --out b.awo", "snapshot show b.awo --format markdown",
			"snapshot build a.awo a.awo --out c.awo", "snapshot build c.awo {in} --out d.awo",
			"convert {in} --sample 1 --out one.jsonl", "predict a.awo <one.jsonl",
			"predict a.awo --fire any --top 5 --format json <one.jsonl", "replay a.awo one.jsonl --format json",
		},
		"replay": {"replay {in} {rules}", "replay {in} --sample 50 --kfold 3 --fire any --gate open --exclude-tool think --format json"},
		"replay-formats": {
			"replay {in} --sample 40 --kfold 3 --format markdown", "replay {in} --sample 40 --kfold 3 --format csv",
			"replay {in} --sample 30 --prequential --format json", "replay {in} --sample 30 --kfold 3 --gate autotool",
		},
		"backtest": {"backtest {in} {rules} --format json"},
		"backtest-formats": {
			"backtest {in} {rules} --sample 80", "backtest {in} --sample 60 --split task --format markdown --plots plots",
			"backtest {in} --sample 60 --split kfold --folds 3 --techniques none,awo,patterns --batches --write-precision 0 --exclude-tool think --format csv",
		},
		"compare": {"compare {in} --look --format json"},
		"report":  {"report {in} {rules} --sample 100 --out report.html", "report {in} --backtest never --format json"},
		"report-formats": {
			"report {in} --sample 50 --format markdown", "report {in} --sample 50 --backtest never --format csv",
			"report {in} --backtest never --by model --sources=false",
		},
		"serve": {"serve --servers mcp.json --check"},
		"tools": {
			"tools graph {in} --out world",
			"tools path mail_search --graph world/graph.json", "tools path mail_search --graph world/graph.json --format json",
			"tools path mail_search --substitutes --graph world/graph.json", "tools subset {in} --out subset",
			"tools path --recover path.json --failed mail_login --graph world/graph.json",
			"tools graph {in} --add-to world/graph.json --out new", "tools graph --diff world/graph.json --graph new/graph.json",
		},
		"rules-suggest": {"rules suggest {in}", "rules suggest {in} --sample 60 --format json"},
		"rules": {
			"rules check {file} {in}", "rules check {file} {in} --format json", "rules test {file}", "rules check --fmt print {file}",
			"rules verify {file} {in}", "rules verify {file} {in} --format json", "rules verify {file} {in} --format csv",
			"rules verify {file} {in} --format markdown", "rules check {file} {in} --explain run-000000 --call 2",
			"rules check {file} {in} --explain run-000000 --format json --show-values",
			"rules check {file} {in} --diff {file} --format json", "rules discover {in} --sample 60 --command cat --rounds 1",
		},
	}

	// traceless is what needs no traces.
	traceless = []string{
		"", "formats", "formats --format json", "formats --format markdown", "formats --format csv", "rules check --schema",
		"rules check --builtin http", "rules check --builtin sql", "rules check --builtin filesystem", "nothing", "extract", "inspect none.jsonl",
		"completion bash", "completion zsh", "completion fish", "completion powershell",
		"analyze --help", "backtest --help", "convert --help", "cost --help", "diff --help", "extract --help",
		"graph --help", "inspect --help", "predict --help", "register --help", "replay --help", "report --help",
		"rules --help", "run --help", "snapshot --help", "snapshot build --help", "verify --help", "why --help",
	}
)

// casesOf gives every case whose name is wanted, in order.
func casesOf(root, traces string, all bool, wanted *regexp.Regexp) ([]*testCase, error) {
	corpora, err := corporaOf(root, traces)
	if err != nil {
		return nil, err
	}
	var cases []*testCase
	add := func(c *testCase) {
		if wanted.MatchString(c.name()) {
			cases = append(cases, c)
		}
	}
	add(&testCase{corpus: corpus{name: "awo"}, title: "words", steps: traceless})
	for _, c := range corpora {
		for _, title := range slices.Sorted(maps.Keys(quick)) {
			add(&testCase{corpus: c, title: title, steps: quick[title]})
		}
		if !all && !c.whole {
			continue
		}
		for _, title := range slices.Sorted(maps.Keys(thorough)) {
			add(&testCase{corpus: c, title: title, steps: thorough[title]})
		}
	}
	return cases, nil
}

// corporaOf gives the traces that there are: the office, the fixtures of formats, and
// below the folder of recorded traces each file of more than 30 kB by itself and each
// folder of smaller ones together.
func corporaOf(root, traces string) ([]corpus, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	office := filepath.Join(root, "testdata", "office")
	corpora := []corpus{{
		name: "office", inputs: []string{filepath.Join(office, "trajectories.jsonl.gz")},
		rules: filepath.Join(office, "rules.yaml"), chain: "mail_login,mail_search", whole: true,
	}}
	fixtures, err := fixturesBelow(filepath.Join(root, "trace"))
	if err != nil {
		return nil, err
	}
	corpora = append(corpora, fixtures...)
	if _, err := os.Stat(traces); err != nil {
		return corpora, nil
	}
	recorded, err := recordedBelow(traces)
	return append(corpora, recorded...), err
}

// fixturesBelow gives a corpus for each folder of traces of one format that the tests
// of a package read.
func fixturesBelow(root string) ([]corpus, error) {
	folders := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		folder := filepath.Dir(path)
		inTestdata := strings.Contains(folder, string(filepath.Separator)+"testdata"+string(filepath.Separator))
		if !inTestdata || strings.Contains(folder, "fuzz") || filepath.Ext(path) == ".want" {
			return nil
		}
		folders[folder] = append(folders[folder], path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var corpora []corpus
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		corpora = append(corpora, corpus{name: "fixture-" + filepath.Base(folder), inputs: folders[folder], chain: "a,b"})
	}
	return corpora, nil
}

func recordedBelow(root string) ([]corpus, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	const large = 30_000
	small := map[string][]string{}
	var corpora []corpus
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		switch filepath.Ext(path) {
		case ".json", ".jsonl", ".gz", ".traj", ".zst":
		default:
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if info.Size() < large {
			folder := filepath.Dir(relative)
			small[folder] = append(small[folder], path)
			return nil
		}
		corpora = append(corpora, corpus{
			name: filepath.ToSlash(relative), inputs: []string{path}, chain: "get_user_details,get_reservation_details",
		})
		return nil
	})
	for _, folder := range slices.Sorted(maps.Keys(small)) {
		corpora = append(corpora, corpus{name: filepath.ToSlash(folder), inputs: small[folder], chain: "a,b"})
	}
	return corpora, err
}
