package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A program is one build of awo.
type program struct {
	path   string
	hash   string
	builds *strings.Replacer // takes the names of this build out of what it prints
}

func openProgram(path string) (*program, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(content)
	out, err := exec.Command(path, "version", "--format", "json").Output()
	if err != nil {
		return nil, fmt.Errorf("%s version: %w", path, err)
	}
	var about struct {
		Version string `json:"version"`
		Commit  string `json:"commit"`
	}
	if err := json.Unmarshal(out, &about); err != nil {
		return nil, fmt.Errorf("%s version: %w", path, err)
	}
	var names []string
	for _, name := range []string{about.Version, about.Commit} {
		if name != "" {
			names = append(names, name, "BUILD")
		}
	}
	return &program{path: path, hash: hex.EncodeToString(hash[:]), builds: strings.NewReplacer(names...)}, nil
}

// An outcome is all that a case left: what each step printed, and the files.
type outcome struct {
	Steps []printed
	Files map[string][]byte
}

type printed struct {
	Command        string
	Stdout, Stderr []byte
	Code           int
}

// run takes a program through the steps of a case in a new folder, which is removed at
// the end. A command that takes longer than the timeout has the exit code -1.
func (c *testCase) run(p *program, folder string, timeout time.Duration) (*outcome, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	result := &outcome{Files: map[string][]byte{}}
	for _, step := range c.steps {
		arguments, stdin, ok := c.arguments(step)
		if !ok {
			continue
		}
		one, err := p.command(folder, arguments, stdin, timeout)
		if err != nil {
			return nil, err
		}
		one.Command = "awo " + step
		result.Steps = append(result.Steps, one)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := root.ReadFile(path)
		result.Files[path] = p.anonymous(content)
		return err
	})
	return result, err
}

// arguments splits a step as a shell would, as far as the steps here need that, and
// puts in what stands for something else. It is false for a step that needs a rule
// file where there is none.
func (c *testCase) arguments(step string) (arguments []string, stdin string, ok bool) {
	for word := range strings.FieldsSeq(hideSpaces(step)) {
		word = strings.ReplaceAll(word, "\x00", " ")
		switch {
		case word == "{in}":
			arguments = append(arguments, c.corpus.inputs...)
		case word == "{rules}":
			if c.corpus.rules != "" {
				arguments = append(arguments, "--rules", c.corpus.rules)
			}
		case word == "{chain}":
			arguments = append(arguments, strings.Split(c.corpus.chain, ",")...)
		case word == "{file}":
			if c.corpus.rules == "" {
				return nil, "", false
			}
			arguments = append(arguments, c.corpus.rules)
		case strings.HasPrefix(word, "<"):
			stdin = word[1:]
		default:
			arguments = append(arguments, strings.ReplaceAll(word, "{chain}", c.corpus.chain))
		}
	}
	return arguments, stdin, true
}

// hideSpaces takes away single quotes, and makes NUL of the spaces between them.
func hideSpaces(step string) string {
	var b strings.Builder
	quoted := false
	for _, r := range step {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == ' ' && quoted:
			b.WriteByte(0)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (p *program) command(folder string, arguments []string, stdin string, timeout time.Duration) (printed, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	command := exec.CommandContext(ctx, p.path, arguments...)
	command.Dir = folder
	command.Env = []string{"HOME=" + folder, "PATH=" + os.Getenv("PATH"), "AWO_KEY=a key that is long enough for words", "NO_COLOR=1"}
	if stdin != "" {
		file, err := os.Open(filepath.Join(folder, stdin))
		if err != nil {
			// An earlier step did not write it, which its own output says.
			return printed{Code: -2}, nil
		}
		defer file.Close()
		command.Stdin = file
	}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return printed{Code: -1}, nil
	case err != nil && !errors.As(err, &exit):
		return printed{}, err
	}
	return printed{Stdout: p.anonymous(stdout.Bytes()), Stderr: p.anonymous(stderr.Bytes()), Code: command.ProcessState.ExitCode()}, nil
}

// anonymous takes the names of the build out of text.
func (p *program) anonymous(content []byte) []byte {
	return []byte(p.builds.Replace(string(content)))
}
