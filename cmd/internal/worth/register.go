package worth

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// registerOptions are the flags of `awo register`.
type registerOptions struct {
	Out string `mapstructure:"out"`
}

// NewRegister returns `awo register`.
func NewRegister(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "register FILES...",
		Short: "Write the files that an agent needs to register tools on demand",
		Long: `Write what lazy registration of tools takes (EcoAct): the definition of a tool that
registers others, a prompt that says when to use it and has the names of all tools, the
names as JSON, and a file with the definition of each. An
agent is offered tool_register and the names alone, and gets a definition when it asks
for it. Whether that pays is what ` + "`awo cost --lazy`" + ` says.

Definitions are those that the traces record. Of a tool with several, the one that
most trajectories were offered is written.

` + cli.FilesHelp,
		Example: `  awo register traces/
  awo register traces/ --out tools/`,
		GroupID: cli.GroupCompile,
	}
	cli.Uses(c, cli.UseTraces)
	f := c.Flags()
	f.String("out", "", "write the files into this `FOLDER`")
	return cli.Work(a, c, register)
}

// registerFigures are those of `awo register`; docs/artefacts.md describes them.
type registerFigures struct {
	Input          cli.InputJSON `json:"input"`
	RegisterTokens int64         `json:"register_tokens"` // of the definition of tool_register
	NameTokens     int64         `json:"name_tokens"`     // of all names
	Tokens         int64         `json:"definition_tokens"`
}

// registration is what can be registered.
type registration struct {
	registerFigures
	tools     []registrable
	undefined []undefined // called, but without a definition
}

type registrable struct {
	Name         string `json:"name"`
	File         string `json:"file"`
	NameTokens   int64  `json:"name_tokens"`
	Tokens       int64  `json:"definition_tokens"`
	Trajectories int    `json:"trajectories"` // that were offered it
	Definitions  int    `json:"definitions"`  // different ones
	Calls        int    `json:"calls"`
}

type undefined struct {
	Name  string `json:"name"`
	Calls int    `json:"calls"`
}

// offeredTool is the definitions that the traces record of one tool.
type offeredTool struct {
	trajectories int
	calls        int
	definitions  []offeredDefinition
	last         int // of definitions: where the latest was found
}

type offeredDefinition struct {
	tool  trace.ToolDef
	times int
}

// maxDefinitions bounds how many definitions of one tool are told apart; further
// ones count as the last.
const maxDefinitions = 64

// offered collects the definitions of tools.
type offered map[string]*offeredTool

func (o offered) tool(name trace.Name) *offeredTool {
	t := o[name.Value()]
	if t == nil {
		t = &offeredTool{}
		o[name.Value()] = t
	}
	return t
}

// add collects what t records. Definitions are copied, because t points into its file.
func (o offered) add(t *trace.Trajectory) {
	for i := range t.Calls {
		if t.Calls[i].Origin == trace.OriginModel {
			o.tool(t.Calls[i].Tool).calls++
		}
	}
	seen := map[trace.Name]bool{}
	for i := range t.Tools {
		d := &t.Tools[i]
		if seen[d.Name] {
			continue
		}
		seen[d.Name] = true
		o.tool(d.Name).define(d)
	}
}

func (t *offeredTool) define(d *trace.ToolDef) {
	t.trajectories++
	same := func(x offeredDefinition) bool {
		return bytes.Equal(x.tool.Description.Data, d.Description.Data) && bytes.Equal(x.tool.Input.Data, d.Input.Data)
	}
	if t.last >= len(t.definitions) || !same(t.definitions[t.last]) {
		if t.last = slices.IndexFunc(t.definitions, same); t.last < 0 {
			if len(t.definitions) < maxDefinitions {
				t.definitions = append(t.definitions, offeredDefinition{tool: trace.ToolDef{Name: d.Name, Description: cloneRaw(d.Description), Input: cloneRaw(d.Input)}})
			}
			t.last = len(t.definitions) - 1
		}
	}
	t.definitions[t.last].times++
}

func cloneRaw(r trace.Raw) trace.Raw { return trace.Raw{Data: bytes.Clone(r.Data), Form: r.Form} }

