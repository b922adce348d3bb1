package habit_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/shell/habit"
	"github.com/awo-dev/awo/trace"
)

// run returns a trajectory that makes calls, each in a turn of its own: "Edit", or a
// command line.
func run(task string, calls ...string) *trace.Trajectory {
	t := &trace.Trajectory{ID: task, Task: task, Format: "claude-code"}
	for i, call := range calls {
		c := trace.Call{Tool: trace.Intern([]byte("Bash")), Turn: i}
		if call == "Edit" {
			c.Tool = trace.Intern([]byte("Edit"))
		} else {
			line, _ := json.Marshal(map[string]string{"command": call})
			c.Args = trace.JSONOf(line)
		}
		t.Turns = append(t.Turns, trace.Turn{FirstCall: i, NumCalls: 1})
		t.Calls = append(t.Calls, c)
	}
	return t
}

// find returns the habits of some runs, and their files by name.
func find(runs ...*trace.Trajectory) ([]habit.Habit, map[string]string) {
	f := habit.New()
	for _, t := range runs {
		f.Add(t)
	}
	habits, files := f.Habits(), map[string]string{}
	for _, file := range habit.Files(habits) {
		files[file.Name] = string(file.Data)
	}
	return habits, files
}

func TestHabits(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 4 {
		runs = append(runs, run(fmt.Sprint(i),
			"npm ci", "npm run lint -- --fix 'a b'", "Edit", "go test ./...", "Edit", "go test ./...",
			fmt.Sprintf("git checkout -b fix-%d", i), "git add -A", fmt.Sprintf("git commit -m 'fix %d'", i), "gh pr create"))
	}
	habits, files := find(runs...)
	got := map[habit.Kind][]string{}
	for _, h := range habits {
		got[h.Kind] = append(got[h.Kind], strings.Join(h.Steps, ", "))
		if h.Tasks != 4 || h.Of != 4 || h.Occurrences < 4 {
			t.Errorf("%+v", h)
		}
	}
	for kind, want := range map[habit.Kind]string{
		habit.Script: "npm ci, npm run lint", habit.Command: "npm ci", habit.Hook: "go test",
		habit.Skill: "go test, git checkout, git add, git commit, gh pr create",
	} {
		if len(got[kind]) == 0 || got[kind][0] != want {
			t.Errorf("%s: %q, want %q", kind, got[kind], want)
		}
	}
	script := files["scripts/npm-ci-npm-run-lint.sh"]
	if !strings.Contains(script, "\nnpm ci\nnpm run lint -- --fix 'a b'\n") {
		t.Errorf("%v\n%s", files, script)
	}
	for name, text := range files {
		if strings.Contains(text, "fix 1") || strings.Contains(text, "fix-1") {
			t.Errorf("%s has words of one task:\n%s", name, text)
		}
		if strings.HasSuffix(name, ".sh") {
			c := exec.Command("bash", "-n")
			c.Stdin = strings.NewReader(text)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%s: %v %s", name, err, out)
			}
		}
	}
	if hooks := files["claude/hooks.json"]; !strings.Contains(hooks, `"command": "go test ./..."`) || !json.Valid([]byte(hooks)) {
		t.Error(hooks)
	}
}

// TestSecretsAreNotWritten holds that a line with a credential is in no file, however
// often it recurs.
func TestSecretsAreNotWritten(t *testing.T) {
	for _, line := range []string{
		"curl -H 'Authorization: Bearer sk-ant-REDACTED' https://x/y",
		"API_KEY=9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c npm publish",
		"mysql --password=hunter2hunter2hunter2X9 -e 'select 1'",
		"export GITHUB_TOKEN=ghp_REDACTED && git push",
	} {
		var runs []*trace.Trajectory
		for i := range 5 {
			runs = append(runs, run(fmt.Sprint(i), line, "npm ci", line, "npm test"))
		}
		_, files := find(runs...)
		for name, text := range files {
			for _, secret := range []string{"sk-ant", "9f8a7b6c", "hunter2", "ghp_"} {
				if strings.Contains(text, secret) {
					t.Errorf("%s: %s", name, text)
				}
			}
		}
	}
}

// TestFewTasks holds that what only a task or two do is nothing that agents do.
func TestFewTasks(t *testing.T) {
	if habits, _ := find(run("a", "npm ci", "npm test", "npm ci", "npm test"), run("b", "npm ci", "npm test")); len(habits) > 0 {
		t.Errorf("%+v", habits)
	}
}
