package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
)

func newVersion(a *cli.App) *cobra.Command {
	return cli.Work(a, &cobra.Command{
		Use:     "version",
		Short:   "Print the version of awo and what it was built from",
		Example: "  awo version\n  awo version --format json",
		Args:    cli.NoArguments,
		GroupID: cli.GroupOther,
	}, printVersion)
}

func printVersion(j *cli.Job, _ struct{}, _ []string) error {
	b := cli.CurrentBuild()
	if j.Format == report.FormatText {
		j.Printf("%s", versionLine(b))
		return nil
	}
	d := &report.Document{Answer: strings.TrimSuffix(versionLine(b), "\n"), Figures: b}
	return j.Result(d)
}

// versionLine is what `awo version` and `awo --version` print, with its newline.
func versionLine(b cli.Build) string {
	commit := ""
	if b.Commit != "" {
		commit = " commit " + b.Commit
	}
	if b.Modified {
		commit += " with changes"
	}
	return fmt.Sprintf("awo %s%s %s %s/%s\n", b.Version, commit, b.Go, b.OS, b.Arch)
}
