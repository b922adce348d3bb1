package shell_test

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/shell"
)

func TestName(t *testing.T) {
	for line, want := range map[string]string{
		"git status":                                                "git status",
		"git -C sub --no-pager log --oneline -5":                    "git log",
		"cd app && npm run test -- --watch":                         "npm run test",
		"cd /x; ls -la | head -20":                                  "ls",
		"FOO=1 BAR='a b' go test ./... 2>&1 | grep -v ok | tail -5": "go test",
		"git add -A && git commit -m \"a (b) && c\" && git push":    "git add && git commit && git push",
		"cat <<'EOF' > a.txt\nrm -rf /\nEOF":                        "cat",
		"sudo -u root systemctl restart nginx":                      "systemctl restart",
		"timeout 60 python -m pytest tests":                         "python -m pytest",
		"bash -lc 'cd x && make build'":                             "make build",
		"for f in *.go; do gofmt -w $f; done":                       "gofmt",
		"if [ -f a ]; then cat a; fi":                               "cat",
		"./scripts/run.sh --fast":                                   "run.sh",
		"/usr/bin/env python3 x.py":                                 "python3",
		"echo done":                                                 "echo",
		"export A=1":                                                "",
		"A=1":                                                       "",
		"$CMD x":                                                    "",
		"git status && (":                                           "",
		"f() { rm x; }; f":                                          "",
		"a && b && c && d && e":                                     "a && b && c && …",
		"ls && ls":                                                  "ls",
		"docker compose -f x.yml up -d":                             "docker compose",
		"docker compose up -d":                                      "docker compose up",
		"gh pr view 12 --json title":                                "gh pr view",
		"npx tsc --noEmit":                                          "npx tsc",
		"git commit -m \"$(cat <<'EOF'\nmessage\nEOF\n)\"":          "git commit",
		"curl -s https://x/y | jq .a":                               "curl",
		"find . -name '*.go' | xargs grep foo":                      "find",
		"":                                                          "",
		strings.Repeat("a;", 20000):                                 "",
		strings.Repeat("(", 8000):                                   "",
	} {
		if got := shell.Name(line); got != want {
			t.Errorf("%.60q: %q, want %q", line, got, want)
		}
	}
}

func TestSplit(t *testing.T) {
	commands, ok := shell.Split(`git commit -m "a b" --author='x y' file\ name`)
	if !ok || len(commands) != 1 {
		t.Fatal(commands, ok)
	}
	c := commands[0]
	if c.Name() != "git commit" || strings.Join(c.Words, "|") != "-m|a b|--author=x y|file name" || !c.Fixed {
		t.Errorf("%+v", c)
	}
	for _, line := range []string{"ls $HOME", "ls *.go", "ls > a", "ls $(pwd)", "ls `pwd`"} {
		if commands, ok := shell.Split(line); !ok || commands[0].Fixed {
			t.Errorf("%s: %+v", line, commands)
		}
	}
}

func TestTools(t *testing.T) {
	for _, name := range []string{"Bash", "run_shell_command", "execute_bash", "developer__shell"} {
		if split := shell.ToolName(name, "git status"); !shell.IsTool(name) || shell.Base(split) != name {
			t.Errorf("%s: %s", name, shell.Base(split))
		}
	}
	for _, name := range []string{"Read", "search(x)", "Bash(", "get_user"} {
		if shell.IsTool(name) || shell.Base(name) != name {
			t.Errorf("%s: %s", name, shell.Base(name))
		}
	}
}

// FuzzName holds that no line makes the parser panic or go deep, and that names are
// short and of one line.
func FuzzName(f *testing.F) {
	for _, line := range []string{"git -C x status", "a | b && c; d &", "bash -c 'sh -c \"ls\"'", "cat <<A\nx\nA\n", "$(", "case x in a) b;; esac", "f() { a; }", "time a", "[[ a ]] && b", "((a))", "coproc x", "select a in b; do c; done"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		name := shell.Name(line)
		if len(name) > 1000 || strings.ContainsAny(name, "\n\r\x00\x1b") || name != shell.Name(line) {
			t.Errorf("%q", name)
		}
		if name != "" && shell.Base(shell.ToolName("Bash", name)) != "Bash" {
			t.Errorf("%q", name)
		}
	})
}
