package cmd

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// actionRun runs the steps of action.yml as a runner of GitHub does: in order, each as a
// script of bash, with files for what a step hands on. `uses` is what the machine has.
type actionRun struct {
	t       *testing.T
	context map[string]string // what expressions may name
	paths   []string          // what steps added to PATH
	files   string            // folder of GITHUB_OUTPUT and its like
	folder  string            // the repository
	env     []string
}

var expression = regexp.MustCompile(`\$\{\{ *(.+?) *\}\}`)

// fill puts values in place of expressions; one that is not known fails the test.
func (r *actionRun) fill(text string) string {
	return expression.ReplaceAllStringFunc(text, func(m string) string {
		name := expression.FindStringSubmatch(m)[1]
		value, ok := r.context[name]
		if !ok {
			r.t.Errorf("action.yml uses %s, which this runner does not know", name)
		}
		return value
	})
}

// holds evaluates a condition: comparisons with texts and bare names, joined by &&.
func (r *actionRun) holds(condition string) bool {
	for part := range strings.SplitSeq(condition, "&&") {
		name, want, compared := strings.Cut(strings.TrimSpace(part), " == ")
		value, ok := r.context[name]
		if !ok {
			r.t.Errorf("a condition of action.yml names %s, which this runner does not know", name)
		}
		if compared && value != strings.Trim(want, "'") || !compared && value == "" {
			return false
		}
	}
	return true
}

func member(n *yamlsrc.Node, key string) *yamlsrc.Node {
	for _, e := range n.Entries {
		if e.Key != nil && e.Key.Text == key {
			return e.Value
		}
	}
	return &yamlsrc.Node{}
}

// step runs one step, and returns whether it succeeded.
func (r *actionRun) step(n *yamlsrc.Node) bool {
	if condition := member(n, "if").Text; condition != "" && !r.holds(condition) {
		return true
	}
	script := member(n, "run").Text
	if script == "" {
		if !strings.HasPrefix(member(n, "uses").Text, "actions/setup-go@") {
			r.t.Errorf("this runner cannot do %q", member(n, "uses").Text)
		}
		return true
	}
	if member(n, "shell").Text != "bash" {
		r.t.Errorf("a step of a composite action needs a shell")
	}
	output := filepath.Join(r.files, "output")
	for _, name := range []string{"output", "path"} {
		if err := os.WriteFile(filepath.Join(r.files, name), nil, 0o666); err != nil {
			r.t.Fatal(err)
		}
	}
	c := exec.CommandContext(r.t.Context(), "bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script)
	c.Dir = r.folder
	c.Env = append(append([]string{}, r.env...), "PATH="+strings.Join(append(r.paths, os.Getenv("PATH")), ":"),
		"GITHUB_OUTPUT="+output, "GITHUB_PATH="+filepath.Join(r.files, "path"), "GITHUB_STEP_SUMMARY="+filepath.Join(r.files, "summary"))
	for _, e := range member(n, "env").Entries {
		c.Env = append(c.Env, e.Key.Text+"="+r.fill(e.Value.Text))
	}
	out, err := c.CombinedOutput()
	r.t.Logf("step %q: %v\n%s", member(n, "name").Text, err, out)
	for _, pair := range strings.Split(r.read("output"), "\n") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			r.context[fmt.Sprintf("steps.%s.outputs.%s", member(n, "id").Text, name)] = value
		}
	}
	if path := strings.TrimSpace(r.read("path")); path != "" {
		r.paths = append([]string{path}, r.paths...)
	}
	return err == nil
}

func (r *actionRun) read(name string) string {
	content, err := os.ReadFile(filepath.Join(r.files, name))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(content)
}

// gh stands for GitHub's program: comments are files, mine-N and others-N, and what --jq
// asks of them is done by hand.
const gh = `#!/bin/sh
cd "$COMMENTS" || exit 1
case "$1 $2" in
"pr view") for f in mine-*; do if [ "$(head -n 1 "$f")" = "$MARK" ]; then id="${f#mine-}"; fi; done; echo "$id" ;;
"pr comment") cp "$5" "mine-$(ls | wc -l)" ;;
"api --silent") cp "${7#body=@}" "mine-${5##*/}" ;;
esac
`

