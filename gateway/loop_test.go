package gateway_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/compiled"
)

// TestLoop: 40 scripted runs on servers of others are recorded and compiled; 40 more are
// served what came of it and recorded; what is compiled of these is the same.
func TestLoop(t *testing.T) {
	nodeModules(t)
	dir := t.TempDir()
	awo := filepath.Join(dir, "awo")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", awo, "github.com/awo-dev/awo").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l := loop{dir: dir, awo: awo, files: nodeServer(t, "filesystem", filepath.Join(dir, "notes")), memory: nodeServer(t, "memory")}
	l.fill(t)
	before := l.round(t, "before", nil)
	artefacts, err := compiled.Read(before.dir)
	if err != nil {
		t.Fatal(err)
	}
	after := l.round(t, "after", artefacts)
	if len(before.metaTools) == 0 || len(before.rules) == 0 || l.used == 0 || l.given == 0 {
		t.Fatalf("%d meta-tools used %d times, %d rules, %d reads given", len(before.metaTools), l.used, len(before.rules), l.given)
	}
	if !slices.Equal(before.metaTools, after.metaTools) {
		t.Errorf("meta-tools were\n%s\nand are\n%s", strings.Join(before.metaTools, "\n"), strings.Join(after.metaTools, "\n"))
	}
	if !slices.Equal(before.rules, after.rules) {
		t.Errorf("rules were\n%s\nand are\n%s", strings.Join(before.rules, "\n"), strings.Join(after.rules, "\n"))
	}
	t.Logf("meta-tools used %d times, %d reads given; both times\n%s\n%s", l.used, l.given, strings.Join(after.metaTools, "\n"), strings.Join(after.rules, "\n"))
}

type loop struct {
	dir, awo      string
	files, memory gateway.Server
	mu            sync.Mutex
	used, given   int // meta-tools, and reads that were attached and so not asked for
}

const loopRuns = 40

// person is whom a run is about.
func person(run int) string { return fmt.Sprintf("Ann-%03d", run*37%1000) }

