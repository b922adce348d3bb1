package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd"
)

// TestWrite wants a page for every command, which names the command's flags, scripts
// for four shells, and the same bytes the second time.
func TestWrite(t *testing.T) {
	date, err := dateOf("1700000000")
	if err != nil {
		t.Fatal(err)
	}
	first, second := t.TempDir(), t.TempDir()
	for _, folder := range []string{first, second} {
		if err := write(cmd.Tree(), folder, date); err != nil {
			t.Fatal(err)
		}
	}
	files := 0
	if err := filepath.WalkDir(first, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++
		name, err := filepath.Rel(first, path)
		if err != nil {
			return err
		}
		one, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		other, err := os.ReadFile(filepath.Join(second, name))
		if err != nil || string(one) != string(other) {
			t.Errorf("%s is not the same twice (%v)", name, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(first, "man", "man1", name))
		if err != nil {
			t.Errorf("`%s` has no page: %v", c.CommandPath(), err)
			return
		}
		pages++
		if !strings.Contains(string(page), "Nov 2023") {
			t.Errorf("%s does not have the date that was asked for", name)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(string(page), `-`+f.Name) && !strings.Contains(string(page), strings.ReplaceAll(f.Name, "-", `\-`)) {
				t.Errorf("%s does not name --%s", name, f.Name)
			}
		})
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit(cmd.Tree())
	if pages < 20 || files < pages+4 {
		t.Errorf("%d pages, %d files", pages, files)
	}
}

func TestDateOf(t *testing.T) {
	if _, err := dateOf("yesterday"); err == nil {
		t.Error("a date that is no number is taken")
	}
	if today, err := dateOf(""); err != nil || time.Since(today) > time.Minute {
		t.Errorf("without a date it is %v, %v", today, err)
	}
}
