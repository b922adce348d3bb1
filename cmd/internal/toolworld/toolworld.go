// Package toolworld is `awo tools`: what tools there are, how they depend on each other, and
// which of them a task needs.
//
// In come catalogues, traces, tasks and stored graphs; out go the documents, JSON and
// artefacts of the commands. The work is done by packages catalog, toolgraph and
// toolrank; here their inputs are read and their results worded.
package toolworld

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/toolgraph"
	"github.com/awo-dev/awo/toolgraph/catalog"
	"github.com/awo-dev/awo/toolgraph/toolrank"
	"github.com/awo-dev/awo/trace"
)

// New returns `awo tools`.
func New(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "tools",
		Short: "Show how tools depend on each other, and which of them a task needs",
		Long: `Compile catalogues of tools and traces into a graph of tools and parameters (NaviAgent,
arXiv 2506.19500): which tool gives what another needs, which follow one another, which
fail. Search it for the calls before a target, for substitutes and for ways around
failures; and learn which few of many tools a task needs.

A catalogue is the result of tools/list (MCP), a tool array of OpenAI, Anthropic or
Gemini, or an OpenAPI 3 document. Definitions that traces record count too.`,
		Example: "  awo tools graph traces/ --catalog tools.json --out world/",
		GroupID: cli.GroupCompile,
	}
	c.AddCommand(newGraph(a), newPath(a), newSubset(a))
	return c
}

// sourceOptions say where tools come from.
type sourceOptions struct {
	Catalog []string `mapstructure:"catalog"`
	Links   string   `mapstructure:"links"`
}

func addSources(f *pflag.FlagSet) {
	f.StringSlice("catalog", nil, "read tool definitions from this `FILE`; may be repeated")
	f.String("links", "", "read known dependencies from this `FILE`: a line {\"from\": TOOL, \"to\": TOOL} each")
}

// world is what was read.
type world struct {
	in       *cli.Intake // nil without traces
	builder  catalog.Builder
	observed toolgraph.Observed
	links    []toolgraph.Link
	flows    *dataflow.Set
	tasks    []toolrank.Task
	listed   int // tools in catalogue files
}

// want says what is to be read of trajectories.
type want struct {
	flows bool // where arguments come from
	tasks bool
}

// read reads catalogues, links and traces. There must be tools from somewhere.
func read(j *cli.Job, s sourceOptions, files []string, what want) (*world, error) {
	w := &world{}
	for _, file := range s.Catalog {
		tools, err := readCatalog(j, file)
		if err != nil {
			return nil, err
		}
		w.builder.Add(tools)
		w.listed += len(tools)
	}
	if s.Links != "" {
		var err error
		if w.links, err = readLinks(j, s.Links); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return w, nil
	}
	var err error
	if w.in, err = j.Intake(files, trace.Options{}); err != nil {
		return nil, err
	}
	if err := w.observe(j, w.in.All(), what); err != nil {
		return nil, err
	}
	return w, nil
}

// observe adds what trajectories show.
func (w *world) observe(j *cli.Job, source iter.Seq2[*trace.Trajectory, error], what want) error {
	var collector dataflow.Collector
	links := dataflow.NewLinks()
	for x, err := range par.With(j.Parallel(), source, func(t *trace.Trajectory) *dataflow.Flow {
		if !what.flows {
			return nil
		}
		return collector.Collect(t)
	}) {
		if err != nil {
			return err
		}
		w.builder.Observe(x.From)
		w.observed.Observe(x.From)
		if what.flows {
			links.Add(x.Is)
		}
		if what.tasks {
			w.tasks = append(w.tasks, toolrank.TaskOf(x.From))
		}
	}
	if what.flows {
		w.flows = links.Set()
	}
	return nil
}

// catalog returns the tools of everything that was read.
func (w *world) catalog(j *cli.Job) (*catalog.Catalog, error) {
	c, problems := w.builder.Catalog()
	if err := warn(j, problems); err != nil {
		return nil, err
	}
	if len(c.Tools) == 0 {
		return nil, cli.Usagef("there are no tools: name a catalogue with --catalog, or traces that call or define tools")
	}
	return c, nil
}

// warn prints warnings, and returns mistakes as an error.
func warn(j *cli.Job, problems diag.List) error {
	if err := problems.Err(); err != nil {
		return problems
	}
	for _, p := range problems {
		j.Problems.Add(p)
	}
	return nil
}

// readFile reads a file that holds no traces; role is what manifests call it.
func readFile(j *cli.Job, role, name string) ([]byte, error) {
	data, err := j.ReadAs(role, name)
	if err != nil {
		return nil, diag.List{cli.FileProblem(name, err)}
	}
	return data, nil
}

