package extraction

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// maxToolsFile bounds a description of meta-tools that is read.
const maxToolsFile = 64 << 20

// ReadTools reads the meta-tools in a folder that `awo extract --out` wrote, or
// in a file of that kind.
func ReadTools(j *cli.Job, name string) ([]*metatool.Tool, error) {
	file, err := ToolsFile(j, name)
	if err != nil {
		return nil, err
	}
	return arazzo.Parse(file.File, []byte(file.Text))
}

// ToolsFile reads the file of meta-tools that ReadTools takes, as it is.
func ToolsFile(j *cli.Job, name string) (*count.Artefact, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		name = filepath.Join(name, arazzo.File)
		if info, err = os.Stat(name); err != nil {
			return nil, diag.New(diag.Pos{File: name}, "file-missing", "there is no such file; `awo extract --out` writes one if it finds a meta-tool")
		}
	}
	if err != nil {
		return nil, cli.FileProblem(name, err)
	}
	if info.Size() > maxToolsFile {
		return nil, diag.New(diag.Pos{File: name}, "file-too-large", "the file has %d bytes, descriptions of meta-tools have at most %d", info.Size(), maxToolsFile)
	}
	src, err := cli.ReadSmall(name)
	if err != nil {
		return nil, cli.FileProblem(name, err)
	}
	j.ShowLines(name, src)
	return &count.Artefact{File: filepath.ToSlash(name), Text: string(src)}, nil
}

// Counted reads what a summary can count of a folder of artefacts, or of a file of
// meta-tools: the meta-tools, and rules for reading ahead, which only a folder has. One of
// them may be nil, of a folder that holds the other.
func Counted(j *cli.Job, name string) (tools, ahead *count.Artefact, err error) {
	if ahead, err = prefetchFile(name); err != nil {
		return nil, nil, err
	}
	tools, err = ToolsFile(j, name)
	if problem, is := errors.AsType[*diag.Error](err); is && problem.Code == "file-missing" && ahead != nil {
		err = nil
	}
	return tools, ahead, err
}

// Marker says what rules make of the calls of trajectories; without rules it
// says nothing.
type Marker struct{ rewriter *merge.Rewriter }

// NewMarker returns a Marker by the rules of set, which may be nil.
func NewMarker(set *rules.Set) Marker {
	if set == nil {
		return Marker{}
	}
	return Marker{merge.NewRewriter(set, merge.Full(set), nil, nil)}
}

// Marks returns the marks of the calls of t, which get the statuses that rules
// read from their results.
func (m Marker) Marks(t *trace.Trajectory) []merge.Mark {
	if m.rewriter == nil {
		return nil
	}
	return merge.Marks(t, m.rewriter.Rewrite(t))
}

// operations returns the tools of the traces as meta-tools call them.
func operations(m *merge.Merged) []arazzo.Operation {
	var all []arazzo.Operation
	for _, t := range m.Catalog.Tools() {
		all = append(all, arazzo.Operation{
			Name: t.Name.Value(), Description: t.Definition.Description, Input: bind.ArgumentsSchema(&t.Definition),
		})
	}
	return all
}
