package cmd

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

// needle is a word of every planted value, and needleNumber the digits of every planted
// number: nothing that awo says of itself holds them.
const (
	needle       = "qzneedle"
	needleNumber = 7919000
	runsPlanted  = 40
)

var planted = regexp.MustCompile(`(?i)` + needle + `|79190\d\d`)

// An act is a call with its result in each of the places of which something is recorded.
type act struct {
	tool            string
	arguments       map[string]any
	result          string
	failed          bool
	thought, speech string
}

// actsOf is what one agent did. Values of run i are its own, but for the password, which
// all share: that would make it a constant if it did not look like a credential.
func actsOf(i int) (system, task string, acts []act, answer string) {
	n := func(place string) string { return fmt.Sprintf("%s-%s-%02d", needle, place, i) }
	// Users repeat themselves, so that runs are of ten tasks.
	system, task = "Obey "+needle+"-system.", fmt.Sprintf("Find %stask%c", needle, 'a'+i%10)
	acts = []act{
		{"auth_login", map[string]any{"user": n("user") + "@example.org", "password": "Qz9$" + needle}, `{"access_token":"sk-` + n("token") + `"}`, false, n("thought"), n("speech")},
		{"docs_find", map[string]any{"query": n("query"), "access_token": "sk-" + n("token")}, `[{"id":"` + n("id") + `","url":"https://u:` + n("pass") + `@h.example/a?k=` + n("key") + `"}]`, false, "", ""},
		{"docs_open", map[string]any{"id": n("id")}, `{"title":"` + n("title") + `"}`, false, "", ""},
		{"docs_get", map[string]any{"id": n("id"), "options": map[string]any{"path": "/home/" + n("home") + "/a", "limit": needleNumber + i}}, `{"owner":"` + n("owner") + `","size":` + fmt.Sprint(needleNumber+50+i) + `}`, false, "", ""},
		{"docs_put", map[string]any{"id": n("id"), "owner": n("owner"), "text": "Dear " + n("owner") + ",\n" + n("text")}, "Error: 403 " + n("reason"), true, "", n("sorry")},
		{"bash", map[string]any{"command": "curl -H 'Authorization: Bearer " + n("bearer") + "' https://h.example/" + n("path") + " | jq ." + n("field")}, n("stdout"), false, "", ""},
	}
	return system, task, acts, "Done: " + n("answer")
}

type object = map[string]any

// plantings are traces with needles, by format: lines of run i.
var plantings = map[string]func(i int) []object{
	"openai-chat": func(i int) []object {
		system, task, acts, answer := actsOf(i)
		messages := []object{{"role": "system", "content": system}, {"role": "user", "content": task}}
		for k, a := range acts {
			arguments, _ := json.Marshal(a.arguments)
			messages = append(messages,
				object{"role": "assistant", "content": a.speech, "reasoning_content": a.thought, "tool_calls": []object{{"id": fmt.Sprint("c", k), "type": "function", "function": object{"name": a.tool, "arguments": string(arguments)}}}},
				object{"role": "tool", "tool_call_id": fmt.Sprint("c", k), "content": a.result})
		}
		return []object{{"model": "m", "messages": append(messages, object{"role": "assistant", "content": answer})}}
	},
	"bedrock": func(i int) []object {
		system, task, acts, answer := actsOf(i)
		text := func(s string) []object { return []object{{"text": s}} }
		messages := []object{{"role": "user", "content": text(task)}}
		for k, a := range acts {
			status := "success"
			if a.failed {
				status = "error"
			}
			messages = append(messages,
				object{"role": "assistant", "content": []object{{"reasoningContent": object{"reasoningText": object{"text": a.thought}}}, {"text": a.speech}, {"toolUse": object{"toolUseId": fmt.Sprint("c", k), "name": a.tool, "input": a.arguments}}}},
				object{"role": "user", "content": []object{{"toolResult": object{"toolUseId": fmt.Sprint("c", k), "content": text(a.result), "status": status}}}})
		}
		return []object{{
			"schemaType": "ModelInvocationLog", "timestamp": fmt.Sprintf("2026-03-01T09:%02d:00Z", i), "requestId": fmt.Sprint("r-", i), "operation": "Converse", "modelId": "m",
			"input":  object{"inputBodyJson": object{"system": text(system), "messages": messages}},
			"output": object{"outputBodyJson": object{"output": object{"message": object{"role": "assistant", "content": text(answer)}}, "usage": object{"inputTokens": 9, "outputTokens": 2}}},
		}}
	},
	"langfuse": func(i int) []object {
		_, task, acts, answer := actsOf(i)
		at := func(k int) string { return fmt.Sprintf("2026-03-01T09:%02d:%02dZ", i, k) }
		observations := []object{{"id": fmt.Sprint("g-", i), "traceId": fmt.Sprint("t-", i), "type": "GENERATION", "name": "chat", "startTime": at(0), "endTime": at(0), "model": "m", "input": []object{{"role": "user", "content": task}}, "output": object{"role": "assistant", "content": answer}}}
		for k, a := range acts {
			o := object{"id": fmt.Sprint("o-", i, "-", k), "traceId": fmt.Sprint("t-", i), "parentObservationId": fmt.Sprint("g-", i), "type": "TOOL", "name": a.tool, "startTime": at(2 * k), "endTime": at(2*k + 1), "level": "DEFAULT", "input": a.arguments, "output": a.result, "metadata": object{"note": a.speech}}
			if a.failed {
				o["level"], o["statusMessage"] = "ERROR", a.result
			}
			observations = append(observations, o)
		}
		return []object{{"trace": object{"id": fmt.Sprint("t-", i), "timestamp": at(0), "input": task, "output": answer}, "observations": observations}}
	},
	"mapped": func(i int) []object {
		_, task, acts, answer := actsOf(i)
		lines := []object{{"kind": "customer", "chat": i, "text": task}}
		for k, a := range acts {
			lines = append(lines, object{"kind": "bot_action", "chat": i, "function": a.tool, "payload": a.arguments, "call_id": fmt.Sprint(i, "-", k)},
				object{"kind": "action_result", "chat": i, "call_id": fmt.Sprint(i, "-", k), "result": a.result, "failure": a.failed})
		}
		return append(lines, object{"kind": "bot_said", "chat": i, "text": answer})
	},
}

