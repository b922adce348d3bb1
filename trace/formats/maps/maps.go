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

// hooks are what some formats need that a map cannot say, by name.
var hooks = map[string]mapped.Hook{
	"toolbench": {Divide: divideToolBench, Read: readToolBench},
	"opencode":  {Divide: sessionOfOpenCode, Read: readOpenCode},
	"langfuse":  {Divide: divideLangfuse},
}

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

// Format returns a format that is a map. It panics if there is none, or if it is not well
// formed: the files are awo's own.
func Format(name string) trace.Format {
	src, _ := Source(name)
	m, problems := mapped.ParseOwn(name+".yaml", src, hooks)
	if m == nil {
		panic(problems)
	}
	return m.Format()
}
