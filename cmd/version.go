package cmd

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/internal/report"
)

// build is what the program knows of how it was built. It depends on the
// sources and the tool chain only, never on when or where that was.
type build struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"` // of the module; "(devel)" for a build of a working tree without tags
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // whether the working tree had changes that are in no commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// currentBuild reads what the Go tool wrote into the program.
func currentBuild() build {
	b := build{Schema: "awo.version/v1", Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, b.Version)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func newVersion(a *app) *cobra.Command {
	return work(a, &cobra.Command{
		Use:     "version",
		Short:   "Print the version of awo and what it was built from",
		Example: "  awo version\n  awo version --format json",
		Args:    noArguments,
		GroupID: groupOther,
	}, printVersion)
}

func printVersion(j *job, _ struct{}, _ []string) error {
	b := currentBuild()
	if j.Format == report.FormatText {
		commit := ""
		if b.Commit != "" {
			commit = " commit " + b.Commit
		}
		if b.Modified {
			commit += " with changes"
		}
		j.printf("awo %s%s %s %s/%s\n", b.Version, commit, b.Go, b.OS, b.Arch)
		return nil
	}
	table := report.NewTable("version", "",
		report.Column{Key: "version"}, report.Column{Key: "commit"}, report.Column{Key: "modified"},
		report.Column{Key: "go"}, report.Column{Key: "os"}, report.Column{Key: "arch"})
	table.Add(report.Text(b.Version), report.Text(b.Commit), report.Bool(b.Modified), report.Text(b.Go), report.Text(b.OS), report.Text(b.Arch))
	var d report.Document
	d.Add(table)
	return j.print(&d, b)
}