// needleSteps are commands that one folder sees one after the other, most with two ways to
// print. {in} is the trace, {id} a trajectory of it.
var needleSteps = []string{
	"inspect {in} --details", "inspect {in} --format json", "inspect {in} --format csv",
	"summary {in} --details", "summary {in} --format html", "summary {in} --format json",
	"findings {in} --details", "findings {in} --format json",
	"show {in}", "show {in} --find status==\"failed\" --format json", "show {in} {id} --details", "show {in} {id} --format json",
	"analyze {in} --sources --by model --contexts 3 --details", "analyze {in} --sources --format json", "analyze {in} --plots plots --format markdown",
	"cost {in} --lazy --by session --shell split --details", "cost {in} --format json",
	"graph {in} --graphml g.graphml --dot g.dot --mermaid g.mmd --graph-json g.json --rules rules.yaml --details",
	"compare {in} {in} --format json",
	"extract {in} --rules told.yaml --threshold 3 --prefetch 0.2 --batches --write-precision 0 --out tools --details", "extract {in} --threshold 3 --select all --format json",
	"extract {in} --threshold 3 --select all --out other --format html",
	"extract --check tools {in} --rules told.yaml", "verify tools {in} --min-agreement 0 --format json", "verify tools {in} --min-agreement 0 --details",
	"why tools --format json", "why tools auth_login docs_find {in}", "why tools docs_get docs_put {in} --format json", "diff tools other --format markdown",
	"register {in} --out registered --format json",
	"snapshot build {in} --out a.awo", "snapshot show a.awo --details", "snapshot show a.awo --format json", "snapshot build a.awo {in} --out b.awo",
	"replay {in} --kfold 2 --gate open --fire any --details", "replay a.awo {in} --format json",
	"backtest {in} --split kfold --folds 2 --format json", "backtest {in} --split kfold --folds 2 --details",
	"report {in} --backtest always --out report.html", "report {in} --backtest never --format markdown",
	"summarize {in} --out part.awosum", "analyze part.awosum --format json", "cost part.awosum --details",
	"tools graph {in} --out world", "tools path docs_get --graph world/graph.json", "tools path docs_get --substitutes --graph world/graph.json",
	"tools subset {in} --out subset", "tools graph {in} --add-to world/graph.json --out new", "tools graph --diff world/graph.json --graph new/graph.json",
	"rules suggest {in}", "rules suggest {in} --format json", "rules verify rules.yaml {in} --min-tested 0 --details", "rules check rules.yaml {in}", "rules check rules.yaml {in} --explain {id}",
	"rules check rules.yaml {in} --diff rules.yaml --format json", "rules discover {in} --command cat --rounds 1 --record exchanges",
	"compare {in} --look --format json", "help config analyze",
	"convert {in} --redact --out redacted.jsonl", "convert {in} --redact --to otlp", "convert {in} --redact --to openai-chat", "convert {in} --to xes", "convert {in} --to ocel",
	"inspect broken.jsonl --details", "inspect broken.jsonl --format json", "extract broken.jsonl --threshold 3 --out part", "report broken.jsonl --backtest never --out broken.html", "summary broken.jsonl",
}

// needleFew are those that every format goes through.
var needleFew = regexp.MustCompile(`^(inspect|show|summary|extract) \{in\}.*(--details|json|tools)|--out (report.html|a.awo|part.awosum|world)|redacted.jsonl|--to xes`)