// fill writes the files and what is remembered: a note on each person, in a folder each.
func (l *loop) fill(t *testing.T) {
	t.Helper()
	var remembered strings.Builder
	for run := range 2 * loopRuns {
		at := filepath.Join(l.dir, "notes", fmt.Sprintf("case-%03d", run))
		err := os.MkdirAll(at, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(at, fmt.Sprintf("about-%03d.txt", run*53%1000)), []byte(person(run)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&remembered, "{\"type\":\"entity\",\"name\":%q,\"entityType\":\"person\",\"observations\":[\"desk %d\"]}\n", person(run), run)
	}
	file := filepath.Join(l.dir, "memory.jsonl")
	if err := os.WriteFile(file, []byte(remembered.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	l.memory.Env = []string{"MEMORY_FILE_PATH=" + file}
}

// made is what was compiled, as far as it is to be the same again.
type made struct {
	dir              string
	metaTools, rules []string
}

// round plays 40 runs, with what was compiled before if there is something, and compiles
// the recordings.
func (l *loop) round(t *testing.T, name string, a *compiled.Artefacts) made {
	t.Helper()
	records, first := filepath.Join(l.dir, name), 0
	recording, err := gateway.NewRecording(records, gateway.RedactSecrets, "")
	if err != nil {
		t.Fatal(err)
	}
	servers := []gateway.Server{l.files, l.memory}
	o := gateway.Options{Recording: recording, ConnectWait: time.Minute, Prefixes: gateway.PrefixesNever}
	if a != nil {
		o.Layer, first = compiled.New(a, compiled.Options{Servers: servers, Wait: 5 * time.Second, Seed: 1}), loopRuns
	}
	t.Run(name, func(t *testing.T) {
		url := handle(t, gateway.New(servers, o), gateway.HTTPOptions{})
		var work sync.WaitGroup
		for worker := range 4 {
			work.Go(func() {
				for run := first + worker; run < first+loopRuns; run += 4 {
					l.play(t, url, run, a)
				}
			})
		}
		work.Wait()
	})
	out := made{dir: filepath.Join(l.dir, name+"-tools")}
	// Which of both would be offered is not asked here, but that both are found.
	if said, err := exec.CommandContext(t.Context(), l.awo, "extract", records, "--verdict", "never", "--quiet", "--out", out.dir).CombinedOutput(); err != nil {
		t.Fatalf("extract: %v: %s", err, said)
	}
	var tools struct {
		MetaTools []struct {
			Name  string
			Steps []struct {
				Tool      string
				Arguments []struct {
					Name    string
					Binding map[string]any
				}
			}
		} `json:"meta_tools"`
	}
	var rules struct {
		Rules []struct {
			ID             string
			Source, Target map[string]any
		}
	}
	for file, into := range map[string]any{"metatools.json": &tools, "prefetch.json": &rules} {
		data, err := os.ReadFile(filepath.Join(out.dir, file))
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range tools.MetaTools {
		out.metaTools = append(out.metaTools, fmt.Sprintf("%s %+v", m.Name, m.Steps))
	}
	for _, r := range rules.Rules {
		out.rules = append(out.rules, fmt.Sprintf("%s %v %v", r.ID, r.Source, r.Target))
	}
	slices.Sort(out.metaTools)
	slices.Sort(out.rules)
	return out
}

// play is one run of an agent: it finds the note of a case, reads it and looks up who it is
// about. Every other run takes a meta-tool for it, if there is one; none asks for what it
// was given.
func (l *loop) play(t *testing.T, url string, run int, a *compiled.Artefacts) {
	asked := 0
	given := map[string]string{}
	ask := func(tool string, arguments map[string]any) string {
		raw, err := json.Marshal(arguments) // in the order of names
		if err != nil {
			t.Error(err)
		}
		if text, ok := given[tool+string(raw)]; ok {
			l.mu.Lock()
			l.given++
			l.mu.Unlock()
			return text
		}
		time.Sleep(150 * time.Millisecond) // calls that are closer together are of one turn
		asked++
		params := fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{%s,"threadId":"run-%d"}}`, tool, raw, meta, run)
		status, _, got := post(t, url, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, asked, params), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
		var answer struct {
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(got), &answer); err != nil || status != 200 || answer.Result.IsError || len(answer.Result.Content) == 0 {
			t.Errorf("run %d, %s %s: %d %s", run, tool, raw, status, got)
			return ""
		}
		var ahead struct {
			ReadAhead []struct {
				Tool      string
				Arguments map[string]any
				Result    json.RawMessage
			} `json:"read_ahead"`
		}
		last := answer.Result.Content[len(answer.Result.Content)-1].Text
		if json.Unmarshal([]byte(last), &ahead) == nil {
			for _, p := range ahead.ReadAhead {
				key, _ := json.Marshal(p.Arguments) // it was JSON
				var said struct{ Content string }
				if json.Unmarshal(p.Result, &said) != nil || said.Content == "" {
					said.Content = string(p.Result)
				}
				given[p.Tool+string(key)] = said.Content
			}
		}
		return answer.Result.Content[0].Text
	}
	folder := filepath.Join(l.dir, "notes", fmt.Sprintf("case-%03d", run))
	if a != nil && run%2 == 0 && len(a.Tools) > 0 {
		inputs := map[string]any{}
		for _, m := range a.Tools[0].Inputs {
			if inputs[m.Name] = folder; m.Name == "pattern" {
				inputs[m.Name] = "*.txt"
			}
		}
		if text := ask(a.Tools[0].Name, inputs); !strings.Contains(text, person(run)) {
			t.Errorf("run %d: the meta-tool answers %s", run, text)
		}
		l.mu.Lock()
		l.used++
		l.mu.Unlock()
		return
	}
	note := ask("search_files", map[string]any{"path": folder, "pattern": "*.txt"})
	who := ask("read_text_file", map[string]any{"path": note})
	if text := ask("search_nodes", map[string]any{"query": who}); !strings.Contains(text, person(run)) {
		t.Errorf("run %d: %q is about %s: %s", run, note, who, text)
	}
}