func register(j *cli.Job, o registerOptions, files []string) error {
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	found := offered{}
	if err := in.Each(found.add); err != nil {
		return err
	}
	out, made, err := registrationOf(in, found)
	if err != nil {
		return err
	}
	if o.Out != "" && len(out.tools) > 0 {
		from, err := j.Inputs(o.Out, in, nil)
		if err != nil {
			return err
		}
		if err := j.WriteArtefacts(o.Out, made, in, from); err != nil {
			return err
		}
	}
	return j.Result(out.document(in, o))
}

// registrationOf makes the files and says what is in them.
func registrationOf(in *cli.Intake, found offered) (*registration, []emit.File, error) {
	meter := cost.NewMeter(cost.Options{})
	own := cost.Definition{Name: meter.Text(cost.RegisterName), Description: meter.Text(cost.RegisterDescription), Parameters: meter.Text(cost.RegisterSchema)}
	out := &registration{registerFigures: registerFigures{Input: in.JSON(), RegisterTokens: own.Tokens()}}
	var tools []emit.Registrable
	for name, t := range found {
		if len(t.definitions) == 0 {
			out.undefined = append(out.undefined, undefined{name, t.calls})
			continue
		}
		// The first of those that were offered most often, in input order.
		best := slices.MaxFunc(t.definitions, func(x, y offeredDefinition) int { return x.times - y.times }).tool
		tokens := meter.Definition(&best)
		out.tools = append(out.tools, registrable{
			Name: name, NameTokens: tokens.Name, Tokens: tokens.Tokens(), Trajectories: t.trajectories, Definitions: len(t.definitions), Calls: t.calls,
		})
		tools = append(tools, emit.Registrable{Name: name, Description: best.Description.Text(), Input: best.Input, Tokens: tokens.Tokens(), NameTokens: tokens.Name})
		out.NameTokens += tokens.Name
		out.Tokens += tokens.Tokens()
	}
	slices.SortFunc(out.tools, func(x, y registrable) int { return cmp.Compare(x.Name, y.Name) })
	slices.SortFunc(tools, func(x, y emit.Registrable) int { return cmp.Compare(x.Name, y.Name) })
	slices.SortFunc(out.undefined, func(x, y undefined) int { return cmp.Compare(x.Name, y.Name) })
	made, names, err := emit.Registry(tools)
	for i, name := range names {
		out.tools[i].File = name
	}
	return out, made, err
}

func (out *registration) document(in *cli.Intake, o registerOptions) *report.Document {
	d := &report.Document{Title: "Tools to register", Figures: out.registerFigures}
	table := report.TableOf("tools", "", out.tools, []report.Column{
		{Key: "tool", From: "name", Max: 44},
		{Key: "trajectories", Title: "offered in trajectories"},
		{Key: "calls"},
		{Key: "name_tokens", Title: "tokens of its name"},
		{Key: "definition_tokens", Title: "of its definition"},
		{Key: "definitions", Title: "different definitions"},
	})
	d.Add(report.TableOf("undefined", "", out.undefined, nil).Hidden())
	if len(out.tools) == 0 {
		d.Answer = "No trajectory records the definitions of the tools that it was offered, so there is nothing to register: no file is written."
		d.Add(in.Summary(), table.Hidden())
		return d
	}
	d.Answer = fmt.Sprintf("%s can be registered on demand: their definitions are %s tokens, their names %s.", cli.CountOf(len(out.tools), "tool"), cli.Grouped(out.Tokens), cli.Grouped(out.NameTokens))
	d.Add(in.Summary())
	table.Note("In o200k tokens: all definitions are %s, their names %s, tool_register itself %s.", cli.Grouped(out.Tokens), cli.Grouped(out.NameTokens), cli.Grouped(out.RegisterTokens))
	table.NoteIf(slices.ContainsFunc(out.tools, func(t registrable) bool { return t.Definitions > 1 }), "Where a tool has different definitions, the one that most trajectories were offered counts.")
	table.NoteIf(len(out.undefined) > 0, "Called but nowhere defined, so not to be registered: %s.", cli.CountOf(len(out.undefined), "tool"))
	table.Most = cli.ToolsShown
	d.Add(table)
	if o.Out != "" {
		d.Add(report.Paragraph("The files are in " + o.Out + "; manifest.json says what they were made from."))
	}
	return d
}