// TestNoNeedleIsShown plants values in every place of traces, and wants none of them in
// what any command prints or writes.
func TestNoNeedleIsShown(t *testing.T) {
	t.Setenv("AWO_KEY", "a key that is long enough for words")
	for _, format := range []string{"openai-chat", "bedrock", "langfuse", "mapped", "atif", "otlp"} {
		t.Run(format, func(t *testing.T) {
			t.Chdir(t.TempDir())
			of, converted := plantings[format], plantings[format] == nil
			if converted {
				of = plantings["openai-chat"]
			}
			var in bytes.Buffer
			for i := range runsPlanted {
				for _, line := range of(i) {
					text, err := json.Marshal(line)
					if err != nil {
						t.Fatal(err)
					}
					in.Write(append(text, '\n'))
				}
			}
			write := func(name string, data []byte) {
				t.Helper()
				if err := os.WriteFile(name, data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			write("in.jsonl", in.Bytes())
			write("broken.jsonl", append(in.Bytes(), `{"messages":[{"role":"user","content":"`+needle+`"}, `+needle+`]}`+"\n"...))
			write("told.yaml", []byte("version: 1\nrules:\n  - {id: told, kind: plumbing, match: {tool: '*'}, answer: keep}\n"))
			write("rules.yaml", []byte("version: 1\nrules:\n  - {id: find, kind: effect, match: {tool: docs_find}, effect: accessor}\n"))
			if format == "mapped" {
				write("map.yaml", []byte(draft(t, "in.jsonl")))
				t.Setenv("AWO_MAP", "map.yaml")
			}
			if converted {
				if out := awoPrints(t, "convert", "in.jsonl", "--to", format, "--out", "other.jsonl"); strings.Contains(out, needle) {
					t.Errorf("convert shows %s", out)
				}
				if err := os.Rename("other.jsonl", "in.jsonl"); err != nil {
					t.Fatal(err)
				}
			}
			list := members(t, []byte(awoPrints(t, "show", "in.jsonl", "--format", "json")))["trajectories"].([]any)
			if len(list) != runsPlanted {
				t.Fatalf("%d trajectories are read", len(list))
			}
			hasTools := false
			checked := map[string]bool{"in.jsonl": true, "broken.jsonl": true}
			for _, step := range needleSteps {
				if format != "openai-chat" && !needleFew.MatchString(step) {
					continue
				}
				out := awoPrints(t, strings.Fields(strings.NewReplacer("{in}", "in.jsonl", "{id}", list[0].(map[string]any)["id"].(string), `"`, "'").Replace(step))...)
				wantNoNeedle(t, "awo "+step, []byte(out))
				if err := fs.WalkDir(os.DirFS("."), ".", func(path string, entry fs.DirEntry, err error) error {
					if err != nil || entry.IsDir() || checked[path] {
						return err
					}
					checked[path] = true
					hasTools = hasTools || path == "tools/metatools.arazzo.yaml"
					data, err := os.ReadFile(filepath.FromSlash(path))
					wantNoNeedle(t, "awo "+step+" writes "+path, data)
					wantNoNeedle(t, "awo "+step+" names", []byte(path))
					return err
				}); err != nil {
					t.Fatal(err)
				}
			}
			if !hasTools && format != "langfuse" { // whose calls are of one turn here
				t.Error("no meta-tool was found, so that nothing was written of one")
			}
		})
	}
}

func wantNoNeedle(t *testing.T, what string, data []byte) {
	t.Helper()
	if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil { // snapshots and summaries
		if data, err = io.ReadAll(z); err != nil {
			t.Error(err)
		}
	}
	if at := planted.FindIndex(data); at != nil {
		t.Errorf("%s: …%q…", what, data[max(0, at[0]-80):min(len(data), at[1]+40)])
	}
}

// awoPrints returns what awo prints, errors behind the rest.
func awoPrints(t *testing.T, args ...string) string {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	stdout, stderr, old := os.Stdout, os.Stderr, os.Args
	os.Stdout, os.Stderr, os.Args = out, out, append([]string{"awo"}, args...)
	code := Main()
	os.Stdout, os.Stderr, os.Args = stdout, stderr, old
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	if code > 1 {
		t.Errorf("awo %s: exit code %d: %s", strings.Join(args, " "), code, text)
	}
	return string(text)
}

// draft returns the map that inspect drafts of an unknown layout.
func draft(t *testing.T, file string) string {
	t.Helper()
	whole := awoPrints(t, "inspect", file)
	_, out, begins := strings.Cut(whole, "# A draft")
	out, _, ends := strings.Cut("# A draft"+out, "\nawo: ")
	if !begins || !ends {
		t.Fatalf("no draft: %s", whole)
	}
	return out
}

// TestNeedlesGoThroughEveryCommand wants every command in needleSteps, but for those that
// read no traces or whose result is one: they are tested where they are.
func TestNeedlesGoThroughEveryCommand(t *testing.T) {
	for c := range commands(newRoot(&cli.App{})) {
		path := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "awo"), " ")
		switch path {
		case "", "help", "version", "formats", "rules test":
			continue // read no traces
		case "run", "predict", "serve":
			continue // answer with values
		case "sessions":
			continue // takes no files, and prints the screen of summary
		}
		if c.HasSubCommands() || strings.HasPrefix(path, "completion") {
			continue
		}
		if !slices.ContainsFunc(needleSteps, func(step string) bool { return strings.HasPrefix(step, path+" ") }) {
			t.Errorf("needleSteps has no line for `awo %s`", path)
		}
	}
}
