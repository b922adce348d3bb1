// Command planted puts faults into a copy of the project, one at a time, and tells which of
// them no test notices.
//
//	go run ./testdata/planted
//	go run ./testdata/planted -match money -stories
//
// Each fault of the table in faults.go replaces one piece of code that occurs exactly once.
// It must turn the tests of its own package red; with -stories, faults that these overlook
// are tried with all tests. The copy is of the last commit. The exit code is 1 if a fault is
// overlooked, 2 if one of them does not fit the code any more or does not compile.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	match := flag.String("match", "", "plant only faults whose name matches this regular expression")
	stories := flag.Bool("stories", false, "try what a package's own tests overlook with all tests")
	flag.Parse()
	wanted, err := regexp.Compile(*match)
	var overlooked int
	if err == nil {
		overlooked, err = run(wanted, *stories)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(2)
	case overlooked > 0:
		os.Exit(1)
	}
}

func run(wanted *regexp.Regexp, stories bool) (overlooked int, err error) {
	folder, err := os.MkdirTemp("", "planted-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	copied := filepath.Join(folder, "project")
	if out, err := exec.Command("git", "worktree", "add", "--quiet", "--detach", copied, "HEAD").CombinedOutput(); err != nil {
		return 0, fmt.Errorf("git worktree: %w: %s", err, out)
	}
	defer func() { _ = exec.Command("git", "worktree", "remove", "--force", copied).Run() }() // in a temporary folder
	found := 0
	var unfit []error
	for _, f := range faults {
		if !wanted.MatchString(f.name) {
			continue
		}
		is, by, err := f.plant(copied, stories)
		if err != nil {
			unfit = append(unfit, err)
			continue
		}
		if is {
			found++
			fmt.Printf("found by %-28s %s\n", by, f.name)
		} else {
			overlooked++
			fmt.Printf("OVERLOOKED %-26s %s\n", f.file, f.name)
		}
	}
	fmt.Printf("%d found, %d overlooked\n", found, overlooked)
	return overlooked, errors.Join(unfit...)
}

// plant puts the fault into the project, runs tests, and takes it out again.
func (f fault) plant(project string, stories bool) (found bool, by string, err error) {
	file := filepath.Join(project, f.file)
	src, err := os.ReadFile(file)
	if err != nil {
		return false, "", fmt.Errorf("%s: %w", f.name, err)
	}
	if n := strings.Count(string(src), f.old); n != 1 {
		return false, "", fmt.Errorf("%s: %q occurs %d times in %s", f.name, f.old, n, f.file)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(src), f.old, f.new, 1)), 0o644); err != nil {
		return false, "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(file, src, 0o644)) }()
	own := "./" + filepath.ToSlash(filepath.Dir(f.file))
	if out, err := command(project, "build", own); err != nil {
		return false, "", fmt.Errorf("%s: it does not compile: %s", f.name, out)
	}
	if f.tests != "" {
		own = f.tests
	}
	if _, err := command(project, "test", "-vet=off", "-failfast", own); err != nil {
		return true, own, nil
	}
	if stories {
		if _, err := command(project, "test", "-vet=off", "-failfast", "./..."); err != nil {
			return true, "./...", nil
		}
	}
	return false, "", nil
}

func command(folder string, args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	c.Dir = folder
	c.Env = append(os.Environ(), "AWO_UPDATE=")
	return c.CombinedOutput()
}
