// Package maps has the trace formats that are maps: a YAML file for each, in the language
// that users write for --map (see package mapped). A file comes in by the name of its
// format; it is read once, when the program starts.
package maps

import (
	"embed"
	"io/fs"
	"iter"
	"strings"
	"sync"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/mapped"
)

//go:embed *.yaml heads/*.yaml
var files embed.FS

// hooks are what some formats need that a map cannot say, by name.
var hooks = map[string]mapped.Hook{
	"toolbench":      {Divide: divideToolBench, Read: readToolBench},
	"opencode":       {Divide: sessionOfOpenCode, Read: readOpenCode},
	"bedrock-agents": {Divide: divideBedrock, Read: readBedrock},
	"swe-agent":      {Read: readSWEAgent},
	"inspect":        {Archive: inspectArchive},
	"langfuse":       {Divide: divideLangfuse},
	"vscode-copilot": {Divide: divideVSCode, Read: readVSCode},
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

// Detect returns what recognises a format that is code: heads/<name>.yaml has the conditions
// of a map.
func Detect(name string) func(trace.Head) trace.Match {
	src, _ := Source("heads/" + name)
	return must(mapped.ParseHead(name+".yaml", src, nil)).Detect
}

func must(m *mapped.Map, problems diag.List) trace.Format {
	if m == nil {
		panic(problems)
	}
	return m.Format()
}

// Format returns a format that is a map. The map is read when the first file of the format
// is: until then it is known how such files begin. It panics if there is none, or if it is
// not well formed: the files are awo's own.
func Format(name string) trace.Format {
	src, _ := Source(name)
	f := must(mapped.ParseHead(name+".yaml", src, hooks))
	whole := sync.OnceValue(func() trace.Format { return must(mapped.ParseOwn(name+".yaml", src, hooks)) })
	if f.Split != nil {
		f.Split = func(in *trace.Input) iter.Seq2[trace.Record, error] { return whole().Split(in) }
	}
	f.Decode = func(r trace.Record) ([]trace.Fragment, error) { return whole().Decode(r) }
	f.Assemble = func(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
		return whole().Assemble(key, parts)
	}
	return f
}
