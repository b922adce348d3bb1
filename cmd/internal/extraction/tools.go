package extraction

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/toolgraph"
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
// meta-tools: the meta-tools, and prefetch rules, which only a folder has. One of
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

// addExpand defines the flag of recordings in which meta-tools were served.
func addExpand(f *pflag.FlagSet) {
	f.Bool("expand", true, "read the calls of meta-tools in recordings as their steps, made one by one")
}

// served are the calls that were steps of a meta-tool, by trajectory as it is read.
type served map[int]map[int]bool

// servedIn notes the steps in runs.
func servedIn(runs []*corpus.Run) served {
	s := served{}
	for n, r := range runs {
		s.note(n, r.Trajectory)
	}
	return s
}

func (s served) note(n int, t *trace.Trajectory) {
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Origin == trace.OriginModel && c.By != "" {
			if s[n] == nil {
				s[n] = map[int]bool{}
			}
			s[n][i] = true
		}
	}
}

// support returns in how many trajectories a candidate occurs as the steps of meta-tools
// only: where an agent called them by itself, no step is one.
func (s served) support(c *candidate.Candidate, walks *merge.Walks) int {
	if len(s) == 0 {
		return 0
	}
	n, last, only := 0, -1, false
	for _, o := range c.Occurrences {
		if o.Trajectory != last {
			if only {
				n++
			}
			last, only = o.Trajectory, true
		}
		places := merge.Place(c.Len())
		if o.Counts != nil {
			places = 0
			for _, k := range o.Counts {
				places += merge.Place(k)
			}
		}
		for p := o.First; only && p < o.First+places; p++ {
			first, _, made := walks.Calls(p)
			only = made == 0 || s[o.Trajectory][first]
		}
	}
	if only {
		n++
	}
	return n
}

// addGraph adds the flag of the graph by which substitutes are named.
func addGraph(f *pflag.FlagSet) {
	f.String("tool-graph", "", "name what may stand in for a tool that failed, by the graph in this `FILE`")
}

func readGraph(j *cli.Job, file string) (*toolgraph.Graph, error) {
	data, err := j.ReadAs("tool-graph", file)
	if err != nil {
		return nil, diag.List{cli.FileProblem(file, err)}
	}
	return toolgraph.Decode(file, data)
}

// hint names for each step of a meta-tool the tools that may stand in for its own. A
// step that the rules take for a write has none, whatever the graph says.
func hint(g *toolgraph.Graph, tool *metatool.Tool) {
	for i := range tool.Steps {
		s := &tool.Steps[i]
		s.Instead = nil
		at, known := g.Find(s.Tool)
		if !known || !s.ReadOnly {
			continue
		}
		for _, x := range g.Substitutes(at, nil) {
			if len(s.Instead) == toolgraph.MostAttempts {
				break
			}
			s.Instead = append(s.Instead, g.Tools[x.Tool].Name)
		}
	}
}

func hintAll(j *cli.Job, file string, tools []*bind.Definition) error {
	g, err := readGraph(j, file)
	if err != nil {
		return err
	}
	for _, d := range tools {
		hint(g, &d.Tool)
	}
	return nil
}

// foundArtefact gathers what is known of everything that was found in the runs that were
// compiled, which from names; out says what became of it.
func foundArtefact(c *extractCompilation, from cli.Inputs, out *extraction) emit.Found {
	became := map[string]*metaTool{}
	for i := range out.metaTools {
		became[out.metaTools[i].Name] = &out.metaTools[i]
	}
	found := emit.Found{Threshold: out.Threshold, Algorithm: out.Algorithm, Walks: c.Merged.Walks}
	if c.test == nil {
		for _, r := range c.train {
			found.Trajectories = append(found.Trajectories, from.Origin(emit.Origin{ID: r.ID, File: r.Source.File, Line: r.Source.Line}))
		}
	}
	for _, d := range c.Definitions {
		one := emit.FoundCandidate{Definition: d, Ending: c.Ending(d.Candidate)}
		if m := became[d.Name]; m != nil {
			one.Status, one.Reason, one.ReasonText, one.Anti, one.Failures = m.Status, m.Reason, reasonText(m.Reason), m.Anti, m.Failures
		}
		found.Candidates = append(found.Candidates, one)
	}
	return found
}

// toolDefinitions returns the tools that the traces call, as they were recorded.
func toolDefinitions(m *merge.Merged) []emit.ToolDefinition {
	var all []emit.ToolDefinition
	for _, t := range m.Catalog.Tools() {
		if !t.Called {
			continue
		}
		one := emit.ToolDefinition{Name: t.Name.Value(), Versions: t.Versions}
		if d := &t.Definition; d.Known {
			one.Definition(d.Description, d.Annotations, d.Input, bind.ArgumentsSchema(d))
		}
		all = append(all, one)
	}
	return all
}
