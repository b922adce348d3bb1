package cmd

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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

// TestActionRuns runs the action on a pull request that changes the meta-tools: once
// where the folder is what the traces give, and once where it was edited.
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
	repository, origin := t.TempDir(), t.TempDir()
	sh := func(script string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "bash", "-e", "-c", script)
		c.Dir = repository
		c.Env = append(os.Environ(), "ORIGIN="+origin, "OFFICE="+filepath.Join(root, "testdata", "office"), "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.example", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.example")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	sh(`git init --quiet --bare --initial-branch=main "$ORIGIN" && git -C "$ORIGIN" config uploadpack.allowAnySHA1InWant true
git init --quiet --initial-branch=main . && git remote add origin "$ORIGIN"
mkdir traces && cp "$OFFICE/trajectories.jsonl.gz" traces/ && cp "$OFFICE/rules.yaml" .
awo extract traces --rules rules.yaml --sample 80 --batches --write-precision 0 --threshold 8 --out tools >/dev/null
git add . && git commit --quiet -m before && git push --quiet origin main`)
	base := sh("git rev-parse HEAD")
	sh(`awo extract traces --rules rules.yaml --sample 80 --batches --write-precision 0 --threshold 12 --out tools >/dev/null && git add . && git commit --quiet -m after`)

	run := func(failOn string) (r *actionRun, passed bool) {
		r = &actionRun{t: t, files: t.TempDir(), folder: repository, context: map[string]string{}}
		temp, programs := t.TempDir(), t.TempDir()
		// gh keeps what it is to say.
		gh := "#!/bin/sh\ncp \"$6\" \"$0.said\"\necho \"$@\" >\"$0.asked\"\n"
		if err := os.WriteFile(filepath.Join(programs, "gh"), []byte(gh), 0o777); err != nil {
			t.Fatal(err)
		}
		r.paths = []string{programs}
		for _, e := range os.Environ() {
			if !strings.HasPrefix(e, "AWO_") && !strings.HasPrefix(e, "PATH=") && !strings.HasPrefix(e, "GITHUB_") {
				r.env = append(r.env, e)
			}
		}
		r.env = append(r.env, "GITHUB_ACTION_PATH="+root, "RUNNER_TEMP="+temp)
		maps.Copy(r.context, map[string]string{
			"github.action_path": root, "github.token": "token", "github.event.pull_request.base.sha": base, "github.event.pull_request.number": "7",
			"inputs.token": "token",
		})
		for _, in := range member(action.Root, "inputs").Entries {
			if _, ok := r.context["inputs."+in.Key.Text]; !ok {
				r.context["inputs."+in.Key.Text] = member(in.Value, "default").Text
			}
		}
		r.context["inputs.folder"], r.context["inputs.traces"], r.context["inputs.fail-on"] = "tools", "traces\n", failOn
		passed = true
		for _, e := range member(member(action.Root, "runs"), "steps").Entries {
			if !r.step(e.Value) {
				return r, false
			}
		}
		if said, err := os.ReadFile(filepath.Join(programs, "gh.said")); err != nil || string(said) != r.read("summary") {
			t.Errorf("the comment is not the summary (%v)", err)
		}
		return r, passed
	}

	r, passed := run("none")
	if summary := r.read("summary"); !passed || !strings.Contains(summary, "are what the traces give") || !strings.Contains(summary, "What differs") {
		t.Errorf("passed: %v; the summary is\n%s", passed, summary)
	}
	if r, passed := run("breaking"); passed || !strings.Contains(r.read("summary"), "meta-tool-removed") {
		t.Errorf("a meta-tool that is gone fails no job that asks for it:\n%s", r.read("summary"))
	}
	if err := os.WriteFile(filepath.Join(repository, "tools", "json.py"), []byte("evil"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r, passed := run("none"); passed || !strings.Contains(r.read("summary"), "unlisted") {
		t.Errorf("a file that awo did not make fails no job:\n%s", r.read("summary"))
	}
}