// TestActionRuns is the story of a repository that takes up awo: its first meta-tools, a
// trace more, a tool that changes in the traces and in the server, an edited folder, and
// pull requests that change what is offered.
func TestActionRuns(t *testing.T) {
	for _, program := range []string{"bash", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s", program)
		}
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	action, _ := readWorkflow(t, "action.yml")
	repository, origin, comments, temp := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	sh := func(script string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
		c.Dir = repository
		c.Env = append(os.Environ(), "ORIGIN="+origin, "OFFICE="+filepath.Join(root, "testdata", "office"), "COMMENTS="+comments, "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.example", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.example")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(repository, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	reads := regexp.MustCompile(`_(get|list|search|read|show)`)
	definitions := []json.RawMessage{json.RawMessage(`{"name":"supervisor_complete_task","inputSchema":{"type":"object","properties":{"answer":{"type":"string"}}}}`)} // the agent's own
	for _, tool := range recordings.Read(t, "../testdata/office/trajectories.jsonl.gz")[0].Tools {
		definitions = append(definitions, json.RawMessage(fmt.Sprintf(`{"name":%q,"inputSchema":%s,"annotations":{"readOnlyHint":%t}}`, tool.Name.Value(), tool.Input.Text(), reads.MatchString(tool.Name.Value()))))
	}
	served, err := json.Marshal(map[string]any{"tools": definitions})
	if err != nil {
		t.Fatal(err)
	}
	write("office.json", served)
	write("mcp.json", []byte(`{"mcpServers":{"office":{"command":"mcpstub","args":["office.json"]}}}`))
	sh(`git init --quiet --bare --initial-branch=main "$ORIGIN" && git -C "$ORIGIN" config uploadpack.allowAnySHA1InWant true
git init --quiet --initial-branch=main . && git remote add origin "$ORIGIN"
mkdir traces && gzip -dc "$OFFICE/trajectories.jsonl.gz" | head -n 80 >traces/runs.jsonl && cp "$OFFICE/rules.yaml" .
echo "Thanks!" >"$COMMENTS/mine-0" && echo "<!-- awo tools -->" >"$COMMENTS/others-1"
awo extract traces --rules rules.yaml --batches --write-precision 0 --threshold 8 --out tools >/dev/null
awo summarize traces --compare --out base.awosum >/dev/null
git add . && git commit --quiet -m before && git push --quiet origin main`)
	base := sh("git rev-parse HEAD")

	// run returns what the action says, and whether it passes.
	run := func(inputs map[string]string) (said string, passed bool) {
		t.Helper()
		r := &actionRun{t: t, files: t.TempDir(), folder: repository, context: map[string]string{}}
		programs := t.TempDir()
		if err := os.WriteFile(filepath.Join(programs, "gh"), []byte(gh), 0o777); err != nil {
			t.Fatal(err)
		}
		r.paths = []string{programs}
		for _, e := range os.Environ() {
			if !strings.HasPrefix(e, "AWO_") && !strings.HasPrefix(e, "PATH=") && !strings.HasPrefix(e, "GITHUB_") {
				r.env = append(r.env, e)
			}
		}
		r.env = append(r.env, "GITHUB_ACTION_PATH="+root, "RUNNER_TEMP="+temp, "COMMENTS="+comments)
		maps.Copy(r.context, map[string]string{
			"github.action_path": root, "github.token": "token", "github.event.pull_request.base.sha": base, "github.event.pull_request.number": "7",
			"github.repository": "a/b",
		})
		for _, in := range member(action.Root, "inputs").Entries {
			r.context["inputs."+in.Key.Text] = member(in.Value, "default").Text
		}
		r.context["inputs.folder"], r.context["inputs.traces"], r.context["inputs.token"] = "tools", "traces\n", "token"
		for name, value := range inputs {
			r.context["inputs."+name] = value
		}
		passed = true
		for _, e := range member(member(action.Root, "runs"), "steps").Entries {
			if passed = r.step(e.Value); !passed {
				break
			}
		}
		said = r.read("summary")
		if ours := sh(`ls "$COMMENTS" | tr "\n" " "; tail -n +2 "$COMMENTS/mine-2"`); ours != "mine-0 mine-2 others-1 "+strings.TrimSpace(said) {
			t.Errorf("the only comment of the action is not its summary:\n%s", ours)
		}
		return said, passed
	}

	all := map[string]string{"servers": "mcp.json", "baseline": "base.awosum"}
	if said, passed := run(all); !passed || !strings.Contains(said, "are what the traces give") || !strings.Contains(said, "The servers still offer") || !strings.Contains(said, "as well as the baseline") {
		t.Errorf("first run: passed: %v\n%s", passed, said)
	}
	sh(`gzip -dc "$OFFICE/trajectories.jsonl.gz" | sed -n 81,83p >traces/more.jsonl`)
	if said, passed := run(all); !passed || !strings.Contains(said, "are what the traces give") {
		t.Errorf("a trace more: passed: %v\n%s", passed, said)
	}
	write("office.json", []byte(strings.ReplaceAll(string(served), `"contact_id"`, `"person"`)))
	if said, passed := run(all); passed || !strings.Contains(said, "contacts_get has no argument contact_id any more; person may be its new name") {
		t.Errorf("a server with another argument fails no job:\n%s", said)
	}
	if said, passed := run(nil); !passed || strings.Contains(said, "person") {
		t.Errorf("passed: %v; servers that nobody named were asked:\n%s", passed, said)
	}
	sh(`cp -r traces as-before && sed -i 's/"contact_id"/"person"/g' traces/*.jsonl`)
	said, passed := run(nil)
	if passed || !strings.Contains(said, "may break callers") || !strings.Contains(said, "--update") || strings.Count(said, "\n") > 30 {
		t.Errorf("a tool that changed: passed: %v\n%s", passed, said)
	}
	sh(`rm -r traces && mv as-before traces
awo extract traces --rules rules.yaml --batches --write-precision 0 --threshold 12 --out tools >/dev/null && git add . && git commit --quiet -m after`)
	if said, passed := run(nil); !passed || !strings.Contains(said, "are what the traces give") || !strings.Contains(said, "What differs") {
		t.Errorf("passed: %v; the summary is\n%s", passed, said)
	}
	if said, passed := run(map[string]string{"fail-on": "breaking"}); passed || !strings.Contains(said, "meta-tool-removed") {
		t.Errorf("a meta-tool that is gone fails no job that asks for it:\n%s", said)
	}
	write("tools/json.py", []byte("evil"))
	if said, passed := run(nil); passed || !strings.Contains(said, "unlisted") {
		t.Errorf("a file that awo did not make fails no job:\n%s", said)
	}
}
