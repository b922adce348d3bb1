// Command manual writes what a package of awo brings along besides the program: man
// pages and completion scripts, made from the tree of commands.
//
//	go run ./internal/manual -out bin/share
//
// In comes the tree of commands, out go man/man1/*.1 and completions/awo.* below the
// folder. The date of the pages is SOURCE_DATE_EPOCH, in seconds, or else today.
// Nothing of it is kept in the repository, because all of it follows from the code.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/awo-dev/awo/cmd"
)

func main() {
	out := flag.String("out", "bin/share", "folder to write to")
	flag.Parse()
	date, err := dateOf(os.Getenv("SOURCE_DATE_EPOCH"))
	if err == nil {
		err = write(cmd.Tree(), *out, date)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// dateOf reads seconds since 1970, or gives today for none.
func dateOf(epoch string) (time.Time, error) {
	if epoch == "" {
		return time.Now(), nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// write makes the pages and scripts of a tree of commands.
func write(root *cobra.Command, folder string, date time.Time) error {
	pages := filepath.Join(folder, "man", "man1")
	scripts := filepath.Join(folder, "completions")
	for _, path := range []string{pages, scripts} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
	}
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Source: "awo", Manual: "awo manual", Date: &date}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return err
	}
	for name, generate := range map[string]func(path string) error{
		"awo.bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"awo.fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		"awo.ps1":  root.GenPowerShellCompletionFileWithDesc,
		"_awo":     root.GenZshCompletionFile,
	} {
		if err := generate(filepath.Join(scripts, name)); err != nil {
			return err
		}
	}
	return nil
}
