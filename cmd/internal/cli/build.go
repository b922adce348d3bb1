package cli

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// Build is what the program knows of how it was built. It depends on the
// sources and the tool chain only, never on when or where that was.
type Build struct {
	Version  string `json:"version"` // of the module; "(devel)" for a build of a working tree without tags
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // whether the working tree had changes that are in no commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// CurrentBuild reads what the Go tool wrote into the program.
func CurrentBuild() Build {
	b := Build{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
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
