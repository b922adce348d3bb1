package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/docs"
)

// TestHelp wants of every command what a reader of its help needs.
func TestHelp(t *testing.T) {
	for c := range commands(newRoot(&cli.App{})) {
		path := c.CommandPath()
		switch {
		case c.Hidden, strings.HasPrefix(path, "awo completion "):
			continue // cobra's own
		case c.Short == "" || strings.HasSuffix(c.Short, "."):
			t.Errorf("%s: the short text %q wants words and no full stop", path, c.Short)
		case c.HasParent() && !c.Parent().HasParent() && c.GroupID == "":
			t.Errorf("%s is in no group", path)
		case c.Example == "" && c.Name() != "completion":
			t.Errorf("%s has no example", path)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%s: --%s has no text", path, f.Name)
			}
			if f.Name != strings.ToLower(f.Name) || strings.ContainsAny(f.Name, "._") {
				t.Errorf("%s: --%s: flags are lower case with dashes, they are keys in awo.yaml", path, f.Name)
			}
		})
	}
}

// TestExamples parses every line of every example: commands and flags exist,
// and the number of arguments is right.
func TestExamples(t *testing.T) {
	n := 0
	for c := range commands(newRoot(&cli.App{})) {
		for line := range strings.Lines(c.Example) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			n++
			if err := parseLine(line); err != nil {
				t.Errorf("%s: example %q: %v", c.CommandPath(), line, err)
			}
		}
	}
	if n < 5 {
		t.Errorf("%d examples were found, there should be more", n)
	}
	for _, line := range []string{"awo versio", "awo version --no", "awo version x", "jq .", "awo version | awo formats x", "awo 'version"} {
		if err := parseLine(line); err == nil {
			t.Errorf("the example %q is taken", line)
		}
	}
}

// parseLine parses the commands of a shell line that are awo's; at least one is.
func parseLine(line string) error {
	words, err := shellWords(line)
	if err != nil {
		return err
	}
	found := false
	for len(words) > 0 {
		end := 0
		for end < len(words) && words[end] != "|" && words[end] != "&&" {
			end++
		}
		part := words[:end]
		words = words[min(end+1, len(words)):]
		for len(part) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(part[0]) {
			part = part[1:]
		}
		if len(part) == 0 || part[0] != "awo" {
			continue
		}
		found = true
		if err := parseArgs(redirected(part[1:])); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("no awo in it")
	}
	return nil
}

// redirected leaves out redirections.
func redirected(words []string) []string {
	for i, w := range words {
		if w == ">" || w == "<" || w == ">>" || w == "2>" || w == "2>>" {
			return words[:i]
		}
	}
	return words
}

// parseArgs parses arguments as awo would, without running anything.
func parseArgs(args []string) error {
	if len(args) > 0 && strings.HasSuffix(args[0], "/") {
		args = append([]string{"summary"}, args...) // traces without a command, as in orSummary
	}
	root := newRoot(&cli.App{})
	c, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	c.SetContext(context.Background())
	if err := c.ParseFlags(rest); err != nil {
		return cli.FlagError(c, err)
	}
	if err := c.ValidateArgs(c.Flags().Args()); err != nil {
		return err
	}
	return c.ValidateRequiredFlags()
}

// shellWords splits a line as a shell does, as far as examples need it.
func shellWords(line string) ([]string, error) {
	var words []string
	word, inWord, quote := "", false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inWord = r, true
		case quote == 0 && r == ' ':
			if inWord {
				words = append(words, word)
			}
			word, inWord = "", false
		default:
			word, inWord = word+string(r), true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word)
	}
	return words, nil
}

// TestCompletion asks for the values of a flag as a shell does.
func TestCompletion(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"version --format ", "text\nmarkdown\nhtml\nlatex\ncsv\njson\njsonl\n:4\n"},
		{"help ver", "version\n:4\n"},
	} {
		var out strings.Builder
		a := &cli.App{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &strings.Builder{}}
		if code := a.Run(t.Context(), newRoot, append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Split(test.line, " ")...)); code != cli.ExitDone {
			t.Errorf("%q: exit code %d", test.line, code)
		}
		if !strings.HasSuffix(out.String(), test.want) {
			t.Errorf("%q completes to %q, want %q", test.line, out.String(), test.want)
		}
	}
}

// TestSkill: a coding agent that types the commands of the skill one after the other gets an
// answer from each.
func TestSkill(t *testing.T) {
	office, err := filepath.Abs("../testdata/office/trajectories.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	names, count := strings.NewReplacer("TRACES", office, " ID", " run-000023"), 0
	for line := range strings.Lines(docs.Skill) {
		command, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "       awo ")
		if !ok {
			continue
		}
		count++
		if command == "extract TRACES --out tools" {
			command += " --verdict never"
		}
		if code, stdout, stderr := runApp(t.Context(), names.Replace(command)+" --sample 60", &cli.App{}); code != cli.ExitDone || stdout == "" {
			t.Errorf("%s: exit code %d\n%s", command, code, stderr)
		}
	}
	if lines := strings.Count(docs.Skill, "\n"); lines > 50 || count < 8 {
		t.Errorf("%d lines with %d commands", lines, count)
	}
}
