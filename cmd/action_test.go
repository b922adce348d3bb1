package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/yamlsrc"
)

// workflows are the files for GitHub.
var workflows = []string{"action.yml", "docs/examples/pull-request.yml"}

func readWorkflow(t *testing.T, name string) (*yamlsrc.Document, string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	d, problems := yamlsrc.Parse(name, src, yamlsrc.Options{})
	if err := problems.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d, string(src)
}

// scripts returns the texts of all `run:` members below a node.
func scripts(n *yamlsrc.Node) []string {
	var all []string
	for _, e := range n.Entries {
		if e.Key != nil && e.Key.Text == "run" {
			all = append(all, e.Value.Text)
		}
		all = append(all, scripts(e.Value)...)
	}
	return all
}

var awoLine = regexp.MustCompile(`(?m)^\s*awo (.*?)(?: >> .*)?$`)

// TestWorkflows wants valid YAML, scripts that bash can read, none of which has
// an expression put into it, and awo command lines that awo understands.
func TestWorkflows(t *testing.T) {
	lines := 0
	for _, name := range workflows {
		d, _ := readWorkflow(t, name)
		for _, script := range scripts(d.Root) {
			if strings.Contains(script, "${{") {
				t.Errorf("%s: an expression in a script lets inputs write code:\n%s", name, script)
			}
			if bash, err := exec.LookPath("bash"); err == nil {
				c := exec.CommandContext(t.Context(), bash, "-n")
				c.Stdin = strings.NewReader(script)
				if out, err := c.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", name, err, out)
				}
			}
			for _, m := range awoLine.FindAllStringSubmatch(script, -1) {
				lines++
				line := strings.NewReplacer(`"$FAIL_ON"`, "breaking", `"`, "").Replace(m[1])
				if err := parseLine("awo " + line); err != nil {
					t.Errorf("%s: awo %s: %v", name, m[1], err)
				}
			}
		}
	}
	if lines < 2 {
		t.Errorf("%d command lines of awo, want those of extract and diff", lines)
	}
}

// TestWorkflowInputs wants every input of the action that the example gives, and
// every one that docs/ci.md should name.
func TestWorkflowInputs(t *testing.T) {
	action, _ := readWorkflow(t, "action.yml")
	var inputs []string
	for _, e := range action.Root.Entries {
		if e.Key.Text == "inputs" {
			for _, in := range e.Value.Entries {
				inputs = append(inputs, in.Key.Text)
			}
		}
	}
	if !slices.Contains(inputs, "folder") {
		t.Fatalf("the inputs are %q", inputs)
	}
	_, example := readWorkflow(t, "docs/examples/pull-request.yml")
	_, with, _ := strings.Cut(example, "with:\n")
	for line := range strings.Lines(with) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !slices.Contains(inputs, name) {
			t.Errorf("the example gives %q, which is no input", name)
		}
	}
	text, err := os.ReadFile("../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range inputs {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/ci.md does not name the input %q", name)
		}
	}
}
