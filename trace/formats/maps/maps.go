// Package maps has the trace formats that are maps: a YAML file for each, in the language
// that users write for --map (see package mapped). A file comes in by the name of its
// format; it is read once, when the program starts.
package maps

import (
	"embed"
	"io/fs"
	"strings"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/mapped"
)

//go:embed *.yaml
var files embed.FS

// Source returns the map of a format as it is written, false if the format is none.
func Source(name string) ([]byte, bool) {
	src, err := files.ReadFile(name + ".yaml")
	return src, err == nil
}

// Names returns the formats that are maps, in the order of their names.
func Names() (names []string) {
	found, _ := fs.Glob(files, "*.yaml")
	for _, file := range found {
		names = append(names, strings.TrimSuffix(file, ".yaml"))
	}
	return names
}

// Format returns a format that is a map. That there is one, and that it is well formed, is
// ours to see to: it panics otherwise.
func Format(name string) trace.Format {
	src, _ := Source(name)
	m, problems := mapped.Parse(name+".yaml", src)
	if m == nil {
		panic(problems)
	}
	return m.Format()
}