// readCatalog reads a file of definitions. What is wrong with single definitions is
// printed, and the others count.
func readCatalog(j *cli.Job, file string) ([]catalog.Tool, error) {
	data, err := readFile(j, "catalogue", file)
	if err != nil {
		return nil, err
	}
	tools, problems := catalog.Parse(file, data)
	if len(tools) == 0 {
		return nil, problems
	}
	for _, p := range problems {
		j.Problems.Add(p)
	}
	return tools, nil
}

// The codes of problems with files of links and tasks.
const (
	codeLinkShape = "link-shape"
	codeTaskShape = "task-shape"
)

// lines decodes a file of one JSON object a line, and calls add for each.
func lines[T any](j *cli.Job, role, file, code, shape string, add func(v T) bool) error {
	data, err := readFile(j, role, file)
	if err != nil {
		return err
	}
	var problems diag.List
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		at := diag.Pos{File: file, Line: n, Col: 1}
		var v T
		if _, err := trace.ParseValue(line); err != nil {
			problems = append(problems, diag.New(at, "json-syntax", "the line is no JSON"))
		} else if json.Unmarshal(line, &v) != nil || !add(v) {
			problems = append(problems, diag.New(at, code, "the line is not %s", shape))
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

func readLinks(j *cli.Job, file string) ([]toolgraph.Link, error) {
	type link struct{ From, To, Param string }
	var out []toolgraph.Link
	err := lines(j, "links", file, codeLinkShape, `a link {"from": TOOL, "to": TOOL}`, func(l link) bool {
		out = append(out, toolgraph.Link{From: l.From, To: l.To, Param: l.Param})
		return l.From != "" && l.To != ""
	})
	return out, err
}

func readTasks(j *cli.Job, file string) ([]toolrank.Task, error) {
	type task struct {
		ID, Text, Agent, Group string
		Tools                  []string
	}
	var out []toolrank.Task
	err := lines(j, "tasks", file, codeTaskShape, `a task {"id": ID, "text": TEXT, "tools": [TOOL, ...]}`, func(t task) bool {
		one := toolrank.Task{ID: t.ID, Group: t.Group, Agent: t.Agent, Text: t.Text, Tools: t.Tools}
		if one.Group == "" {
			one.Group = t.ID
		}
		if one.Group == "" {
			one.Group = t.Text
		}
		out = append(out, one)
		return t.Text != ""
	})
	return out, err
}

// readGraph reads a stored graph.
func readGraph(j *cli.Job, file string) (*toolgraph.Graph, error) {
	data, err := readFile(j, "graph", file)
	if err != nil {
		return nil, err
	}
	return toolgraph.Decode(file, data)
}

// tool finds a tool of a graph by its name; what is mistyped is asked about.
func tool(g *toolgraph.Graph, name string) (int, error) {
	if i, ok := g.Find(name); ok {
		return i, nil
	}
	names := make([]string, len(g.Tools))
	for i := range g.Tools {
		names[i] = g.Tools[i].Name
	}
	if near := diag.Nearest(name, names); near != "" {
		return 0, cli.Usagef("there is no tool %q in the graph; did you mean %q?", name, near)
	}
	return 0, cli.Usagef("there is no tool %q in the graph", name)
}

// params finds the parameters that names stand for: that of the parameter itself, of
// an argument, or TOOL.ARGUMENT.
func params(g *toolgraph.Graph, flag, does string, names []string, places func(*toolgraph.Tool) []toolgraph.Place) (map[int]bool, error) {
	out := map[int]bool{}
	for _, name := range names {
		found := false
		for i, p := range g.Params {
			if p.Name == name {
				out[i], found = true, true
			}
		}
		for i := range g.Tools {
			for _, p := range places(&g.Tools[i]) {
				if argument := argumentName(p.Path); argument == name || g.Tools[i].Name+"."+argument == name {
					out[p.Param], found = true, true
				}
			}
		}
		if !found {
			known := []string{}
			for _, p := range g.Params {
				known = append(known, p.Name)
			}
			if near := diag.Nearest(name, known); near != "" {
				return nil, cli.Usagef("--%s: no tool %s %q; did you mean %q?", flag, does, name, near)
			}
			return nil, cli.Usagef("--%s: no tool %s %q", flag, does, name)
		}
	}
	return out, nil
}

// argumentName returns a path without its beginning, as arguments are written.
func argumentName(path string) string { return strings.TrimPrefix(path, "$.") }

// summary says what came in.
func (w *world) summary() string {
	if w.in == nil {
		return ""
	}
	return string(w.in.Summary())
}

func (w *world) input() cli.InputJSON {
	if w.in == nil {
		return cli.InputJSON{}
	}
	return w.in.JSON()
}
